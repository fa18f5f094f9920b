//! The errors of the decoder. Their messages quote no value of a record.

use super::value_end::Refusal;
use super::{NUMBER, TypeMismatch};
use crate::error::{Error, Kind, excerpt};

const EXCERPT_CHARACTERS: usize = 200;
const VALUE_BYTES: usize = 200;

/// Why a record is refused. Offsets count from the first byte of the record.
#[derive(Debug)]
pub(super) enum DecodeError {
    /// Invalid JSON.
    Json { offset: usize, reason: String },
    /// A value that does not fit its column. The column is none when the record is not an object.
    Value { offset: usize, column: Option<String>, mismatch: TypeMismatch, found: &'static str, value: String },
}

impl DecodeError {
    /// The error of the record with this number, which begins at `start` in the response.
    pub(super) fn into_error(self, row: u64, start: u64) -> Error {
        match self {
            Self::Json { offset, reason } => invalid(start + offset as u64, &reason),
            Self::Value { offset, column, mismatch: TypeMismatch { expected, suggested_type }, found, value } => {
                let offset = start + offset as u64;
                let column = column.unwrap_or_default();
                let of_column = if column.is_empty() { String::new() } else { format!(", column {column}") };
                let error = Error::new(
                    Kind::Record,
                    format!("row {row}{of_column}: expected {expected}, found {found} (byte {offset} of the response)"),
                )
                .with(|details| {
                    details.row = Some(row);
                    details.column = Some(column.clone());
                    details.value = Some(prefix(&value).to_owned());
                    details.offset = Some(offset);
                });
                match suggested_type {
                    Some(suggested_type) => error.with_hint(format!("set {}", column_type(&column, suggested_type))),
                    None => error,
                }
            }
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

pub(super) fn overlong_number() -> String {
    format!("a number longer than {NUMBER} bytes")
}

/// A value that is refused before its end is found.
pub(super) fn refused(refusal: Refusal, offset: u64, depth: usize) -> Error {
    match refusal {
        Refusal::Depth(inner) => invalid(offset + inner as u64, &format!("more than {depth} open brackets")),
        Refusal::Scalar => invalid(offset, &overlong_number()),
    }
}

/// Something longer than its limit in bytes.
pub(crate) fn too_large(what: &'static str, limit: u64) -> Error {
    Error::new(Kind::ResponseTooLarge, format!("response too large: {what} exceeds {limit} bytes"))
        .with(|details| (details.field, details.limit) = (Some(what.to_owned()), Some(limit)))
}

/// An envelope that takes more memory than the limit in bytes.
pub(super) fn too_large_envelope(limit: usize) -> Error {
    let message = format!("response too large: the JSON outside its records takes more than {limit} bytes");
    Error::new(Kind::ResponseTooLarge, message)
        .with(|details| (details.field, details.limit) = (Some("members".to_owned()), Some(limit as u64)))
}

/// A body that is not an object: JSON of another type, or no JSON at all.
pub(super) fn not_an_envelope(start: &[u8]) -> Error {
    let is_word = [&b"null"[..], b"true", b"false"].iter().any(|word| start.starts_with(word));
    if is_word || matches!(start.first(), Some(b'[' | b'"' | b'0'..=b'9' | b'-')) {
        return Error::new(Kind::Envelope, "the response is not a JSON object")
            .with(|details| details.field = Some(String::new()))
            .with_hint("check base_url");
    }
    let body = excerpt(&String::from_utf8_lossy(start), EXCERPT_CHARACTERS);
    Error::new(Kind::NotJson, "the response is not JSON").with(|details| details.body_excerpt = Some(body))
}

/// A key that the envelope has twice. The first may have been acted on already, so neither counts.
pub(super) fn duplicate_key(path: &str) -> Error {
    let name = excerpt(path, EXCERPT_CHARACTERS);
    Error::new(Kind::Envelope, format!("duplicate key in the response: {name}"))
        .with(|details| details.field = Some(name))
}

/// The first bytes of a value, cut between characters.
fn prefix(value: &str) -> &str {
    let mut end = value.len().min(VALUE_BYTES);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    &value[..end]
}
