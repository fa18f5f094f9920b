//! The envelope around every answer (section 2.1) and the one failure the document shows (section 7).

use serde::Serialize;

/// `code` of a success.
pub const CODE_SUCCESS: i64 = 200;
/// `code` of a permission failure.
pub const CODE_PERMISSION: i64 = 301;
/// HTTP status of a permission failure.
pub const STATUS_PERMISSION: u16 = 403;
/// `message` of a permission failure.
pub const MESSAGE_PERMISSION: &str = "Permission denied";
/// `data` of a permission failure, a string.
pub const DATA_PERMISSION: &str = "You don't have permission to access this request!";
/// `message` of a successful search (sections 4.1 and 4.2).
pub const MESSAGE_SEARCH: &str = "Search Business Object success";
/// `message` of a successful download (section 4.3).
pub const MESSAGE_DOWNLOAD: &str = "Success";

/// Names of the envelope's members on the wire.
pub mod field {
    /// Result code.
    pub const CODE: &str = "code";
    /// Result text.
    pub const MESSAGE: &str = "message";
    /// Payload.
    pub const DATA: &str = "data";
    /// `data.status`: true on a successful search.
    pub const STATUS: &str = "status";
    /// `data.data`: the records of a search.
    pub const RECORDS: &str = "data";
    /// `data.entries`: the entries of an export.
    pub const ENTRIES: &str = "entries";
    /// `data.meta` of an export.
    pub const META: &str = "meta";
    /// `meta.total`: the number of entries.
    pub const TOTAL: &str = "total";
    /// Present on the download.
    pub const CODE_MESSAGE: &str = "codeMessage";
    /// Present on the download: a number followed by `ms`.
    pub const DURATION: &str = "duration";
}

/// An answer with the members every answer has.
#[derive(Clone, Debug, Serialize)]
pub struct Envelope<D> {
    /// [`CODE_SUCCESS`] or [`CODE_PERMISSION`]; others are not shown.
    pub code: i64,
    /// Result text.
    pub message: String,
    /// An object, an array, or a string on a permission failure.
    pub data: D,
}

/// The answer to a download, which has two members more (section 4.3).
#[derive(Clone, Debug, Serialize)]
pub struct DownloadEnvelope<D> {
    /// As in [`Envelope`].
    pub code: i64,
    /// As in [`Envelope`].
    pub message: String,
    /// As in [`Envelope`].
    pub data: D,
    /// Null on success.
    #[serde(rename = "codeMessage")]
    pub code_message: Option<String>,
    /// Elapsed time: a number followed by `ms`.
    pub duration: String,
}

/// `data` of a successful search.
#[derive(Clone, Debug, Serialize)]
pub struct SearchData<R> {
    /// True on success.
    pub status: bool,
    /// The records.
    pub data: R,
}

/// The permission failure of section 7, word for word.
#[must_use]
pub fn permission_failure() -> Envelope<&'static str> {
    Envelope { code: CODE_PERMISSION, message: MESSAGE_PERMISSION.to_owned(), data: DATA_PERMISSION }
}
