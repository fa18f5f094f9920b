//! Promotion codes: attributes (2.2), statuses (3.1), audience types, positions of the conditions (4.2), limits (8).

/// Every attribute that can be requested, in the order of 2.2.
pub const ATTRIBUTES: [&str; 11] = [
    "id",
    "name",
    "pool_id",
    "date_created",
    "allocated_time",
    "allocated_audience",
    "audience_type",
    "code_status",
    "last_used_source",
    "last_used_time",
    "channel_id",
];

/// The attributes requested by default: all but `channel_id`, whose values are not specified.
pub const DEFAULT_ATTRIBUTES: &[&str] = ATTRIBUTES.split_at(10).0;

/// `code_status` values (3.1) with the names that the package gives them.
pub const STATUSES: [(&str, i64); 3] = [("available", 1), ("sent", 3), ("used", 4)];

/// `audience_type` values (2.2) with their names.
pub const AUDIENCE_TYPES: [(&str, i64); 2] = [("customer", -1003), ("visitor", -1007)];

/// Number of elements of `filters.OR` in a promotion code search (8).
pub const OR_GROUPS: usize = 1;
/// Most conditions of `filters.OR[0].AND` in a promotion code search (8).
pub const MAX_CONDITIONS: usize = 4;

/// The columns that a promotion code search filters on, in the order of their positions (4.2, rule 4).
pub const POSITIONS: [&str; 4] = ["audience_type", "allocated_audience", "code_status", "allocated_time"];
/// The one required condition (4.2, rule 4, and 8).
pub const REQUIRED_COLUMN: &str = "allocated_time";
