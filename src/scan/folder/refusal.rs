//! What a response lacks or repeats, and what is then decided of it, before it replaces anything.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use arrow_array::{Array as _, RecordBatch};

use crate::columns::Values;
use crate::error::{Error, Kind, Result};
use crate::scan::data_warning::{DataWarning, DataWarningKind};
use crate::scan::stats::Figures;
use crate::scan::verdict::Verdict;

/// Columns that a text names.
const NAMED: usize = 3;
/// Ids of a response that are compared: 64 MiB.
const COMPARED: usize = 1 << 22;

impl Verdict {
    /// The caller takes the response as it is.
    pub(super) fn accepted() -> Self {
        Self { is_accepted: true, ..Self::default() }
    }

    /// The part before the response stays.
    pub(super) fn refused(doubts: &[DataWarning]) -> Self {
        let is_less = |doubt: &DataWarning| doubt.kind == DataWarningKind::Shrunk;
        let kind = doubts.iter().find(|doubt| is_less(doubt)).or(doubts.first());
        let kind = kind.map_or(DataWarningKind::Other, |doubt| doubt.kind);
        let message = format!("a newer response was not written: {}", texts(doubts));
        Self { doubts: vec![DataWarning { kind, message }], is_refused: true, is_accepted: false }
    }
}

impl Figures {
    /// What these figures of a new response lack that a part has; none if it may replace the part.
    pub(super) fn lacks(&self, before: &Self) -> Option<DataWarning> {
        if self.rows.saturating_mul(2) < before.rows {
            return Some(self.fewer(before));
        }
        if self.rows == 0 {
            return None;
        }
        let mut empty: Vec<&str> = self.empty_columns.iter().map(String::as_str).collect();
        empty.retain(|name| before.rows > 0 && !before.empty_columns.iter().any(|empty| empty == name));
        let more = if empty.len() > NAMED { ", …" } else { "" };
        empty.truncate(NAMED);
        let message = format!("no value in {}{more}, which had some before", empty.join(", "));
        (!empty.is_empty()).then_some(DataWarning { kind: DataWarningKind::Shrunk, message })
    }

    /// That a new response has lost more than a tenth of the rows of a part.
    pub(super) fn loses(&self, before: &Self) -> Option<DataWarning> {
        (self.rows.saturating_mul(10) < before.rows.saturating_mul(9)).then(|| self.fewer(before))
    }

    fn fewer(&self, before: &Self) -> DataWarning {
        let message = format!("{} rows, and {} before", self.rows, before.rows);
        DataWarning { kind: DataWarningKind::Shrunk, message }
    }
}

/// Counts the ids of the rows of a response that are null or come again: of the codes of a service each has its own.
pub(super) struct UniqueIds {
    column: usize,
    hasher: RandomState,
    seen: HashSet<u64>,
    null: u64,
    again: u64,
}

impl UniqueIds {
    /// Of the column at a position.
    pub(super) fn new(column: usize) -> Self {
        Self { column, hasher: RandomState::new(), seen: HashSet::new(), null: 0, again: 0 }
    }

    /// Adds rows.
    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        self.null += batch.column(self.column).logical_null_count() as u64;
        Values::of_column(batch, self.column)?.each_written(|id| {
            if let Some(id) = id
                && self.seen.len() < COMPARED
                && !self.seen.insert(self.hasher.hash_one(id))
            {
                self.again += 1;
            }
        });
        Ok(())
    }

    /// What looks wrong.
    pub(super) fn doubt(&self) -> Option<DataWarning> {
        let counts = [(self.null, "without an id"), (self.again, "with the id of another row")];
        let texts: Vec<String> =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} rows {what}")).collect();
        (!texts.is_empty()).then(|| DataWarning { kind: DataWarningKind::Other, message: texts.join(", ") })
    }
}

/// The error of a task whose response is not written, for these reasons or because the caller refused it.
pub(super) fn refused(doubts: &[DataWarning], has_part: bool) -> Error {
    let message = format!("the response was not written: {}", texts(doubts));
    let kept = if has_part { "the file is as before, and requested again by each run; " } else { "" };
    Error::new(Kind::DoubtfulData, message).with_hint(format!("{kept}if the response is right, set accept"))
}

fn texts(doubts: &[DataWarning]) -> String {
    let texts: Vec<&str> = doubts.iter().map(|doubt| doubt.message.as_str()).collect();
    if texts.is_empty() { "on_doubt refused it".to_owned() } else { texts.join("; ") }
}
