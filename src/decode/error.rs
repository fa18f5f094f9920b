//! What is wrong with an answer, and the words for it. No value of a record is in them.

use super::TypeMismatch;
use crate::error::{Error, Kind, excerpt};

const EXCERPT_CHARACTERS: usize = 200;
const VALUE_BYTES: usize = 200;

/// Why a record is refused. Offsets are from the record's first byte.
#[derive(Debug)]
pub(super) enum DecodeError {
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
        misfit: TypeMismatch,
        /// What JSON type was found.
        found: &'static str,
        /// The value itself, which no text may tell.
        value: String,
    },
    /// A value longer than this limit in bytes.
    TooLong(usize),
}

impl DecodeError {
    /// As an error, for a record by its number and the place of its first byte in the answer.
    pub(super) fn into_error(self, row: u64, place: u64) -> Error {
        match self {
            Self::Json { offset, reason } => invalid(place + offset as u64, &reason),
            Self::TooLong(limit) => too_large("value", limit as u64),
            Self::Value { offset, column, misfit: TypeMismatch { expected, suggested_type }, found, value } => {
                let place = place + offset as u64;
                let column = column.unwrap_or_default();
                let of_column = if column.is_empty() { String::new() } else { format!(", column {column}") };
                let error = Error::new(
                    Kind::Record,
                    format!("row {row}{of_column}: expected {expected}, found {found} (byte {place} of the answer)"),
                )
                .with(|details| {
                    details.row = Some(row);
                    details.column = Some(column.clone());
                    details.value = Some(start_of(&value).to_owned());
                    details.offset = Some(place);
                });
                match suggested_type {
                    Some(suggested_type) => error.with_hint(format!("pass schema={{{column:?}: {suggested_type:?}}}")),
                    None => error,
                }
            }
        }
    }
}

/// Broken JSON at this byte of the answer.
pub(super) fn invalid(place: u64, reason: &str) -> Error {
    Error::new(Kind::InvalidJson, format!("the answer is broken JSON at byte {place}: {reason}"))
        .with(|details| details.offset = Some(place))
}

/// Why a number of more than so many bytes is none.
pub(super) fn overlong_number(limit: usize) -> String {
    format!("a number of over {limit} bytes")
}

/// Something that exceeds its limit in bytes.
pub(super) fn too_large(what: &'static str, limit: u64) -> Error {
    Error::new(Kind::ResponseTooLarge, format!("the answer has a {what} of over {limit} bytes"))
        .with(|details| (details.what, details.limit) = (Some(what), Some(limit)))
}

/// An envelope of more keys than anybody reads.
pub(super) fn too_many_members(limit: usize) -> Error {
    Error::new(Kind::ResponseTooLarge, format!("the answer has over {limit} members beside its records"))
        .with(|details| (details.what, details.limit) = (Some("members"), Some(limit as u64)))
}

/// The body begins with something that is no object: JSON of another type, or no JSON at all.
pub(super) fn not_an_envelope(start: &[u8]) -> Error {
    let is_word = [&b"null"[..], b"true", b"false"].iter().any(|word| start.starts_with(word));
    if is_word || matches!(start.first(), Some(b'[' | b'"' | b'0'..=b'9' | b'-')) {
        return Error::new(Kind::Envelope, "the answer is JSON, but not an object")
            .with(|details| details.field = Some(String::new()));
    }
    let body = shortened(&String::from_utf8_lossy(start));
    Error::new(Kind::NotJson, "the answer is not JSON").with(|details| details.body_excerpt = Some(body))
}

/// A key of the envelope that stands twice: whoever reads a stream may have acted on the first, so neither counts.
pub(super) fn repeated_key(key: &str) -> Error {
    let name = shortened(key);
    Error::new(Kind::Envelope, format!("the answer has {name} twice")).with(|details| details.field = Some(name))
}

fn shortened(text: &str) -> String {
    excerpt(text, EXCERPT_CHARACTERS)
}

/// At most so many bytes of a value, cut between characters.
fn start_of(value: &str) -> &str {
    let end = (0..=value.len().min(VALUE_BYTES)).rev().find(|end| value.is_char_boundary(*end));
    value.get(..end.unwrap_or_default()).unwrap_or_default()
}
