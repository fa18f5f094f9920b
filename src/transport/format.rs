//! The two formats of compression, each as a decoder of one step. Knows no HTTP, no limits on a body.

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
    /// Bytes of the input that it read.
    pub(super) read: usize,
    /// Whether a member of gzip, or a frame of zstd, is complete: its check holds and all of it was written.
    pub(super) has_ended: bool,
}

/// A decoder of members or frames, which may follow one another.
pub(super) trait Format: fmt::Debug + Send {
    /// Reads some of the input, and appends what that gives as far as the capacity of the output goes.
    fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> io::Result<Step>;
}

/// The decoder of an encoding, before its first byte.
pub(super) fn decoder(encoding: Encoding) -> Result<Box<dyn Format>> {
    match encoding {
        Encoding::Gzip => Ok(Box::new(Gzip { member: Decompress::new_gzip(GZIP_WINDOW), has_ended: false })),
        Encoding::Zstd => Zstd::try_new()
            .map(|zstd| Box::new(zstd) as Box<dyn Format>)
            .map_err(|error| Error::new(Kind::Internal, format!("zstd cannot be set up: {error}")).with_source(error)),
    }
}

/// Whether a member, or a frame, can begin with a byte.
pub(super) const fn begins_with(encoding: Encoding, byte: u8) -> bool {
    match encoding {
        Encoding::Gzip => byte == 0x1f,
        // The second range is that of frames which are skipped.
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
