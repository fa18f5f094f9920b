//! The progress of a scan, for its caller. Sending it never waits.

use serde::Serialize;
use tokio::sync::mpsc;

/// The progress of a run, or of another use of a scan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Progress {
    /// Tasks of the scan.
    pub tasks: usize,
    /// Finished tasks; of a run also those of earlier runs.
    pub done: usize,
    /// Tasks that failed in this run.
    pub failed: usize,
    /// Rows of the finished tasks; of other uses than a run also those of responses in flight.
    pub rows: u64,
    /// Bytes of the responses of the finished tasks.
    pub bytes: u64,
    /// Seconds since this use began.
    pub seconds: f64,
    /// The task that ended last; only of a run.
    pub ended: Option<EndedTask>,
}

/// A task of a run that is done or failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EndedTask {
    /// Its day, if it has one.
    pub day: Option<String>,
    /// How long its requests took.
    pub seconds: f64,
    /// Why it failed.
    pub reason: Option<String>,
}

/// Sends the progress of one use of a scan.
#[derive(Clone, Debug)]
pub(super) struct Reporter(mpsc::Sender<Progress>);

impl Reporter {
    /// Progress after a finished task. The channel has room for all of them.
    pub(super) fn task(&self, progress: Progress) {
        // A caller that is gone needs no progress.
        let _sent = self.0.try_send(progress);
    }

    /// Progress within a task, unless the caller is still busy with the last one.
    pub(super) fn batch(&self, progress: impl FnOnce() -> Progress) {
        if self.0.capacity() == self.0.max_capacity() {
            let _sent = self.0.try_send(progress());
        }
    }
}

/// A channel for the progress of so many tasks.
pub(super) fn channel(tasks: usize) -> (Reporter, mpsc::Receiver<Progress>) {
    // One before the first task, and one within a task.
    let (sender, receiver) = mpsc::channel(tasks + 2);
    (Reporter(sender), receiver)
}
