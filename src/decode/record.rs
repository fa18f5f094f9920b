//! One record, complete in memory, read by `serde_json` into a sink. The plain path, which any faster one must equal.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::members::{Checked, Members, Text};
use super::{Limits, Misfit, Sink};

/// Why a record is refused. Places are bytes from the record's first.
#[derive(Debug)]
pub(super) enum Fault {
    /// Broken JSON.
    Json {
        /// Where.
        offset: usize,
        /// What `serde_json` says of it.
        reason: String,
    },
    /// A value that its column cannot take.
    Value {
        /// Where.
        offset: usize,
        /// Which column; none when the record is no object.
        column: Option<String>,
        /// What was expected, and what would take it.
        misfit: Misfit,
        /// What JSON type was found.
        found: &'static str,
        /// The value itself, which no text may tell.
        value: String,
    },
    /// A value or number longer than the limit.
    TooLong {
        /// `value` or `number`.
        what: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
}

/// The requested columns, and what was seen of them.
#[derive(Debug)]
pub(super) struct Columns {
    names: Vec<String>,
    index: HashMap<String, usize>,
    /// In how many records each was present.
    pub(super) present: Vec<u64>,
    /// Records with keys nobody asked for.
    pub(super) records_with_extras: u64,
}

impl Columns {
    pub(super) fn new(names: Vec<String>) -> Self {
        let index = names.iter().enumerate().map(|(place, name)| (name.clone(), place)).collect();
        let present = vec![0; names.len()];
        Self { names, index, present, records_with_extras: 0 }
    }

    /// Reads one record into the sink. On a fault the sink holds nothing of it.
    pub(super) fn read<S: Sink>(&mut self, record: &[u8], limits: &Limits, sink: &mut S) -> Result<(), Fault> {
        let result = self.fill(record, limits, sink);
        if result.is_err() {
            sink.undo_record();
        }
        result
    }

    fn fill<S: Sink>(&mut self, record: &[u8], limits: &Limits, sink: &mut S) -> Result<(), Fault> {
        if record.first() != Some(&b'{') {
            check(record, 0)?;
            let value = String::from_utf8_lossy(record).into_owned();
            return Err(Fault::Value {
                offset: 0,
                column: None,
                misfit: Misfit { expected: "an object", mend: None },
                found: json_type(record),
                value,
            });
        }
        let Members(pairs) = serde_json::from_slice(record).map_err(|error| broken(record, &error))?;
        let mut values: Vec<Option<&RawValue>> = vec![None; self.names.len()];
        let mut extras = Vec::new();
        for (key, value) in pairs {
            match self.index.get(key.as_ref()).and_then(|column| values.get_mut(*column)) {
                // The last of a repeated key wins, as in every usual parser.
                Some(slot) => *slot = Some(value),
                None => extras.push((key, value)),
            }
        }
        for (column, (value, name)) in values.iter().zip(&self.names).enumerate() {
            let Some(value) = value else {
                sink.null(column).map_err(|misfit| misfit_at(misfit, 0, name, "nothing", ""))?;
                continue;
            };
            if let Some(present) = self.present.get_mut(column) {
                *present += 1;
            }
            let offset = offset_in(record, value.get());
            cell(value.get(), offset, column, name, limits, sink)?;
        }
        self.records_with_extras += u64::from(!extras.is_empty());
        for (key, value) in extras {
            check(value.get().as_bytes(), offset_in(record, value.get()))?;
            sink.extra(&key, value.get());
        }
        sink.end_record();
        Ok(())
    }
}

/// One value into its column.
fn cell<S: Sink>(
    json: &str,
    offset: usize,
    column: usize,
    name: &str,
    limits: &Limits,
    sink: &mut S,
) -> Result<(), Fault> {
    if json.len() > limits.value {
        return Err(Fault::TooLong { what: "value", limit: limits.value });
    }
    let fault = |expected, found| misfit_at(Misfit { expected, mend: None }, offset, name, found, json);
    let fit = match json.as_bytes().first() {
        Some(b'n') => sink.null(column),
        Some(b't') => sink.bool(column, true),
        Some(b'f') => sink.bool(column, false),
        Some(b'"') => {
            let text: Text =
                serde_json::from_str(json).map_err(|_| fault("text in valid UTF-8", "a lone surrogate"))?;
            sink.text(column, &text.0)
        }
        Some(b'{' | b'[') => {
            check(json.as_bytes(), offset)?;
            sink.nested(column, json)
        }
        _ if json.len() > limits.number => return Err(Fault::TooLong { what: "number", limit: limits.number }),
        _ if json.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => {
            if !json.parse::<f64>().is_ok_and(f64::is_finite) {
                return Err(fault("a number a 64-bit float can hold", "a number beyond it"));
            }
            sink.number(column, json)
        }
        _ => sink.integer(column, json),
    };
    fit.map_err(|misfit| misfit_at(misfit, offset, name, json_type(json.as_bytes()), json))
}

fn misfit_at(misfit: Misfit, offset: usize, name: &str, found: &'static str, value: &str) -> Fault {
    let (column, value) = (Some(name.to_owned()), value.to_owned());
    Fault::Value { offset, column, misfit, found, value }
}

/// Proves a value that is handed on as JSON: its texts are UTF-8, its numbers finite, its brackets paired.
pub(super) fn check(json: &[u8], offset: usize) -> Result<(), Fault> {
    match serde_json::from_slice::<Checked>(json) {
        Ok(_) => Ok(()),
        Err(error) => match broken(json, &error) {
            Fault::Json { offset: inner, reason } => Err(Fault::Json { offset: offset + inner, reason }),
            other => Err(other),
        },
    }
}

/// The JSON type of a value, for messages that must not quote it.
fn json_type(json: &[u8]) -> &'static str {
    match json.first() {
        Some(b'n') => "null",
        Some(b't' | b'f') => "a boolean",
        Some(b'"') => "a text",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        _ => "a number",
    }
}

/// Where in the record a value that borrows from it stands.
fn offset_in(record: &[u8], value: &str) -> usize {
    (value.as_ptr() as usize).saturating_sub(record.as_ptr() as usize)
}

/// `serde_json` tells line and column; callers want a byte.
fn broken(json: &[u8], error: &serde_json::Error) -> Fault {
    let line_start: usize =
        json.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    let offset = (line_start + error.column().saturating_sub(1)).min(json.len());
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default().to_owned();
    Fault::Json { offset, reason }
}
