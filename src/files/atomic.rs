//! A file that appears at its path only when complete: it is written under a temporary name and then renamed.
//!
//! Until then whatever was at the path stays there, even if the process dies. A file for an object store is written to
//! this machine, without a name where the system can do that, and uploaded when it is complete.

use std::env;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::iter;
use std::mem;
use std::path::{self, Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::system::{failure, options, sync_folder};
use crate::error::{Error, Kind, Result};
use crate::store::Object;

/// A temporary name ends with random digits and this.
const ENDING: &str = ".tmp";
/// Random hexadecimal digits in a temporary name.
const DIGITS: usize = 16;
/// Characters of the final name that a temporary name repeats; file systems limit the length of names.
const REPEATED: usize = 48;

/// A complete file, which an object store still has to get.
#[derive(Debug)]
#[must_use = "until it is published, an object store does not have it"]
pub struct Complete {
    bytes: u64,
    upload: Option<(Object, File, Kind, Temporary)>,
}

impl Complete {
    /// Its size.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Uploads a file for an object store. Returns its size.
    ///
    /// # Errors
    /// The store refuses it. Then the object is as before.
    pub async fn publish(self) -> Result<u64> {
        if let Some((object, file, kind, _temporary)) = self.upload {
            object.upload(file, self.bytes, kind).await?;
        }
        Ok(self.bytes)
    }
}

/// The name of a file that is removed when this is dropped.
#[derive(Debug, Default)]
struct Temporary(Option<PathBuf>);

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Nobody is left to report a failure to; `remove_stale` knows the file by its name.
            _ = fs::remove_file(path);
        }
    }
}

/// A file being written. Dropped unfinished, it leaves nothing.
#[derive(Debug)]
pub struct AtomicFile {
    /// Where the file will be; of an object, its URL.
    path: PathBuf,
    object: Option<Object>,
    kind: Kind,
    file: File,
    /// None once the file has its own name, or none at all.
    temporary: Temporary,
    /// Bytes written.
    bytes: u64,
    /// Cancelled when the caller no longer wants the file.
    abandoned: CancellationToken,
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

/// What the system knows of a new file in a folder, such as its owner.
///
/// # Errors
/// No file can be created there.
pub fn metadata_of_new_file(folder: &Path) -> io::Result<Metadata> {
    let (file, path) = temporary(folder, "dataaccess", false)?;
    let _removed_at_the_end = Temporary(Some(path));
    file.metadata()
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

    /// Creates an empty temporary file on this machine, which is uploaded as an object when it is complete.
    ///
    /// # Errors
    /// No file can be created in the folder for temporary files.
    pub fn of_object(object: &Object, kind: Kind) -> Result<Self> {
        let folder = env::temp_dir();
        let (file, temporary) = temporary(&folder, "dataaccess", true)
            .map_err(|cause| failure(kind, &folder, "used for a temporary file", cause))?;
        // Where an open file may have no name, nothing is left behind even if the process dies.
        let temporary = if cfg!(unix) && fs::remove_file(&temporary).is_ok() { None } else { Some(temporary) };
        let path = PathBuf::from(object.url());
        Ok(Self::of(path, Some(object.clone()), kind, file, temporary))
    }

    fn of(path: PathBuf, object: Option<Object>, kind: Kind, file: File, temporary: Option<PathBuf>) -> Self {
        let (temporary, abandoned) = (Temporary(temporary), CancellationToken::new());
        Self { path, object, kind, file, temporary, bytes: 0, abandoned, failure: None }
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
            // Such as `/dev/stdout`, which all programs share: the rename would replace the link.
            Ok(_) if links_to_open_file(&absolute) => return Err(refused("is a link to an open file")),
            // A dangling symbolic link is replaced, as any other link.
            Err(cause) if cause.kind() != ErrorKind::NotFound => return Err(failure(kind, path, "written", cause)),
            _ => {}
        }
        let beginning: String = name.to_string_lossy().chars().take(REPEATED).collect();
        let folder = staging.unwrap_or_else(|| parent(&absolute));
        let created = temporary(folder, &beginning, is_private);
        let (file, temporary) = created.map_err(|cause| failure(kind, path, "written", cause))?;
        Ok(Self::of(absolute, None, kind, file, Some(temporary)))
    }

    /// The same file, which is never renamed to its path once `abandoned` is cancelled.
    #[must_use]
    pub fn unless(mut self, abandoned: &CancellationToken) -> Self {
        self.abandoned = abandoned.clone();
        self
    }

    /// The absolute path where the file will be, or its URL.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the file to its path, durably. Replaces what was there, a symbolic link included. An object is complete
    /// now, and appears when it is published.
    ///
    /// # Errors
    /// An earlier write failed, or the file cannot be synced or renamed.
    pub fn finish(&mut self) -> Result<Complete> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if self.object.is_none() {
            self.file.sync_all().map_err(|cause| self.failed("written", cause))?;
        }
        if self.abandoned.is_cancelled() {
            let path = self.path.display();
            return Err(Error::new(Kind::Internal, format!("`{path}` was not written: the call was cancelled")));
        }
        let bytes = self.bytes;
        if let Some(object) = self.object.clone() {
            let file = self.file.try_clone().map_err(|cause| self.failed("written", cause))?;
            return Ok(Complete { bytes, upload: Some((object, file, self.kind, mem::take(&mut self.temporary))) });
        }
        if let Some(temporary) = &self.temporary.0 {
            self.rename(temporary).map_err(|cause| self.failed("renamed to its path", cause))?;
        }
        self.temporary.0 = None;
        sync_folder(parent(&self.path))
            .map_err(|cause| self.failed("made durable, but is complete and at its path", cause))?;
        Ok(Complete { bytes, upload: None })
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
        let error = match &self.object {
            None => failure(self.kind, &self.path, done, cause),
            Some(object) => {
                let folder = env::temp_dir();
                failure(self.kind, &folder, &format!("used for the temporary file of `{object}`"), cause)
            }
        };
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

/// Removes the temporary files that dead processes left in a folder. No other process may be writing rows there.
///
/// # Errors
/// The folder cannot be read, or a file cannot be removed.
pub fn remove_stale(folder: &Path, kind: Kind) -> Result<()> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    for entry in entries.map_err(|cause| failure(kind, folder, "read", cause))? {
        if is_temporary(&entry.file_name().to_string_lossy()) {
            match fs::remove_file(entry.path()) {
                // A run that is about to find the folder in use makes and removes such a file too.
                Err(cause) if cause.kind() == ErrorKind::NotFound => {}
                removed => removed.map_err(|cause| failure(kind, &entry.path(), "removed", cause))?,
            }
        }
    }
    Ok(())
}

/// Makes an empty file whose name nobody else has.
fn temporary(folder: &Path, beginning: &str, is_private: bool) -> io::Result<(File, PathBuf)> {
    let random = getrandom::u64().map_err(|cause| io::Error::other(cause.to_string()))?;
    let path = folder.join(format!(".{beginning}.{random:0DIGITS$x}{ENDING}"));
    let file = options(is_private).read(true).write(true).create_new(true).open(&path)?;
    Ok((file, path))
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
