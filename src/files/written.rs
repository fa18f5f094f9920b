//! What a file holds, in two figures: its bytes, counted and hashed.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::private::private;

/// A file that is whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256 in hexadecimal.
    pub sha256: String,
}

impl Written {
    /// What a file holds now. A symbolic link is not followed.
    ///
    /// # Errors
    /// What the system says.
    pub fn of(path: &Path) -> io::Result<Self> {
        let mut tally = HashingCounter::default();
        io::copy(&mut private().read(true).open(path)?, &mut tally)?;
        Ok(tally.written())
    }
}

/// The SHA-256 of a text in hexadecimal.
#[must_use]
pub fn sha256(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))
}

/// Counts and hashes what is written to it.
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

/// Makes the names in a folder durable: a file's own bytes are, once it is synchronised.
pub(super) fn synchronise(folder: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    let opened = match File::open(folder) {
        // A folder that may be written and not listed: its names become durable with the file system's next sync.
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
        opened => opened?,
    };
    match opened.sync_all() {
        // Some file systems have nothing to synchronise there.
        Err(cause) if matches!(cause.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        done => done,
    }
}
