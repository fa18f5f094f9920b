//! The request of a segment export (4.3).

use serde::Serialize;

use super::SCOPE_DOWNLOAD;

/// Body of `POST /access/api/segment/download`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DownloadBody {
    pub scope: &'static str,
    #[serde(rename = "exportId")]
    pub export_id: i64,
}

impl DownloadBody {
    pub const fn new(export_id: i64) -> Self {
        Self { scope: SCOPE_DOWNLOAD, export_id }
    }
}
