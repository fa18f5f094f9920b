//! The envelope of every response (2.1) and the one specified failure (7).

pub const CODE_SUCCESS: i64 = 200;
/// `code` of a permission failure.
pub const CODE_PERMISSION: i64 = 301;
/// HTTP status of a permission failure.
pub const STATUS_PERMISSION: u16 = 403;

/// Names of the envelope's members.
pub mod field {
    pub const CODE: &str = "code";
    pub const MESSAGE: &str = "message";
    /// The result; of a failure, a string or more.
    pub const DATA: &str = "data";
    /// `data.status`: true on a successful search.
    pub const STATUS: &str = "status";
    /// `data.data`: the records of a search.
    pub const RECORDS: &str = "data";
    /// `data.entries`: the entries of an export.
    pub const ENTRIES: &str = "entries";
    /// `data.meta` of an export.
    pub const META: &str = "meta";
    /// `data.meta.total`: the number of entries.
    pub const TOTAL: &str = "total";
    /// Null on a successful download.
    pub const CODE_MESSAGE: &str = "codeMessage";
}
