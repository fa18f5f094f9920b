//! A file that appears at its path only when complete: it is written under a temporary name and then renamed.
//!
//! Until then whatever was at the path stays there, even if the process dies. Of a file for an object store, parts are
//! uploaded while it is written, and the object appears when all are there.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::iter;
use std::mem;
use std::path::{self, Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::system::{failure, sync_folder};
use super::temporary::Temporary;
use crate::error::{Error, Kind, Result, defect};
use crate::store::{Failure, Listed, Object, Reason, Replaces, Upload};

/// A complete file that is not at its path yet. Dropped unpublished, it leaves nothing.
#[derive(Debug)]
#[must_use = "until it is published, it is not at its path"]
pub struct Complete {
    path: PathBuf,
    kind: Kind,
    bytes: u64,
    target: Target,
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

/// Where the bytes go until the file is complete.
#[derive(Debug)]
enum Target {
    File(File, Temporary),
    Upload(Upload),
    /// It is complete, or an error has ended it.
    Closed,
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
    pub async fn publish(mut self) -> Result<Published> {
        let cancelled =
            || Error::new(Kind::Internal, format!("`{}` was not written: the call was cancelled", self.path.display()));
        if self.abandoned.is_cancelled() {
            return Err(cancelled());
        }
        let mut object = None;
        match mem::replace(&mut self.target, Target::Closed) {
            Target::File(_, temporary) => super::blocking(|| self.rename(temporary))?,
            Target::Upload(upload) => tokio::select! {
                biased;
                () = self.abandoned.cancelled() => return Err(cancelled()),
                uploaded = upload.complete() => {
                    object = Some(uploaded.map_err(|failure| self.not_uploaded(&failure))?);
                }
            },
            Target::Closed => {}
        }
        Ok(Published { bytes: self.bytes, object })
    }

    /// Renames the temporary file. Makes the folder of a staged file, if it does not exist.
    fn rename(&self, mut temporary: Temporary) -> Result<()> {
        let failed = |done: &str, cause| failure(self.kind, &self.path, done, cause);
        if let Some(temporary) = temporary.path() {
            rename(temporary, &self.path).map_err(|cause| failed("renamed to its path", cause))?;
        }
        let synced = sync_folder(parent(&self.path));
        let synced = synced.map_err(|cause| failed("made durable, but is complete and at its path", cause));
        temporary.forget();
        synced
    }

    fn not_uploaded(&self, failure: &Failure) -> Error {
        let url = self.path.to_string_lossy();
        if !failure.is_conflict() || failure.reason() == Reason::Missing {
            return failure.clone().into_error(self.kind, &url, "written");
        }
        Error::new(Kind::FolderLocked, format!("`{url}` was written by another run meanwhile, and stays as it is"))
            .retryable()
            .with_path(&self.path)
            .with_hint("wait until that run has ended, and run again")
    }
}

/// Renames a file. Makes its folder, if that does not exist.
fn rename(temporary: &Path, path: &Path) -> io::Result<()> {
    match fs::rename(temporary, path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => {
            let folder = parent(path);
            match fs::create_dir(folder) {
                // Another file of the folder was complete at the same moment.
                Err(cause) if cause.kind() != ErrorKind::AlreadyExists => return Err(cause),
                _ => {}
            }
            sync_folder(parent(folder)).and_then(|()| fs::rename(temporary, path)).inspect_err(|_| {
                // An empty folder would look like a part.
                _ = fs::remove_dir(folder);
            })
        }
        renamed => renamed,
    }
}

/// A file being written. Dropped unfinished, it leaves nothing.
#[derive(Debug)]
pub struct AtomicFile {
    /// Where the file will be; of an object, its URL.
    path: PathBuf,
    kind: Kind,
    target: Target,
    /// Bytes written.
    bytes: u64,
    /// Why it cannot be finished: the Parquet and CSV libraries drop the system's error or its details.
    failure: Option<Error>,
}

/// Whether a path is a symbolic link that leads to the open files of a process.
fn links_to_open_file(path: &Path) -> bool {
    const MOST_LINKS: usize = 40;
    let next = |link: &PathBuf| fs::read_link(link).ok().map(|target| parent(link).join(target));
    let mut targets = iter::successors(next(&path.to_owned()), next).take(MOST_LINKS);
    targets.any(|target| fs::canonicalize(parent(&target)).is_ok_and(|folder| folder.starts_with("/proc")))
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
        let path = PathBuf::from(object.url());
        Self { path, kind, target: Target::Upload(Upload::new(object.clone(), replaces)), bytes: 0, failure: None }
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
        let folder = staging.unwrap_or_else(|| parent(&absolute));
        let created = Temporary::create(folder, &name.to_string_lossy());
        let (file, temporary) = created.map_err(|cause| failure(kind, path, "written", cause))?;
        // A file keeps its mode. What a link leads to is not replaced.
        if let Some(replaced) = fs::symlink_metadata(&absolute).ok().filter(fs::Metadata::is_file) {
            // Some file systems have no modes.
            _ = file.set_permissions(replaced.permissions());
        }
        Ok(Self { path: absolute, kind, target: Target::File(file, temporary), bytes: 0, failure: None })
    }

    /// The absolute path where the file will be, or its URL.
    #[must_use]
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
        if let Target::File(file, _) = &self.target {
            file.sync_all().map_err(|cause| self.failed("written", cause))?;
        }
        Ok(Complete {
            path: self.path.clone(),
            kind: self.kind,
            bytes: self.bytes,
            target: mem::replace(&mut self.target, Target::Closed),
            abandoned: CancellationToken::new(),
        })
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
}

impl Write for AtomicFile {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let written = match &mut self.target {
            Target::File(file, _) => match file.write(piece) {
                Err(cause) if cause.kind() == ErrorKind::Interrupted => return Err(cause),
                written => written.map_err(|cause| (cause.kind(), self.failed("written", cause))),
            },
            Target::Upload(upload) => match upload.write(piece) {
                Ok(()) => Ok(piece.len()),
                Err(cause) => {
                    Err((ErrorKind::Other, cause.into_error(self.kind, &self.path.to_string_lossy(), "written")))
                }
            },
            Target::Closed => Err((ErrorKind::Other, defect("a complete file was written to"))),
        };
        match written {
            Ok(written) => {
                self.bytes += written as u64;
                Ok(written)
            }
            Err((kind, failure)) => {
                // The libraries may go on to write after an error.
                self.failure.get_or_insert(failure);
                self.target = Target::Closed;
                Err(kind.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The folder of an absolute path.
fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}
