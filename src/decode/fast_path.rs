//! The fast path: reads records with predicted keys, each type of value with a loop of its own.
//!
//! The loop of `hot_loop` reads what is expected. What it stops at is read here, member by member, and then it goes on.
//! Reports no errors. A record with anything invalid or unusual is undone and left to `reference`, with which this
//! path must agree.

use super::column_names::ColumnNames;
use super::cursor::Cursor;
use super::key_predictor::KeyPredictor;
use super::seen_columns::SeenColumns;
use super::simd::with_widest;
use super::value_reader::ValueReader;
use super::{Limits, PaddedBytes, Sink};

/// Brackets around a value: the response, its `data`, the array and the record.
const OUTER_DEPTH: usize = 4;

/// Reads records, and learns from each what to expect of the next.
#[derive(Debug)]
pub(super) struct FastPath {
    pub(super) predictor: KeyPredictor,
    pub(super) seen: SeenColumns,
    pub(super) values: ValueReader,
    /// Bytes of a record.
    pub(super) max_record: usize,
}

/// The records that were read.
pub(super) struct Run {
    pub(super) count: u64,
    pub(super) end: usize,
    /// Whether a record begins at the end. Otherwise a comma or the end of the array comes next.
    pub(super) is_at_record: bool,
}

impl FastPath {
    /// None if the limits allow no record at all.
    pub(super) fn new(names: &[String], limits: Limits) -> Option<Self> {
        let (predictor, seen) = (KeyPredictor::new(names), SeenColumns::new(names.len()));
        let values = ValueReader { depth: limits.depth.checked_sub(OUTER_DEPTH)?, scratch: PaddedBytes::default() };
        Some(Self { predictor, seen, values, max_record: limits.record })
    }

    /// Reads up to `max` records and the commas between them, and stops at the first that it cannot read.
    pub(super) fn read_all<S: Sink>(
        &mut self,
        bytes: &[u8],
        start: usize,
        max: u64,
        columns: &mut ColumnNames,
        sink: &mut S,
    ) -> Run {
        let mut run = Run { count: 0, end: start, is_at_record: true };
        while run.is_at_record && run.count < max && run.end < bytes.len() {
            if self.read(bytes, &mut run, max, columns, sink).is_none() {
                sink.undo_record();
                break;
            }
        }
        run
    }

    /// Reads the record at the end of the run, and maybe others behind it.
    fn read<S: Sink>(
        &mut self,
        bytes: &[u8],
        run: &mut Run,
        max: u64,
        columns: &mut ColumnNames,
        sink: &mut S,
    ) -> Option<()> {
        self.predictor.begin_record();
        self.seen.begin_record();
        let mut cursor = Cursor::new(bytes, run.end);
        (cursor.token()? == b'{').then_some(())?;
        loop {
            cursor = with_widest!(simd => self.run_hot_loop(simd, cursor, run, max, columns, sink))?;
            let before = if cursor.at() == run.end { b'{' } else { b',' };
            if cursor.token()? == b'}' || !self.read_member(&mut cursor, before, columns, sink)? {
                break;
            }
        }
        cursor.skip(1);
        if cursor.at() - run.end > self.max_record {
            return None;
        }
        if !self.seen.is_complete() {
            self.seen.fill_absent(columns, sink)?;
        }
        self.predictor.end_record(&self.seen);
        columns.count_record();
        sink.end_record();
        *run = Run { count: run.count + 1, end: cursor.at(), is_at_record: false };
        if cursor.end_member(b']') == Some(false) && cursor.token().is_some() {
            (run.end, run.is_at_record) = (cursor.at(), true);
        }
        Some(())
    }

    /// Reads a key and its value, and the comma or brace before them. Returns false for a record without any, whose
    /// closing brace then follows.
    fn read_member<S: Sink>(
        &mut self,
        cursor: &mut Cursor,
        before: u8,
        columns: &ColumnNames,
        sink: &mut S,
    ) -> Option<bool> {
        (cursor.token()? == before).then_some(())?;
        let column = if let Some((column, length)) = self.predictor.recognize(cursor.rest()?) {
            cursor.skip(length);
            column
        } else {
            let start = cursor.at();
            cursor.skip(1);
            if before == b'{' && cursor.token()? == b'}' {
                return Some(false);
            }
            let ValueReader { depth, scratch } = &mut self.values;
            let name = cursor.key(scratch)?;
            let Some(column) = columns.find(name) else {
                let value = *cursor;
                *cursor = value.skip_value(*depth)?;
                sink.extra(name, cursor.text_since(value.at())?);
                return Some(true);
            };
            self.predictor.learn(cursor.since(start)?, column);
            column
        };
        // Of a key that comes twice, the last value counts: `reference` knows which that is.
        self.seen.mark(column).then_some(())?;
        self.values.read_cell(cursor, column, sink)?;
        Some(true)
    }
}
