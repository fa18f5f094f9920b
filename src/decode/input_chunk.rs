//! A contiguous part of the body and the position in it.

use std::cell::OnceCell;

use memchr::memrchr;

/// A part of the body that begins at a token.
pub(super) struct InputChunk<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    text: OnceCell<&'a str>,
}

impl<'a> InputChunk<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, text: OnceCell::new() }
    }

    /// The bytes from the position on.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Skips white space.
    pub(super) fn skip_space(&mut self) {
        self.at += self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
    }

    /// The valid UTF-8 up to the last closing brace. A record that ends behind it is incomplete, and reading it only
    /// to undo it would be expensive.
    ///
    /// Validated once for the whole chunk.
    pub(super) fn text(&self) -> &'a str {
        self.text.get_or_init(|| {
            let end = memrchr(b'}', self.bytes).map_or(0, |brace| brace + 1);
            let bytes = self.bytes.get(..end).unwrap_or_default();
            simdutf8::compat::from_utf8(bytes).unwrap_or_else(|error| {
                let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
                std::str::from_utf8(valid).unwrap_or_default()
            })
        })
    }
}
