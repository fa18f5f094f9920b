//! A sink around a sink, which sees what columns do not hold: keys nobody asked for, and the span of the times.
//!
//! What it saw travels with the batch it saw it in, so that rows and what is said of them are void together.

use std::collections::HashMap;

use crate::decode::{Batch, BatchSink, Cell, CellResult, Sink};
use crate::error::Result;

/// Names of unasked keys that are told apart.
const NAMES: usize = 256;
/// The name for those beyond.
const OTHERS: &str = "…";
/// The length of a time as the document writes it.
const TIME: usize = "2024-01-31 12:34:56".len();

/// What was seen in some records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordStats {
    /// Records.
    pub rows: u64,
    /// Keys nobody asked for, and how many records had each.
    pub extras: Vec<(String, u64)>,
    /// The least and the greatest time of the watched column, as the document writes times.
    pub times: Option<(String, String)>,
}

impl RecordStats {
    /// Adds what was seen in later records.
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

/// A batch, and what was seen in its records.
#[derive(Debug)]
pub struct BatchWithStats<B> {
    /// The records.
    pub batch: B,
    /// What else they had.
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
    /// Complete records that had it.
    records: u64,
    /// The number of the last record that had it.
    last: u64,
}

/// The sink around another.
#[derive(Debug)]
pub(super) struct WithStats<G> {
    sink: G,
    time_column: Option<usize>,
    rows: u64,
    /// Each key that was not requested, by its place among them.
    places: HashMap<String, usize>,
    names: Vec<Extra>,
    times: Option<(String, String)>,
    /// The number of the record that is not complete, its keys and its time.
    record: u64,
    current_names: Vec<usize>,
    current_time: String,
}

impl<G> WithStats<G> {
    /// Watches the keys, and the times of a column if there is one to watch.
    pub(super) fn new(sink: G, time_column: Option<usize>) -> Self {
        Self {
            sink,
            time_column,
            rows: 0,
            places: HashMap::new(),
            names: Vec::new(),
            times: None,
            record: 1,
            current_names: Vec::new(),
            current_time: String::new(),
        }
    }

    fn note_name(&mut self, name: &str) {
        let place = self.places.get(name).or_else(|| (self.names.len() > NAMES).then(|| self.places.get(OTHERS))?);
        let place = place.copied().unwrap_or_else(|| {
            let name = if self.names.len() < NAMES { name } else { OTHERS };
            self.names.push(Extra { name: name.to_owned(), records: 0, last: 0 });
            self.places.insert(name.to_owned(), self.names.len() - 1);
            self.names.len() - 1
        });
        if let Some(extra) = self.names.get_mut(place).filter(|extra| extra.last != self.record) {
            extra.last = self.record;
            self.current_names.push(place);
        }
    }

    fn forget_record(&mut self) {
        self.record += 1;
        self.current_names.clear();
        self.current_time.clear();
    }

    fn seen(&mut self) -> RecordStats {
        let extras = self.names.iter_mut().filter(|extra| extra.records > 0);
        let extras = extras.map(|extra| (extra.name.clone(), std::mem::take(&mut extra.records))).collect();
        RecordStats { rows: std::mem::take(&mut self.rows), extras, times: self.times.take() }
    }
}

impl<G: BatchSink> BatchSink for WithStats<G> {
    type Batch = BatchWithStats<G::Batch>;

    fn take_full(&mut self) -> Result<Option<Self::Batch>> {
        Ok(self.sink.take_full()?.map(|batch| BatchWithStats { batch, stats: self.seen() }))
    }

    fn take(&mut self) -> Result<Option<Self::Batch>> {
        Ok(self.sink.take()?.map(|batch| BatchWithStats { batch, stats: self.seen() }))
    }
}

impl<G: Sink> Sink for WithStats<G> {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every value: a call would cost as much as the work")]
    fn cell(&mut self, column: usize, cell: Cell) -> CellResult {
        if let Cell::String(text) = cell
            && self.time_column == Some(column)
            && text.len() == TIME
        {
            text.clone_into(&mut self.current_time);
        }
        self.sink.cell(column, cell)
    }

    fn extra(&mut self, name: &str, json: &str) {
        self.note_name(name);
        self.sink.extra(name, json);
    }

    #[inline]
    fn end_record(&mut self) {
        self.rows += 1;
        self.record += 1;
        for place in self.current_names.drain(..) {
            if let Some(extra) = self.names.get_mut(place) {
                extra.records += 1;
            }
        }
        if !self.current_time.is_empty() {
            let (least, greatest) =
                self.times.get_or_insert_with(|| (self.current_time.clone(), self.current_time.clone()));
            // Times as the document writes them are in the order of their texts.
            if self.current_time < *least {
                least.clone_from(&self.current_time);
            }
            if self.current_time > *greatest {
                greatest.clone_from(&self.current_time);
            }
            self.current_time.clear();
        }
        self.sink.end_record();
    }

    fn undo_record(&mut self) {
        self.forget_record();
        self.sink.undo_record();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Cells;

    #[test]
    fn keys_and_times_are_counted_of_complete_records_alone() {
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
        let seen = sink.take().expect("a batch").expect("records").stats;
        assert_eq!(seen.rows, 3);
        assert_eq!(seen.extras, [("a".to_owned(), 1), ("b".to_owned(), 2)]);
        assert_eq!(seen.times, Some(("2024-01-14 23:59:59".to_owned(), "2024-01-15 10:00:00".to_owned())));
        assert!(sink.take().expect("no error").is_none());
    }

    #[test]
    fn what_batches_saw_adds_up() {
        let seen = |name: &str, times: Option<(&str, &str)>| RecordStats {
            rows: 3,
            extras: vec![(name.to_owned(), 2)],
            times: times.map(|(least, greatest)| (least.to_owned(), greatest.to_owned())),
        };
        let mut all = seen("a", None);
        all.add(seen("b", Some(("2", "3"))));
        all.add(seen("a", Some(("1", "2"))));
        all.add(seen("a", None));
        assert_eq!(all.rows, 12);
        assert_eq!(all.extras, [("a".to_owned(), 6), ("b".to_owned(), 2)]);
        assert_eq!(all.times, Some(("1".to_owned(), "3".to_owned())));
    }

    #[test]
    fn names_without_end_are_counted_together() {
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
