//! A file that appears at its path only when complete: it is written under a temporary name and then renamed.
//!
//! Until then whatever was at the path stays there, even if the process dies.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::{self, Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::system::{failure, options, sync_folder};
use crate::error::{Error, Kind, Result};

/// A temporary name ends with random digits and this.
const ENDING: &str = ".tmp";
/// Random hexadecimal digits in a temporary name.
const DIGITS: usize = 16;
/// Characters of the final name that a temporary name repeats; file systems limit the length of names.
const REPEATED: usize = 48;

/// A file being written. Dropped unfinished, it leaves nothing.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    kind: Kind,
    file: File,
    /// None once the file was renamed.
    temporary: Option<PathBuf>,
    /// Bytes written.
    bytes: u64,
    /// Cancelled when the caller no longer wants the file.
    abandoned: CancellationToken,
    /// Why it cannot be finished: the Parquet and CSV libraries drop the system's error or its details.
    failure: Option<Error>,
}

impl AtomicFile {
    /// Creates an empty temporary file beside `path`. Its errors are of this kind. A private one is for its owner
    /// alone; otherwise the umask decides.
    ///
    /// # Errors
    /// No file can be created there, or the path is a folder or a device.
    pub fn create(path: &Path, kind: Kind, is_private: bool) -> Result<Self> {
        Self::begin(path, None, kind, is_private)
    }

    /// As [`AtomicFile::create`], with the temporary file in another folder of the same file system. The folder of
    /// `path` is made when the file is complete.
    ///
    /// # Errors
    /// As those of `create`.
    pub fn staged(path: &Path, staging: &Path, kind: Kind, is_private: bool) -> Result<Self> {
        Self::begin(path, Some(staging), kind, is_private)
    }

    fn begin(path: &Path, staging: Option<&Path>, kind: Kind, is_private: bool) -> Result<Self> {
        let refused = |problem: &str| {
            Error::new(kind, format!("`{}` {problem}", path.display())).with_path(path).with_hint("name a file")
        };
        // Absolute, so that a later change of the working directory does not move the file.
        let absolute = path::absolute(path).map_err(|cause| failure(kind, path, "named", cause))?;
        let name = absolute.file_name().filter(|_| !path.as_os_str().as_encoded_bytes().ends_with(b"/"));
        let name = name.ok_or_else(|| refused("names no file"))?;
        match fs::metadata(&absolute) {
            Ok(found) if found.is_dir() => return Err(refused("is a folder")),
            Ok(found) if !found.is_file() => return Err(refused("is not a regular file")),
            // A dangling symbolic link is replaced, as any other link.
            Err(cause) if cause.kind() != ErrorKind::NotFound => return Err(failure(kind, path, "written", cause)),
            _ => {}
        }
        let random =
            getrandom::u64().map_err(|cause| failure(kind, path, "named", io::Error::other(cause.to_string())))?;
        let beginning: String = name.to_string_lossy().chars().take(REPEATED).collect();
        let folder = staging.unwrap_or_else(|| parent(&absolute));
        let temporary = folder.join(format!(".{beginning}.{random:0DIGITS$x}{ENDING}"));
        let created = options(is_private).read(true).write(true).create_new(true).open(&temporary);
        let file = created.map_err(|cause| failure(kind, path, "written", cause))?;
        let (temporary, abandoned) = (Some(temporary), CancellationToken::new());
        Ok(Self { path: absolute, kind, file, temporary, bytes: 0, abandoned, failure: None })
    }

    /// The same file, which is never renamed to its path once `abandoned` is cancelled.
    #[must_use]
    pub fn unless(mut self, abandoned: &CancellationToken) -> Self {
        self.abandoned = abandoned.clone();
        self
    }

    /// The absolute path where the file will be.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the system knows of the temporary file, such as its owner.
    ///
    /// # Errors
    /// It cannot be inspected.
    pub fn metadata(&self) -> Result<Metadata> {
        self.file.metadata().map_err(|cause| failure(self.kind, &self.path, "inspected", cause))
    }

    /// Renames the file to its path, durably. Replaces what was there, a symbolic link included. Returns its size.
    ///
    /// # Errors
    /// An earlier write failed, or the file cannot be synced or renamed.
    pub fn finish(&mut self) -> Result<u64> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.file.sync_all().map_err(|cause| self.failed("written", cause))?;
        if self.abandoned.is_cancelled() {
            let path = self.path.display();
            return Err(Error::new(Kind::Internal, format!("`{path}` was not written: the call was cancelled")));
        }
        if let Some(temporary) = &self.temporary {
            self.rename(temporary).map_err(|cause| self.failed("renamed to its path", cause))?;
        }
        self.temporary = None;
        sync_folder(parent(&self.path))
            .map_err(|cause| self.failed("made durable, but is complete and at its path", cause))?;
        Ok(self.bytes)
    }

    /// Renames the temporary file. Makes the folder of a staged file, if it does not exist.
    fn rename(&self, temporary: &Path) -> io::Result<()> {
        match fs::rename(temporary, &self.path) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => {
                let folder = parent(&self.path);
                match fs::create_dir(folder) {
                    // Another file of the folder was complete at the same moment.
                    Err(cause) if cause.kind() != ErrorKind::AlreadyExists => return Err(cause),
                    _ => {}
                }
                sync_folder(parent(folder)).and_then(|()| fs::rename(temporary, &self.path)).inspect_err(|_| {
                    // An empty folder would look like a part.
                    _ = fs::remove_dir(folder);
                })
            }
            renamed => renamed,
        }
    }

    /// The error for a failure of a library: the system's error where a write failed, else a defect.
    pub(super) fn to_error(&self, cause: impl std::error::Error + Send + Sync + 'static) -> Error {
        self.failure.clone().unwrap_or_else(|| {
            let problem = format!("the rows cannot be encoded for `{}`: please report this", self.path.display());
            Error::new(Kind::Internal, problem).with_source(cause)
        })
    }

    fn failed(&mut self, done: &str, cause: io::Error) -> Error {
        let error = failure(self.kind, &self.path, done, cause);
        self.failure = Some(error.clone());
        error
    }
}

impl Write for AtomicFile {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        match self.file.write(piece) {
            Ok(written) => {
                self.bytes += written as u64;
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
        if let Some(temporary) = &self.temporary {
            // Nobody is left to report a failure to; `remove_stale` knows the file by its name.
            _ = fs::remove_file(temporary);
        }
    }
}

/// Removes the temporary files that dead processes left in a folder. No other process may be writing there.
///
/// # Errors
/// The folder cannot be read, or a file cannot be removed.
pub fn remove_stale(folder: &Path, kind: Kind) -> Result<()> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    for entry in entries.map_err(|cause| failure(kind, folder, "read", cause))? {
        if is_temporary(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path()).map_err(|cause| failure(kind, &entry.path(), "removed", cause))?;
        }
    }
    Ok(())
}

fn is_temporary(name: &str) -> bool {
    let stem = name.strip_prefix('.').and_then(|name| name.strip_suffix(ENDING));
    stem.and_then(|stem| stem.rsplit_once('.')).is_some_and(|(repeated, random)| {
        !repeated.is_empty() && random.len() == DIGITS && random.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

/// The folder of an absolute path.
fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}
