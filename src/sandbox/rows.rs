//! Records as JSON: the rows of a statement written straight into the body.
//!
//! It knows nothing of the envelope around them.

use std::io::{Result as IoResult, Write};

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::reply::json;
use crate::error::{Error, Kind, Result};

/// Writes rows as JSON objects divided by commas.
pub(super) struct RowWriter {
    columns: Vec<Column>,
    rows: usize,
}

struct Column {
    /// What stands before the value: the comma or brace, the name as JSON, the colon.
    lead: String,
    dress: Dress,
}

/// What is written around a value that is set.
#[derive(Clone, Copy)]
pub(super) struct Dress(&'static str, &'static str);

impl Dress {
    /// The value alone.
    pub(super) const PLAIN: Self = Self("", "");
    /// A number as a text.
    pub(super) const QUOTED: Self = Self("\"", "\"");
    /// An object with the value in it.
    pub(super) const OBJECT: Self = Self("{\"value\":", "}");
}

impl RowWriter {
    /// A writer of records with these keys, in this order.
    pub(super) fn new<'a>(keys: impl Iterator<Item = (&'a str, Dress)>) -> Self {
        let column = |(place, (name, dress))| {
            let lead = format!("{}{}:", if place == 0 { '{' } else { ',' }, json(&name));
            Column { lead, dress }
        };
        Self { columns: keys.enumerate().map(column).collect(), rows: 0 }
    }

    /// Writes one row.
    pub(super) fn write(&mut self, row: &Row<'_>, out: &mut Vec<u8>) -> Result<()> {
        if self.rows > 0 {
            out.push(b',');
        }
        for (place, column) in self.columns.iter().enumerate() {
            out.extend_from_slice(column.lead.as_bytes());
            let value = row.get_ref(place).map_err(failure)?;
            write_value(value, column.dress, out).map_err(failure)?;
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

fn write_value(value: ValueRef<'_>, Dress(before, after): Dress, out: &mut Vec<u8>) -> IoResult<()> {
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
