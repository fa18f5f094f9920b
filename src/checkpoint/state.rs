//! What a journal comes to, held against the plan and the folder.

use std::collections::HashMap;
use std::path::Path;

use super::fault::{corrupt, failure, refused};
use super::fingerprint::Fingerprint;
use super::folder;
use super::journal::{self, Journal, damaged};
use super::record::{CompletedTask, JournalRecord};
use crate::error::{Error, Result};
use crate::files::Written;

/// Version of what stands in the folder.
const VERSION: u32 = 2;

/// What a journal comes to.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) settled: Option<Vec<(String, String)>>,
    pub(super) done: Vec<CompletedTask>,
}

impl State {
    /// The state of a folder, which matches it from then on. A folder without a journal gets one.
    pub(super) fn restore(
        folder: &Path,
        fingerprint: &Fingerprint,
        tasks: &[String],
        numbers: &HashMap<&str, usize>,
    ) -> Result<Self> {
        let begin = JournalRecord::Begin { version: VERSION, fingerprint: fingerprint.clone() };
        let Some(told) = journal::read(folder)? else {
            Journal::write(folder, &[begin])?;
            return Ok(Self::default());
        };
        let (mut state, earlier) = Self::read(folder, told.lines, fingerprint, numbers)?;
        state.fit(folder, fingerprint, &earlier, tasks.len())?;
        let is_whole = state.reconcile(folder, numbers)?;
        if !(told.is_all && is_whole && earlier == *fingerprint) {
            Journal::write(folder, &state.lines(begin, tasks))?;
        }
        Ok(state)
    }

    /// Keeps of the tasks that are done those whose columns did not change. Without them there would be rows that fit
    /// no dataset; a run that is complete is left alone.
    fn fit(&mut self, folder: &Path, now: &Fingerprint, begun: &Fingerprint, tasks: usize) -> Result<()> {
        let (then, changed) = now.types_since(begun, self.settled.as_deref(), folder);
        match changed {
            Some(error) if self.done.len() == tasks => return Err(error),
            Some(_) => {
                self.settled = None;
                self.done.retain(|done| done.file.is_none());
            }
            // The scan knew the types then, and perhaps it does not now.
            None if self.settled.is_none() && self.done.iter().any(|done| done.file.is_some()) => {
                let known: Option<Vec<_>> = then.into_iter().map(|(name, kept)| Some((name, kept?))).collect();
                self.settled = known.filter(|types| !types.is_empty());
            }
            None => {}
        }
        Ok(())
    }

    /// What the lines of a journal come to, and with what it was begun.
    fn read(
        folder: &Path,
        lines: Vec<JournalRecord>,
        fingerprint: &Fingerprint,
        numbers: &HashMap<&str, usize>,
    ) -> Result<(Self, Fingerprint)> {
        let path = journal::place(folder);
        let (mut state, mut beginning) = (Self::default(), Fingerprint::default());
        let mut places: HashMap<usize, usize> = HashMap::new();
        for (number, line) in lines.into_iter().enumerate() {
            match line {
                JournalRecord::Begin { version, .. } if version != VERSION => return Err(unknown(&path, version)),
                JournalRecord::Begin { fingerprint: begun, .. } if number == 0 => {
                    if let Some(error) = fingerprint.mismatch(&begun, folder) {
                        return Err(error);
                    }
                    beginning = begun;
                }
                _ if number == 0 => return Err(damaged(&path, number, "has no beginning")),
                JournalRecord::Begin { .. } => return Err(damaged(&path, number, "begins a second time")),
                JournalRecord::Settled(types) => match &state.settled {
                    Some(before) if *before != types => return Err(damaged(&path, number, "has other columns")),
                    _ => state.settled = Some(types),
                },
                JournalRecord::Done { task, entry, file } => {
                    let task = numbers.get(task.as_str()).copied();
                    let task = task.ok_or_else(|| damaged(&path, number, "names an unknown task"))?;
                    let done = CompletedTask { task, entry, file };
                    match places.get(&task).and_then(|place| state.done.get(*place)) {
                        Some(before) if *before != done => {
                            return Err(damaged(&path, number, "tells otherwise of a task that is done"));
                        }
                        Some(_) => {}
                        None => {
                            places.insert(task, state.done.len());
                            state.done.push(done);
                        }
                    }
                }
            }
        }
        Ok((state, beginning))
    }

    /// Holds the tasks against the folder: one whose part is gone is open again, and no part is without its task.
    /// Tells whether all parts were there.
    fn reconcile(&mut self, folder: &Path, numbers: &HashMap<&str, usize>) -> Result<bool> {
        let mut has_part = vec![false; numbers.len()];
        let files: HashMap<usize, &Written> =
            self.done.iter().filter_map(|done| Some((done.task, done.file.as_ref()?))).collect();
        for name in folder::visible(folder)? {
            let path = folder.join(&name);
            let task = folder::task(&name).and_then(|task| numbers.get(task)).ok_or_else(|| {
                refused(&path, "is no part of this checkpoint, and would be read as one").with_hint("move it elsewhere")
            })?;
            folder::file(&path)?;
            match files.get(task) {
                Some(written) => verify(&path, written)?,
                // A crash came before the line of the journal.
                None => folder::remove(&path)?,
            }
            if let Some(has_part) = has_part.get_mut(*task) {
                *has_part = true;
            }
        }
        let before = self.done.len();
        self.done.retain(|done| done.file.is_none() || has_part.get(done.task).is_some_and(|has_part| *has_part));
        Ok(self.done.len() == before)
    }

    /// The lines of a journal that comes to this.
    fn lines(&self, begin: JournalRecord, tasks: &[String]) -> Vec<JournalRecord> {
        let settled = self.settled.clone().map(JournalRecord::Settled);
        [begin].into_iter().chain(settled).chain(self.done.iter().map(|done| done.line(tasks))).collect()
    }
}

impl CompletedTask {
    /// Its line in the journal.
    pub(super) fn line(&self, tasks: &[String]) -> JournalRecord {
        let task = tasks.get(self.task).cloned().unwrap_or_default();
        JournalRecord::Done { task, entry: self.entry.clone(), file: self.file.clone() }
    }
}

/// Holds a part against what was written.
fn verify(path: &Path, written: &Written) -> Result<()> {
    let found = Written::of(path).map_err(|cause| failure(path, "read", cause))?;
    if found == *written {
        return Ok(());
    }
    let problem = if found.bytes == written.bytes {
        "its checksum is another".to_owned()
    } else {
        format!("it has {} bytes instead of {}", found.bytes, written.bytes)
    };
    Err(corrupt(path, &format!("is not as it was written: {problem}"))
        .with_hint("delete this file and run again: what is missing is asked for again"))
}

/// A journal that another version of this package has written.
fn unknown(path: &Path, version: u32) -> Error {
    corrupt(path, &format!("is of format {version}, and this package reads format {VERSION}"))
        .with(|details| details.line = Some(1))
        .with_hint("run the version of dataaccess that began it, or name another folder")
}
