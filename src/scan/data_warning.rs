//! Warnings about a complete response whose data look wrong. The data are delivered all the same.

use serde::Serialize;

use super::day::OutOfDayRows;
use crate::client::Completed;
use crate::contract::envelope::field;
use crate::decode::Member;

/// A warning about the data of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DataWarning {
    /// The class of the warning.
    #[serde(rename = "category")]
    pub kind: DataWarningKind,
    /// What looks wrong, and where.
    pub message: String,
}

/// The kinds of warnings, serialized as the names of their Python classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum DataWarningKind {
    /// A requested attribute is missing from every record.
    #[serde(rename = "AbsentAttributeWarning")]
    AbsentAttribute,
    /// The number of records differs from the total that the response reports.
    #[serde(rename = "IncompleteWarning")]
    Incomplete,
    /// Rows lie outside the requested day.
    #[serde(rename = "StrayDayWarning")]
    StrayDay,
}

/// The warning for attributes that no record has, unless there are none.
pub(super) fn absent(names: &[String]) -> Option<DataWarning> {
    let names: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
    let message = match names.len() {
        0 => return None,
        1 => format!("{} is missing from every record; is it misspelled in attrs?", names.concat()),
        _ => format!("{} are missing from every record; are they misspelled in attrs?", names.join(", ")),
    };
    Some(DataWarning { kind: DataWarningKind::AbsentAttribute, message })
}

/// The warning for a response with another number of records than its `data.meta.total`.
pub(super) fn incomplete(completed: &Completed) -> Option<DataWarning> {
    let Some(Member::Json(meta)) = completed.envelope.data_member(field::META) else { return None };
    let meta: serde_json::Map<_, _> = serde_json::from_str(meta.get()).ok()?;
    let (total, records) = (meta.get(field::TOTAL)?.as_u64()?, completed.envelope.records);
    let message = format!("the response reports a total of {total} records and has {records}");
    (total != records).then_some(DataWarning { kind: DataWarningKind::Incomplete, message })
}

/// The warning for rows outside the requested day.
pub(super) fn stray(rows: &OutOfDayRows) -> Option<DataWarning> {
    Some(DataWarning { kind: DataWarningKind::StrayDay, message: rows.message()? })
}
