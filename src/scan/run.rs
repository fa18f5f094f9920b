//! A scan into a folder: one file per task, and a journal of the finished tasks, so that a second run does only the
//! others.
//!
//! A task that fails permanently does not end the others, unless its error would fail them all, as a refused token or
//! a full disk.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::task::{JoinSet, block_in_place};

use super::report::{Report, TaskReport};
use super::responses::panicked;
use super::{DataWarningKind, Scan, no_tasks};
use crate::checkpoint::{Checkpoint, Fingerprint, TaskRecord};
use crate::client::Client;
use crate::columns;
use crate::error::{Error, Kind, Result};
use crate::files::Parquet;
use crate::observe::{self, Observer};

/// How long a cancelled run in this process may still hold its folder.
const UNLOCKING: Duration = Duration::from_secs(2);

/// The options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The folder of the files.
    pub folder: PathBuf,
    /// The address of the service, which belongs to the query.
    pub service: String,
    /// Whether the first task that fails ends the run.
    pub fail_fast: bool,
    /// A number of rows at which the service is known to cut its responses.
    pub known_row_cap: Option<u64>,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Progress {
    /// Tasks of the scan.
    pub tasks: usize,
    /// Finished tasks, of this run and earlier ones.
    pub done: usize,
    /// Tasks that failed permanently in this run.
    pub failed: usize,
    /// Rows of the finished tasks.
    pub rows: u64,
    /// Bytes of their responses.
    pub bytes: u64,
    /// Seconds since this run began.
    pub seconds: f64,
}

/// What the journal keeps of a task for later reports.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Kept {
    /// Why there may be more rows.
    pub(super) incomplete: Vec<String>,
    /// Attributes that no record had.
    pub(super) absent: Vec<String>,
    /// The least and the greatest time of the rows of a day.
    pub(super) times: Option<(String, String)>,
}

impl Scan {
    /// Runs the unfinished tasks and reports on all of them. Blocks its thread for short times.
    ///
    /// # Errors
    /// `Validation` for a scan with a limit; `Checkpoint` and its kinds for the folder; any error that would fail
    /// every task, as `PermissionDenied`. Finished tasks are kept.
    pub async fn run(
        &self,
        client: &Arc<Client>,
        options: &RunOptions,
        progress: mpsc::Sender<Progress>,
    ) -> Result<Report> {
        if self.limit.is_some() {
            return Err(no_tasks());
        }
        let begun = Instant::now();
        let ids: Vec<String> = (0..self.requests()).map(|task| self.task_id(task)).collect::<Result<_>>()?;
        let checkpoint = open(&options.folder, &self.fingerprint(options, &ids), &ids).await?;
        let open: Vec<usize> = checkpoint.open_tasks().collect();
        let before = checkpoint.done().len();
        let run = Arc::new(Run {
            scan: self.clone(),
            client: Arc::clone(client),
            checkpoint: Mutex::new(checkpoint),
            ids,
            observer: observe::observer(),
        });
        let mut progress = RunProgress::new(&run, begun, options.fail_fast, progress);
        run.run_tasks(&open, &mut progress).await?;
        let checkpoint = run.checkpoint();
        let done = checkpoint.done().iter().enumerate();
        let tasks = done.map(|(position, done)| TaskReport::new(&run.ids, done, position < before)).collect();
        let day_of = |task: usize| self.request(task, None).day;
        Ok(Report::new(options, tasks, day_of, progress.failed, begun.elapsed()))
    }

    /// Identifies the query of a folder. The token is not part of it.
    fn fingerprint(&self, options: &RunOptions, ids: &[String]) -> Fingerprint {
        let body = &self.plan.template().body;
        let filters = serde_json::to_string(&body.filters).unwrap_or_default();
        // As they are sent: an array or a string.
        let attributes = serde_json::to_string(&body.attrs).unwrap_or_default();
        Fingerprint::default()
            .with("service", &options.service)
            .with("item type", &format!("{} ({})", body.item_type_name, body.item_type_id))
            .with("attrs", &attributes)
            .with("tasks", &ids.len().to_string())
            .with_hidden("filters", &format!("{filters} {}", ids.join(" ")))
            .with_types(columns::known_types(&self.columns))
    }
}

/// What the tasks of a run share.
struct Run {
    scan: Scan,
    client: Arc<Client>,
    checkpoint: Mutex<Checkpoint>,
    ids: Vec<String>,
    observer: Option<Observer>,
}

/// Counts finished and failed tasks, and sends each change to the caller.
struct RunProgress {
    begun: Instant,
    fail_fast: bool,
    so_far: Progress,
    failed: Vec<(String, Error)>,
    sender: mpsc::Sender<Progress>,
}

impl RunProgress {
    fn new(run: &Run, begun: Instant, fail_fast: bool, sender: mpsc::Sender<Progress>) -> Self {
        let checkpoint = run.checkpoint();
        let done = checkpoint.done();
        let so_far = Progress {
            tasks: run.ids.len(),
            done: done.len(),
            failed: 0,
            rows: done.iter().map(|done| done.entry.rows).sum(),
            bytes: done.iter().map(|done| done.entry.bytes).sum(),
            seconds: 0.0,
        };
        Self { begun, fail_fast, so_far, failed: Vec::new(), sender }
    }

    /// Adds the outcome of a task: its rows and bytes, or an error, which may end the run.
    async fn add(&mut self, run: &Run, task: usize, outcome: Result<(u64, u64)>) -> Result<()> {
        match outcome {
            Ok((rows, bytes)) => {
                self.so_far.done += 1;
                self.so_far.rows += rows;
                self.so_far.bytes += bytes;
            }
            Err(error) if self.fail_fast || fails_all(&error) => {
                let Progress { done, tasks, .. } = self.so_far;
                let folder = run.checkpoint().folder().display().to_string();
                return Err(
                    error.with_reason(format!("{done} of {tasks} tasks are kept in {folder}: run again to continue"))
                );
            }
            Err(error) => {
                self.so_far.failed += 1;
                self.failed.push((run.ids.get(task).cloned().unwrap_or_default(), error));
            }
        }
        self.send().await
    }

    async fn send(&mut self) -> Result<()> {
        self.so_far.seconds = self.begun.elapsed().as_secs_f64();
        let sent = self.sender.send(self.so_far).await;
        sent.map_err(|_| Error::new(Kind::Internal, "the run was cancelled: its progress receiver was dropped"))
    }
}

impl Run {
    async fn run_tasks(self: &Arc<Self>, open: &[usize], progress: &mut RunProgress) -> Result<()> {
        progress.send().await?;
        let mut open = open.iter().copied();
        // Inferred types are those of the first task with rows: until then, tasks run one after another.
        while !self.knows_types() && self.checkpoint().frozen().is_none() {
            let Some(task) = open.next() else { break };
            let outcome = self.run_task(task).await;
            progress.add(self, task, outcome).await?;
        }
        // Each in a task of its own: encoding, hashing and syncing one file does not keep the others from reading.
        let mut in_flight = JoinSet::new();
        loop {
            while in_flight.len() < self.client.concurrency()
                && let Some(task) = open.next()
            {
                let run = Arc::clone(self);
                in_flight
                    .spawn(observe::observed(self.observer.clone(), async move { (task, run.run_task(task).await) }));
            }
            match in_flight.join_next().await {
                Some(Ok((task, outcome))) => progress.add(self, task, outcome).await?,
                Some(Err(_)) => return Err(panicked()),
                None => return Ok(()),
            }
        }
    }

    /// Writes the file of one task, then its journal line. Returns its rows and bytes.
    async fn run_task(&self, task: usize) -> Result<(u64, u64)> {
        let mut scan = self.scan.task(task);
        if let Some(types) = self.checkpoint().frozen() {
            scan.columns = columns::frozen(&scan.columns, types);
        }
        let mut types = None;
        // Without rows and types there is no file: its columns would differ from those of the others.
        let known = scan.schema(false);
        let (stats, written) = scan
            .write_columns(&self.client, known, |schema| {
                types = Some(columns::type_names(schema));
                Parquet::new(self.checkpoint().part(task)?, schema)
            })
            .await?;
        let incomplete = stats.warnings.into_iter().filter(|warning| warning.kind == DataWarningKind::Incomplete);
        let incomplete = incomplete.map(|warning| warning.message).collect();
        let kept = Kept { incomplete, absent: stats.absent, times: stats.times };
        let entry = TaskRecord {
            rows: stats.rows,
            bytes: stats.bytes,
            attempts: u32::try_from(stats.attempts).unwrap_or(u32::MAX),
            seconds: stats.seconds,
            extra: serde_json::to_value(kept).unwrap_or_default(),
        };
        block_in_place(|| {
            let mut checkpoint = self.checkpoint();
            if let Some(types) = types.filter(|_| stats.rows > 0 && !self.knows_types()) {
                checkpoint.freeze(&types)?;
            }
            checkpoint.commit(task, entry, written)
        })?;
        Ok((stats.rows, stats.bytes))
    }

    /// Whether no type has to be inferred from rows.
    fn knows_types(&self) -> bool {
        self.scan.schema(false).is_some()
    }

    fn checkpoint(&self) -> MutexGuard<'_, Checkpoint> {
        self.checkpoint.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the checkpoint. A run that was cancelled in this process a moment ago may still hold the lock.
async fn open(folder: &Path, fingerprint: &Fingerprint, ids: &[String]) -> Result<Checkpoint> {
    let deadline = Instant::now() + UNLOCKING;
    loop {
        match block_in_place(|| Checkpoint::open(folder, fingerprint, ids)) {
            Err(error) if may_be_ours(&error) && Instant::now() < deadline => {
                tokio::time::sleep(UNLOCKING / 40).await;
            }
            opened => return opened,
        }
    }
}

/// Whether the lock is held by this process, or by one that did not write its id yet.
fn may_be_ours(error: &Error) -> bool {
    error.kind() == Kind::CheckpointLocked && error.details().pid.is_none_or(|pid| pid == process::id())
}

/// Whether the error of one task would fail every other one too.
fn fails_all(error: &Error) -> bool {
    let is_of_all = matches!(
        error.kind(),
        Kind::PermissionDenied
            | Kind::Config
            | Kind::Tls
            | Kind::RedirectRefused
            | Kind::ClientClosed
            | Kind::ForkedHandle
            | Kind::Internal
            | Kind::File
            | Kind::Checkpoint
            | Kind::CheckpointMismatch
            | Kind::CheckpointCorrupt
            | Kind::CheckpointLocked
    );
    is_of_all || error.details().is_outage
}
