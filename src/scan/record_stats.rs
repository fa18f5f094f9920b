//! A sink around a sink that counts what columns do not hold: keys that were not requested, and the range of times.
//!
//! The counts travel with the batch of their records, so that a retry voids both together.

use std::array;
use std::collections::HashMap;

use crate::decode::{Batch, BatchSink, Bytes32, Cell, CellResult, Sink};
use crate::error::Result;

/// Keys that were not requested and are counted by name.
const NAMES: usize = 32;
/// Bytes of such a name. The service decides how long a key is, and how many there are.
const NAME_BYTES: usize = 64;
/// The name under which all other keys are counted together.
const OTHERS: &str = "…";
/// The length of a time as the service writes it: `2024-01-31 12:34:56`. A fraction of a second may follow.
const TIME: usize = 19;

/// Counts of some records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordStats {
    /// Records.
    pub rows: u64,
    /// Keys that were not requested, and how many records had each.
    pub extras: Vec<(String, u64)>,
    /// The least and the greatest time of the watched column, as the service writes times.
    pub times: Option<(String, String)>,
    /// The columns of strings that had other values, if that is worth a warning.
    pub mixed: Vec<String>,
}

impl RecordStats {
    /// Adds the counts of later records.
    pub fn add(&mut self, later: Self) {
        self.rows += later.rows;
        for (name, count) in later.extras {
            let is_named = self.extras.len() < NAMES || self.extras.iter().any(|(known, _)| *known == name);
            let name = if is_named { name } else { OTHERS.to_owned() };
            match self.extras.iter_mut().find(|(known, _)| *known == name) {
                // A record may have several of the others.
                Some((_, known)) => *known = (*known + count).min(self.rows),
                None => self.extras.push((name, count)),
            }
        }
        add_new(&mut self.mixed, later.mixed);
        self.times = match (self.times.take(), later.times) {
            (Some((least, greatest)), Some((other_least, other_greatest))) => {
                Some((least.min(other_least), greatest.max(other_greatest)))
            }
            (one, other) => one.or(other),
        };
    }
}

/// Adds names that are not there yet.
pub(super) fn add_new(names: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for name in more {
        if !names.contains(&name) {
            names.push(name);
        }
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

    fn result_bytes(&self) -> usize {
        self.batch.result_bytes()
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

/// `YYYY-MM-DD HH:MM:SS` as three overlapping big-endian words, so that comparing the words compares the times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Time([u64; 3]);

impl Time {
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "constant indices")]
    fn new(text: &[u8; TIME]) -> Self {
        let word = |start: usize| u64::from_be_bytes(array::from_fn(|at| text[start + at]));
        Self([0, 8, TIME - 8].map(word))
    }

    /// The whole seconds of a time. None for other texts, such as `0000-00-00 00:00:00`, which some databases write.
    #[inline]
    fn of(text: &[u8]) -> Option<Self> {
        let (seconds, fraction) = text.split_first_chunk()?;
        let is_time = fraction.first().is_none_or(|first| *first == b'.') && !seconds.starts_with(b"0000");
        is_time.then(|| Self::new(seconds))
    }

    fn text(self) -> String {
        let [first, second, last] = self.0.map(u64::to_be_bytes);
        let [.., c, b, a] = last;
        String::from_utf8_lossy(&[&first[..], &second[..], &[c, b, a][..]].concat()).into_owned()
    }
}

/// Counts records on their way to another sink.
#[derive(Debug)]
pub(super) struct WithStats<S> {
    sink: S,
    /// The column of times; the greatest number if there is none.
    time_column: usize,
    rows: u64,
    times: Option<(Time, Time)>,
    extras: Vec<Extra>,
    /// The position in `extras` that the next key probably has.
    next_extra: usize,
    /// The position of each key in `extras`.
    positions: HashMap<String, usize>,
    /// The number of the record that is being read, from 1.
    record: u64,
    /// The first bytes of its time, and how many these are: no look at them yet, as that would take registers.
    time: Bytes32,
    time_length: usize,
}

impl<S> WithStats<S> {
    /// Counts the keys, and the times of a column where one is given.
    pub(super) fn new(sink: S, time_column: Option<usize>) -> Self {
        Self {
            sink,
            time_column: time_column.unwrap_or(usize::MAX),
            rows: 0,
            times: None,
            extras: Vec::new(),
            next_extra: 0,
            positions: HashMap::new(),
            record: 1,
            time: Bytes32::default(),
            time_length: 0,
        }
    }

    fn count_extra(&mut self, name: &str) {
        let is_next = self.extras.get(self.next_extra).is_some_and(|extra| extra.name == name);
        let position = if is_next { self.next_extra } else { self.position(name) };
        // The key after one of the others is the one that was expected in its place.
        if is_next || self.extras.get(position).is_some_and(|extra| extra.name == name) {
            self.next_extra = position + 1;
        }
        if let Some(extra) = self.extras.get_mut(position).filter(|extra| extra.last != self.record) {
            extra.last = self.record;
            extra.records += 1;
        }
    }

    fn position(&mut self, name: &str) -> usize {
        let is_named = name.len() <= NAME_BYTES && (self.extras.len() < NAMES || self.positions.contains_key(name));
        let name = if is_named { name } else { OTHERS };
        self.positions.get(name).copied().unwrap_or_else(|| {
            self.extras.push(Extra { name: name.to_owned(), records: 0, last: 0 });
            self.positions.insert(name.to_owned(), self.extras.len() - 1);
            self.extras.len() - 1
        })
    }

    fn take_stats(&mut self) -> RecordStats
    where
        S: BatchSink,
    {
        let extras = self.extras.iter_mut().filter(|extra| extra.records > 0);
        let extras = extras.map(|extra| (extra.name.clone(), std::mem::take(&mut extra.records))).collect();
        let times = self.times.take().map(|(least, greatest)| (least.text(), greatest.text()));
        RecordStats { rows: std::mem::take(&mut self.rows), extras, times, mixed: self.sink.mixed() }
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
            && self.time_column == column
        {
            self.time.iter_mut().zip(text.bytes()).for_each(|(kept, byte)| *kept = byte);
            self.time_length = self.time.len().min(text.len());
        }
        self.sink.cell(column, cell)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as above")]
    fn short_string(&mut self, column: usize, text: &Bytes32, length: usize) -> bool {
        if self.time_column == column {
            (self.time, self.time_length) = (*text, length);
        }
        // If the sink refuses, the same text comes again as a cell.
        self.sink.short_string(column, text, length)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as above")]
    fn short_integer(&mut self, column: usize, integer: i32, written: &Bytes32, length: usize) -> bool {
        self.sink.short_integer(column, integer, written, length)
    }

    fn records_until_full(&self) -> u64 {
        self.sink.records_until_full()
    }

    fn extra(&mut self, name: &str, json: &str) {
        self.count_extra(name);
        self.sink.extra(name, json);
    }

    #[inline]
    fn end_record(&mut self) {
        self.rows += 1;
        self.record += 1;
        self.next_extra = 0;
        let text = self.time.get(..std::mem::take(&mut self.time_length));
        if let Some(time) = text.and_then(Time::of) {
            let (least, greatest) = self.times.get_or_insert((time, time));
            if time < *least {
                *least = time;
            } else if time > *greatest {
                *greatest = time;
            }
        }
        self.sink.end_record();
    }

    fn undo_record(&mut self) {
        for extra in self.extras.iter_mut().filter(|extra| extra.last == self.record) {
            extra.records = extra.records.saturating_sub(1);
        }
        self.record += 1;
        self.next_extra = 0;
        self.time_length = 0;
        self.sink.undo_record();
    }
}

#[cfg(test)]
mod tests;
