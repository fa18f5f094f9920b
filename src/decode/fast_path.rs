//! The fast path: reads records with predicted keys, each type of value with a loop of its own.
//!
//! The loop of `hot_loop` reads what is expected. What it stops at is read here, member by member, and then it goes on.
//! Reports no errors. A record with anything invalid or unusual is undone and left to `reference`, with which this
//! path must agree.

use super::column_names::ColumnNames;
use super::cursor::Cursor;
use super::hot_loop::INTEGER_DIGITS;
use super::key_predictor::{Key, KeyPredictor};
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
}

/// The records that were read.
pub(super) struct Run {
    pub(super) count: u64,
    pub(super) end: usize,
    /// Whether a record begins at the end. Otherwise a comma or the end of the array comes next.
    pub(super) is_at_record: bool,
}

impl FastPath {
    /// None if the limits allow no record at all, or not every number that the loop over expected keys reads.
    pub(super) fn new(names: &[String], limits: Limits) -> Option<Self> {
        // Leaves records longer than a value may be to `reference`, so that no value need be measured.
        let record = limits.record.min(limits.value);
        let limits = Limits { depth: limits.depth.checked_sub(OUTER_DEPTH)?, record, ..limits };
        let (predictor, seen) = (KeyPredictor::new(names), SeenColumns::new(names.len()));
        (limits.number >= INTEGER_DIGITS).then_some(Self { predictor, seen, values: ValueReader::new(limits) })
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
        if cursor.at() - run.end > self.values.limits.record {
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
        let known = self.predictor.recognize(cursor.rest()?);
        let key = if let Some(key) = known {
            cursor.skip(key.length);
            key
        } else {
            let mut brace = *cursor;
            brace.skip(1);
            if before == b'{' && brace.token()? == b'}' {
                *cursor = brace;
                return Some(false);
            }
            let (key, value) = learn_key(*cursor, columns, &mut self.predictor, &mut self.values.scratch)?;
            *cursor = value;
            key
        };
        let Some(column) = key.column else {
            self.values.read_extra(cursor, self.predictor.last_name(), sink)?;
            return Some(true);
        };
        // The last of a duplicate key wins, as in `reference`.
        if !self.seen.mark(column) {
            sink.undo_cell(column);
        }
        self.values.read_cell(cursor, column, sink)?;
        Some(true)
    }
}

/// Reads a key that is not known yet and adds it to the predictor. Returns also the position of its value.
#[cold]
fn learn_key<'a>(
    start: Cursor<'a>,
    columns: &ColumnNames,
    predictor: &mut KeyPredictor,
    scratch: &mut PaddedBytes,
) -> Option<(Key, Cursor<'a>)> {
    let mut cursor = start;
    cursor.skip(1);
    (cursor.token()? == b'"').then_some(())?;
    let name = cursor.string(scratch)?;
    cursor.token()?;
    cursor.expect(b":")?;
    cursor.token()?;
    // A record with a longer key is left to `reference`.
    let written = cursor.since(start.at()).filter(|written| KeyPredictor::remembers(written))?;
    Some((predictor.learn(written, name, columns.find(name)), cursor))
}
