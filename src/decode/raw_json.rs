//! Targets for `serde_json` that build no values: the members of an object, in order and with duplicate keys and large
//! numbers, and a value that is validated and discarded.

use std::borrow::Cow;
use std::fmt;

use memchr::{memchr_iter, memchr2, memchr3};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

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

/// What a value of valid JSON takes as objects of Python.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonSize {
    /// How many values it has, approximately: itself, brackets, elements, and members with their names.
    pub values: usize,
    /// The memory of the text of all its strings.
    pub text: usize,
}

/// What a value of valid JSON takes as objects of Python.
#[must_use]
pub fn json_size(json: &str) -> JsonSize {
    let (mut size, mut at) = (JsonSize { values: 1, text: 0 }, 0);
    let bytes = json.as_bytes();
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b',' | b':' | b'[' | b'{' => size.values += 1,
            b'"' => {
                let (start, mut has_escapes) = (at, false);
                while let Some(stop) = memchr2(b'"', b'\\', &bytes[at..]) {
                    at += stop;
                    if bytes[at] == b'"' {
                        break;
                    }
                    has_escapes = true;
                    at = (at + 2).min(bytes.len());
                }
                let text = json.get(start..at).unwrap_or_default();
                size.text += if has_escapes { escaped_bytes(text) } else { text_bytes(text) };
                at += 1;
            }
            _ => {}
        }
    }
    size
}

/// The memory of a text in Python: all its characters take as many bytes as the widest, which are 1, 2 or 4.
#[must_use]
pub fn text_bytes(text: &str) -> usize {
    let is_character = |byte: &&u8| **byte & 0xC0 != 0x80;
    match text.bytes().max() {
        Some(byte) if is_wide(byte) => text.bytes().filter(|byte| is_character(&byte)).count() * width(byte),
        _ => text.len(),
    }
}

/// Whether some character of a text takes more than one byte in Python.
#[must_use]
pub fn has_wide(text: &str) -> bool {
    text.bytes().max().is_some_and(is_wide)
}

/// Whether a character with this first byte takes more than one byte in Python: one beyond U+00FF.
const fn is_wide(first: u8) -> bool {
    first > 0xC3
}

const fn width(first: u8) -> usize {
    if first < 0xF0 { 2 } else { 4 }
}

/// As [`text_bytes`], of the text between the quotes of valid JSON.
#[cold]
fn escaped_bytes(text: &str) -> usize {
    let (mut count, mut widest) = (0, text.bytes().max().filter(|byte| is_wide(*byte)).map_or(1, width));
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        count += 1;
        if character == '\\' && characters.next() == Some('u') {
            let (digits, rest) = characters.as_str().split_at_checked(4).unwrap_or_default();
            characters = rest.chars();
            match u32::from_str_radix(digits, 16).unwrap_or_default() {
                0xD800..=0xDBFF => widest = 4,
                // The second half of a character.
                0xDC00..=0xDFFF => count -= 1,
                0x100.. => widest = widest.max(2),
                _ => {}
            }
        }
    }
    count * widest
}

/// Whether JSON has spaces only, and no two of them in a row: [`WithoutBlanks`] would leave nothing out.
pub(super) fn has_single_blanks(json: &[u8]) -> bool {
    memchr3(b'\t', b'\n', b'\r', json).is_none() && memchr_iter(b' ', json).all(|at| json.get(at + 1) != Some(&b' '))
}

/// Copies JSON with one blank in place of several between tokens. Takes JSON in pieces.
#[derive(Debug, Default)]
pub(super) struct WithoutBlanks {
    in_string: bool,
    in_escape: bool,
    after_blank: bool,
}

impl WithoutBlanks {
    /// Appends the next piece. Returns how many blanks were left out.
    pub(super) fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> usize {
        let before = out.len();
        let mut rest = piece;
        while let Some((first, others)) = rest.split_first() {
            let is_blank = !self.in_string && is_blank(*first);
            let more = match first {
                _ if self.in_escape => {
                    self.in_escape = false;
                    0
                }
                b'\\' if self.in_string => {
                    self.in_escape = true;
                    0
                }
                b'"' => {
                    self.in_string = !self.in_string;
                    0
                }
                _ if self.in_string => memchr2(b'"', b'\\', others).unwrap_or(others.len()),
                _ if is_blank => others.iter().position(|byte| !self::is_blank(*byte)).unwrap_or(others.len()),
                _ => others.iter().position(|byte| *byte == b'"' || self::is_blank(*byte)).unwrap_or(others.len()),
            };
            let (taken, left) = rest.split_at(1 + more);
            match is_blank {
                true if self.after_blank => {}
                true => out.push(b' '),
                false => out.extend_from_slice(taken),
            }
            self.after_blank = is_blank;
            rest = left;
        }
        piece.len() - (out.len() - before)
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        for (json, values, text) in [
            ("1", 1, 0),
            (r#""[{,:""#, 1, 4),
            (r#""\",,""#, 1, 3),
            ("[]", 2, 0),
            ("[{},{}]", 5, 0),
            (r#"{"a":[1]}"#, 4, 1),
            ("\"\\", 1, 1),
        ] {
            assert_eq!(json_size(json), JsonSize { values, text }, "{json}");
        }
    }

    #[test]
    fn a_text_takes_the_width_of_its_widest_character() {
        for (text, expected) in [("abc", 3), ("ab\u{e9}", 4), ("ab\u{100}", 6), ("ab\u{20ac}", 6), ("ab\u{1f600}", 12)]
        {
            assert_eq!(text_bytes(text), expected, "{text}");
            assert_eq!(has_wide(text), text.chars().any(|character| character > '\u{ff}'));
        }
        for (json, expected) in [
            (r#""ab\n""#, 3),
            (r#""ab\u00e9""#, 3),
            (r#""ab\u20ac""#, 6),
            (r#""ab\ud83d\ude00""#, 12),
            ("\"\\\\u20ac\"", 6),
            ("\"\\n\u{1f600}\"", 8),
        ] {
            assert_eq!(json_size(json).text, expected, "{json}");
        }
    }

    #[test]
    fn blanks_between_tokens_become_one_in_pieces_of_any_size() {
        let json = "{ \"a  \\\" b\" :\t\n[1  ,\r\n 2 3],\"\\\\\":  true   }";
        for size in 1..json.len() {
            let (mut out, mut blanks, mut left_out) = (Vec::new(), WithoutBlanks::default(), 0);
            for piece in json.as_bytes().chunks(size) {
                left_out += blanks.push(piece, &mut out);
            }
            assert_eq!(left_out, json.len() - out.len(), "{size}");
            assert!(!has_single_blanks(json.as_bytes()) && has_single_blanks(b"{ \"a\": \"b c\" }"));
            assert_eq!(String::from_utf8(out).expect("UTF-8"), "{ \"a  \\\" b\" : [1 , 2 3],\"\\\\\": true }");
        }
    }
}
