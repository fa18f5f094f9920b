//! The finished tasks of a run: a folder of part files that readers take for one dataset, and a journal beside them.
//!
//! A task is a name here, and its part a file that the caller writes. What a crash, another process or a damaged disk
//! leaves behind is repaired or reported; it is never read as rows.

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
    /// Opens the checkpoint of these tasks, or creates it. Afterwards the folder holds the unchanged parts of the finished
    /// tasks, and no others.
    ///
    /// # Errors
    /// `CheckpointMismatch` for the folder of another scan, `CheckpointLocked` while another process uses it,
    /// `CheckpointCorrupt` for a file that has changed since it was written, else `Checkpoint`.
    pub fn open(folder: &Path, fingerprint: &Fingerprint, tasks: &[String]) -> Result<Self> {
        let folder = path::absolute(folder).map_err(|cause| failure(folder, "named", cause))?;
        let numbers = numbers(tasks)?;
        folder::make(&folder)?;
        #[cfg(unix)]
        folder::check(&folder)?;
        // In this order, because a run that begins meanwhile has its journal before its first part.
        if let Some(name) = folder::visible(&folder)?.first()
            && folder::file(&journal::place(&folder))?.is_none()
        {
            let problem = format!("holds `{name}` and is not a checkpoint");
            return Err(refused(&folder, &problem).with_hint("name a new folder, or an empty one"));
        }
        let lock = Lock::take(&folder)?;
        remove_stale(&folder, Kind::Checkpoint)?;
        let state = State::restore(&folder, fingerprint, tasks, &numbers)?;
        let journal = Journal::open(&folder)?;
        Ok(Self { folder, tasks: tasks.to_vec(), state, journal, _lock: lock })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Names and types of the columns, once [`Checkpoint::freeze`] was called.
    #[must_use]
    pub fn frozen(&self) -> Option<&[(String, String)]> {
        self.state.frozen.as_deref()
    }

    /// Stores the names and types of the columns, so that all parts match.
    ///
    /// # Errors
    /// They differ from the stored ones, or the journal cannot be written.
    pub fn freeze(&mut self, types: &[(String, String)]) -> Result<()> {
        match &self.state.frozen {
            Some(before) if before == types => Ok(()),
            Some(_) => Err(defect("a checkpoint has columns already")),
            None => {
                self.journal.append(&JournalRecord::Settled(types.to_vec()))?;
                self.state.frozen = Some(types.to_vec());
                Ok(())
            }
        }
    }

    /// The finished tasks, in the order in which they were finished.
    #[must_use]
    pub fn done(&self) -> &[CompletedTask] {
        &self.state.done
    }

    /// The indices of the unfinished tasks, in their order.
    pub fn open_tasks(&self) -> impl Iterator<Item = usize> + '_ {
        let mut is_open = vec![true; self.tasks.len()];
        for done in &self.state.done {
            if let Some(is_open) = is_open.get_mut(done.task) {
                *is_open = false;
            }
        }
        is_open.into_iter().enumerate().filter_map(|(task, is_open)| is_open.then_some(task))
    }

    /// The path of the part of a task.
    ///
    /// # Errors
    /// There is no such task.
    pub fn place(&self, task: usize) -> Result<PathBuf> {
        let name = self.tasks.get(task).ok_or_else(|| defect("a checkpoint has no such task"))?;
        Ok(folder::part(&self.folder, name))
    }

    /// A new file for the part of a task.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn part(&self, task: usize) -> Result<AtomicFile> {
        AtomicFile::create(&self.place(task)?, Kind::Checkpoint)
    }

    /// Records durably that a task is finished. Its part is complete by now; a task without rows may have none.
    ///
    /// # Errors
    /// The journal cannot be written: the task is still unfinished.
    pub fn commit(&mut self, task: usize, entry: TaskRecord, file: Option<Written>) -> Result<()> {
        let place = self.place(task)?;
        if self.state.done.iter().any(|done| done.task == task) {
            return Err(defect("a task was done twice"));
        }
        if file.is_none() {
            // The part of an attempt that could not be recorded.
            folder::remove(&place)?;
        }
        let done = CompletedTask { task, entry, file };
        self.journal.append(&done.line(&self.tasks))?;
        self.state.done.push(done);
        Ok(())
    }
}

/// The index of each task by its name, which is part of a file name.
fn numbers(tasks: &[String]) -> Result<HashMap<&str, usize>> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let numbers: HashMap<_, _> = tasks.iter().enumerate().map(|(number, task)| (task.as_str(), number)).collect();
    let are_names = tasks.iter().all(|task| !task.is_empty() && task.bytes().all(is_plain));
    if are_names && numbers.len() == tasks.len() {
        Ok(numbers)
    } else {
        Err(defect("tasks have no unique plain names"))
    }
}
