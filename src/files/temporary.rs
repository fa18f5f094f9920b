//! The temporary files in which others are written, and what is left of them.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::{Builder, NamedTempFile};

use super::system::failure;
use crate::error::{Kind, Result};

/// A temporary name ends with random letters and digits, and this.
const ENDING: &str = ".tmp";
/// Random characters in a temporary name.
const RANDOM: usize = 16;
/// Characters of the final name that a temporary name repeats; file systems limit the length of names.
const REPEATED: usize = 48;

/// How many temporary files there are.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// How many temporary files there are, as after Ctrl-C. A process that ends now leaves them.
pub fn temporary_files() -> usize {
    COUNT.load(Ordering::Acquire)
}

/// A temporary file, which is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Temporary {
    pub file: NamedTempFile,
    _counted: Counted,
}

#[derive(Debug)]
struct Counted;

impl Temporary {
    /// Makes an empty file in a folder, whose name begins with this one and belongs to nobody else.
    pub fn create(folder: &Path, name: &str) -> io::Result<Self> {
        // Counted before it exists, so that the process cannot end between the two.
        COUNT.fetch_add(1, Ordering::Release);
        let counted = Counted;
        let beginning: String = name.chars().take(REPEATED).collect();
        let open = |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
        let prefix = format!(".{beginning}.");
        let file = Builder::new().prefix(&prefix).suffix(ENDING).rand_bytes(RANDOM).make_in(folder, open)?;
        Ok(Self { file, _counted: counted })
    }

    /// Renames it to a path. Makes the folder, if that does not exist.
    pub fn persist(self, path: &Path) -> io::Result<File> {
        let failed = match self.file.persist(path) {
            Err(failed) if failed.error.kind() == ErrorKind::NotFound => failed,
            renamed => return Ok(renamed?),
        };
        let folder = super::parent(path);
        match fs::create_dir(folder) {
            // Another file of the folder was complete at the same moment.
            Err(cause) if cause.kind() != ErrorKind::AlreadyExists => return Err(cause),
            _ => {}
        }
        let renamed = super::sync_folder(super::parent(folder)).and_then(|()| Ok(failed.file.persist(path)?));
        renamed.inspect_err(|_| {
            // An empty folder would look like a part.
            _ = fs::remove_dir(folder);
        })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::Release);
    }
}

/// What the system knows of a new file in a folder, such as its owner.
///
/// # Errors
/// No file can be created there.
pub fn metadata_of_new_file(folder: &Path) -> io::Result<Metadata> {
    Temporary::create(folder, "dataaccess")?.file.as_file().metadata()
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

fn is_temporary(name: &str) -> bool {
    let stem = name.strip_prefix('.').and_then(|name| name.strip_suffix(ENDING));
    stem.and_then(|stem| stem.rsplit_once('.')).is_some_and(|(repeated, random)| {
        !repeated.is_empty() && random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}
