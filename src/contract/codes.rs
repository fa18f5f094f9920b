//! Promotion codes: attributes (2.2), statuses (3.1), audience types, positions of the conditions (4.2), limits (8).

/// Every attribute that can be requested, in the order of section 2.2.
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

/// What is asked for when the caller names no attributes: all but `channel_id`, whose value is not shown.
pub const DEFAULT_ATTRIBUTES: [&str; 10] = [
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
];

/// `code_status` values with the names the package gives them (section 3.1).
pub const STATUSES: [(&str, i64); 3] = [("available", 1), ("sent", 3), ("used", 4)];

/// `audience_type` values with their names (section 2.2).
pub const AUDIENCE_TYPES: [(&str, i64); 2] = [("customer", -1003), ("visitor", -1007)];

/// `filters.OR` of a promotion code search has exactly this many elements (section 8).
pub const OR_GROUPS: usize = 1;

/// `filters.OR[0].AND` has at most this many conditions (section 8).
pub const MAX_CONDITIONS: usize = 4;

/// The columns a promotion code search filters on, in the order of their positions (section 4.2, rule 4).
pub const POSITIONS: [&str; 4] = ["audience_type", "allocated_audience", "code_status", "allocated_time"];

/// The one condition that is always required (section 4.2, rule 4, and section 8).
pub const REQUIRED_COLUMN: &str = "allocated_time";
