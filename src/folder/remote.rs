//! A folder of an object store: one listing, with the same names as a folder of this machine.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arrow_array::RecordBatch;
use bytes::Bytes;

use super::error::{at, in_use, missing};
use super::name::day_folder;
use super::{HIDDEN, Names, PartName, is_hidden, names, too_large, unreadable};
use crate::error::{Error, Kind, Result, excerpt};
use crate::files::{AtomicFile, Footer, RowMemory, Unreadable};
use crate::store::{Failure, Holder, Listed, Lock, Object, Reason, Refusal, Replaces};

/// The name of the lock in the hidden folder.
const LOCK: &str = "lock";
/// The end of a part that is read first: usually its whole tail.
const TAIL: u64 = 64 << 10;
/// Characters of the name of a machine that an error shows.
const HOST_CHARACTERS: usize = 200;
/// How often a part may be replaced while its record is read.
const ATTEMPTS: usize = 3;

/// A folder of an object store.
#[derive(Debug)]
pub(super) struct Remote {
    folder: Object,
    /// What was listed when the folder was opened, and what this run has written since.
    files: Mutex<BTreeMap<String, Listed>>,
    /// The names in the hidden folder.
    hidden: Vec<String>,
    /// None for a reader.
    lock: Option<Lock>,
}

impl Remote {
    pub(super) async fn open(folder: &Object) -> Result<(Self, Names)> {
        // Before anything is put into a folder of other files, and below, once no other run adds parts.
        Self::listed(folder).await?;
        let object = folder.join(&format!("{HIDDEN}/{LOCK}"));
        let lock = Lock::take(object.clone()).await.map_err(|refusal| refused(folder, &object, refusal))?;
        let (listed, names) = Self::listed(folder).await?;
        Ok((Self { lock: Some(lock), ..listed }, names))
    }

    pub(super) async fn read_only(folder: &Object) -> Result<(Self, Names)> {
        let (listed, names) = Self::listed(folder).await?;
        if listed.files().is_empty() {
            return Err(missing(Path::new(folder.url()), "has no files"));
        }
        Ok((listed, names))
    }

    async fn listed(folder: &Object) -> Result<(Self, Names)> {
        let mut files = folder.list().await.map_err(|failure| unlisted(folder, failure))?;
        let hidden = files.keys().filter_map(|name| name.strip_prefix(HIDDEN)?.strip_prefix('/'));
        let hidden = hidden.map(ToOwned::to_owned).collect();
        files.retain(|name, _| !name.split('/').any(is_hidden));
        let listed = Self { folder: folder.clone(), files: Mutex::new(files), hidden, lock: None };
        let names = listed.names()?;
        Ok((listed, names))
    }

    /// What was listed, and what this run has written since.
    pub(super) fn names(&self) -> Result<Names> {
        let first = |name: &String| name.split('/').next().unwrap_or_default().to_owned();
        let mut visible: Vec<String> = self.files().keys().map(first).collect();
        visible.dedup();
        names(Path::new(self.url()), visible)
    }

    pub(super) fn url(&self) -> &str {
        self.folder.url()
    }

    pub(super) fn object(&self, name: &PartName) -> Object {
        self.folder.join(&name.to_string())
    }

    pub(super) fn files_of_day(&self, day: &str) -> Vec<String> {
        let folder = format!("{}/", day_folder(day));
        self.files().keys().filter_map(|name| name.strip_prefix(&folder).map(ToOwned::to_owned)).collect()
    }

    pub(super) async fn part(&self, name: &PartName) -> Result<Footer> {
        let object = self.object(name);
        let mut listed = self.files().get(&name.to_string()).cloned();
        for _ in 0..ATTEMPTS {
            let version = match listed.take() {
                Some(listed) => listed,
                None => object.head().await.map_err(|failure| unread(&object, failure))?,
            };
            match tail(&object, &version).await {
                // A run has replaced it since it was listed.
                Err(failure) if failure.reason() == Reason::Conflict => {}
                Err(failure) => return Err(unread(&object, failure)),
                Ok(part) => return part.map_err(|cause| unreadable(Path::new(object.url()), cause)),
            }
        }
        Err(at(Kind::Folder, Path::new(object.url()), "is being replaced again and again").with_hint("try again"))
    }

    /// The names in the hidden folder, when the folder was opened.
    pub(super) fn hidden(&self) -> Vec<String> {
        self.hidden.clone()
    }

    /// Makes an empty object in the hidden folder.
    pub(super) async fn add_hidden(&self, name: &str) -> Result<()> {
        self.check_lock().await?;
        let object = self.folder.join(&format!("{HIDDEN}/{name}"));
        AtomicFile::of_object(&object, Replaces::Anything, Kind::FolderFile).finish()?.publish().await.map(drop)
    }

    pub(super) async fn remove_hidden(&self, name: &str) -> Result<()> {
        self.check_lock().await?;
        let object = self.folder.join(&format!("{HIDDEN}/{name}"));
        match object.delete().await {
            Err(failure) if failure.reason() != Reason::Missing => {
                Err(failure.into_error(Kind::FolderFile, object.url(), "removed"))
            }
            _ => Ok(()),
        }
    }

    /// Fails once another process has taken the folder over.
    pub(super) async fn check_lock(&self) -> Result<()> {
        let Some(lock) = &self.lock else { return Ok(()) };
        let lock_url = || self.folder.join(&format!("{HIDDEN}/lock")).url().to_owned();
        if lock.is_held().await.map_err(|failure| failure.into_error(Kind::FolderFile, &lock_url(), "read"))? {
            return Ok(());
        }
        let problem = "was taken over by another run, as this one could not renew its lock for two minutes";
        let error = in_use(Path::new(self.url()), problem);
        Err(error.with_hint("wait until that run has ended, and run again"))
    }

    /// A file that becomes a part, if no other run has written the part since this one began.
    pub(super) fn create(&self, name: &PartName) -> AtomicFile {
        let listed = self.files().get(&name.to_string()).cloned();
        let replaces = listed.map_or(Replaces::Nothing, Replaces::Version);
        AtomicFile::of_object(&self.object(name), replaces, Kind::FolderFile)
    }

    /// This run has written a part, which it may replace.
    pub(super) fn add(&self, name: &PartName, listed: Listed) {
        self.files().insert(name.to_string(), listed);
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Listed>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn close(&self) {
        if let Some(lock) = &self.lock {
            lock.release().await;
        }
    }
}

/// Reads a part with its rows.
pub(super) async fn read(object: &Object, memory: &RowMemory) -> Result<(Footer, Vec<RecordBatch>)> {
    let path = Path::new(object.url());
    let content = object.read(memory.limit()).await.map_err(|failure| unread(object, failure))?;
    let content = content.ok_or_else(|| too_large(path, memory.limit()))?;
    Footer::in_content(content, memory).map_err(|cause| unreadable(path, cause))
}

/// The record of one version of a part.
async fn tail(object: &Object, version: &Listed) -> Result<Result<Footer, Unreadable>, Failure> {
    let bytes = version.bytes;
    let mut start = bytes.saturating_sub(TAIL);
    loop {
        // No range of an empty object can be asked for.
        let content = if bytes == 0 { Bytes::new() } else { object.read_range(version, start..bytes).await? };
        match Footer::in_end(bytes, &content) {
            // Each time more is needed, as far as the beginning.
            Ok(Err(needed)) if needed < start => start = needed,
            Ok(Err(_)) => return Ok(Err(Unreadable::Damaged("its footer is not complete"))),
            Ok(Ok(part)) => return Ok(Ok(part)),
            Err(cause) => return Ok(Err(cause)),
        }
    }
}

fn unlisted(folder: &Object, failure: Failure) -> Error {
    failure.into_error(Kind::FolderFile, folder.url(), "listed")
}

fn unread(object: &Object, failure: Failure) -> Error {
    failure.into_error(Kind::FolderFile, object.url(), "read")
}

fn refused(folder: &Object, lock: &Object, refusal: Refusal) -> Error {
    let path = Path::new(folder.url());
    match refusal {
        Refusal::Held { holder, left } => locked(path, holder, left),
        Refusal::NoConditions => {
            let problem = "cannot be locked: its store has no conditional puts (If-None-Match), or they are disabled";
            at(Kind::Folder, path, problem).with_hint("run into a folder of this machine and copy it")
        }
        Refusal::Failed(failure) => failure.into_error(Kind::FolderFile, lock.url(), "written"),
    }
}

fn locked(folder: &Path, holder: Option<Holder>, left: Duration) -> Error {
    // Another writer to the bucket has chosen the name.
    let holder = holder.map(|mut holder| {
        holder.host = excerpt(&holder.host, HOST_CHARACTERS);
        holder
    });
    let by = match &holder {
        Some(holder) => format!("process {} on {}", holder.pid, holder.host),
        None => "another process".to_owned(),
    };
    let hint = format!(
        "wait until that run has ended, or name another folder; if it was killed, its lock runs out in {} s",
        left.as_secs() + 1
    );
    in_use(folder, &format!("is in use by {by}"))
        .with_hint(hint)
        .with(|details| (details.pid, details.host) = holder.map(|holder| (holder.pid, holder.host)).unzip())
}
