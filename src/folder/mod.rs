//! A folder of parts, which readers take for one dataset: its names, its lock, the records of its parts.
//!
//! The names are [`PartName`]s; everything else is in one hidden folder. A part appears when it is complete.
//! What another process or a damaged disk leaves behind is reported; it is never read as rows. Callers know names and
//! no paths: the folder is one of this machine (`local`) or of an object store (`remote`).

mod error;
mod local;
mod lock;
mod marks;
mod name;
mod query;
mod remote;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use futures_util::StreamExt;
use futures_util::stream;

pub use marks::Mark;
pub use name::PartName;
pub use query::{Query, digest, mismatch};

use crate::error::{Error, Kind, Result};
use crate::files::{AtomicFile, Complete, Footer, Location, Published, RowMemory, Unreadable, blocking};
use error::{at, failure, refused, too_large};
use local::Local;
use name::{day_folder, day_of};
use remote::Remote;

/// The column that readers make of the folder of a day.
pub const DAY: &str = "day";
/// The lock, and the files that are being written.
const HIDDEN: &str = ".dataaccess";
/// Parts of an object store that are read at a time: their records, which are small, and their rows.
const RECORDS: usize = 16;
const PARTS: usize = 4;

/// A folder of parts.
#[derive(Debug)]
pub struct Folder(Place);

#[derive(Debug)]
enum Place {
    Local(Local),
    Remote(Remote),
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
    /// Opens a folder to write into it, or makes it. It is locked until it is dropped.
    ///
    /// # Errors
    /// `FolderLocked` while another process uses it, `Folder` if it holds other files or others may write to
    /// it, `FolderFile` for an error of the system or the store.
    pub async fn open(location: &Location) -> Result<(Self, Names)> {
        match location {
            Location::Path(path) => {
                let (folder, names) = blocking(|| Local::open(path))?;
                Ok((Self(Place::Local(folder)), names))
            }
            Location::Object(object) => {
                let (folder, names) = Remote::open(object).await?;
                Ok((Self(Place::Remote(folder)), names))
            }
        }
    }

    /// Opens a folder to read its parts.
    ///
    /// # Errors
    /// As `open`; `FolderFile` if there is no folder, or no object in it.
    pub async fn read_only(location: &Location) -> Result<(Self, Names)> {
        match location {
            Location::Path(path) => {
                let (folder, names) = blocking(|| Local::read_only(path))?;
                Ok((Self(Place::Local(folder)), names))
            }
            Location::Object(object) => {
                let (folder, names) = Remote::read_only(object).await?;
                Ok((Self(Place::Remote(folder)), names))
            }
        }
    }

    /// The absolute path, or the URL.
    #[must_use]
    pub fn path(&self) -> &Path {
        match &self.0 {
            Place::Local(folder) => folder.path(),
            Place::Remote(folder) => Path::new(folder.url()),
        }
    }

    /// The absolute path of a part, or its URL.
    #[must_use]
    pub fn path_of(&self, name: &PartName) -> PathBuf {
        match &self.0 {
            Place::Local(folder) => folder.path().join(name.path()),
            Place::Remote(folder) => format!("{}/{name}", folder.url()).into(),
        }
    }

    /// The parts of a day.
    ///
    /// # Errors
    /// It holds other files.
    pub fn parts_of_day(&self, day: &str) -> Result<BTreeSet<PartName>> {
        let files = match &self.0 {
            Place::Local(folder) => blocking(|| folder.files_of_day(day))?,
            Place::Remote(folder) => folder.files_of_day(day),
        };
        let foreign = |file: &str| foreign(&self.path().join(day_folder(day)).join(file));
        files.iter().map(|file| PartName::parse(Some(day), file).ok_or_else(|| foreign(file))).collect()
    }

    /// All parts, by a new look at the folder.
    ///
    /// # Errors
    /// It holds other files, or cannot be read.
    pub fn all_parts(&self) -> Result<BTreeSet<PartName>> {
        let names = match &self.0 {
            Place::Local(folder) => blocking(|| folder.names())?,
            Place::Remote(folder) => folder.names()?,
        };
        let mut parts = names.parts;
        for day in &names.days {
            parts.append(&mut self.parts_of_day(day)?);
        }
        Ok(parts)
    }

    /// The record of a part.
    ///
    /// # Errors
    /// `FolderCorrupt` if it is damaged.
    pub async fn part(&self, name: &PartName) -> Result<Footer> {
        match &self.0 {
            Place::Local(folder) => blocking(|| folder.part(name)),
            Place::Remote(folder) => folder.part(name).await,
        }
    }

    /// The records of parts, in the same order.
    pub async fn parts(&self, names: &[&PartName]) -> Vec<Result<Footer>> {
        let reads: Vec<_> = names.iter().map(|name| self.part(name)).collect();
        stream::iter(reads).buffered(RECORDS).collect().await
    }

    /// Where a part is.
    #[must_use]
    pub fn location_of(&self, name: &PartName) -> Location {
        match &self.0 {
            Place::Local(_) => Location::Path(self.path_of(name)),
            Place::Remote(folder) => Location::Object(folder.object(name)),
        }
    }

    /// A file that becomes a part, and replaces it, when it is complete.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(&self, name: &PartName) -> Result<AtomicFile> {
        match &self.0 {
            Place::Local(folder) => folder.create(name),
            Place::Remote(folder) => Ok(folder.create(name)),
        }
    }

    /// Publishes a part. Returns its size.
    ///
    /// # Errors
    /// Another process has taken the folder over, or the part cannot be written. Then the part before it stays.
    pub async fn publish(&self, name: &PartName, part: Complete) -> Result<u64> {
        if let Place::Remote(folder) = &self.0 {
            folder.check_lock().await?;
        }
        let Published { bytes, object } = part.publish().await?;
        if let (Place::Remote(folder), Some(version)) = (&self.0, object) {
            folder.add(name, version);
        }
        Ok(bytes)
    }

    /// The marks that runs have left.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn marks(&self) -> Result<Vec<Mark>> {
        let hidden = match &self.0 {
            Place::Local(folder) => blocking(|| folder.hidden())?,
            Place::Remote(folder) => folder.hidden(),
        };
        Ok(hidden.iter().filter_map(|name| Mark::of_name(name)).collect())
    }

    /// Adds a mark.
    ///
    /// # Errors
    /// It cannot be written, or another process has taken the folder over.
    pub async fn add_mark(&self, mark: &Mark) -> Result<()> {
        match &self.0 {
            Place::Local(folder) => blocking(|| folder.add_hidden(mark.name())),
            Place::Remote(folder) => folder.add_hidden(mark.name()).await,
        }
    }

    /// Removes a mark, if it is there.
    ///
    /// # Errors
    /// It cannot be removed, or another process has taken the folder over.
    pub async fn remove_mark(&self, mark: &Mark) -> Result<()> {
        match &self.0 {
            Place::Local(folder) => blocking(|| folder.remove_hidden(mark.name())),
            Place::Remote(folder) => folder.remove_hidden(mark.name()).await,
        }
    }

    /// Ends the use of a folder. Dropped without it, a lock in an object store may stay until it runs out.
    pub async fn close(&self) {
        if let Place::Remote(folder) = &self.0 {
            folder.close().await;
        }
    }

    /// The error for a part that cannot be what was written.
    #[must_use]
    pub fn corrupt(&self, name: &PartName, problem: &str) -> Error {
        corrupt(&self.path_of(name), problem)
    }

    /// The error for a part whose record has another format than this version of the package reads.
    #[must_use]
    pub fn of_another_version(&self, name: &PartName, format: u64, known: u32) -> Error {
        let problem = format!(
            "was written by another version of dataaccess: it is of format {format}, and this version reads {known}"
        );
        at(Kind::FolderMismatch, &self.path_of(name), &problem)
            .with(|details| details.field = Some("format".to_owned()))
            .with_hint("use the version that wrote it, or name another folder")
    }

    /// The error for a part that no task of the query has.
    #[must_use]
    pub fn foreign(&self, name: &PartName) -> Error {
        foreign(&self.path_of(name))
    }
}

/// The parts and days of a folder, which holds nothing else that a reader would read.
fn names(folder: &Path, visible: impl IntoIterator<Item = String>) -> Result<Names> {
    let mut names = Names::default();
    let mut other = None;
    for name in visible {
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
            Err(refused(folder, &problem).with_hint("name the folder of a run, or a new or empty one"))
        }
        Some(other) => Err(foreign(&folder.join(other))),
    }
}

fn foreign(path: &Path) -> Error {
    refused(path, "is not a part of a run, but would be read as one").with_hint("move it elsewhere")
}

/// Whether a reader of datasets skips a name.
fn is_hidden(name: &str) -> bool {
    name.starts_with(['_', '.'])
}

/// Reads parts with their rows, in the same order.
///
/// # Errors
/// `FolderCorrupt` if one is damaged, `FolderFile` if one cannot be read, `ResponseTooLarge` from the one on with which
/// they take more memory than the limit.
pub async fn read(parts: &[Location], memory: &RowMemory) -> Vec<Result<(Footer, Vec<RecordBatch>)>> {
    let reads: Vec<_> = parts.iter().map(|part| read_part(part, memory)).collect();
    stream::iter(reads).buffered(PARTS).collect().await
}

async fn read_part(part: &Location, memory: &RowMemory) -> Result<(Footer, Vec<RecordBatch>)> {
    match part {
        Location::Path(path) => blocking(|| Footer::read(path, memory)).map_err(|cause| unreadable(path, cause)),
        Location::Object(object) => remote::read(object, memory).await,
    }
}

fn unreadable(path: &Path, cause: Unreadable) -> Error {
    match cause {
        Unreadable::Io(cause) => failure(path, "read", cause),
        Unreadable::Damaged(problem) => corrupt(path, problem),
        Unreadable::TooLarge(limit) => too_large(path, limit),
    }
}

fn corrupt(path: &Path, problem: &str) -> Error {
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let day = folder.and_then(day_of);
    let remedy = match day {
        Some(day) => format!("run again with refresh \"{day}\", which replaces it"),
        // Files of a scan without days are one snapshot: one of them alone would be of another time.
        None => "run again with refresh \"all\", which replaces all files, or without this file, which restores it \
                 alone"
            .to_owned(),
    };
    at(Kind::FolderCorrupt, path, &format!("has changed since it was written: {problem}"))
        .with(|details| details.day = day.map(ToOwned::to_owned))
        .with_hint(remedy)
}
