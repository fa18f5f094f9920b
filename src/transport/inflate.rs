//! Decompresses a body while it is received. Pure: takes bytes in, and gives chunks out of one reused buffer.
//!
//! A small body may decompress to a large one: the size of a response is limited decompressed.

use std::fmt;
use std::io;

use bytes::{Buf, Bytes};
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::encoding::Encoding;
use crate::error::{Error, Kind, Result};

const CHUNK: usize = 64 << 10;
/// Compressed bytes that are read before the check for padding begins.
const PADDING_ALLOWANCE: u64 = 1 << 20;

/// The largest window of gzip, as a power of two.
const GZIP_WINDOW: u8 = 15;
/// The largest window that RFC 9659 lets a service use, 8 MiB, as a power of two.
const ZSTD_WINDOW: u32 = 23;

#[derive(Debug)]
pub(super) struct Inflate {
    encoding: Encoding,
    format: Box<dyn Format>,
    input: Bytes,
    chunk: Vec<u8>,
    read: u64,
    written: u64,
    /// Whether the bytes so far end with a complete member or frame.
    has_ended: bool,
    /// Whether no more can be written without more input.
    needs_input: bool,
}

impl Inflate {
    pub(super) fn try_new(encoding: Encoding) -> Result<Self> {
        Ok(Self {
            encoding,
            format: decoder(encoding)?,
            input: Bytes::new(),
            chunk: Vec::with_capacity(CHUNK),
            read: 0,
            written: 0,
            has_ended: false,
            needs_input: true,
        })
    }

    /// Takes more bytes of the body, after [`Inflate::next`] returned false.
    pub(super) fn feed(&mut self, input: Bytes) {
        self.input = input;
    }

    /// Decompresses the next chunk. Returns false when that needs more bytes of the body.
    pub(super) fn next(&mut self) -> Result<bool> {
        self.chunk.clear();
        while self.chunk.len() < self.chunk.capacity() && !(self.input.is_empty() && self.needs_input) {
            if self.has_ended && self.encoding == Encoding::Gzip && self.input.first() == Some(&0) {
                // Padding, which gzip(1) ignores.
                let zeros = self.input.iter().take_while(|byte| **byte == 0).count();
                self.input.advance(zeros);
                self.read += zeros as u64;
                continue;
            }
            self.check_begin()?;
            let before = self.chunk.len();
            let step = self.format.step(&self.input, &mut self.chunk);
            let step = step.map_err(|error| self.malformed(&error.to_string()).with_source(error))?;
            if step.read == 0 && self.chunk.len() == before && !self.input.is_empty() {
                return Err(self.malformed("the decoder makes no progress"));
            }
            self.input.advance(step.read);
            self.read += step.read as u64;
            self.has_ended = step.has_ended;
            self.needs_input = step.has_ended || self.chunk.len() < self.chunk.capacity();
        }
        self.written += self.chunk.len() as u64;
        self.check_padding()?;
        Ok(!self.chunk.is_empty())
    }

    /// The chunk that [`Inflate::next`] decompressed.
    pub(super) fn chunk(&self) -> &[u8] {
        &self.chunk
    }

    /// Checks at the end of the body that the compression has ended too.
    pub(super) fn finish(&self) -> Result<()> {
        if self.has_ended {
            return Ok(());
        }
        let message = match self.read {
            0 => "the response has no body".to_owned(),
            read => {
                format!("the compressed response was cut off after {read} bytes, before the end of its {}", self.name())
            }
        };
        let error = Error::new(Kind::TruncatedResponse, message).with(|details| details.received = Some(self.read));
        Err(if self.read == 0 { error.retryable_once() } else { error.retryable() })
    }

    /// Refuses endless padding: empty members or skippable frames.
    fn check_padding(&self) -> Result<()> {
        let (read, written) = (self.read, self.written);
        if read > PADDING_ALLOWANCE && read / 2 > written {
            let message = format!("{read} bytes of {} hold only {written} bytes of the response", self.name());
            return Err(Error::new(Kind::MalformedHttp, message).with(|details| details.received = Some(read)));
        }
        Ok(())
    }

    /// Checks the first byte of each member or frame, so that a wrong one is not taken for the start of a truncated one.
    fn check_begin(&self) -> Result<()> {
        let begins = self.has_ended || self.read == 0;
        match self.input.first() {
            Some(byte) if begins && !begins_with(self.encoding, *byte) => {
                Err(self.malformed(if self.has_ended { "data follows its end" } else { "it has another first byte" }))
            }
            _ => Ok(()),
        }
    }

    fn malformed(&self, cause: &str) -> Error {
        let (name, read) = (self.name(), self.read);
        let message = format!("the compressed response is not valid {name} after {read} bytes: {cause}");
        Error::new(Kind::MalformedHttp, message).with(|details| details.received = Some(read)).retryable_once()
    }

    fn name(&self) -> &'static str {
        self.encoding.name()
    }
}

/// Decompresses a body of `gzip` or `zstd` that arrives in pieces, for tests and fuzzing. `take` gets each chunk.
///
/// # Errors
/// As for a response; and of `take`, which may refuse a chunk.
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub fn inflate<'a>(
    encoding: &str,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let unknown = || Error::new(Kind::Internal, format!("there is no encoding {encoding}"));
    let mut inflate = Inflate::try_new(Encoding::from_name(encoding).ok_or_else(unknown)?)?;
    for piece in pieces {
        inflate.feed(Bytes::copy_from_slice(piece));
        while inflate.next()? {
            take(inflate.chunk())?;
        }
    }
    inflate.finish()
}

struct Step {
    read: usize,
    /// Whether a gzip member or zstd frame is complete: its checksum is right and all of it was written.
    has_ended: bool,
}

/// Decodes a sequence of gzip members or zstd frames.
trait Format: fmt::Debug + Send {
    /// Reads some of the input and appends to the output, up to its capacity.
    fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> io::Result<Step>;
}

fn decoder(encoding: Encoding) -> Result<Box<dyn Format>> {
    match encoding {
        Encoding::Gzip => Ok(Box::new(Gzip { member: Decompress::new_gzip(GZIP_WINDOW), has_ended: false })),
        Encoding::Zstd => Zstd::try_new().map(|zstd| Box::new(zstd) as Box<dyn Format>).map_err(|error| {
            Error::new(Kind::Internal, format!("cannot create the zstd decoder: {error}")).with_source(error)
        }),
    }
}

/// Whether a gzip member or zstd frame can begin with `byte`.
const fn begins_with(encoding: Encoding, byte: u8) -> bool {
    match encoding {
        Encoding::Gzip => byte == 0x1f,
        // The range is that of skippable frames.
        Encoding::Zstd => matches!(byte, 0x28 | 0x50..=0x5f),
    }
}

#[derive(Debug)]
struct Gzip {
    member: Decompress,
    has_ended: bool,
}

impl Format for Gzip {
    fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> io::Result<Step> {
        if self.has_ended {
            self.member = Decompress::new_gzip(GZIP_WINDOW);
        }
        let before = self.member.total_in();
        let status = self.member.decompress_vec(input, output, FlushDecompress::None)?;
        self.has_ended = status == Status::StreamEnd;
        let read = usize::try_from(self.member.total_in() - before).unwrap_or(input.len());
        Ok(Step { read, has_ended: self.has_ended })
    }
}

struct Zstd(Decoder<'static>);

impl Zstd {
    fn try_new() -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW))?;
        Ok(Self(decoder))
    }
}

impl fmt::Debug for Zstd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Zstd")
    }
}

impl Format for Zstd {
    fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> io::Result<Step> {
        let mut input = InBuffer::around(input);
        let written = output.len();
        let missing = self.0.run(&mut input, &mut OutBuffer::around_pos(output, written))?;
        Ok(Step { read: input.pos(), has_ended: missing == 0 })
    }
}

#[cfg(test)]
mod tests;
