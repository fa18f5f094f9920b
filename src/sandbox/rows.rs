//! Writes the rows of a statement as JSON records.

use std::io::Result as IoResult;

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::reply::json;
use crate::error::{Error, Kind, Result};

/// Writes rows as comma-separated JSON objects.
pub(super) struct RowWriter {
    /// The text before each value: a comma but for the first, name and colon.
    leads: Vec<String>,
    rows: usize,
}

impl RowWriter {
    /// A writer of records with these keys, in this order.
    pub(super) fn new<'a>(keys: impl Iterator<Item = &'a str>) -> Self {
        let lead = |(index, name)| format!("{}{}:", if index == 0 { "" } else { "," }, json(&name));
        Self { leads: keys.enumerate().map(lead).collect(), rows: 0 }
    }

    /// Writes one row.
    pub(super) fn write(&mut self, row: &Row<'_>, out: &mut Vec<u8>) -> Result<()> {
        if self.rows > 0 {
            out.push(b',');
        }
        out.push(b'{');
        for (index, lead) in self.leads.iter().enumerate() {
            out.extend_from_slice(lead.as_bytes());
            write_value(row.get_ref(index).map_err(failure)?, out).map_err(failure)?;
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

fn write_value(value: ValueRef<'_>, out: &mut Vec<u8>) -> IoResult<()> {
    match value {
        ValueRef::Integer(number) => serde_json::to_writer(out, &number)?,
        ValueRef::Real(number) => serde_json::to_writer(out, &number)?,
        ValueRef::Text(text) => serde_json::to_writer(out, &String::from_utf8_lossy(text))?,
        // No cell is a blob.
        ValueRef::Null | ValueRef::Blob(_) => out.extend_from_slice(b"null"),
    }
    Ok(())
}
