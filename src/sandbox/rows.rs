//! Writes the rows of a statement as JSON records.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::reply::json;
use super::switches::{LastUsedType, ScalarType, Switches};
use crate::error::{Result, defect};

/// Writes rows as comma-separated JSON objects.
pub(super) struct RowWriter {
    /// The text before each value: a comma but for the first, name and colon.
    leads: Vec<String>,
    /// Around each value that is set.
    around: Vec<(&'static str, &'static str)>,
    rows: usize,
}

impl RowWriter {
    /// A writer of records with these keys, in this order.
    pub(super) fn new<'a>(keys: impl Iterator<Item = &'a str> + Clone) -> Self {
        let lead = |(index, name)| format!("{}{}:", if index == 0 { "" } else { "," }, json(&name));
        let around = keys.clone().map(|_| ("", "")).collect();
        Self { leads: keys.enumerate().map(lead).collect(), around, rows: 0 }
    }

    /// A writer of promotion codes, whose values have the types that the switches choose.
    pub(super) fn of_codes<'a>(keys: impl Iterator<Item = &'a str> + Clone, switches: &Switches) -> Self {
        let around = |name: &str| match name {
            "channel_id" if switches.channel_id_type == ScalarType::String => ("\"", "\""),
            "last_used_source" | "last_used_time" if switches.last_used_type == LastUsedType::Object => {
                ("{\"value\":", "}")
            }
            _ => ("", ""),
        };
        Self { around: keys.clone().map(around).collect(), ..Self::new(keys) }
    }

    /// Writes one row.
    pub(super) fn write(&mut self, row: &Row<'_>, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(if self.rows > 0 { b",{" } else { b"{" });
        for (index, (lead, (before, after))) in self.leads.iter().zip(&self.around).enumerate() {
            let value = row.get_ref(index)?;
            let (before, after) = if matches!(value, ValueRef::Null) { ("", "") } else { (*before, *after) };
            out.extend_from_slice(lead.as_bytes());
            out.extend_from_slice(before.as_bytes());
            write_value(value, out).map_err(|cause| defect("a value cannot be written").with_source(cause))?;
            out.extend_from_slice(after.as_bytes());
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
