//! Records by prediction: each key is expected where the records before had it, each value read by its own loop.
//!
//! Whatever surprises, be it broken or only strange, is not judged here: the record is taken back and left to the
//! plain path (`reference.rs`), which this one must equal.

use super::column_names::ColumnNames;
use super::cursor::{Cursor, Number};
use super::key_predictor::{Field, KeyPredictor};
use super::{Limits, Sink};

/// Brackets around a value: the answer, its `data`, the array and the record.
const OUTER_DEPTH: usize = 4;

/// What was learnt from earlier records, and what is used again from one to the next.
#[derive(Debug)]
pub(super) struct FastPath {
    /// The depth is that of a value of a record, and a record no longer than a value may be.
    limits: Limits,
    predictor: KeyPredictor,
    /// The record being read, and for each column the last in which it came.
    record: u64,
    stamps: Vec<u64>,
    /// Holds a text that has escapes.
    scratch: String,
}

/// What was seen of a record.
#[derive(Default)]
struct Seen {
    /// Requested keys, and others.
    found: usize,
    extras: usize,
    /// Keys that were new, or came after later ones.
    misses: usize,
    /// The place of the layout that is due.
    next: usize,
}

/// How far records were read.
pub(super) struct Run {
    pub(super) count: u64,
    pub(super) end: usize,
    /// A record begins at the end, which is to be read otherwise; else a comma or the end of the array is due.
    pub(super) is_at_record: bool,
}

impl FastPath {
    /// None where the limits allow no record at all.
    pub(super) fn new(columns: usize, limits: Limits) -> Option<Self> {
        // Then no value need be measured: longer records are for the plain path.
        let record = limits.record.min(limits.value);
        let limits = Limits { depth: limits.depth.checked_sub(OUTER_DEPTH)?, record, ..limits };
        let (predictor, stamps) = (KeyPredictor::new(columns), vec![0; columns]);
        Some(Self { limits, predictor, record: 0, stamps, scratch: String::new() })
    }

    /// Reads records and the commas between them while nothing surprises, but no more than `most`.
    pub(super) fn read_all<S: Sink>(
        &mut self,
        text: &str,
        start: usize,
        most: u64,
        columns: &mut ColumnNames,
        sink: &mut S,
    ) -> Run {
        let mut cursor = Cursor::new(text, start);
        let mut run = Run { count: 0, end: start, is_at_record: true };
        while run.count < most && cursor.at() < text.len() {
            let Some(after) = self.read(cursor, columns, sink) else {
                sink.undo_record();
                break;
            };
            cursor = after;
            run = Run { count: run.count + 1, end: cursor.at(), is_at_record: false };
            if cursor.ends(b']') != Some(false) || cursor.token().is_none() {
                return run;
            }
            (run.end, run.is_at_record) = (cursor.at(), true);
        }
        run
    }

    /// Behind the record that begins here. None for whatever surprises.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the loop over records is this and nothing else")]
    fn read<'a, S: Sink>(&mut self, start: Cursor<'a>, columns: &mut ColumnNames, sink: &mut S) -> Option<Cursor<'a>> {
        self.record += 1;
        let mut cursor = start;
        cursor.pass(b"{")?;
        let mut seen = Seen::default();
        let mut is_complete = cursor.is_empty(b'}')?;
        while !is_complete {
            self.read_member(&mut cursor, &mut seen, columns, sink)?;
            is_complete = cursor.ends(b'}')?;
        }
        if cursor.at() - start.at() > self.limits.record {
            return None;
        }
        if seen.found < self.stamps.len() {
            self.fill_absent(columns, sink)?;
        }
        self.predictor.record_outcome(seen.found + seen.extras, seen.misses);
        columns.count_record(seen.extras > 0);
        sink.end_record();
        Some(cursor)
    }

    /// A key and its value.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once for each value of an answer: a call would cost as much as the work")]
    fn read_member<S: Sink>(
        &mut self,
        cursor: &mut Cursor,
        seen: &mut Seen,
        columns: &ColumnNames,
        sink: &mut S,
    ) -> Option<()> {
        let bytes = cursor.rest()?;
        let field = if let Some(field) = self.predictor.expected(seen.next, bytes) {
            cursor.skip(field.length());
            seen.next += 1;
            field
        } else if let Some((place, field)) = self.predictor.find(seen.next, bytes) {
            cursor.skip(field.length());
            seen.misses += usize::from(place < seen.next);
            seen.next = place + 1;
            field
        } else {
            let (place, field, value) = read_key(*cursor, seen.next, columns, &mut self.predictor, &mut self.scratch)?;
            *cursor = value;
            seen.misses += 1;
            seen.next = place + 1;
            field
        };
        let Some(column) = field.column else {
            seen.extras += 1;
            cursor.token()?;
            let value = *cursor;
            *cursor = value.past_value(self.limits.depth, self.limits.number)?;
            sink.extra(&field.name, cursor.since(value.at())?);
            return Some(());
        };
        let stamp = self.stamps.get_mut(column).filter(|stamp| **stamp != self.record)?;
        *stamp = self.record;
        seen.found += 1;
        read_cell(cursor, column, &self.limits, &mut self.scratch, sink)
    }

    #[cold]
    fn fill_absent<S: Sink>(&self, columns: &mut ColumnNames, sink: &mut S) -> Option<()> {
        for (column, stamp) in self.stamps.iter().enumerate() {
            if *stamp != self.record {
                sink.null(column).ok()?;
                columns.count_absent(column);
            }
        }
        Some(())
    }
}

/// Reads a key that was not foreseen, for it to be foreseen from now on. Answers also where its value begins.
#[cold]
fn read_key<'a, 'l>(
    start: Cursor<'a>,
    next: usize,
    columns: &ColumnNames,
    predictor: &'l mut KeyPredictor,
    scratch: &mut String,
) -> Option<(usize, &'l Field, Cursor<'a>)> {
    let mut cursor = start;
    (cursor.token()? == b'"').then_some(())?;
    let name = cursor.text(scratch)?;
    cursor.token()?;
    cursor.pass(b":")?;
    cursor.token()?;
    let written = cursor.since(start.at())?.as_bytes();
    let (place, field) = predictor.learn(next, written, name, columns.find(name))?;
    Some((place, field, cursor))
}

/// One value into its column.
#[inline(always)]
#[expect(clippy::inline_always, reason = "once for each value of an answer: a call would cost as much as the work")]
fn read_cell<S: Sink>(
    cursor: &mut Cursor,
    column: usize,
    limits: &Limits,
    scratch: &mut String,
    sink: &mut S,
) -> Option<()> {
    let fit = match cursor.token()? {
        b'"' => sink.text(column, cursor.text(scratch)?),
        b'n' => {
            cursor.pass(b"null")?;
            sink.null(column)
        }
        b't' => {
            cursor.pass(b"true")?;
            sink.bool(column, true)
        }
        b'f' => {
            cursor.pass(b"false")?;
            sink.bool(column, false)
        }
        b'{' | b'[' => {
            let start = *cursor;
            *cursor = start.past_value(limits.depth, limits.number)?;
            sink.nested(column, cursor.since(start.at())?)
        }
        _ => match cursor.number(limits.number)? {
            Number::Whole(digits) => sink.integer(column, digits),
            Number::Float(text) => sink.number(column, text),
        },
    };
    fit.ok()
}
