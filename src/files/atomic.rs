//! A file that appears at its path only when complete: it is written under a temporary name and then renamed.
//!
//! Until then whatever was at the path stays there, even if the process dies. Of a file for an object store, parts are
//! uploaded while it is written, and the object appears when all are there.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{self, Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::parent;
use super::system::{failure, sync_folder};
use super::temporary::Temporary;
use crate::error::{Error, Kind, Result, defect};
use crate::store::{Failure, Listed, Object, Reason, Replaces, Upload};

/// A file being written. Dropped unfinished, it leaves nothing.
#[derive(Debug)]
pub struct AtomicFile {
    /// Where the file will be; of an object, its URL.
    path: PathBuf,
    kind: Kind,
    /// None once it is complete, or an error has ended it.
    target: Option<Target>,
    /// Bytes written.
    bytes: u64,
    /// Why it cannot be finished: the Parquet and CSV libraries drop the system's error or its details.
    failure: Option<Error>,
}

/// Where the bytes go until the file is complete.
#[derive(Debug)]
enum Target {
    File(Temporary),
    Upload(Upload),
}

/// A complete file that is not at its path yet. Dropped unpublished, it leaves nothing.
#[derive(Debug)]
#[must_use = "until it is published, it is not at its path"]
pub struct Complete {
    file: AtomicFile,
    /// Cancelled when the caller no longer wants the file.
    abandoned: CancellationToken,
}

/// A file that is at its path.
#[derive(Clone, Debug)]
pub struct Published {
    /// Its size.
    pub bytes: u64,
    /// Its version, in an object store.
    pub object: Option<Listed>,
}

/// Whether a path, which is no loop, is a symbolic link that leads to the open files of a process.
fn links_to_open_file(path: &Path) -> bool {
    let leads_there = |target: PathBuf| target.starts_with("/proc") || links_to_open_file(&parent(path).join(target));
    fs::read_link(path).is_ok_and(leads_there)
}

impl AtomicFile {
    /// Creates an empty temporary file beside `path`. Its errors are of this kind. Its mode is that
    /// of the file that it replaces, else the umask decides.
    ///
    /// # Errors
    /// No file can be created there, or the path is a folder or a device.
    pub fn create(path: &Path, kind: Kind) -> Result<Self> {
        Self::begin(path, None, kind)
    }

    /// As [`AtomicFile::create`], with the temporary file in another folder of the same file system. The folder of
    /// `path` is made when the file is complete.
    ///
    /// # Errors
    /// As [`AtomicFile::create`].
    pub fn staged(path: &Path, staging: &Path, kind: Kind) -> Result<Self> {
        Self::begin(path, Some(staging), kind)
    }

    /// A file of an object store. Sends nothing before it is longer than a part of an upload.
    #[must_use]
    pub fn of_object(object: &Object, replaces: Replaces, kind: Kind) -> Self {
        Self::of(object.url().into(), kind, Target::Upload(Upload::new(object.clone(), replaces)))
    }

    fn of(path: PathBuf, kind: Kind, target: Target) -> Self {
        Self { path, kind, target: Some(target), bytes: 0, failure: None }
    }

    fn begin(path: &Path, staging: Option<&Path>, kind: Kind) -> Result<Self> {
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
            // Such as `/dev/stdout`, which all programs share: the rename would replace the link.
            Ok(_) if links_to_open_file(&absolute) => return Err(refused("is a link to an open file")),
            // A dangling symbolic link is replaced, as any other link.
            Err(cause) if cause.kind() != ErrorKind::NotFound => return Err(failure(kind, path, "written", cause)),
            _ => {}
        }
        let created = Temporary::create(staging.unwrap_or_else(|| parent(&absolute)), &name.to_string_lossy());
        let temporary = created.map_err(|cause| failure(kind, path, "written", cause))?;
        // A file keeps its mode. What a link leads to is not replaced.
        if let Some(replaced) = fs::symlink_metadata(&absolute).ok().filter(fs::Metadata::is_file) {
            // Some file systems have no modes.
            _ = temporary.file.as_file().set_permissions(replaced.permissions());
        }
        Ok(Self::of(absolute, kind, Target::File(temporary)))
    }

    /// The absolute path where the file will be, or its URL.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Completes the file, durably.
    ///
    /// # Errors
    /// An earlier write failed, or the file cannot be synced.
    pub fn finish(&mut self) -> Result<Complete> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if let Some(Target::File(temporary)) = &self.target {
            temporary.file.as_file().sync_all().map_err(|cause| self.failed("written", cause))?;
        }
        let (path, target) = (self.path.clone(), self.target.take());
        let file = Self { path, kind: self.kind, target, bytes: self.bytes, failure: None };
        Ok(Complete { file, abandoned: CancellationToken::new() })
    }

    /// The error for a failure of a library: the system's error where a write failed, else a defect.
    pub(super) fn to_error(&self, cause: impl std::error::Error + Send + Sync + 'static) -> Error {
        self.failure.clone().unwrap_or_else(|| {
            defect(&format!("the rows cannot be encoded for `{}`", self.path.display())).with_source(cause)
        })
    }

    fn failed(&self, done: &str, cause: io::Error) -> Error {
        failure(self.kind, &self.path, done, cause)
    }

    /// Renames the temporary file to the path, durably.
    fn rename(&self, temporary: Temporary) -> Result<()> {
        temporary.persist(&self.path).map_err(|cause| self.failed("renamed to its path", cause))?;
        let synced = sync_folder(parent(&self.path));
        synced.map_err(|cause| self.failed("made durable, but is complete and at its path", cause))
    }

    fn not_uploaded(&self, failure: Failure) -> Error {
        let url = self.path.to_string_lossy();
        if failure.reason() != Reason::Conflict {
            return failure.into_error(self.kind, &url, "written");
        }
        Error::new(Kind::FolderLocked, format!("`{url}` was written by another run meanwhile, and stays as it is"))
            .retryable()
            .with_path(&self.path)
            .with_hint("wait until that run has ended, and run again")
    }
}

impl Write for AtomicFile {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let written = match &mut self.target {
            Some(Target::File(temporary)) => match temporary.file.as_file_mut().write(piece) {
                Err(cause) if cause.kind() == ErrorKind::Interrupted => return Err(cause),
                written => written.map_err(|cause| (cause.kind(), self.failed("written", cause))),
            },
            Some(Target::Upload(upload)) => match upload.write(piece) {
                Ok(()) => Ok(piece.len()),
                Err(failure) => {
                    let url = self.path.to_string_lossy();
                    Err((ErrorKind::Other, failure.into_error(self.kind, &url, "written")))
                }
            },
            None => Err((ErrorKind::Other, defect("a complete file was written to"))),
        };
        match written {
            Ok(written) => {
                self.bytes += written as u64;
                Ok(written)
            }
            Err((kind, failure)) => {
                // The libraries may go on to write after an error.
                self.failure.get_or_insert(failure);
                self.target = None;
                Err(kind.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Complete {
    /// The same file, which is never renamed to its path once `abandoned` is cancelled.
    pub fn unless(mut self, abandoned: &CancellationToken) -> Self {
        self.abandoned = abandoned.clone();
        self
    }

    /// Renames the file to its path, durably, or uploads it. Replaces what was there, a symbolic link included.
    ///
    /// # Errors
    /// It cannot be renamed, or the store refuses it. Then what was there is as before.
    pub async fn publish(self) -> Result<Published> {
        let Self { mut file, abandoned } = self;
        let target = file.target.take();
        let cancelled =
            || Error::new(Kind::Internal, format!("`{}` was not written: the call was cancelled", file.path.display()));
        let object = match target {
            _ if abandoned.is_cancelled() => return Err(cancelled()),
            Some(Target::File(temporary)) => {
                super::blocking(|| file.rename(temporary))?;
                None
            }
            Some(Target::Upload(upload)) => tokio::select! {
                biased;
                () = abandoned.cancelled() => return Err(cancelled()),
                uploaded = upload.complete() => Some(uploaded.map_err(|failure| file.not_uploaded(failure))?),
            },
            None => return Err(defect("a file was published twice")),
        };
        Ok(Published { bytes: file.bytes, object })
    }
}
