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
pub(super) struct Extent {
    scanned: usize,
    depth: usize,
    in_string: bool,
}

impl Extent {
    /// Looks on where it left off; `bytes` starts at the value's first byte, each time with more behind.
    ///
    /// Answers the value's length once its end is there. A number or a word ends before the byte that
    /// cannot belong to it.
    pub(super) fn advance(&mut self, bytes: &[u8], depth: usize, number: usize) -> Result<Option<usize>, Refusal> {
        match bytes.first() {
            None => Ok(None),
            Some(b'"' | b'{' | b'[') => self.delimited(bytes, depth),
            Some(_) => self.scalar(bytes, number),
        }
    }

    /// Strings, objects and arrays, which say themselves where they end.
    fn delimited(&mut self, bytes: &[u8], limit: usize) -> Result<Option<usize>, Refusal> {
        while let Some(rest) = bytes.get(self.scanned..).filter(|rest| !rest.is_empty()) {
            if self.in_string {
                let Some(stop) = memchr2(b'"', b'\\', rest) else {
                    self.scanned = bytes.len();
                    return Ok(None);
                };
                if rest.get(stop) == Some(&b'"') {
                    self.scanned += stop + 1;
                    self.in_string = false;
                    if self.depth == 0 {
                        return Ok(Some(self.scanned));
                    }
                } else if stop + 1 < rest.len() {
                    self.scanned += stop + 2;
                } else {
                    // The escaped byte has not arrived: look at the backslash again when it has.
                    self.scanned += stop;
                    return Ok(None);
                }
                continue;
            }
            match rest.first() {
                Some(b'"') => self.in_string = true,
                Some(b'{' | b'[') => {
                    self.depth += 1;
                    if self.depth > limit {
                        return Err(Refusal::Depth(self.scanned));
                    }
                }
                Some(b'}' | b']') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Ok(Some(self.scanned + 1));
                    }
                }
                _ => {}
            }
            self.scanned += 1;
        }
        Ok(None)
    }

    /// Numbers and words, which end where something else begins.
    fn scalar(&mut self, bytes: &[u8], limit: usize) -> Result<Option<usize>, Refusal> {
        let rest = bytes.get(self.scanned..).unwrap_or_default();
        let end = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t'));
        self.scanned += end.unwrap_or(rest.len());
        if self.scanned > limit {
            return Err(Refusal::Scalar);
        }
        Ok(end.map(|_| self.scanned))
    }
}
