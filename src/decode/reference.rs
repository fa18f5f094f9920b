//! The reference path: reads one record with `serde_json`, and alone reports what is wrong with it.

use serde_json::value::RawValue;

use super::column_names::ColumnNames;
use super::error::{DecodeError, overlong_number};
use super::raw_json::{BorrowedString, Members, ValidatedJson};
use super::{Cell, NUMBER, Sink, TypeMismatch};

/// Reads one record into the sink. After an error the sink holds nothing of it.
pub(super) fn read<S: Sink>(record: &[u8], columns: &mut ColumnNames, sink: &mut S) -> Result<(), DecodeError> {
    let result = fill(record, columns, sink);
    if result.is_err() {
        sink.undo_record();
    }
    result
}

fn fill<S: Sink>(record: &[u8], columns: &mut ColumnNames, sink: &mut S) -> Result<(), DecodeError> {
    if record.first() != Some(&b'{') {
        check(record, 0)?;
        let value = String::from_utf8_lossy(record).into_owned();
        let found = json_type(record);
        let mismatch = TypeMismatch { expected: "an object", suggested_type: None };
        return Err(DecodeError::Value { offset: 0, column: None, mismatch, found, value });
    }
    let Members(pairs) = serde_json::from_slice(record).map_err(|error| invalid(record, 0, &error))?;
    let mut values: Vec<Option<&RawValue>> = vec![None; columns.names().len()];
    let mut extras = Vec::new();
    for (key, value) in pairs {
        match columns.find(&key).and_then(|column| values.get_mut(column)) {
            // The last of a duplicate key wins, as in most parsers.
            Some(slot) => *slot = Some(value),
            None => extras.push((key, value)),
        }
    }
    for (column, (value, name)) in values.iter().zip(columns.names()).enumerate() {
        match value {
            None => sink.cell(column, Cell::Null).map_err(|mismatch| located(mismatch, 0, name, "nothing", ""))?,
            Some(value) => read_cell(value.get(), offset_in(record, value.get()), column, name, sink)?,
        }
    }
    for (key, value) in &extras {
        let offset = offset_in(record, value.get());
        check(value.get().as_bytes(), offset)?;
        sink.extra(key, value.get());
    }
    values.iter().enumerate().filter(|(_, value)| value.is_none()).for_each(|(column, _)| columns.count_absent(column));
    columns.count_record();
    sink.end_record();
    Ok(())
}

/// Reads a value into its column.
fn read_cell<S: Sink>(json: &str, offset: usize, column: usize, name: &str, sink: &mut S) -> Result<(), DecodeError> {
    let error = |expected, found| located(TypeMismatch { expected, suggested_type: None }, offset, name, found, json);
    let text: BorrowedString;
    let cell = match json.as_bytes().first() {
        Some(b'n') => Cell::Null,
        Some(b't') => Cell::Bool(true),
        Some(b'f') => Cell::Bool(false),
        Some(b'"') => {
            text = serde_json::from_str(json).map_err(|_| error("a string of valid Unicode", "a lone surrogate"))?;
            Cell::String(&text.0)
        }
        Some(b'{' | b'[') => {
            check(json.as_bytes(), offset)?;
            Cell::Nested(json)
        }
        _ if json.len() > NUMBER => return Err(DecodeError::Json { offset, reason: overlong_number() }),
        _ if json.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => {
            if !json.parse::<f64>().is_ok_and(f64::is_finite) {
                return Err(error("a number a 64-bit float can hold", "a number beyond it"));
            }
            Cell::Number(json)
        }
        _ => Cell::Integer(json),
    };
    sink.cell(column, cell).map_err(|mismatch| located(mismatch, offset, name, json_type(json.as_bytes()), json))
}

fn located(mismatch: TypeMismatch, offset: usize, name: &str, found: &'static str, value: &str) -> DecodeError {
    let (column, value) = (Some(name.to_owned()), value.to_owned());
    DecodeError::Value { offset, column, mismatch, found, value }
}

/// Validates JSON that is kept as written: its syntax, UTF-8, and numbers, which are finite and not too long.
pub(super) fn check(json: &[u8], offset: usize) -> Result<(), DecodeError> {
    if let Some(inner) = find_overlong_number(json) {
        return Err(DecodeError::Json { offset: offset + inner, reason: overlong_number() });
    }
    serde_json::from_slice::<ValidatedJson>(json).map(drop).map_err(|error| invalid(json, offset, &error))
}

/// The offset of the first number that is longer than the limit.
fn find_overlong_number(json: &[u8]) -> Option<usize> {
    if json.len() <= NUMBER {
        return None;
    }
    let (mut in_string, mut escaped, mut start) = (false, false, 0);
    for (offset, byte) in json.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E' if !in_string => {
                if offset - start >= NUMBER {
                    return Some(start);
                }
                continue;
            }
            _ => {}
        }
        start = offset + 1;
    }
    None
}

/// The type of a value, for messages that must not quote the value.
fn json_type(json: &[u8]) -> &'static str {
    match json.first() {
        Some(b'n') => "null",
        Some(b't' | b'f') => "a bool",
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        _ => "a number",
    }
}

/// The offset of a value that borrows from the record.
fn offset_in(record: &[u8], value: &str) -> usize {
    (value.as_ptr() as usize).saturating_sub(record.as_ptr() as usize)
}

/// Converts an error of `serde_json` in JSON from `start` on, which has a line and a column instead of an offset.
fn invalid(json: &[u8], start: usize, error: &serde_json::Error) -> DecodeError {
    let line_start: usize =
        json.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    let offset = start + (line_start + error.column().saturating_sub(1)).min(json.len());
    let text = error.to_string();
    let reason = text.split_once(" at line ").map_or(&*text, |(reason, _)| reason).to_owned();
    DecodeError::Json { offset, reason }
}
