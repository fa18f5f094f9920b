//! Writes the rows of a statement as JSON records.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::reply::json;
use crate::error::{Result, defect};

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
        out.extend_from_slice(if self.rows > 0 { b",{" } else { b"{" });
        for (index, lead) in self.leads.iter().enumerate() {
            out.extend_from_slice(lead.as_bytes());
            write_value(row.get_ref(index)?, out)
                .map_err(|cause| defect("a value cannot be written").with_source(cause))?;
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

fn write_value(value: ValueRef<'_>, out: &mut Vec<u8>) -> serde_json::Result<()> {
    match value {
        ValueRef::Integer(number) => serde_json::to_writer(out, &number),
        ValueRef::Real(number) => serde_json::to_writer(out, &number),
        ValueRef::Text(text) => serde_json::to_writer(out, &String::from_utf8_lossy(text)),
        // A boolean or a list.
        ValueRef::Blob(json) => {
            out.extend_from_slice(json);
            Ok(())
        }
        ValueRef::Null => serde_json::to_writer(out, &()),
    }
}
