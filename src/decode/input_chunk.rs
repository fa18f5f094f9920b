//! A contiguous part of the body and the position in it.

use memchr::memrchr;

/// A part of the body that begins at a token.
pub(super) struct InputChunk<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    records_end: Option<usize>,
}

impl<'a> InputChunk<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, records_end: None }
    }

    /// The bytes from the position on.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Skips white space.
    pub(super) fn skip_space(&mut self) {
        self.at += self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
    }

    /// The bytes up to the last closing brace. A record that ends behind it is incomplete, and reading it only to undo
    /// it would be expensive.
    ///
    /// Searched once for the whole chunk.
    pub(super) fn records(&mut self) -> &'a [u8] {
        let end = *self.records_end.get_or_insert_with(|| memrchr(b'}', self.bytes).map_or(0, |brace| brace + 1));
        &self.bytes[..end]
    }
}
