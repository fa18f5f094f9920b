//! Which tasks of a run are done: a folder of parts that readers take for one dataset, and a journal beside them.
//!
//! Knows no requests and no rows: a task is a name, its part a file that somebody else writes. What a crash, another
//! process or a damaged disk leaves behind is made good, or told; it never counts as rows.

mod fault;
mod fingerprint;
mod folder;
mod journal;
mod lock;
mod record;
mod state;

pub use fingerprint::{Fingerprint, Types};
pub use record::{CompletedTask, TaskRecord};

use std::collections::HashMap;
use std::path::{self, Path, PathBuf};

use crate::error::{Kind, Result};
use crate::files::{AtomicFile, Written, remove_stale};
use fault::{defect, failure, refused};
use journal::Journal;
use lock::Lock;
use record::JournalRecord;
use state::State;

/// The checkpoint of a run. It is locked until it is dropped.
#[derive(Debug)]
pub struct Checkpoint {
    folder: PathBuf,
    tasks: Vec<String>,
    state: State,
    journal: Journal,
    _lock: Lock,
}

impl Checkpoint {
    /// Opens the checkpoint of these tasks, or begins it. Afterwards the folder holds the parts of the tasks that are
    /// done, each as it was written, and no others.
    ///
    /// # Errors
    /// `CheckpointMismatch` for that of another scan, `CheckpointLocked` while another process works on it,
    /// `CheckpointCorrupt` for what is not as it was written, else `Checkpoint`.
    pub fn open(folder: &Path, fingerprint: &Fingerprint, tasks: &[String]) -> Result<Self> {
        let folder = path::absolute(folder).map_err(|cause| failure(folder, "named", cause))?;
        let numbers = numbers(tasks)?;
        folder::make(&folder)?;
        #[cfg(unix)]
        folder::check(&folder)?;
        // In this order: a run that begins meanwhile has its journal before its first part.
        if let Some(name) = folder::visible(&folder)?.first()
            && folder::file(&journal::place(&folder))?.is_none()
        {
            let problem = format!("holds `{name}` and is no checkpoint");
            return Err(refused(&folder, &problem).with_hint("name a new folder, or an empty one"));
        }
        let lock = Lock::take(&folder)?;
        remove_stale(&folder, Kind::Checkpoint)?;
        let state = State::restore(&folder, fingerprint, tasks, &numbers)?;
        let journal = Journal::open(&folder)?;
        Ok(Self { folder, tasks: tasks.to_vec(), state, journal, _lock: lock })
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Names and types of the columns, once [`Checkpoint::settle`] was told.
    #[must_use]
    pub fn frozen(&self) -> Option<&[(String, String)]> {
        self.state.settled.as_deref()
    }

    /// Keeps names and types of the columns, so that all parts match.
    ///
    /// # Errors
    /// They are others than before, or the journal cannot be written.
    pub fn freeze(&mut self, types: &[(String, String)]) -> Result<()> {
        match &self.state.settled {
            Some(before) if before == types => Ok(()),
            Some(_) => Err(defect("a checkpoint has columns already")),
            None => {
                self.journal.append(&JournalRecord::Settled(types.to_vec()))?;
                self.state.settled = Some(types.to_vec());
                Ok(())
            }
        }
    }

    /// The tasks that are done, in the order in which they came to be.
    #[must_use]
    pub fn done(&self) -> &[CompletedTask] {
        &self.state.done
    }

    /// The places of the other tasks, in their order.
    pub fn open_tasks(&self) -> impl Iterator<Item = usize> + '_ {
        let mut is_open = vec![true; self.tasks.len()];
        for done in &self.state.done {
            if let Some(is_open) = is_open.get_mut(done.task) {
                *is_open = false;
            }
        }
        is_open.into_iter().enumerate().filter_map(|(task, is_open)| is_open.then_some(task))
    }

    /// Where the part of a task is, or will be.
    ///
    /// # Errors
    /// There is no such task.
    pub fn place(&self, task: usize) -> Result<PathBuf> {
        let name = self.tasks.get(task).ok_or_else(|| defect("a checkpoint has no such task"))?;
        Ok(folder::part(&self.folder, name))
    }

    /// The part of a task on its way.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn part(&self, task: usize) -> Result<AtomicFile> {
        AtomicFile::create(&self.place(task)?, Kind::Checkpoint)
    }

    /// Keeps for good that a task is done. Its part is in its place by now; a task without rows may have none.
    ///
    /// # Errors
    /// The journal cannot be written: the task is still open.
    pub fn commit(&mut self, task: usize, entry: TaskRecord, file: Option<Written>) -> Result<()> {
        let place = self.place(task)?;
        if self.state.done.iter().any(|done| done.task == task) {
            return Err(defect("a task was done twice"));
        }
        if file.is_none() {
            // One of an attempt whose end the journal could not take.
            folder::remove(&place)?;
        }
        let done = CompletedTask { task, entry, file };
        self.journal.append(&done.line(&self.tasks))?;
        self.state.done.push(done);
        Ok(())
    }
}

/// The tasks by name. Each is the name of a file.
fn numbers(tasks: &[String]) -> Result<HashMap<&str, usize>> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let numbers: HashMap<_, _> = tasks.iter().enumerate().map(|(number, task)| (task.as_str(), number)).collect();
    let are_names = tasks.iter().all(|task| !task.is_empty() && task.bytes().all(is_plain));
    if are_names && numbers.len() == tasks.len() {
        Ok(numbers)
    } else {
        Err(defect("tasks have no names of their own"))
    }
}
