//! What may be wrong with an answer that ended well. It is told, and the answer is given all the same.

use serde::{Deserialize, Serialize};

use super::day::Day;
use crate::client::Answered;
use crate::contract::envelope::field;
use crate::decode::Member;

/// Something that may not be what it seems.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Doubt {
    /// What kind of doubt.
    #[serde(rename = "category")]
    pub kind: DoubtKind,
    /// What and where.
    pub message: String,
}

/// The kinds of doubts, by the names of their warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum DoubtKind {
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
pub(super) fn absent(names: &[String]) -> Option<Doubt> {
    let names: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
    let message = format!("no record has {}: absent, not null, so probably a typing error in attrs", names.join(", "));
    (!names.is_empty()).then_some(Doubt { kind: DoubtKind::AbsentAttribute, message })
}

/// The answer has another number of records than it tells of in `data.meta.total`.
pub(super) fn incomplete(answered: &Answered) -> Option<Doubt> {
    let Some(Member::Json(meta)) = answered.envelope.data_member(field::META) else { return None };
    let meta: serde_json::Map<_, _> = serde_json::from_str(meta.get()).ok()?;
    let (total, records) = (meta.get(field::TOTAL)?.as_u64()?, answered.envelope.records);
    let message = format!("the answer tells of {total} records and has {records}");
    (total != records).then_some(Doubt { kind: DoubtKind::Incomplete, message })
}

/// The answers with rows of another day than asked for.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// What is odd about the first of them.
    first: Option<String>,
    answers: u64,
    odd: u64,
}

impl Strays {
    /// Adds an answer whose rows have their times between these two.
    pub(super) fn add(&mut self, day: Option<Day>, times: Option<&(String, String)>) {
        let Some((least, greatest)) = times else { return };
        self.answers += 1;
        if let Some(told) = day.and_then(|day| day.strays(least, greatest)) {
            self.odd += 1;
            self.first.get_or_insert(told);
        }
    }

    /// What is told of all of them, once.
    pub(super) fn doubt(&self) -> Option<Doubt> {
        let message = match (self.first.clone()?, self.odd, self.answers) {
            (first, _, 1) => first,
            (first, count, all) => format!("{first} (likewise {count} of the {all} days that have rows)"),
        };
        Some(Doubt { kind: DoubtKind::StrayDay, message })
    }
}
