//! A sink around a sink that counts what columns do not hold: keys that were not requested, and the range of times.
//!
//! The counts travel with the batch of their records, so that a retry voids both together.

use std::collections::HashMap;

use crate::decode::{Batch, BatchSink, Cell, CellResult, Sink};
use crate::error::Result;

/// So many keys that were not requested are counted by name,
const NAMES: usize = 256;
/// and all others together under this one.
const OTHERS: &str = "…";
/// The length of a time as the service writes it.
const TIME: usize = "2024-01-31 12:34:56".len();

/// Counts of some records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordStats {
    /// Records.
    pub rows: u64,
    /// Keys that were not requested, and how many records had each.
    pub extras: Vec<(String, u64)>,
    /// The least and the greatest time of the watched column, as the service writes times.
    pub times: Option<(String, String)>,
}

impl RecordStats {
    /// Adds the counts of later records.
    pub fn add(&mut self, later: Self) {
        self.rows += later.rows;
        for (name, count) in later.extras {
            match self.extras.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known += count,
                None => self.extras.push((name, count)),
            }
        }
        self.times = match (self.times.take(), later.times) {
            (Some((least, greatest)), Some((other_least, other_greatest))) => {
                Some((least.min(other_least), greatest.max(other_greatest)))
            }
            (one, other) => one.or(other),
        };
    }
}

/// A batch with the counts of its records.
#[derive(Debug)]
pub struct BatchWithStats<B> {
    /// The records.
    pub batch: B,
    /// Their counts.
    pub stats: RecordStats,
}

impl<B: Batch> Batch for BatchWithStats<B> {
    fn bytes(&self) -> usize {
        self.batch.bytes()
    }
}

/// A key that was not requested.
#[derive(Debug)]
struct Extra {
    name: String,
    /// Records of this batch that have it.
    records: u64,
    /// The number of the last record that has it.
    last: u64,
}

/// Counts records on their way to another sink.
#[derive(Debug)]
pub(super) struct WithStats<S> {
    sink: S,
    time_column: Option<usize>,
    rows: u64,
    times: Option<(String, String)>,
    extras: Vec<Extra>,
    /// The position of each key in `extras`.
    positions: HashMap<String, usize>,
    /// The number of the record that is being read, from 1, and its time.
    record: u64,
    time: String,
}

impl<S> WithStats<S> {
    /// Counts the keys, and the times of a column where one is given.
    pub(super) fn new(sink: S, time_column: Option<usize>) -> Self {
        Self {
            sink,
            time_column,
            rows: 0,
            times: None,
            extras: Vec::new(),
            positions: HashMap::new(),
            record: 1,
            time: String::new(),
        }
    }

    fn count_extra(&mut self, name: &str) {
        let is_counted = self.extras.len() < NAMES || self.positions.contains_key(name);
        let name = if is_counted { name } else { OTHERS };
        let position = self.positions.get(name).copied().unwrap_or_else(|| {
            self.extras.push(Extra { name: name.to_owned(), records: 0, last: 0 });
            self.positions.insert(name.to_owned(), self.extras.len() - 1);
            self.extras.len() - 1
        });
        if let Some(extra) = self.extras.get_mut(position).filter(|extra| extra.last != self.record) {
            extra.last = self.record;
            extra.records += 1;
        }
    }

    fn take_stats(&mut self) -> RecordStats {
        let extras = self.extras.iter_mut().filter(|extra| extra.records > 0);
        let extras = extras.map(|extra| (extra.name.clone(), std::mem::take(&mut extra.records))).collect();
        RecordStats { rows: std::mem::take(&mut self.rows), extras, times: self.times.take() }
    }
}

impl<S: BatchSink> BatchSink for WithStats<S> {
    type Batch = BatchWithStats<S::Batch>;

    fn take_full(&mut self) -> Result<Option<Self::Batch>> {
        Ok(self.sink.take_full()?.map(|batch| BatchWithStats { batch, stats: self.take_stats() }))
    }

    fn take(&mut self) -> Result<Option<Self::Batch>> {
        Ok(self.sink.take()?.map(|batch| BatchWithStats { batch, stats: self.take_stats() }))
    }
}

impl<S: Sink> Sink for WithStats<S> {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every value: a call would cost as much as the work")]
    fn cell(&mut self, column: usize, cell: Cell) -> CellResult {
        if let Cell::String(text) = cell
            && self.time_column == Some(column)
            && text.len() == TIME
        {
            text.clone_into(&mut self.time);
        }
        self.sink.cell(column, cell)
    }

    fn extra(&mut self, name: &str, json: &str) {
        self.count_extra(name);
        self.sink.extra(name, json);
    }

    #[inline]
    fn end_record(&mut self) {
        self.rows += 1;
        self.record += 1;
        if !self.time.is_empty() {
            let (least, greatest) = self.times.get_or_insert_with(|| (self.time.clone(), self.time.clone()));
            // Times as the service writes them sort as strings.
            if self.time < *least {
                least.clone_from(&self.time);
            }
            if self.time > *greatest {
                greatest.clone_from(&self.time);
            }
            self.time.clear();
        }
        self.sink.end_record();
    }

    fn undo_record(&mut self) {
        for extra in self.extras.iter_mut().filter(|extra| extra.last == self.record) {
            extra.records = extra.records.saturating_sub(1);
        }
        self.record += 1;
        self.time.clear();
        self.sink.undo_record();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Cells;

    #[test]
    fn only_complete_records_count() {
        let mut sink = WithStats::new(Cells::new(2), Some(1));
        let mut record = |keys: &[&str], time: &str, complete: bool| {
            for key in keys {
                sink.extra(key, "1");
            }
            sink.cell(0, Cell::Null).expect("fits");
            sink.cell(1, Cell::String(time)).expect("fits");
            if complete { sink.end_record() } else { sink.undo_record() }
        };
        record(&["a", "b", "a"], "2024-01-15 10:00:00", true);
        record(&["c"], "2023-01-01 00:00:00", false);
        record(&["b"], "2024-01-14 23:59:59", true);
        record(&[], "some other text", true);
        let stats = sink.take().expect("a batch").expect("records").stats;
        let times = Some(("2024-01-14 23:59:59".to_owned(), "2024-01-15 10:00:00".to_owned()));
        assert_eq!(stats, RecordStats { rows: 3, extras: vec![("a".to_owned(), 1), ("b".to_owned(), 2)], times });
        assert!(sink.take().expect("no error").is_none());
    }

    #[test]
    fn counts_of_batches_add_up() {
        let stats = |name: &str, times: Option<(&str, &str)>| RecordStats {
            rows: 3,
            extras: vec![(name.to_owned(), 2)],
            times: times.map(|(least, greatest)| (least.to_owned(), greatest.to_owned())),
        };
        let mut all = stats("a", None);
        all.add(stats("b", Some(("2", "3"))));
        all.add(stats("a", Some(("1", "2"))));
        all.add(stats("a", None));
        let times = Some(("1".to_owned(), "3".to_owned()));
        assert_eq!(all, RecordStats { rows: 12, extras: vec![("a".to_owned(), 6), ("b".to_owned(), 2)], times });
    }

    #[test]
    fn more_names_than_the_limit_are_counted_together() {
        let mut sink = WithStats::new(Cells::new(0), None);
        for number in 0..NAMES + 5 {
            sink.extra(&format!("key-{number}"), "1");
            sink.end_record();
        }
        let extras = sink.take().expect("a batch").expect("records").stats.extras;
        assert_eq!(extras.len(), NAMES + 1);
        assert_eq!(extras.last(), Some(&(OTHERS.to_owned(), 5)));
    }
}
