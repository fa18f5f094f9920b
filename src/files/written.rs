//! Size and SHA-256 of a file.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::system::private;

/// The size and hash of a complete file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

impl Written {
    /// Reads a file and hashes it. Fails on a symbolic link.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn of(path: &Path) -> io::Result<Self> {
        let mut counter = HashingCounter::default();
        io::copy(&mut private().read(true).open(path)?, &mut counter)?;
        Ok(counter.written())
    }
}

/// The SHA-256 of a string in hexadecimal.
#[must_use]
pub fn sha256(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))
}

/// Counts and hashes the bytes written to it.
#[derive(Clone, Debug, Default)]
pub(super) struct HashingCounter {
    bytes: u64,
    hash: Sha256,
}

impl HashingCounter {
    pub(super) fn add(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        self.hash.update(piece);
    }

    pub(super) fn written(self) -> Written {
        Written { bytes: self.bytes, sha256: format!("{:x}", self.hash.finalize()) }
    }
}

impl Write for HashingCounter {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.add(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
