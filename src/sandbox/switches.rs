//! The sandbox's answers to what the document does not show.
//!
//! The questions, defaults and reasons are the rows of `contract::open_points`; here are only the choices.

use crate::contract::{SCOPE_DOWNLOAD, SCOPE_ITEM};

/// One answer for each open point that a deployment may settle otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switches {
    /// IANA name of the zone in which DAY cuts time into days; the texts of times themselves are UTC.
    pub day_zone: String,
    /// What `data.data` is when no record is found.
    pub empty_shape: EmptyShape,
    /// Whether `code` stands first or last in an answer.
    pub key_order: KeyOrder,
    /// The answer for an unknown `exportId`.
    pub unknown_export: UnknownExport,
    /// `exportStatus` of an entry that ended well.
    pub finished_status: i64,
    /// `exportStatus` of an entry that failed.
    pub failed_status: i64,
    /// Scope of the generic search; that of the promotion code search is not open.
    pub generic_scope: String,
    /// Scope of the segment download.
    pub download_scope: String,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            day_zone: "UTC".to_owned(),
            empty_shape: EmptyShape::Array,
            key_order: KeyOrder::CodeFirst,
            unknown_export: UnknownExport::NotFound,
            finished_status: 2,
            failed_status: 3,
            generic_scope: SCOPE_ITEM.to_owned(),
            download_scope: SCOPE_DOWNLOAD.to_owned(),
        }
    }
}

/// What `data.data` is when no record is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyShape {
    /// `[]`.
    Array,
    /// `{}`.
    Object,
    /// `null`.
    Null,
    /// The member is not there.
    Absent,
}

/// The order of an answer's members, which JSON leaves free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOrder {
    /// As the document lists them: `code`, `message`, `data`, and `status` before the records.
    CodeFirst,
    /// The reverse: the verdict comes after the records.
    CodeLast,
}

/// The answer for an unknown `exportId`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownExport {
    /// HTTP 404 with code 404.
    NotFound,
    /// A success without entries, as for an export that has not begun.
    NoEntries,
}
