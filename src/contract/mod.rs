//! The API specification (`docs/service.md`) as types and constants: requests, responses, and their limits.
//!
//! This module is all that the client and the sandbox share. It holds no checks, so that each side keeps its own
//! reading of the rules. Numbers such as 4.2 are sections of the API specification, and the headings of
//! `docs/service.md`.

pub mod business_object;
pub mod codes;
pub mod condition;
pub mod envelope;
pub mod export;
pub mod recording;
pub mod search;

/// Value of `Server` in each response of the sandbox.
pub const SANDBOX_SERVER: &str = "dataaccess-sandbox";

// Paths of the item search (4.1, 4.2) and the segment download (4.3), below the base URL.
pub const SEARCH_PATH: &str = "/access/api/item/search";
pub const DOWNLOAD_PATH: &str = "/access/api/segment/download";

/// Value of `scope` in the body of a segment download (4.3).
pub const SCOPE_DOWNLOAD: &str = "download";
