//! Segment exports: the request (4.3), the entries (2.5) and their status (3.2).

use serde::Serialize;
use serde_json::Value;

use super::SCOPE_DOWNLOAD;

/// `exportStatus` of an entry that has started and not ended (3.2): the only specified value.
pub const STATUS_RUNNING: i64 = 1;

/// Body of `POST /access/api/segment/download`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DownloadBody {
    /// Always `download`.
    pub scope: &'static str,
    /// Identifier of the export.
    #[serde(rename = "exportId")]
    pub export_id: i64,
}

impl DownloadBody {
    /// The body for one export.
    #[must_use]
    pub const fn new(export_id: i64) -> Self {
        Self { scope: SCOPE_DOWNLOAD, export_id }
    }
}

/// One status entry of an export (2.5).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportEntry {
    /// [`STATUS_RUNNING`], or a value that is not specified.
    pub export_status: i64,
    /// Null while unfinished; a number by 2.5, and its later type is not specified by 2.4.
    pub exported_rows: Value,
    /// ISO 8601, UTC, with milliseconds.
    pub start_time: String,
    /// Null while unfinished; a string by 2.5, and its later type is not specified by 2.4.
    pub end_time: Value,
    /// Null while unfinished; its later type is not specified.
    pub durations: Value,
    /// Null while unfinished; its later type is not specified.
    pub response_code: Value,
    /// Null while unfinished; its later type is not specified.
    pub response_message: Value,
}

/// `data` of a successful download.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExportData {
    /// The status entries.
    pub entries: Vec<ExportEntry>,
    /// Facts about the entries.
    pub meta: ExportMeta,
}

/// `data.meta` of a download.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExportMeta {
    /// The number of entries.
    pub total: usize,
}
