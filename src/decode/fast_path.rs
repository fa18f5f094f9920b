//! The fast path: reads records with predicted keys, each type of value with a loop of its own.
//!
//! The loop of `straight` reads what is expected. What it stops at is read here, member by member, and then it goes on.
//! Reports no errors. A record with anything invalid or unusual is undone and left to `reference`, with which this
//! path must agree.

use super::column_names::ColumnNames;
use super::cursor::Cursor;
use super::key_predictor::{Key, KeyPredictor};
use super::seen::Seen;
use super::straight::{INTEGER_DIGITS, read_members};
use super::value_reader::ValueReader;
use super::vector::{Simd, with_widest};
use super::{Cell, Limits, Sink};

/// Brackets around a value: the response, its `data`, the array and the record.
const OUTER_DEPTH: usize = 4;

/// Reads records, and learns from each what to expect of the next.
#[derive(Debug)]
pub(super) struct FastPath {
    predictor: KeyPredictor,
    seen: Seen,
    values: ValueReader,
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
    pub(super) fn new(columns: usize, limits: Limits) -> Option<Self> {
        // Leaves records longer than a value may be to `reference`, so that no value need be measured.
        let record = limits.record.min(limits.value);
        let limits = Limits { depth: limits.depth.checked_sub(OUTER_DEPTH)?, record, ..limits };
        let (predictor, seen) = (KeyPredictor::new(columns), Seen::new(columns));
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
        with_widest!(simd => self.read_records(simd, Cursor::new(bytes, start), max, columns, sink))
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the caller has the instructions of the token")]
    fn read_records<V: Simd, S: Sink>(
        &mut self,
        simd: V,
        start: Cursor,
        max: u64,
        columns: &mut ColumnNames,
        sink: &mut S,
    ) -> Run {
        let mut cursor = start;
        let mut run = Run { count: 0, end: start.at(), is_at_record: true };
        while run.count < max && !cursor.is_at_end() {
            let Some(after) = self.read(simd, cursor, columns, sink) else {
                sink.undo_record();
                break;
            };
            cursor = after;
            run = Run { count: run.count + 1, end: cursor.at(), is_at_record: false };
            if cursor.end_member(b']') != Some(false) || cursor.token().is_none() {
                return run;
            }
            (run.end, run.is_at_record) = (cursor.at(), true);
        }
        run
    }

    /// Reads a record and returns the position behind it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the caller has the instructions of the token")]
    fn read<'a, V: Simd, S: Sink>(
        &mut self,
        simd: V,
        start: Cursor<'a>,
        columns: &mut ColumnNames,
        sink: &mut S,
    ) -> Option<Cursor<'a>> {
        self.predictor.begin_record();
        self.seen.begin_record();
        let mut cursor = start;
        (cursor.token()? == b'{').then_some(())?;
        loop {
            let is_first = cursor.at() == start.at();
            let (predictor, seen, values) = (&mut self.predictor, &mut self.seen, &mut self.values);
            cursor = read_members(simd, cursor, is_first, predictor, seen, values, sink);
            let before = if cursor.at() == start.at() { b'{' } else { b',' };
            if cursor.token()? == b'}' || !self.read_member(&mut cursor, before, columns, sink)? {
                break;
            }
        }
        cursor.skip(1);
        if cursor.at() - start.at() > self.values.limits.record {
            return None;
        }
        if !self.seen.is_complete() {
            self.fill_absent(columns, sink)?;
        }
        self.predictor.end_record(|| self.seen.count());
        columns.count_record();
        sink.end_record();
        Some(cursor)
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

    fn fill_absent<S: Sink>(&self, columns: &mut ColumnNames, sink: &mut S) -> Option<()> {
        for column in self.seen.absent() {
            sink.cell(column, Cell::Null).ok()?;
            columns.count_absent(column);
        }
        Some(())
    }
}

/// Reads a key that is not known yet and adds it to the predictor. Returns also the position of its value.
#[cold]
fn learn_key<'a>(
    start: Cursor<'a>,
    columns: &ColumnNames,
    predictor: &mut KeyPredictor,
    scratch: &mut String,
) -> Option<(Key, Cursor<'a>)> {
    let mut cursor = start;
    cursor.skip(1);
    (cursor.token()? == b'"').then_some(())?;
    let name = cursor.string(scratch)?;
    cursor.token()?;
    cursor.expect(b":")?;
    cursor.token()?;
    let written = cursor.since(start.at())?;
    Some((predictor.learn(written, name, columns.find(name)), cursor))
}
