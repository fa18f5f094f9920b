//! Finds the end of a JSON value that arrives in pieces, by its brackets and quotes alone.
//!
//! Does not validate the value: `serde_json` does once the value is complete. Refuses only what would grow without
//! bound: nesting and numbers.

use memchr::memchr2;

use super::NUMBER;

/// Why a value is refused before its end is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The bracket at this offset is nested too deeply.
    Depth(usize),
    /// A number or word that is too long.
    Scalar,
}

/// State of the search for the end of one value.
#[derive(Debug, Default)]
pub(super) struct ValueEnd {
    length: usize,
    depth: usize,
    in_string: bool,
    in_escape: bool,
    is_scalar: bool,
}

impl ValueEnd {
    /// The length of the value so far.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Scans the next bytes. Returns how many of them belong to the value once its end is found.
    ///
    /// A number or word ends before the first byte that cannot belong to it.
    pub(super) fn advance(&mut self, bytes: &[u8], depth: usize) -> Result<Option<usize>, Refusal> {
        if let (0, Some(first)) = (self.length, bytes.first()) {
            self.is_scalar = !matches!(first, b'"' | b'{' | b'[');
        }
        let before = self.length;
        let is_complete = if self.is_scalar { self.scalar(bytes) } else { self.delimited(bytes, depth) }?;
        Ok(is_complete.then(|| self.length - before))
    }

    /// Strings, objects and arrays, which have a closing byte.
    fn delimited(&mut self, bytes: &[u8], limit: usize) -> Result<bool, Refusal> {
        let mut rest = bytes.iter();
        while let Some(byte) = rest.next() {
            match byte {
                _ if self.in_escape => self.in_escape = false,
                b'\\' if self.in_string => self.in_escape = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {
                    let plain = rest.as_slice();
                    let passed = memchr2(b'"', b'\\', plain).unwrap_or(plain.len());
                    self.length += passed;
                    rest = plain[passed..].iter();
                }
                b'{' | b'[' if self.depth == limit => return Err(Refusal::Depth(self.length)),
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.length += 1;
            if self.depth == 0 && !self.in_string {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Numbers and words, which end where something else begins.
    fn scalar(&mut self, bytes: &[u8]) -> Result<bool, Refusal> {
        let end = bytes.iter().position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t'));
        self.length += end.unwrap_or(bytes.len());
        if self.length > NUMBER {
            return Err(Refusal::Scalar);
        }
        Ok(end.is_some())
    }
}
