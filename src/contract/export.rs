//! Segment exports: the request (4.3), the entries (2.5) and their status (3.2).

use serde::Serialize;
use serde_json::Value;

use super::SCOPE_DOWNLOAD;

/// `exportStatus` of an entry that has started and not ended: the one value seen (section 3.2).
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
    /// The body that asks for one export.
    #[must_use]
    pub const fn new(export_id: i64) -> Self {
        Self { scope: SCOPE_DOWNLOAD, export_id }
    }
}

/// One status entry of an export (section 2.5).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportEntry {
    /// Status of the export; meanings other than [`STATUS_RUNNING`] are not shown.
    pub export_status: i64,
    /// Null while unfinished.
    pub exported_rows: Option<u64>,
    /// ISO 8601, UTC, with milliseconds.
    pub start_time: String,
    /// Null while unfinished.
    pub end_time: Option<String>,
    /// Null while unfinished; the type once set is not shown.
    pub durations: Value,
    /// Null while unfinished; the type once set is not shown.
    pub response_code: Value,
    /// Null while unfinished; the type once set is not shown.
    pub response_message: Value,
}

/// `data` of a successful download.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExportData {
    /// The status entries.
    pub entries: Vec<ExportEntry>,
    /// What is told of them.
    pub meta: ExportMeta,
}

/// `data.meta` of a download.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExportMeta {
    /// The number of entries.
    pub total: usize,
}
