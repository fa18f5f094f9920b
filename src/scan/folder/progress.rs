//! What is done of a run: its finished and failed tasks, and which failure ends it.

use std::collections::BTreeSet;
use std::time::{Instant, SystemTime};

use tokio::sync::mpsc;

use super::report::FailedTask;
use super::run::Run;
use super::tasks::{Before, Done, Stored, Task};
use crate::error::{Error, Kind, Result};
use crate::scan::progress::{EndedTask, Progress};

/// Collects finished and failed tasks, and sends each change to the caller.
pub(super) struct RunProgress {
    since: Instant,
    /// The tasks whose days have begun.
    begun: BTreeSet<usize>,
    /// Whether the first task that fails ends the run.
    pub(super) ends_at_first: bool,
    pub(super) so_far: Progress,
    pub(super) done: Vec<Done>,
    pub(super) failed: Vec<FailedTask>,
    sender: mpsc::Sender<Progress>,
}

impl RunProgress {
    /// Before the first task of this run. `done` are the tasks of earlier runs.
    pub(super) fn new(run: &Run, since: Instant, done: Vec<Done>, sender: mpsc::Sender<Progress>) -> Self {
        let now = SystemTime::now();
        let has_begun = |task: &usize| run.scan.has_begun(*task, now);
        let begun: BTreeSet<usize> = (0..run.tasks.all.len()).filter(has_begun).collect();
        let so_far = Progress {
            tasks: begun.len(),
            done: done.len(),
            failed: 0,
            rows: done.iter().map(|done| done.figures.rows).sum(),
            bytes: done.iter().map(|done| done.figures.bytes).sum(),
            seconds: 0.0,
            ended: None,
        };
        Self { since, begun, ends_at_first: false, so_far, done, failed: Vec::new(), sender }
    }

    /// The tasks that are to be done: first those without a file, so that runs that are ended early get on.
    pub(super) fn open_tasks(&self, before: &Before) -> impl Iterator<Item = usize> + use<> {
        let done = self.done.iter().map(|done| done.index).chain(self.failed.iter().map(|failed| failed.index));
        let done: BTreeSet<usize> = done.collect();
        let open = self.begun.difference(&done).copied();
        let (again, new): (Vec<usize>, Vec<usize>) =
            open.partition(|task| !matches!(before.tasks.get(*task), Some(Stored::Missing)));
        new.into_iter().chain(again)
    }

    /// Adds the outcome of a task: its figures, or an error, which may end the run.
    pub(super) async fn add(&mut self, run: &Run, task: usize, outcome: Result<Done>) -> Result<()> {
        match outcome {
            Ok(finished) => {
                let seconds = finished.figures.seconds;
                self.so_far.ended = Some(EndedTask { day: run.tasks.get(task)?.day.clone(), seconds, reason: None });
                self.so_far.rows += finished.figures.rows;
                self.so_far.bytes += finished.figures.bytes;
                // A task that looked capped is done twice.
                if let Some(before) = self.done.iter_mut().find(|done| done.index == task) {
                    self.so_far.rows -= before.figures.rows;
                    self.so_far.bytes -= before.figures.bytes;
                    *before = finished;
                } else {
                    self.so_far.done += 1;
                    self.done.push(finished);
                }
            }
            Err(error) if self.ends(&error) => {
                let Progress { done, tasks, .. } = self.so_far;
                let folder = run.folder.path().display();
                let kept = format!("{done} of {tasks} tasks are kept in {folder}: run again to continue");
                return Err(if done > 0 { error.with_reason(kept) } else { error });
            }
            Err(error) => return self.fail(run, task, error).await,
        }
        self.send().await
    }

    /// Adds a task that failed and does not end the others, unless the first failure is to end the run.
    pub(super) async fn fail(&mut self, run: &Run, task: usize, error: Error) -> Result<()> {
        let Task { id, day, .. } = run.tasks.get(task)?;
        if self.ends_at_first {
            return Err(error);
        }
        self.so_far.failed += 1;
        let (seconds, reason) = (error.context().elapsed, Some(error.to_string()));
        self.so_far.ended = Some(EndedTask { day: day.clone(), seconds, reason });
        self.failed.push(FailedTask { index: task, id: id.clone(), day: day.clone(), error });
        self.send().await
    }

    /// Whether the error of a task ends the run.
    pub(super) fn ends(&self, error: &Error) -> bool {
        self.ends_at_first || error.is_of_all()
    }

    /// Sends what is done so far.
    pub(super) async fn send(&mut self) -> Result<()> {
        self.so_far.seconds = self.since.elapsed().as_secs_f64();
        let sent = self.sender.send(self.so_far.clone()).await;
        sent.map_err(|_| Error::new(Kind::Internal, "the run was cancelled: its progress receiver was dropped"))
    }
}
