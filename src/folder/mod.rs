//! A folder of parts, which readers take for one dataset: its names, its lock, the records of its parts.
//!
//! The names are those of [`PartName`]; everything else is in one hidden folder. A part appears when it is complete.
//! What another process or a damaged disk leaves behind is reported; it is never read as rows. Callers know names and
//! no paths, so that a folder of an object store could be used in the same way.

mod fault;
mod local;
mod lock;
mod name;
mod query;

use std::collections::BTreeSet;
use std::fs;
use std::path::{self, Path, PathBuf};

use arrow_array::RecordBatch;

pub use name::PartName;
pub use query::{Query, digest, mismatch};

use crate::error::{Error, Kind, Result};
use crate::files::{AtomicFile, Part, Unreadable, remove_stale};
use fault::{at, failure, refused};
use local::Access;
use lock::Lock;
use name::{day_folder, day_of};

/// The lock, and the files that are being written.
const HIDDEN: &str = ".dataaccess";

/// A folder of parts.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    is_private: bool,
    /// None for a reader.
    writer: Option<(Access, Lock)>,
}

/// What is in a folder.
#[derive(Debug, Default)]
pub struct Names {
    /// The parts without a day.
    pub parts: BTreeSet<PartName>,
    /// The days, of which each may have parts.
    pub days: BTreeSet<String>,
}

impl Folder {
    /// Opens a folder to write into it, or makes it. It is locked until it is dropped. With `is_private`, what is made
    /// is for its owner alone; otherwise the umask decides.
    ///
    /// # Errors
    /// `CheckpointLocked` while another process uses it, `Checkpoint` if it holds other files or others may write to
    /// it, `CheckpointFile` for an error of the system.
    pub fn open(folder: &Path, is_private: bool) -> Result<(Self, Names)> {
        let path = path::absolute(folder).map_err(|cause| failure(folder, "named", cause))?;
        local::make(&path, is_private)?;
        let access = Access::of_new_files(&path)?;
        // A link to the folder is the user's own.
        access.check(&path, &fs::metadata(&path).map_err(|cause| failure(&path, "inspected", cause))?)?;
        // Before anything is put into a folder of other files, and below, once no other run adds parts.
        names(&path)?;
        let hidden = path.join(HIDDEN);
        access.check_path(&hidden)?;
        local::make(&hidden, is_private)?;
        let lock = Lock::take(&path, &hidden, &access, is_private)?;
        // Of runs that were killed; the folder itself may have the probe of one.
        [&path, &hidden].into_iter().try_for_each(|folder| remove_stale(folder, Kind::CheckpointFile))?;
        let names = names(&path)?;
        Ok((Self { path, is_private, writer: Some((access, lock)) }, names))
    }

    /// Opens a folder to read its parts. Without a folder there are none.
    ///
    /// # Errors
    /// As those of `open`.
    pub fn read_only(folder: &Path) -> Result<(Self, Names)> {
        let path = path::absolute(folder).map_err(|cause| failure(folder, "named", cause))?;
        let names = names(&path)?;
        Ok((Self { path, is_private: false, writer: None }, names))
    }

    /// The absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The absolute path of a part.
    #[must_use]
    pub fn path_of(&self, name: &PartName) -> PathBuf {
        self.path.join(name.path())
    }

    /// The parts of a day.
    ///
    /// # Errors
    /// It holds other files.
    pub fn parts_of_day(&self, day: &str) -> Result<BTreeSet<PartName>> {
        let folder = self.path.join(day_folder(day));
        self.check(&folder)?;
        let part = |file: String| PartName::parse(Some(day), &file).ok_or_else(|| foreign(&folder.join(file)));
        local::visible(&folder)?.into_iter().map(part).collect()
    }

    /// The record of a part.
    ///
    /// # Errors
    /// `CheckpointCorrupt` if it is damaged.
    pub fn part(&self, name: &PartName) -> Result<Part> {
        let path = self.path_of(name);
        self.check(&path)?;
        Part::open(&path).map_err(|cause| unreadable(&path, cause))
    }

    /// A file that becomes a part, and replaces it, when it is complete.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(&self, name: &PartName) -> Result<AtomicFile> {
        let hidden = self.path.join(HIDDEN);
        AtomicFile::staged(&self.path_of(name), &hidden, Kind::CheckpointFile, self.is_private)
    }

    /// The error for a part that cannot be what was written.
    #[must_use]
    pub fn corrupt(&self, name: &PartName, problem: &str) -> Error {
        corrupt(&self.path_of(name), problem)
    }

    /// The error for a part that no task of the query has.
    #[must_use]
    pub fn foreign(&self, name: &PartName) -> Error {
        foreign(&self.path_of(name))
    }

    fn check(&self, path: &Path) -> Result<()> {
        self.writer.as_ref().map_or(Ok(()), |(access, _)| access.check_path(path))
    }
}

/// The parts and days of a folder, which holds nothing else.
fn names(folder: &Path) -> Result<Names> {
    let mut names = Names::default();
    let mut other = None;
    for name in local::visible(folder)? {
        if let Some(day) = day_of(&name) {
            names.days.insert(day.to_owned());
        } else if let Some(part) = PartName::parse(None, &name) {
            names.parts.insert(part);
        } else {
            other.get_or_insert(name);
        }
    }
    match other {
        None => Ok(names),
        Some(other) if names.parts.is_empty() && names.days.is_empty() => {
            let problem = format!("holds `{other}` and no parts of a run");
            Err(refused(folder, &problem).with_hint("name a new folder, or an empty one"))
        }
        Some(other) => Err(foreign(&folder.join(other))),
    }
}

fn foreign(path: &Path) -> Error {
    refused(path, "is not a part of a run, but would be read as one").with_hint("move it elsewhere")
}

/// Reads a part with its rows.
///
/// # Errors
/// `CheckpointCorrupt` if it is damaged, `CheckpointFile` if the system cannot read it.
pub fn read(path: &Path) -> Result<(Part, Vec<RecordBatch>)> {
    Part::read(path).map_err(|cause| unreadable(path, cause))
}

fn unreadable(path: &Path, cause: Unreadable) -> Error {
    match cause {
        Unreadable::Io(cause) => failure(path, "read", cause),
        Unreadable::Damaged(problem) => corrupt(path, problem),
    }
}

fn corrupt(path: &Path, problem: &str) -> Error {
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let day = folder.and_then(day_of);
    let remedy = match day {
        Some(day) => format!("run again with refresh=[\"{day}\"], which replaces it"),
        None => "delete this file and run again, which restores it".to_owned(),
    };
    at(Kind::CheckpointCorrupt, path, &format!("has changed since it was written: {problem}"))
        .with(|details| details.day = day.map(ToOwned::to_owned))
        .with_hint(remedy)
}
