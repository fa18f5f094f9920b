//! A file on its way: written beside its place under another name, and put there once it is whole.
//!
//! Until then its place is as before, whatever ends the work.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{self, Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::failure::failure;
use super::private::{open, private};
use super::written::{HashingCounter, Written, synchronise};
use crate::error::{Error, Kind, Result};

/// What the name of a draft ends with, after 16 random digits.
const ENDING: &str = ".tmp";
/// Digits that tell drafts of one place apart.
const DIGITS: usize = 16;
/// Characters of its place's name that a draft's name repeats: names have limits.
const REPEATED: usize = 48;

/// A file being written. Dropped unfinished, it leaves nothing.
#[derive(Debug)]
pub struct AtomicFile {
    place: PathBuf,
    kind: Kind,
    file: File,
    /// None once it is in its place.
    name: Option<PathBuf>,
    tally: HashingCounter,
    /// Whether nobody wants it any more.
    abandoned: CancellationToken,
    /// Why it cannot be finished. Libraries lose what the system said, or the error as a whole.
    failure: Option<Error>,
}

impl AtomicFile {
    /// An empty file on its way to `path`; its failures are of this kind.
    ///
    /// # Errors
    /// No file can be made there, or what is there is no file, which a finished one would replace.
    pub fn create(path: &Path, kind: Kind) -> Result<Self> {
        let refused = |problem: &str| {
            Error::new(kind, format!("`{}` {problem}", path.display())).with_path(path).with_hint("name a file")
        };
        // Whoever changes the working directory meanwhile does not move the file.
        let place = path::absolute(path).map_err(|cause| failure(kind, path, "named", cause))?;
        let name = place.file_name().ok_or_else(|| refused("names no file"))?;
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(refused("names no file"));
        }
        match fs::metadata(&place) {
            Ok(found) if found.is_dir() => return Err(refused("is a folder")),
            Ok(found) if !found.is_file() => return Err(refused("is no regular file")),
            // A link that leads nowhere is replaced, as any other.
            Err(cause) if cause.kind() != ErrorKind::NotFound => return Err(failure(kind, path, "written", cause)),
            _ => {}
        }
        let random =
            getrandom::u64().map_err(|cause| failure(kind, path, "named", io::Error::other(cause.to_string())))?;
        let beginning: String = name.to_string_lossy().chars().take(REPEATED).collect();
        let name = folder(&place).join(format!(".{beginning}.{random:0DIGITS$x}{ENDING}"));
        // A file that somebody asked for is theirs to share; what a run keeps is not.
        let mut options = if kind == Kind::File { open() } else { private() };
        let made = options.read(true).write(true).create_new(true).open(&name);
        let file = made.map_err(|cause| failure(kind, path, "written", cause))?;
        let (tally, abandoned) = (HashingCounter::default(), CancellationToken::new());
        Ok(Self { place, kind, file, name: Some(name), tally, abandoned, failure: None })
    }

    /// The same, but once this token is cancelled the file never comes to its place. Whoever writes may be in the middle
    /// of a long write when its caller goes away.
    #[must_use]
    pub fn unless(mut self, abandoned: &CancellationToken) -> Self {
        self.abandoned = abandoned.clone();
        self
    }

    /// Where it will be.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.place
    }

    /// The user to whom the file belongs.
    ///
    /// # Errors
    /// The system does not say.
    #[cfg(unix)]
    pub fn owner(&self) -> Result<u32> {
        let found = self.file.metadata().map_err(|cause| failure(self.kind, &self.place, "looked at", cause))?;
        Ok(std::os::unix::fs::MetadataExt::uid(&found))
    }

    /// Puts the file in its place, durably. What was there before is replaced, a symbolic link too.
    ///
    /// # Errors
    /// Something before went wrong, or this does.
    pub fn finish(mut self) -> Result<Written> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.file.sync_all().map_err(|cause| self.failed("written", cause))?;
        if self.abandoned.is_cancelled() {
            return Err(Error::new(Kind::Internal, "the caller of a write has gone away"));
        }
        if let Some(name) = &self.name {
            fs::rename(name, &self.place).map_err(|cause| self.failed("put in its place", cause))?;
        }
        self.name = None;
        synchronise(folder(&self.place))
            .map_err(|cause| self.failed("made durable, but is complete and in its place", cause))?;
        Ok(std::mem::take(&mut self.tally).written())
    }

    /// The error for what a library could not write: what the system said of it, if it did.
    pub(super) fn told(&self, cause: impl std::error::Error + Send + Sync + 'static) -> Error {
        self.failure.clone().unwrap_or_else(|| {
            Error::new(Kind::Internal, format!("rows make no file at `{}`: please report this", self.place.display()))
                .with_source(cause)
        })
    }

    fn failed(&mut self, done: &str, cause: io::Error) -> Error {
        let error = failure(self.kind, &self.place, done, cause);
        self.failure = Some(error.clone());
        error
    }
}

impl Write for AtomicFile {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        match self.file.write(piece) {
            Ok(written) => {
                self.tally.add(piece.get(..written).unwrap_or(piece));
                Ok(written)
            }
            Err(cause) if cause.kind() == ErrorKind::Interrupted => Err(cause),
            Err(cause) => {
                let kind = cause.kind();
                self.failed("written", cause);
                Err(kind.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // Nobody is left to hear of a failure; who finds the file knows it by its name.
            _ = fs::remove_file(name);
        }
    }
}

/// Removes the drafts that dead processes left in a folder. Only for a folder in which nobody else is at work.
///
/// # Errors
/// The folder cannot be read, or a draft not be removed.
pub fn remove_stale(folder: &Path, kind: Kind) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|cause| failure(kind, folder, "read", cause))?;
    for entry in entries {
        let entry = entry.map_err(|cause| failure(kind, folder, "read", cause))?;
        if is_draft(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path()).map_err(|cause| failure(kind, &entry.path(), "removed", cause))?;
        }
    }
    Ok(())
}

/// Whether a name is one that only drafts have.
fn is_draft(name: &str) -> bool {
    let stem = name.strip_prefix('.').and_then(|name| name.strip_suffix(ENDING));
    stem.and_then(|stem| stem.rsplit_once('.')).is_some_and(|(repeated, random)| {
        !repeated.is_empty() && random.len() == DIGITS && random.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

/// The folder of a path, which is absolute.
fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}
