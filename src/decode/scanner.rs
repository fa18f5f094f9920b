//! What the quotes and brackets of JSON tell without reading its values: where its strings and values end, how large it
//! is, and which blanks it can do without.

use memchr::{memchr_iter, memchr2, memchr3};

use super::reference::{invalid, overlong_number};
use super::value::unescape;
use super::{NUMBER, PaddedBytes};
use crate::error::Result;

/// Tells the strings of JSON from what is between them. Takes JSON in pieces.
#[derive(Debug, Default)]
pub struct Parts {
    in_string: bool,
    in_escape: bool,
}

impl Parts {
    /// Takes the next part of a piece: a string with its quotes (true), or what is before the next string. A piece may
    /// end, and begin, within either.
    pub fn next<'a>(&mut self, piece: &mut &'a [u8]) -> Option<(bool, &'a [u8])> {
        let first = piece.first()?;
        let is_string = self.in_string || *first == b'"';
        let length = if is_string {
            self.string(piece)
        } else {
            piece.iter().position(|byte| *byte == b'"').unwrap_or(piece.len())
        };
        let (part, rest) = piece.split_at(length);
        *piece = rest;
        Some((is_string, part))
    }

    fn string(&mut self, piece: &[u8]) -> usize {
        let mut at = usize::from(!self.in_string) + usize::from(std::mem::take(&mut self.in_escape));
        self.in_string = true;
        while let Some(stop) = memchr2(b'"', b'\\', &piece[at..]) {
            at += stop + 1;
            if piece[at - 1] == b'"' {
                self.in_string = false;
                return at;
            }
            self.in_escape = at == piece.len();
            at = (at + 1).min(piece.len());
        }
        piece.len()
    }
}

/// The parts of JSON: see [`Parts::next`].
pub fn parts(mut json: &[u8]) -> impl Iterator<Item = (bool, &[u8])> {
    let mut parts = Parts::default();
    std::iter::from_fn(move || parts.next(&mut json))
}

/// White space between tokens.
pub const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// The search for the end of one value, which may arrive in pieces.
///
/// Does not validate the value: `serde_json` does once the value is complete. Refuses only what would grow without
/// bound: nesting and numbers.
#[derive(Debug, Default)]
pub(super) struct ValueEnd {
    /// Where the value begins in the response.
    start: u64,
    /// The length of the value so far.
    pub(super) length: usize,
    depth: usize,
    parts: Parts,
    is_scalar: bool,
}

impl ValueEnd {
    pub(super) fn new(start: u64) -> Self {
        Self { start, ..Self::default() }
    }

    /// Scans the next bytes of a value within `outer` brackets, which may have `limit` brackets with these. Returns how
    /// many bytes belong to the value once its end is found.
    ///
    /// A number or word ends before the first byte that cannot belong to it.
    pub(super) fn advance(&mut self, bytes: &[u8], outer: usize, limit: usize) -> Result<Option<usize>> {
        if let (0, Some(first)) = (self.length, bytes.first()) {
            self.is_scalar = !matches!(first, b'"' | b'{' | b'[');
        }
        let before = self.length;
        let is_complete = if self.is_scalar { self.scalar(bytes) } else { self.delimited(bytes, outer, limit) }?;
        Ok(is_complete.then(|| self.length - before))
    }

    /// Strings, objects and arrays, which have a closing byte.
    fn delimited(&mut self, mut bytes: &[u8], outer: usize, limit: usize) -> Result<bool> {
        while let Some((is_string, part)) = self.parts.next(&mut bytes) {
            if is_string {
                self.length += part.len();
                if self.depth == 0 && !self.parts.in_string {
                    return Ok(true);
                }
                continue;
            }
            for byte in part {
                match byte {
                    b'{' | b'[' if outer + self.depth >= limit => {
                        let offset = self.start + self.length as u64;
                        return Err(invalid(offset, &format!("more than {limit} open brackets")));
                    }
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                self.length += 1;
                if self.depth == 0 {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Numbers and words, which end where something else begins.
    fn scalar(&mut self, bytes: &[u8]) -> Result<bool> {
        let end = bytes.iter().position(|byte| is_blank(*byte) || matches!(byte, b',' | b'}' | b']'));
        self.length += end.unwrap_or(bytes.len());
        if self.length > NUMBER {
            return Err(overlong_number(self.start));
        }
        Ok(end.is_some())
    }
}

/// The offset of the first number that is too long.
pub(super) fn find_overlong_number(json: &[u8]) -> Option<usize> {
    if json.len() <= NUMBER {
        return None;
    }
    let mut offset = 0;
    for (is_string, part) in parts(json) {
        for run in part.chunk_by(|one, other| is_string || is_of_number(*one) == is_of_number(*other)) {
            if !is_string && run.len() > NUMBER && is_of_number(run[0]) {
                return Some(offset);
            }
            offset += run.len();
        }
    }
    None
}

const fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

/// Whether JSON has spaces only, and no two of them in a row: [`WithoutBlanks`] would leave nothing out.
pub(super) fn has_single_blanks(json: &[u8]) -> bool {
    memchr3(b'\t', b'\n', b'\r', json).is_none() && memchr_iter(b' ', json).all(|at| json.get(at + 1) != Some(&b' '))
}

/// Copies JSON with one blank in place of several between tokens. Takes JSON in pieces.
#[derive(Debug, Default)]
pub(super) struct WithoutBlanks {
    parts: Parts,
    after_blank: bool,
    /// How many blanks were left out.
    pub(super) left_out: u64,
}

impl WithoutBlanks {
    /// Appends the next piece.
    pub(super) fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let (before, mut rest) = (out.len(), piece);
        while let Some((is_string, part)) = self.parts.next(&mut rest) {
            for run in part.chunk_by(|one, other| is_string || is_blank(*one) == is_blank(*other)) {
                let is_blank = !is_string && is_blank(run[0]);
                match is_blank {
                    true if self.after_blank => {}
                    true => out.push(b' '),
                    false => out.extend_from_slice(run),
                }
                self.after_blank = is_blank;
            }
        }
        self.left_out += (piece.len() - (out.len() - before)) as u64;
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
pub fn json_size(json: &str) -> JsonSize {
    let (mut size, mut unescaped) = (JsonSize { values: 1, text: 0 }, PaddedBytes::default());
    for (is_string, part) in parts(json.as_bytes()) {
        if is_string {
            let text = part.strip_suffix(b"\"").unwrap_or(part).get(1..).unwrap_or_default();
            let has_escapes = text.contains(&b'\\') && unescape(&part[1..], &mut unescaped).is_some();
            let text_of = |text| width(text) * characters(text);
            size.text += if has_escapes { text_of(unescaped.as_slice()) } else { text_bytes(text) };
        } else {
            size.values += part.iter().filter(|byte| matches!(byte, b',' | b':' | b'[' | b'{')).count();
        }
    }
    size
}

/// The memory of a text in Python: all its characters take as many bytes as the widest, which are 1, 2 or 4.
pub fn text_bytes(text: &[u8]) -> usize {
    match width(text) {
        1 => text.len(),
        width => width * characters(text),
    }
}

/// Whether some character of a text takes more than one byte in Python.
pub fn has_wide(text: &str) -> bool {
    width(text.as_bytes()) > 1
}

/// Bytes in Python of the widest character of a text.
fn width(text: &[u8]) -> usize {
    match text.iter().copied().max() {
        // The first bytes of characters beyond U+FFFF and U+00FF.
        Some(0xF0..) => 4,
        Some(0xC4..) => 2,
        _ => 1,
    }
}

fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
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
            assert_eq!(text_bytes(text.as_bytes()), expected, "{text}");
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
            let (mut out, mut blanks) = (Vec::new(), WithoutBlanks::default());
            for piece in json.as_bytes().chunks(size) {
                blanks.push(piece, &mut out);
            }
            assert_eq!(blanks.left_out, (json.len() - out.len()) as u64, "{size}");
            assert!(!has_single_blanks(json.as_bytes()) && has_single_blanks(b"{ \"a\": \"b c\" }"));
            assert_eq!(String::from_utf8(out).expect("UTF-8"), "{ \"a  \\\" b\" : [1 , 2 3],\"\\\\\": true }");
        }
    }
}
