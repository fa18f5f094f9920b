//! The fast path: reads records with predicted keys, each type of value with a loop of its own.
//!
//! Reports no errors. A record with anything invalid or unusual is undone and left to `reference`, with which this
//! path must agree.

use super::column_names::ColumnNames;
use super::cursor::Cursor;
use super::key_predictor::{Field, KeyPredictor};
use super::{Cell, Limits, Sink};

/// Brackets around a value: the response, its `data`, the array and the record.
const OUTER_DEPTH: usize = 4;

/// Reads records, and learns from each what to expect of the next.
#[derive(Debug)]
pub(super) struct FastPath {
    limits: Limits,
    predictor: KeyPredictor,
    /// Number of the current record, and for each column that of the last record with its key.
    record: u64,
    last_records: Vec<u64>,
    /// Holds a string with escapes.
    scratch: String,
}

/// Keys of the current record.
#[derive(Default)]
struct Keys {
    all: usize,
    requested: usize,
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
    pub(super) fn new(columns: usize, limits: Limits) -> Option<Self> {
        // Leaves records longer than a value may be to `reference`, so that no value need be measured.
        let record = limits.record.min(limits.value);
        let limits = Limits { depth: limits.depth.checked_sub(OUTER_DEPTH)?, record, ..limits };
        let (predictor, last_records) = (KeyPredictor::new(columns), vec![0; columns]);
        Some(Self { limits, predictor, record: 0, last_records, scratch: String::new() })
    }

    /// Reads up to `max` records and the commas between them, and stops at the first that it cannot read.
    pub(super) fn read_all<S: Sink>(
        &mut self,
        text: &str,
        start: usize,
        max: u64,
        columns: &mut ColumnNames,
        sink: &mut S,
    ) -> Run {
        let mut cursor = Cursor::new(text, start);
        let mut run = Run { count: 0, end: start, is_at_record: true };
        while run.count < max && cursor.at() < text.len() {
            let Some(after) = self.read(cursor, columns, sink) else {
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
    #[expect(clippy::inline_always, reason = "the loop over records does little else")]
    fn read<'a, S: Sink>(&mut self, start: Cursor<'a>, columns: &mut ColumnNames, sink: &mut S) -> Option<Cursor<'a>> {
        self.record += 1;
        self.predictor.begin_record();
        let mut cursor = start;
        cursor.expect(b"{")?;
        let mut keys = Keys::default();
        let mut is_complete = cursor.end_empty(b'}')?;
        while !is_complete {
            self.read_member(&mut cursor, &mut keys, columns, sink)?;
            is_complete = cursor.end_member(b'}')?;
        }
        if cursor.at() - start.at() > self.limits.record {
            return None;
        }
        if keys.requested < self.last_records.len() {
            self.fill_absent(columns, sink)?;
        }
        self.predictor.end_record(keys.all);
        columns.count_record();
        sink.end_record();
        Some(cursor)
    }

    /// Reads a key and its value.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every value: a call would cost as much as the work")]
    fn read_member<S: Sink>(
        &mut self,
        cursor: &mut Cursor,
        keys: &mut Keys,
        columns: &ColumnNames,
        sink: &mut S,
    ) -> Option<()> {
        let field = if let Some(field) = self.predictor.recognize(cursor.rest()?) {
            cursor.skip(field.length());
            field
        } else {
            let (field, value) = learn_key(*cursor, columns, &mut self.predictor, &mut self.scratch)?;
            *cursor = value;
            field
        };
        keys.all += 1;
        let Some(column) = field.column else {
            cursor.token()?;
            let value = *cursor;
            *cursor = value.skip_value(self.limits.depth, self.limits.number)?;
            sink.extra(&field.name, cursor.since(value.at())?);
            return Some(());
        };
        // A key that comes twice is left to `reference`.
        let last_record = self.last_records.get_mut(column).filter(|last| **last != self.record)?;
        *last_record = self.record;
        keys.requested += 1;
        read_cell(cursor, column, &self.limits, &mut self.scratch, sink)
    }

    #[cold]
    fn fill_absent<S: Sink>(&self, columns: &mut ColumnNames, sink: &mut S) -> Option<()> {
        for (column, last_record) in self.last_records.iter().enumerate() {
            if *last_record != self.record {
                sink.cell(column, Cell::Null).ok()?;
                columns.count_absent(column);
            }
        }
        Some(())
    }
}

/// Reads a key that is not known yet and adds it to the predictor. Returns also the position of its value.
#[cold]
fn learn_key<'a, 'p>(
    start: Cursor<'a>,
    columns: &ColumnNames,
    predictor: &'p mut KeyPredictor,
    scratch: &mut String,
) -> Option<(&'p Field, Cursor<'a>)> {
    let mut cursor = start;
    (cursor.token()? == b'"').then_some(())?;
    let name = cursor.string(scratch)?;
    cursor.token()?;
    cursor.expect(b":")?;
    cursor.token()?;
    let written = cursor.since(start.at())?.as_bytes();
    Some((predictor.learn(written, name, columns.find(name))?, cursor))
}

/// Reads a value into its column.
#[inline(always)]
#[expect(clippy::inline_always, reason = "runs for every value: a call would cost as much as the work")]
fn read_cell<S: Sink>(
    cursor: &mut Cursor,
    column: usize,
    limits: &Limits,
    scratch: &mut String,
    sink: &mut S,
) -> Option<()> {
    // One call of the sink for each type: the compiler then inlines only what that type needs.
    let result = match cursor.token()? {
        b'"' => sink.cell(column, Cell::String(cursor.string(scratch)?)),
        b'n' => {
            cursor.expect(b"null")?;
            sink.cell(column, Cell::Null)
        }
        b't' => {
            cursor.expect(b"true")?;
            sink.cell(column, Cell::Bool(true))
        }
        b'f' => {
            cursor.expect(b"false")?;
            sink.cell(column, Cell::Bool(false))
        }
        b'{' | b'[' => {
            let start = *cursor;
            *cursor = start.skip_value(limits.depth, limits.number)?;
            sink.cell(column, Cell::Nested(cursor.since(start.at())?))
        }
        _ => sink.cell(column, cursor.number(limits.number)?),
    };
    result.ok()
}
