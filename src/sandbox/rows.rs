//! Records as JSON: the rows of a statement written straight into the body.
//!
//! It knows nothing of the envelope around them.

use std::io::{Result as IoResult, Write};

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::answer::json;

/// Writes rows as JSON objects divided by commas.
pub(super) struct RowWriter {
    /// What stands before each value: the comma or brace, the name as JSON, the colon.
    leads: Vec<String>,
    rows: usize,
}

impl RowWriter {
    /// A writer of records whose keys are these names, in this order.
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let lead = |(place, name)| format!("{}{}:", if place == 0 { '{' } else { ',' }, json(&name));
        Self { leads: names.enumerate().map(lead).collect(), rows: 0 }
    }

    /// Writes one row.
    pub(super) fn write(&mut self, row: &Row<'_>, out: &mut Vec<u8>) -> rusqlite::Result<()> {
        if self.rows > 0 {
            out.push(b',');
        }
        for (place, lead) in self.leads.iter().enumerate() {
            out.extend_from_slice(lead.as_bytes());
            let value = row.get_ref(place)?;
            write_value(value, out).map_err(|cause| {
                rusqlite::Error::FromSqlConversionFailure(place, value.data_type(), Box::new(cause))
            })?;
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

fn write_value(value: ValueRef<'_>, out: &mut Vec<u8>) -> IoResult<()> {
    match value {
        ValueRef::Integer(number) => write!(out, "{number}"),
        ValueRef::Real(number) => Ok(serde_json::to_writer(out, &number)?),
        ValueRef::Text(text) => Ok(serde_json::to_writer(out, &String::from_utf8_lossy(text))?),
        // No cell is a blob.
        ValueRef::Null | ValueRef::Blob(_) => out.write_all(b"null"),
    }
}
