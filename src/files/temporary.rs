//! The temporary files in which others are written, and what is left of them.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::system::{failure, options};
use crate::error::{Kind, Result};

/// A temporary name ends with random digits and this.
const ENDING: &str = ".tmp";
/// Random hexadecimal digits in a temporary name.
const DIGITS: usize = 16;
/// Characters of the final name that a temporary name repeats; file systems limit the length of names.
const REPEATED: usize = 48;

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// How many temporary files there are, as after Ctrl-C. A process that ends now leaves them.
#[must_use]
pub fn temporary_files() -> usize {
    COUNT.load(Ordering::Acquire)
}

/// The name of a file that is removed when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Temporary(Option<PathBuf>);

impl Temporary {
    /// Makes an empty file in a folder, whose name begins with this one and belongs to nobody else.
    pub fn create(folder: &Path, name: &str) -> io::Result<(File, Self)> {
        let beginning: String = name.chars().take(REPEATED).collect();
        let random = getrandom::u64().map_err(|cause| io::Error::other(cause.to_string()))?;
        let path = folder.join(format!(".{beginning}.{random:0DIGITS$x}{ENDING}"));
        // Counted before it exists, so that the process cannot end between the two.
        COUNT.fetch_add(1, Ordering::Release);
        let mut temporary = Self(Some(path.clone()));
        match options(false).read(true).write(true).create_new(true).open(&path) {
            Ok(file) => Ok((file, temporary)),
            Err(cause) => {
                temporary.forget();
                Err(cause)
            }
        }
    }

    /// Where the file is. None once it has its own name, or none at all.
    pub fn path(&self) -> Option<&Path> {
        self.0.as_deref()
    }

    /// Leaves the file where it is: it has its own name now, or was never made.
    pub fn forget(&mut self) {
        if self.0.take().is_some() {
            COUNT.fetch_sub(1, Ordering::Release);
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = self.path() {
            // Nobody is left to report a failure to; `remove_stale` knows the file by its name.
            _ = fs::remove_file(path);
            self.forget();
        }
    }
}

/// What the system knows of a new file in a folder, such as its owner.
///
/// # Errors
/// No file can be created there.
pub fn metadata_of_new_file(folder: &Path) -> io::Result<Metadata> {
    let (file, _removed_at_the_end) = Temporary::create(folder, "dataaccess")?;
    file.metadata()
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
        !repeated.is_empty() && random.len() == DIGITS && random.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}
