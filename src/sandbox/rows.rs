//! Writes the rows of a statement as JSON records.

use std::io::{Result as IoResult, Write};

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::reply::json;
use crate::error::{Error, Kind, Result};

/// Writes rows as comma-separated JSON objects.
pub(super) struct RowWriter {
    columns: Vec<Column>,
    rows: usize,
}

struct Column {
    /// The text before the value: a comma but for the first, name and colon.
    lead: String,
    wrapper: Wrapper,
}

/// The text around a value that is not null.
#[derive(Clone, Copy)]
pub(super) struct Wrapper(&'static str, &'static str);

impl Wrapper {
    /// The value alone.
    pub(super) const PLAIN: Self = Self("", "");
    /// A number as a string.
    pub(super) const QUOTED: Self = Self("\"", "\"");
    /// An object with the value as its member `value`.
    pub(super) const OBJECT: Self = Self("{\"value\":", "}");
}

impl RowWriter {
    /// A writer of records with these keys, in this order.
    pub(super) fn new<'a>(keys: impl Iterator<Item = (&'a str, Wrapper)>) -> Self {
        let column = |(index, (name, wrapper))| {
            let lead = format!("{}{}:", if index == 0 { "" } else { "," }, json(&name));
            Column { lead, wrapper }
        };
        Self { columns: keys.enumerate().map(column).collect(), rows: 0 }
    }

    /// Writes one row.
    pub(super) fn write(&mut self, row: &Row<'_>, out: &mut Vec<u8>) -> Result<()> {
        if self.rows > 0 {
            out.push(b',');
        }
        out.push(b'{');
        for (index, column) in self.columns.iter().enumerate() {
            out.extend_from_slice(column.lead.as_bytes());
            let value = row.get_ref(index).map_err(failure)?;
            write_value(value, column.wrapper, out).map_err(failure)?;
        }
        out.push(b'}');
        self.rows += 1;
        Ok(())
    }

    /// How many rows were written.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }
}

fn failure(cause: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(Kind::Sandbox, format!("a row could not be written: {cause}")).with_source(cause)
}

fn write_value(value: ValueRef<'_>, Wrapper(before, after): Wrapper, out: &mut Vec<u8>) -> IoResult<()> {
    // No cell is a blob.
    if matches!(value, ValueRef::Null | ValueRef::Blob(_)) {
        return out.write_all(b"null");
    }
    out.extend_from_slice(before.as_bytes());
    match value {
        ValueRef::Integer(number) => serde_json::to_writer(&mut *out, &number)?,
        ValueRef::Real(number) => serde_json::to_writer(&mut *out, &number)?,
        ValueRef::Text(text) => serde_json::to_writer(&mut *out, &String::from_utf8_lossy(text))?,
        ValueRef::Null | ValueRef::Blob(_) => {}
    }
    out.extend_from_slice(after.as_bytes());
    Ok(())
}
