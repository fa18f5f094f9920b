//! Finds where a JSON value ends, however its bytes are cut. Knows brackets and strings, nothing else.
//!
//! It does not judge the value: `serde_json` does, on the whole of it. It only refuses what would grow
//! without bound: depth and numbers.

use memchr::memchr2;

/// Why a value is refused before its end was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// More open brackets than allowed, at this place.
    Depth(usize),
    /// A number or word longer than any can be.
    Scalar,
}

/// The progress of one search for an end.
#[derive(Debug, Default)]
pub(super) struct ValueEnd {
    length: usize,
    depth: usize,
    in_string: bool,
    in_escape: bool,
    is_scalar: bool,
}

impl ValueEnd {
    /// The bytes of the value that were seen so far.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Looks at the next bytes of the value; the first of all are its very beginning.
    ///
    /// Answers how many of them belong to it once its end is there. A number or a word ends before the byte that
    /// cannot belong to it.
    pub(super) fn advance(&mut self, bytes: &[u8], depth: usize, number: usize) -> Result<Option<usize>, Refusal> {
        if let (0, Some(first)) = (self.length, bytes.first()) {
            self.is_scalar = !matches!(first, b'"' | b'{' | b'[');
        }
        let before = self.length;
        let is_complete = if self.is_scalar { self.scalar(bytes, number) } else { self.delimited(bytes, depth) }?;
        Ok(is_complete.then(|| self.length - before))
    }

    /// Strings, objects and arrays, which say themselves where they end.
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
                    rest = plain.get(passed..).unwrap_or_default().iter();
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
    fn scalar(&mut self, bytes: &[u8], limit: usize) -> Result<bool, Refusal> {
        let end = bytes.iter().position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t'));
        self.length += end.unwrap_or(bytes.len());
        if self.length > limit {
            return Err(Refusal::Scalar);
        }
        Ok(end.is_some())
    }
}
