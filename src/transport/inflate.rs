//! Decompression of a body as it comes: piece by piece, up to its own end.
//!
//! However small the compressed body: `max_response_bytes=` bounds what it becomes, and the first byte that is not JSON
//! ends it.
//!
//! Knows no HTTP and no I/O: bytes are put in, pieces come out of one buffer that is used again and again.

use bytes::{Buf, Bytes};

use super::encoding::Encoding;
use super::format::{Format, begins_with, decoder};
use crate::error::{Error, Kind, Result};

/// Bytes of a piece.
const PIECE: usize = 64 << 10;
/// Bytes that are read before they must hold something.
const TRIFLE: u64 = 1 << 20;

/// The decompression of one body.
#[derive(Debug)]
pub(super) struct Inflate {
    encoding: Encoding,
    format: Box<dyn Format>,
    input: Bytes,
    piece: Vec<u8>,
    read: u64,
    written: u64,
    /// Whether all that was read is complete.
    has_ended: bool,
    /// Whether all that can be written without more input was written.
    is_dry: bool,
}

impl Inflate {
    /// Before the first byte.
    ///
    /// # Errors
    /// `Internal` when there is no memory for it.
    pub(super) fn try_new(encoding: Encoding) -> Result<Self> {
        Ok(Self {
            encoding,
            format: decoder(encoding)?,
            input: Bytes::new(),
            piece: Vec::with_capacity(PIECE),
            read: 0,
            written: 0,
            has_ended: false,
            is_dry: true,
        })
    }

    /// Takes more of the body, once [`Inflate::next`] asked for it.
    pub(super) fn feed(&mut self, input: Bytes) {
        self.input = input;
    }

    /// Makes the next piece; false when that needs more of the body.
    ///
    /// # Errors
    /// `MalformedHttp` for what cannot be decompressed, and for what holds next to nothing.
    pub(super) fn next(&mut self) -> Result<bool> {
        self.piece.clear();
        while self.piece.len() < self.piece.capacity() && !(self.input.is_empty() && self.is_dry) {
            self.check_begin()?;
            let before = self.piece.len();
            let step = self.format.step(&self.input, &mut self.piece);
            let step = step.map_err(|error| self.malformed(&error.to_string()).with_source(error))?;
            if step.read == 0 && self.piece.len() == before && !self.input.is_empty() {
                return Err(self.malformed("it leads nowhere"));
            }
            self.input.advance(step.read);
            self.read += step.read as u64;
            self.has_ended = step.has_ended;
            self.is_dry = step.has_ended || self.piece.len() < self.piece.capacity();
        }
        self.written += self.piece.len() as u64;
        self.check_padding()?;
        Ok(!self.piece.is_empty())
    }

    /// The piece that [`Inflate::next`] made.
    pub(super) fn piece(&self) -> &[u8] {
        &self.piece
    }

    /// The body has ended.
    ///
    /// # Errors
    /// `TruncatedResponse` unless its compression has, too.
    pub(super) fn finish(&self) -> Result<()> {
        if self.has_ended {
            return Ok(());
        }
        let message = match self.read {
            0 => "the answer has no body".to_owned(),
            read => format!("the compressed answer ended after {read} bytes, before the end of its {}", self.name()),
        };
        let error = Error::new(Kind::TruncatedResponse, message).with(|details| details.received = Some(self.read));
        Err(if self.read == 0 { error.retryable_once() } else { error.retryable() })
    }

    /// Padding is refused: there could be no end of it.
    fn check_padding(&self) -> Result<()> {
        let (read, written) = (self.read, self.written);
        if read > TRIFLE && read / 2 > written {
            let message = format!("{read} bytes of {} hold no more than {written} bytes of the answer", self.name());
            return Err(Error::new(Kind::MalformedHttp, message).with(|details| details.received = Some(read)));
        }
        Ok(())
    }

    /// A single wrong byte is told as what it is, and not as the beginning of what was cut.
    fn check_begin(&self) -> Result<()> {
        let begins = self.has_ended || self.read == 0;
        match self.input.first() {
            Some(byte) if begins && !begins_with(self.encoding, *byte) => {
                Err(self.malformed(if self.has_ended { "something follows its end" } else { "it begins otherwise" }))
            }
            _ => Ok(()),
        }
    }

    fn malformed(&self, cause: &str) -> Error {
        let (name, read) = (self.name(), self.read);
        let message = format!("the compressed answer is not {name} as agreed after {read} bytes: {cause}");
        Error::new(Kind::MalformedHttp, message).with(|details| details.received = Some(read)).retryable_once()
    }

    fn name(&self) -> &'static str {
        self.encoding.name()
    }
}

#[cfg(test)]
mod tests;
