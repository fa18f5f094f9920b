//! Records by prediction: each key is expected where the records before had it, each value read by its own loop.
//!
//! Whatever surprises, be it broken or only strange, is not judged here: the record is taken back and left to the
//! plain path (`record.rs`), which this one must equal.

use super::columns::Columns;
use super::cursor::{Cursor, Number};
use super::layout::{Field, Layout};
use super::{Limits, Sink};

/// Brackets around a value: the answer, its `data`, the array and the record.
const OUTER_DEPTH: usize = 4;

/// What was learnt from earlier records, and what is used again from one to the next.
#[derive(Debug)]
pub(super) struct Fast {
    limits: Limits,
    layout: Layout,
    /// The record being read, and for each column the last in which it came.
    record: u64,
    stamps: Vec<u64>,
    /// Holds a text that has escapes.
    scratch: String,
}

/// How far records were read.
pub(super) struct Run {
    pub(super) count: u64,
    pub(super) end: usize,
    /// A record begins at the end, which is to be read otherwise; else a comma or the end of the array is due.
    pub(super) is_at_record: bool,
}

impl Fast {
    pub(super) fn new(columns: usize, limits: Limits) -> Self {
        Self { limits, layout: Layout::new(columns), record: 0, stamps: vec![0; columns], scratch: String::new() }
    }

    /// Reads records and the commas between them while nothing surprises, but no more than `most`.
    pub(super) fn read_all<S: Sink>(
        &mut self,
        text: &str,
        start: usize,
        most: u64,
        columns: &mut Columns,
        sink: &mut S,
    ) -> Run {
        let mut cursor = Cursor::new(text, start);
        let mut run = Run { count: 0, end: start, is_at_record: true };
        while run.count < most && self.read(&mut cursor, columns, sink).is_some() {
            run = Run { count: run.count + 1, end: cursor.at(), is_at_record: false };
            if cursor.ends(b']') != Some(false) || cursor.token().is_none() {
                return run;
            }
            (run.end, run.is_at_record) = (cursor.at(), true);
        }
        sink.undo_record();
        run
    }

    fn read<S: Sink>(&mut self, cursor: &mut Cursor, columns: &mut Columns, sink: &mut S) -> Option<()> {
        let start = cursor.at();
        self.record += 1;
        self.layout.begin();
        cursor.pass(b"{")?;
        let (mut found, mut members) = (0, 0);
        let mut is_complete = cursor.token()? == b'}';
        if is_complete {
            cursor.skip(1);
        }
        while !is_complete {
            found += usize::from(self.member(cursor, columns, sink)?);
            members += 1;
            is_complete = cursor.ends(b'}')?;
        }
        if cursor.at() - start > self.limits.record {
            return None;
        }
        if found < self.stamps.len() {
            self.fill_absent(columns, sink)?;
        }
        self.layout.end();
        columns.count_record(members > found);
        sink.end_record();
        Some(())
    }

    /// A key and its value. Answers whether it was requested.
    #[inline]
    fn member<S: Sink>(&mut self, cursor: &mut Cursor, columns: &Columns, sink: &mut S) -> Option<bool> {
        cursor.token()?;
        let field = match self.layout.find(cursor.rest()) {
            Some((field, length)) => {
                cursor.skip(length);
                field
            }
            None => unknown_key(cursor, columns, &mut self.layout, &mut self.scratch)?,
        };
        cursor.token()?;
        if let Some(column) = field.column {
            let stamp = self.stamps.get_mut(column).filter(|stamp| **stamp != self.record)?;
            *stamp = self.record;
            cell(cursor, column, &self.limits, &mut self.scratch, sink)?;
            return Some(true);
        }
        let start = cursor.at();
        cursor.value(self.limits.depth.saturating_sub(OUTER_DEPTH))?;
        sink.extra(&field.name, cursor.since(start)?);
        Some(false)
    }

    #[cold]
    fn fill_absent<S: Sink>(&self, columns: &mut Columns, sink: &mut S) -> Option<()> {
        for (column, stamp) in self.stamps.iter().enumerate() {
            if *stamp != self.record {
                sink.null(column).ok()?;
                columns.count_absent(column);
            }
        }
        Some(())
    }
}

/// Reads a key that was not foreseen, for it to be foreseen from now on.
#[cold]
fn unknown_key<'l>(
    cursor: &mut Cursor,
    columns: &Columns,
    layout: &'l mut Layout,
    scratch: &mut String,
) -> Option<&'l Field> {
    let start = cursor.at();
    (cursor.byte()? == b'"').then_some(())?;
    let name = cursor.text(scratch)?;
    cursor.token()?;
    cursor.pass(b":")?;
    layout.learn(cursor.since(start)?.as_bytes(), name, columns.find(name))
}

/// One value into its column.
#[inline]
fn cell<S: Sink>(
    cursor: &mut Cursor,
    column: usize,
    limits: &Limits,
    scratch: &mut String,
    sink: &mut S,
) -> Option<()> {
    let start = cursor.at();
    let fit = match cursor.byte()? {
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
            cursor.value(limits.depth.saturating_sub(OUTER_DEPTH))?;
            sink.nested(column, cursor.since(start)?)
        }
        _ => match cursor.number(limits.number)? {
            Number::Whole(digits) => sink.integer(column, digits),
            Number::Float(text) => sink.number(column, text),
        },
    };
    fit.ok().filter(|()| cursor.at() - start <= limits.value)
}
