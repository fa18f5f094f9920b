//! The journal as a file: read whole, begun and mended whole, lengthened line by line.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::fault::{corrupt, failure};
use super::folder;
use super::record::JournalRecord;
use crate::error::{Error, Kind, Result};
use crate::files::{AtomicFile, private};

/// Its name, which readers of datasets skip.
const NAME: &str = "_dataaccess.journal";

/// Where the journal of a folder is.
pub(super) fn place(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// What a journal says.
#[derive(Debug)]
pub(super) struct Told {
    /// Its lines.
    pub(super) lines: Vec<JournalRecord>,
    /// Whether that is all of it: a last line that a crash has torn does not count.
    pub(super) is_all: bool,
}

/// What the journal of a folder says, if there is one.
pub(super) fn read(folder: &Path) -> Result<Option<Told>> {
    let path = place(folder);
    if folder::file(&path)?.is_none() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let opened = private().read(true).open(&path);
    let read = opened.and_then(|mut file| io::copy(&mut file, &mut bytes));
    read.map_err(|cause| failure(&path, "read", cause))?;
    let mut lines = Vec::new();
    let mut pieces = bytes.split_inclusive(|byte| *byte == b'\n').peekable();
    while let Some(piece) = pieces.next() {
        match piece.strip_suffix(b"\n").and_then(JournalRecord::decode) {
            Some(line) => lines.push(line),
            None if pieces.peek().is_none() && !lines.is_empty() => return Ok(Some(Told { lines, is_all: false })),
            None => return Err(damaged(&path, lines.len(), "is damaged")),
        }
    }
    if lines.is_empty() { Err(damaged(&path, 0, "is empty")) } else { Ok(Some(Told { lines, is_all: true })) }
}

/// The error for a line, counted from 0.
pub(super) fn damaged(path: &Path, line: usize, problem: &str) -> Error {
    corrupt(path, &format!("{problem} in line {}", line + 1))
        .with(|details| details.line = Some(line + 1))
        .with_hint("nothing of this checkpoint can be trusted: delete its folder and run again, or name another one")
}

/// A journal that grows.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// Bytes of its whole lines.
    length: u64,
    /// Whether something stands behind them that could not be taken away.
    is_torn: bool,
}

impl Journal {
    /// Writes a journal anew, in one step.
    pub(super) fn write(folder: &Path, lines: &[JournalRecord]) -> Result<()> {
        let path = place(folder);
        let mut file = AtomicFile::create(&path, Kind::Checkpoint)?;
        for line in lines {
            // The draft remembers what the system said.
            if file.write_all(&line.encode()?).is_err() {
                break;
            }
        }
        file.finish().map(drop)
    }

    /// Opens a journal that is in order.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let path = place(folder);
        let opened = private().append(true).open(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (length, file) = opened.map_err(|cause| failure(&path, "opened", cause))?;
        Ok(Self { path, file, length, is_torn: false })
    }

    /// Adds a line, durably. When that fails, the next one begins where the last whole line ended.
    pub(super) fn append(&mut self, line: &JournalRecord) -> Result<()> {
        let bytes = line.encode()?;
        if let Err(cause) = self.put(&bytes) {
            // At once: on a full disk it is in the way of everything else.
            self.is_torn = self.file.set_len(self.length).is_err();
            return Err(failure(&self.path, "written", cause));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.is_torn {
            self.file.set_len(self.length)?;
            self.is_torn = false;
        }
        self.file.write_all(bytes)?;
        self.file.sync_all()
    }
}
