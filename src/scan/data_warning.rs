//! What may be wrong with an answer that ended well. It is told, and the answer is given all the same.

use serde::Serialize;

use super::day::OutOfDayRows;
use crate::client::Completed;
use crate::contract::envelope::field;
use crate::decode::Member;

/// Something that may not be what it seems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DataWarning {
    /// What kind of doubt.
    #[serde(rename = "category")]
    pub kind: DataWarningKind,
    /// What and where.
    pub message: String,
}

/// The kinds of doubts, by the names of their warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum DataWarningKind {
    /// No record has an attribute: absent, not null.
    #[serde(rename = "AbsentAttributeWarning")]
    AbsentAttribute,
    /// The answer tells of another number of records than it has.
    #[serde(rename = "IncompleteWarning")]
    Incomplete,
    /// Rows of another day than asked for.
    #[serde(rename = "StrayDayWarning")]
    StrayDay,
}

/// No record of an answer has these attributes.
pub(super) fn absent(names: &[String]) -> Option<DataWarning> {
    let names: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
    let message = format!("no record has {}: absent, not null, so probably a typing error in attrs", names.join(", "));
    (!names.is_empty()).then_some(DataWarning { kind: DataWarningKind::AbsentAttribute, message })
}

/// The answer has another number of records than it tells of in `data.meta.total`.
pub(super) fn incomplete(answered: &Completed) -> Option<DataWarning> {
    let Some(Member::Json(meta)) = answered.envelope.data_member(field::META) else { return None };
    let meta: serde_json::Map<_, _> = serde_json::from_str(meta.get()).ok()?;
    let (total, records) = (meta.get(field::TOTAL)?.as_u64()?, answered.envelope.records);
    let message = format!("the answer tells of {total} records and has {records}");
    (total != records).then_some(DataWarning { kind: DataWarningKind::Incomplete, message })
}

/// Rows are of another day than asked for.
pub(super) fn stray(out_of_day: &OutOfDayRows) -> Option<DataWarning> {
    Some(DataWarning { kind: DataWarningKind::StrayDay, message: out_of_day.told()? })
}
