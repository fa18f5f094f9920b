//! The reference path: reads one record with `serde_json`, and alone reports what is wrong with it. Its messages quote
//! no value of a record.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::keys::ColumnNames;
use super::scanner::find_overlong_number;
use super::{Cell, NUMBER, Sink, TypeMismatch};
use crate::error::{Error, Kind, Result};

/// Bytes of a value in the details of an error.
const VALUE_BYTES: usize = 200;

/// Reads the record with this number, which begins at `start` in the response. After an error it has to be undone.
pub(super) fn read<S: Sink>(
    record: &[u8],
    row: u64,
    start: u64,
    columns: &mut ColumnNames,
    sink: &mut S,
) -> Result<()> {
    if record.first() != Some(&b'{') {
        check(record, start)?;
        let place = Place { row, offset: start, column: "" };
        let mismatch = TypeMismatch { expected: "an object", suggested_type: None };
        let value = String::from_utf8_lossy(record);
        return Err(place.refused(mismatch, json_type(&value), &value));
    }
    let Members(pairs) = serde_json::from_slice(record).map_err(|error| located(record, start, &error))?;
    let mut values: Vec<Option<&RawValue>> = vec![None; columns.names.len()];
    let mut extras = Vec::new();
    for (key, value) in pairs {
        match columns.find(&key).and_then(|column| values.get_mut(column)) {
            // The last of a duplicate key wins, as in most parsers.
            Some(slot) => *slot = Some(value),
            None => extras.push((key, value)),
        }
    }
    // Values borrow from the record.
    let offset = |value: &str| start + (value.as_ptr() as usize).saturating_sub(record.as_ptr() as usize) as u64;
    for (column, (value, name)) in values.iter().zip(columns.names.iter()).enumerate() {
        let place = |offset| Place { row, offset, column: name };
        match value {
            None => {
                let absent = |mismatch| place(start).refused(mismatch, "nothing", "");
                sink.cell(column, Cell::Null).map_err(absent)?;
            }
            Some(value) => read_cell(value.get(), &place(offset(value.get())), column, sink)?,
        }
    }
    for (key, value) in &extras {
        check(value.get().as_bytes(), offset(value.get()))?;
        sink.extra(key, value.get());
    }
    values.iter().enumerate().filter(|(_, value)| value.is_none()).for_each(|(column, _)| columns.count_absent(column));
    sink.end_record();
    Ok(())
}

/// Reads a value into its column.
fn read_cell<S: Sink>(json: &str, place: &Place, column: usize, sink: &mut S) -> Result<()> {
    let error = |expected, found| place.refused(TypeMismatch { expected, suggested_type: None }, found, json);
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
            check(json.as_bytes(), place.offset)?;
            Cell::Nested(json)
        }
        _ if json.len() > NUMBER => return Err(overlong_number(place.offset)),
        _ if json.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => {
            if !json.parse::<f64>().is_ok_and(f64::is_finite) {
                return Err(error("a number a 64-bit float can hold", "a number beyond it"));
            }
            Cell::Number(json)
        }
        _ => Cell::Integer(json),
    };
    sink.cell(column, cell).map_err(|mismatch| place.refused(mismatch, json_type(json), json))
}

/// Where a value is. The column is empty when the record is not an object.
struct Place<'a> {
    row: u64,
    /// From the first byte of the response.
    offset: u64,
    column: &'a str,
}

impl Place<'_> {
    /// A value that does not fit its column.
    fn refused(&self, mismatch: TypeMismatch, found: &'static str, value: &str) -> Error {
        let (Self { row, offset, column }, TypeMismatch { expected, suggested_type }) = (self, mismatch);
        let of_column = if column.is_empty() { String::new() } else { format!(", column {column}") };
        let end = (0..=value.len().min(VALUE_BYTES)).rev().find(|end| value.is_char_boundary(*end));
        let message =
            format!("row {row}{of_column}: expected {expected}, found {found} (byte {offset} of the response)");
        let error = Error::new(Kind::Record, message).with(|details| {
            details.row = Some(*row);
            details.column = Some((*column).to_owned());
            details.value = Some(value[..end.unwrap_or(0)].to_owned());
            details.offset = Some(*offset);
        });
        match suggested_type {
            Some(suggested_type) => error.with_hint(format!("set {}", column_type(column, suggested_type))),
            None => error,
        }
    }
}

/// The type of a column, as the user may set it: `schema["area"] to "float64"`.
pub(crate) fn column_type(column: &str, suggested_type: &str) -> String {
    format!("schema[{column:?}] to {suggested_type:?}")
}

/// Invalid JSON at this byte of the response.
pub(super) fn invalid(offset: u64, reason: &str) -> Error {
    Error::new(Kind::InvalidJson, format!("invalid JSON at byte {offset} of the response: {reason}"))
        .with(|details| details.offset = Some(offset))
}

pub(super) fn overlong_number(offset: u64) -> Error {
    invalid(offset, &format!("a number longer than {NUMBER} bytes"))
}

/// An error of `serde_json` in JSON that begins at `start` in the response. It has a line and a column, but no offset.
fn located(json: &[u8], start: u64, error: &serde_json::Error) -> Error {
    let line_start: usize =
        json.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    let offset = (line_start + error.column().saturating_sub(1)).min(json.len());
    let text = error.to_string();
    invalid(start + offset as u64, text.split_once(" at line ").map_or(&text, |(reason, _)| reason))
}

/// Validates JSON that is kept as written and begins at `start` in the response: its syntax, UTF-8, and numbers, which
/// are finite and not too long.
pub(super) fn check(json: &[u8], start: u64) -> Result<()> {
    if let Some(offset) = find_overlong_number(json) {
        return Err(overlong_number(start + offset as u64));
    }
    serde_json::from_slice::<ValidatedJson>(json).map(drop).map_err(|error| located(json, start, &error))
}

/// The type of a value of JSON, for messages that must not quote the value.
pub(crate) fn json_type(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'n') => "null",
        Some(b't' | b'f') => "a bool",
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        _ => "a number",
    }
}

/// A string, borrowed from the input if it has no escapes.
#[derive(Debug, Deserialize)]
pub struct BorrowedString<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// The members of an object, duplicate keys included.
#[derive(Debug)]
pub struct Members<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::with_capacity(map.size_hint().unwrap_or(16));
                while let Some((BorrowedString(name), value)) = map.next_entry()? {
                    pairs.push((name, value));
                }
                Ok(Members(pairs))
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}

/// Visitor methods that drop what they get.
macro_rules! accept {
    ($($visit:ident($value:ty)),*) => {$(
        fn $visit<E>(self, _: $value) -> Result<Self, E> {
            Ok(self)
        }
    )*};
}

/// A value that is valid (its strings are UTF-8, its numbers finite) and not kept.
#[derive(Debug)]
pub(super) struct ValidatedJson;

impl<'de> Deserialize<'de> for ValidatedJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValidatedJson)
    }
}

impl<'de> Visitor<'de> for ValidatedJson {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    accept!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        while members.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}
