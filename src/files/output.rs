//! Where the bytes of a text file go: into the file, or compressed into it.

use std::io::{self, Write};

use flate2::write::GzEncoder;
use serde::Deserialize;
use zstd::stream::write::Encoder as ZstdEncoder;

use super::atomic::{AtomicFile, Complete};
use crate::error::{Error, Result};

/// How a text file is compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// As `gzip` does.
    Gzip,
    /// As `zstd` does.
    Zstd,
}

/// An [`AtomicFile`], written as it is or compressed.
pub enum Output {
    /// As it is.
    Plain(AtomicFile),
    /// Compressed by gzip.
    Gzip(GzEncoder<AtomicFile>),
    /// Compressed by zstd.
    Zstd(ZstdEncoder<'static, AtomicFile>),
}

impl Output {
    /// Begins to write the file.
    pub fn new(file: AtomicFile, compression: Compression) -> Result<Self> {
        Ok(match compression {
            Compression::None => Self::Plain(file),
            Compression::Gzip => Self::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Compression::Zstd => {
                let path = file.path().to_path_buf();
                let made = ZstdEncoder::new(file, 0).and_then(|mut encoder| {
                    encoder.include_checksum(true)?;
                    Ok(encoder)
                });
                let no_memory = |cause| super::failure(crate::error::Kind::File, &path, "compressed", cause);
                Self::Zstd(made.map_err(no_memory)?)
            }
        })
    }

    /// Completes the file.
    pub(super) fn finish(&mut self) -> Result<Complete> {
        let ended = match self {
            Self::Plain(_) => Ok(()),
            Self::Gzip(encoder) => encoder.try_finish(),
            Self::Zstd(encoder) => encoder.do_finish(),
        };
        ended.map_err(|cause| self.to_error(cause))?;
        match self {
            Self::Plain(file) => file.finish(),
            Self::Gzip(encoder) => encoder.get_mut().finish(),
            Self::Zstd(encoder) => encoder.get_mut().finish(),
        }
    }

    pub(super) fn to_error(&self, cause: impl std::error::Error + Send + Sync + 'static) -> Error {
        match self {
            Self::Plain(file) => file.to_error(cause),
            Self::Gzip(encoder) => encoder.get_ref().to_error(cause),
            Self::Zstd(encoder) => encoder.get_ref().to_error(cause),
        }
    }
}

impl Write for Output {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(piece),
            Self::Gzip(encoder) => encoder.write(piece),
            Self::Zstd(encoder) => encoder.write(piece),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // A flush would end a block of the compression early.
        Ok(())
    }
}
