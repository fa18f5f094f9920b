//! The plain path: one record, complete in memory, read by `serde_json` into a sink.
//!
//! It alone says what is wrong with a record. The fast path (`fast_path.rs`) must equal it.

use serde_json::value::RawValue;

use super::column_names::ColumnNames;
use super::error::{DecodeError, overlong_number};
use super::members::{Checked, Members, Text};
use super::{Limits, Sink, TypeMismatch};

/// Reads one record into the sink. On a fault the sink holds nothing of it.
pub(super) fn read<S: Sink>(
    record: &[u8],
    limits: &Limits,
    columns: &mut ColumnNames,
    sink: &mut S,
) -> Result<(), DecodeError> {
    let result = fill(record, limits, columns, sink);
    if result.is_err() {
        sink.undo_record();
    }
    result
}

fn fill<S: Sink>(record: &[u8], limits: &Limits, columns: &mut ColumnNames, sink: &mut S) -> Result<(), DecodeError> {
    if record.first() != Some(&b'{') {
        check(record, 0, limits.number)?;
        let value = String::from_utf8_lossy(record).into_owned();
        let found = json_type(record);
        let misfit = TypeMismatch { expected: "an object", suggested_type: None };
        return Err(DecodeError::Value { offset: 0, column: None, misfit, found, value });
    }
    let Members(pairs) = serde_json::from_slice(record).map_err(|error| broken(record, &error))?;
    let mut values: Vec<Option<&RawValue>> = vec![None; columns.names().len()];
    let mut extras = Vec::new();
    for (key, value) in pairs {
        match columns.find(&key).and_then(|column| values.get_mut(column)) {
            // The last of a repeated key wins, as in every usual parser.
            Some(slot) => *slot = Some(value),
            None => extras.push((key, value)),
        }
    }
    for (column, (value, name)) in values.iter().zip(columns.names()).enumerate() {
        match value {
            None => sink.null(column).map_err(|misfit| misfit_at(misfit, 0, name, "nothing", ""))?,
            Some(value) => cell(value.get(), offset_in(record, value.get()), column, name, limits, sink)?,
        }
    }
    for (key, value) in &extras {
        let offset = offset_in(record, value.get());
        if value.get().len() > limits.value {
            return Err(DecodeError::TooLong(limits.value));
        }
        check(value.get().as_bytes(), offset, limits.number)?;
        sink.extra(key, value.get());
    }
    values.iter().enumerate().filter(|(_, value)| value.is_none()).for_each(|(column, _)| columns.count_absent(column));
    columns.count_record(!extras.is_empty());
    sink.end_record();
    Ok(())
}

/// One value into its column.
fn cell<S: Sink>(
    json: &str,
    offset: usize,
    column: usize,
    name: &str,
    limits: &Limits,
    sink: &mut S,
) -> Result<(), DecodeError> {
    if json.len() > limits.value {
        return Err(DecodeError::TooLong(limits.value));
    }
    let fault = |expected, found| misfit_at(TypeMismatch { expected, suggested_type: None }, offset, name, found, json);
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
            check(json.as_bytes(), offset, limits.number)?;
            sink.nested(column, json)
        }
        _ if json.len() > limits.number => {
            return Err(DecodeError::Json { offset, reason: overlong_number(limits.number) });
        }
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

fn misfit_at(misfit: TypeMismatch, offset: usize, name: &str, found: &'static str, value: &str) -> DecodeError {
    let (column, value) = (Some(name.to_owned()), value.to_owned());
    DecodeError::Value { offset, column, misfit, found, value }
}

/// Proves a value that is handed on as JSON: its texts are UTF-8, its numbers finite and no longer than so many bytes,
/// its brackets paired.
pub(super) fn check(json: &[u8], offset: usize, number: usize) -> Result<(), DecodeError> {
    if let Some(inner) = find_overlong_number(json, number) {
        return Err(DecodeError::Json { offset: offset + inner, reason: overlong_number(number) });
    }
    match serde_json::from_slice::<Checked>(json) {
        Ok(_) => Ok(()),
        Err(error) => match broken(json, &error) {
            DecodeError::Json { offset: inner, reason } => Err(DecodeError::Json { offset: offset + inner, reason }),
            other => Err(other),
        },
    }
}

/// Where a number begins that has more than so many bytes. Only a long value can hold one.
fn find_overlong_number(json: &[u8], limit: usize) -> Option<usize> {
    if json.len() <= limit {
        return None;
    }
    let (mut in_text, mut escaped, mut start) = (false, false, 0);
    for (place, byte) in json.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_text = !in_text,
            b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E' if !in_text => {
                if place - start >= limit {
                    return Some(start);
                }
                continue;
            }
            _ => {}
        }
        start = place + 1;
    }
    None
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
fn broken(json: &[u8], error: &serde_json::Error) -> DecodeError {
    let line_start: usize =
        json.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    let offset = (line_start + error.column().saturating_sub(1)).min(json.len());
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default().to_owned();
    DecodeError::Json { offset, reason }
}
