//! The service document as types and constants: what is sent, what comes back, and the limits of both.
//!
//! Client and sandbox share this room and nothing else. It holds no logic beyond naming things, so that
//! each side keeps its own reading of the rules.

pub mod business_object;
pub mod codes;
pub mod condition;
pub mod envelope;
pub mod export;
pub mod open_points;
pub mod search;

/// Path of the item search (sections 4.1 and 4.2), below the base URL.
pub const SEARCH_PATH: &str = "/access/api/item/search";

/// Path of the segment download (section 4.3), below the base URL.
pub const DOWNLOAD_PATH: &str = "/access/api/segment/download";

/// Scope a token needs for the promotion code search (sections 4.2 and 5).
pub const SCOPE_ITEM: &str = "item";

/// Value of `scope` in the body of a segment download (section 4.3).
pub const SCOPE_DOWNLOAD: &str = "download";
