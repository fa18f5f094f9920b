//! The decoders of gzip and zstd behind one trait.

use std::fmt;
use std::io;

use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::encoding::Encoding;
use crate::error::{Error, Kind, Result};

/// The largest window of gzip, as a power of two.
const GZIP_WINDOW: u8 = 15;
/// The largest window that RFC 9659 lets a service use, 8 MiB, as a power of two.
const ZSTD_WINDOW: u32 = 23;

/// What one step did.
pub(super) struct Step {
    /// Bytes of the input that were read.
    pub(super) read: usize,
    /// Whether a gzip member or zstd frame is complete: its checksum is right and all of it was written.
    pub(super) has_ended: bool,
}

/// Decodes a sequence of gzip members or zstd frames.
pub(super) trait Format: fmt::Debug + Send {
    /// Reads some of the input and appends to the output, up to its capacity.
    fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> io::Result<Step>;
}

/// A new decoder.
pub(super) fn decoder(encoding: Encoding) -> Result<Box<dyn Format>> {
    match encoding {
        Encoding::Gzip => Ok(Box::new(Gzip { member: Decompress::new_gzip(GZIP_WINDOW), has_ended: false })),
        Encoding::Zstd => Zstd::try_new()
            .map(|zstd| Box::new(zstd) as Box<dyn Format>)
            .map_err(|error| Error::new(Kind::Internal, format!("zstd cannot be set up: {error}")).with_source(error)),
    }
}

/// Whether a gzip member or zstd frame can begin with `byte`.
pub(super) const fn begins_with(encoding: Encoding, byte: u8) -> bool {
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
