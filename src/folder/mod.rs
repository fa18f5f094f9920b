//! A folder of parts, which readers take for one dataset: its names, its lock, the records of its parts.
//!
//! The names are [`PartName`]s; everything else is in one hidden folder. A part appears when it is complete.
//! What another process or a damaged disk leaves behind is reported; it is never read as rows. A folder is one of this
//! machine or of an object store: both are read alike, and differ in how they are listed, locked and written.

mod access;
mod error;
mod lock;
mod name;
mod query;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{self, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use futures_util::StreamExt;
use futures_util::stream;

pub use name::PartName;
pub use query::{Query, digest, mismatch};

use crate::error::{Error, Kind, Result};
use crate::files::{AtomicFile, Complete, Footer, Location, Published, RowMemory, Unreadable, blocking, remove_stale};
use crate::store::{Listed, Object, Reason, Replaces};
use access::{Access, check_regular, inspect};
use error::{at, failure, missing, refused, too_large, unread};
use lock::Lock;
use name::{day_folder, day_of};

/// The column that readers make of the folder of a day.
pub const DAY: &str = "day";
/// The lock, and the files that are being written.
const HIDDEN: &str = ".dataaccess";
/// Parts that are read at a time: their records, which are small, and their rows.
const RECORDS: usize = 16;
const PARTS: usize = 4;
/// How often a part may be replaced while its record is read.
const ATTEMPTS: usize = 3;

/// A folder of parts.
#[derive(Debug)]
pub struct Folder {
    /// Absolute.
    place: Location,
    /// The same place for reads: the file system of this machine is a store too.
    objects: Object,
    /// What was listed of a bucket when the folder was opened, and what this run has written since.
    listed: Mutex<BTreeMap<String, Listed>>,
    /// None for a reader.
    lock: Option<Lock>,
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
        let folder = match location {
            Location::Path(path) => blocking(|| Self::open_path(path))?,
            Location::Object(object) => {
                // Before anything is put into a folder of other files, and below, once no other run adds parts.
                Self::of_object(object).await?.names()?;
                let lock = Some(Lock::of_object(object).await?);
                Self { lock, ..Self::of_object(object).await? }
            }
        };
        let names = blocking(|| folder.names())?;
        Ok((folder, names))
    }

    fn open_path(folder: &Path) -> Result<Self> {
        let path = path::absolute(folder).map_err(|cause| failure(folder, "named", cause))?;
        let make = |folder: &Path| fs::create_dir_all(folder).map_err(|cause| failure(folder, "made", cause));
        make(&path)?;
        let access = Access::of_new_files(&path)?;
        // A link to the folder is the user's own.
        access.check(&path, &fs::metadata(&path).map_err(|cause| failure(&path, "inspected", cause))?)?;
        let folder = Self::of_path(path.clone())?;
        // As in a bucket.
        folder.names()?;
        let hidden = path.join(HIDDEN);
        if let Some(found) = inspect(&hidden)? {
            access.check(&hidden, &found)?;
        }
        make(&hidden)?;
        let lock = Some(Lock::of_path(&path, access)?);
        // Of runs that were killed; the folder itself may have the temporary file of one.
        [&path, &hidden].into_iter().try_for_each(|folder| remove_stale(folder, Kind::FolderFile))?;
        Ok(Self { lock, ..folder })
    }

    /// Opens a folder to read its parts.
    ///
    /// # Errors
    /// As `open`; `FolderFile` if there is no folder, or no object in it.
    pub async fn read_only(location: &Location) -> Result<(Self, Names)> {
        let folder = match location {
            Location::Path(folder) => {
                let path = path::absolute(folder).map_err(|cause| failure(folder, "named", cause))?;
                match fs::metadata(&path) {
                    Err(cause) if cause.kind() == ErrorKind::NotFound => {
                        let errno = cause.raw_os_error();
                        return Err(missing(&path, "does not exist").with(|details| details.errno = errno));
                    }
                    found => found.map_err(|cause| failure(&path, "inspected", cause))?,
                };
                Self::of_path(path)?
            }
            Location::Object(object) => Self::of_object(object).await?,
        };
        let names = blocking(|| folder.names())?;
        if matches!(location, Location::Object(_)) && names.parts.is_empty() && names.days.is_empty() {
            return Err(missing(folder.path(), "has no files"));
        }
        Ok((folder, names))
    }

    fn of_path(path: PathBuf) -> Result<Self> {
        let objects = Object::of_folder(&path).map_err(|cause| unread(&path, cause))?;
        Ok(Self { place: Location::Path(path), objects, listed: Mutex::default(), lock: None })
    }

    async fn of_object(folder: &Object) -> Result<Self> {
        let listed = folder.list().await;
        let listed = listed.map_err(|failure| failure.into_error(Kind::FolderFile, folder.url(), "listed"))?;
        let place = Location::Object(folder.clone());
        Ok(Self { place, objects: folder.clone(), listed: Mutex::new(listed), lock: None })
    }

    /// The absolute path, or the URL.
    pub fn path(&self) -> &Path {
        match &self.place {
            Location::Path(path) => path,
            Location::Object(object) => Path::new(object.url()),
        }
    }

    /// The absolute path of a part, or its URL.
    pub fn path_of(&self, name: &PartName) -> PathBuf {
        match self.location_of(name) {
            Location::Path(path) => path,
            Location::Object(object) => object.url().into(),
        }
    }

    /// Where a part is.
    pub fn location_of(&self, name: &PartName) -> Location {
        match &self.place {
            Location::Path(path) => Location::Path(path.join(name.to_string())),
            Location::Object(folder) => Location::Object(folder.join(&name.to_string())),
        }
    }

    fn listed(&self) -> MutexGuard<'_, BTreeMap<String, Listed>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names in the folder, or in one below it; none if there is none.
    fn names_in(&self, below: Option<&str>) -> Result<BTreeSet<String>> {
        let Location::Path(path) = &self.place else {
            let prefix = below.map_or_else(String::new, |below| format!("{below}/"));
            let first = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
            return Ok(self.listed().keys().filter_map(|name| name.strip_prefix(&prefix)).map(first).collect());
        };
        // Not by the store of the file system, which would walk through all that is below, and hides some names.
        let path = below.map_or_else(|| path.clone(), |below| path.join(below));
        let entries = match fs::read_dir(&path) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
            entries => entries.and_then(|entries| {
                entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
            }),
        };
        entries.map_err(|cause| failure(&path, "read", cause))
    }

    /// The parts and days of the folder, which holds nothing else that a reader would read.
    fn names(&self) -> Result<Names> {
        let mut names = Names::default();
        let mut other = None;
        for name in self.names_in(None)?.into_iter().filter(|name| !is_hidden(name)) {
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
                Err(refused(self.path(), &problem).with_hint("name the folder of a run, or a new or empty one"))
            }
            Some(other) => Err(foreign(&self.path().join(other))),
        }
    }

    /// The parts of a day.
    ///
    /// # Errors
    /// It holds other files.
    pub fn parts_of_day(&self, day: &str) -> Result<BTreeSet<PartName>> {
        let (folder, day) = (day_folder(day), Some(day));
        let path = self.path().join(&folder);
        let files = blocking(|| self.check(&path).and_then(|()| self.names_in(Some(&folder))))?;
        let visible = files.iter().filter(|name| !is_hidden(name));
        visible.map(|file| PartName::parse(day, file).ok_or_else(|| foreign(&path.join(file)))).collect()
    }

    /// All parts, by a new look at the folder.
    ///
    /// # Errors
    /// It holds other files, or cannot be read.
    pub fn all_parts(&self) -> Result<BTreeSet<PartName>> {
        let Names { mut parts, days } = blocking(|| self.names())?;
        for day in &days {
            parts.append(&mut self.parts_of_day(day)?);
        }
        Ok(parts)
    }

    /// Refuses a link, and for a writer also what others may write to, on this machine.
    fn check(&self, path: &Path) -> Result<()> {
        match &self.lock {
            Some(Lock::File(lock)) => inspect(path)?.map_or(Ok(()), |found| lock.access.check(path, &found)),
            _ => Ok(()),
        }
    }

    /// The record of a part.
    ///
    /// # Errors
    /// `FolderCorrupt` if it is damaged.
    pub async fn part(&self, name: &PartName) -> Result<Footer> {
        let path = self.path_of(name);
        if matches!(self.place, Location::Path(_)) {
            blocking(|| self.check(&path).and_then(|()| check_regular(&path)))?;
        }
        let name = name.to_string();
        let object = self.objects.join(&name);
        let mut listed = self.listed().get(&name).cloned();
        for _ in 0..ATTEMPTS {
            match Footer::read(&object, listed.take()).await {
                // A run has replaced it since it was listed.
                Err(Unreadable::Failed(failure)) if failure.reason() == Reason::Conflict => {}
                read => return read.map_err(|cause| unreadable(&path, cause)),
            }
        }
        Err(at(Kind::Folder, &path, "is being replaced again and again").with_hint("try again"))
    }

    /// The records of parts, in the same order.
    pub async fn parts(&self, names: &[&PartName]) -> Vec<Result<Footer>> {
        let reads: Vec<_> = names.iter().map(|name| self.part(name)).collect();
        stream::iter(reads).buffered(RECORDS).collect().await
    }

    /// A file that becomes a part, and replaces it, when it is complete. In a bucket, if no other run has written the
    /// part since this one began.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(&self, name: &PartName) -> Result<AtomicFile> {
        let listed = self.listed().get(&name.to_string()).cloned();
        self.create_file(&name.to_string(), listed.map_or(Replaces::Nothing, Replaces::Version))
    }

    fn create_file(&self, name: &str, replaces: Replaces) -> Result<AtomicFile> {
        match &self.place {
            Location::Path(path) => AtomicFile::staged(&path.join(name), &path.join(HIDDEN), Kind::FolderFile),
            Location::Object(folder) => Ok(AtomicFile::of_object(&folder.join(name), replaces, Kind::FolderFile)),
        }
    }

    /// Publishes a part. Returns its size.
    ///
    /// # Errors
    /// Another process has taken the folder over, or the part cannot be written. Then the part before it stays.
    pub async fn publish(&self, name: &PartName, part: Complete) -> Result<u64> {
        self.check_lock().await?;
        let Published { bytes, object } = part.publish().await?;
        if let Some(version) = object {
            self.listed().insert(name.to_string(), version);
        }
        Ok(bytes)
    }

    async fn check_lock(&self) -> Result<()> {
        match &self.lock {
            Some(lock) => lock.check(&self.objects).await,
            None => Ok(()),
        }
    }

    /// Ends the use of a folder. Dropped without it, a lock in an object store may stay until it runs out.
    pub async fn close(&self) {
        if let Some(Lock::Object(lock)) = &self.lock {
            lock.release().await;
        }
    }

    /// The error for a part that cannot be what was written.
    pub fn corrupt(&self, name: &PartName, problem: &str) -> Error {
        corrupt(&self.path_of(name), problem)
    }

    /// The error for a part whose record has another format than this version of the package reads.
    pub fn of_another_version(&self, name: &PartName, format: u64, known: u32) -> Error {
        let problem = format!(
            "was written by another version of dataaccess: it is of format {format}, and this version reads {known}"
        );
        at(Kind::FolderMismatch, &self.path_of(name), &problem)
            .with(|details| details.field = Some("format".to_owned()))
            .with_hint("use the version that wrote it, or name another folder")
    }

    /// The error for a part that no task of the query has.
    pub fn foreign(&self, name: &PartName) -> Error {
        foreign(&self.path_of(name))
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
    let (object, path) = match part {
        Location::Path(path) => (blocking(|| file(path))?, path.as_path()),
        Location::Object(object) => (object.clone(), Path::new(object.url())),
    };
    Footer::read_rows(&object, memory).await.map_err(|cause| unreadable(path, cause))
}

/// A file of this machine, to read it.
fn file(path: &Path) -> Result<Object> {
    check_regular(path)?;
    let (folder, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
    let folder = Object::of_folder(folder).map_err(|failure| unread(path, failure))?;
    Ok(folder.join(&name.to_string_lossy()))
}

fn unreadable(path: &Path, cause: Unreadable) -> Error {
    match cause {
        Unreadable::Failed(failure) => unread(path, failure),
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
