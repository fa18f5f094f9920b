//! A scan into a folder: a file for each task, and a journal of those that are done, so that a second run has only the
//! others to do.
//!
//! A task that fails for good does not end the others. What would fail all of them does: a refused token, a disk that
//! is full.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::task::{JoinSet, block_in_place};

use super::report::{Report, TaskReport};
use super::responses::lost;
use super::{DataWarningKind, Scan, no_tasks};
use crate::checkpoint::{Checkpoint, Fingerprint, TaskRecord};
use crate::client::Client;
use crate::columns;
use crate::error::{Error, Kind, Result};
use crate::files::Parquet;
use crate::observe::{self, Observer};

/// How long a run that was given up may take to let go of its folder.
const GIVING_UP: Duration = Duration::from_secs(2);

/// What a run is asked to do.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Where the files go.
    pub folder: PathBuf,
    /// The address of the service, which belongs to the query.
    pub service: String,
    /// Whether the first task that fails ends the run.
    pub fail_fast: bool,
    /// A number of rows at which the service is known to cut its answers.
    pub suspect_at: Option<u64>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Progress {
    /// Tasks of the scan.
    pub tasks: usize,
    /// Those that are done, in this run or before.
    pub done: usize,
    /// Those that failed for good in this run.
    pub failed: usize,
    /// Rows of those that are done.
    pub rows: u64,
    /// Size of their answers.
    pub bytes: u64,
    /// Since this run began.
    pub seconds: f64,
}

/// What is kept of a task beside its figures.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Kept {
    /// Why there may be more rows.
    pub(super) incomplete: Vec<String>,
    /// Attributes that no record had.
    pub(super) absent: Vec<String>,
    /// Between which times the rows of a day are.
    pub(super) times: Option<(String, String)>,
}

impl Scan {
    /// Does the tasks that are not done, and tells what there is. To be run where blocking for a while is allowed.
    ///
    /// # Errors
    /// `Validation` for a limited scan; `Checkpoint` and its kinds for the folder; `PermissionDenied` and whatever else
    /// would fail every task. What was done is kept.
    pub async fn run(
        &self,
        client: &Arc<Client>,
        order: &RunOptions,
        progress: mpsc::Sender<Progress>,
    ) -> Result<Report> {
        if self.limit.is_some() {
            return Err(no_tasks());
        }
        let begun = Instant::now();
        let ids: Vec<String> = (0..self.requests()).map(|task| self.task_id(task)).collect::<Result<_>>()?;
        let checkpoint = open(&order.folder, &self.fingerprint(order, &ids), &ids).await?;
        let open: Vec<usize> = checkpoint.open_tasks().collect();
        let before = checkpoint.done().len();
        let run = Arc::new(Run {
            scan: self.clone(),
            client: Arc::clone(client),
            checkpoint: Mutex::new(checkpoint),
            ids,
            observer: observe::observer(),
        });
        let mut progress = RunProgress::new(&run, begun, order.fail_fast, progress);
        run.run_tasks(&open, &mut progress).await?;
        let checkpoint = run.checkpoint();
        let done = checkpoint.done().iter().enumerate();
        let done = done.map(|(place, done)| TaskReport::new(&run.ids, done, place < before)).collect();
        let day_of = |task: usize| self.part(task, None).day;
        Ok(Report::new(order, done, day_of, progress.failed, begun.elapsed()))
    }

    /// What a folder is of; the token is no part of it.
    fn fingerprint(&self, order: &RunOptions, ids: &[String]) -> Fingerprint {
        let template = self.plan.template();
        let filters = serde_json::to_string(&template.body.filters).unwrap_or_default();
        // As they are sent: a list, or a text.
        let attributes = serde_json::to_string(&template.body.attrs).unwrap_or_default();
        Fingerprint::default()
            .with("service", &order.service)
            .with("item type", &format!("{} ({})", template.body.item_type_name, template.body.item_type_id))
            .with("attrs", &attributes)
            .with("tasks", &ids.len().to_string())
            .with_hidden("filters", &format!("{filters} {}", ids.join(" ")))
            .with_types(columns::known_types(&self.columns))
    }
}

/// What the tasks of a run have in common.
struct Run {
    scan: Scan,
    client: Arc<Client>,
    checkpoint: Mutex<Checkpoint>,
    ids: Vec<String>,
    observer: Option<Observer>,
}

/// How a run goes.
struct RunProgress {
    begun: Instant,
    fail_fast: bool,
    so_far: Progress,
    failed: Vec<(String, Error)>,
    progress: mpsc::Sender<Progress>,
}

impl RunProgress {
    fn new(run: &Run, begun: Instant, fail_fast: bool, progress: mpsc::Sender<Progress>) -> Self {
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
        Self { begun, fail_fast, so_far, failed: Vec::new(), progress }
    }

    /// Takes the outcome of a task: its rows and bytes, or why it failed, which may end the run.
    async fn take(&mut self, run: &Run, task: usize, outcome: Result<(u64, u64)>) -> Result<()> {
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
                    error.with_reason(format!("{done} of {tasks} tasks are kept in {folder}: run it again to go on"))
                );
            }
            Err(error) => {
                self.so_far.failed += 1;
                self.failed.push((run.ids.get(task).cloned().unwrap_or_default(), error));
            }
        }
        self.tell().await
    }

    async fn tell(&mut self) -> Result<()> {
        self.so_far.seconds = self.begun.elapsed().as_secs_f64();
        let told = self.progress.send(self.so_far).await;
        told.map_err(|_| Error::new(Kind::Internal, "nobody takes the progress of a run"))
    }
}

impl Run {
    async fn run_tasks(self: &Arc<Self>, open: &[usize], progress: &mut RunProgress) -> Result<()> {
        progress.tell().await?;
        let mut open = open.iter().copied();
        // Where only rows tell the types of columns, those of the first task that has any hold for all.
        while !self.has_types() {
            let Some(task) = open.next() else { break };
            let outcome = self.run_task(task).await;
            progress.take(self, task, outcome).await?;
        }
        // Each in a task of its own: encoding, hashing and syncing one file does not keep the others from reading.
        let mut in_flight = JoinSet::new();
        loop {
            while in_flight.len() < self.client.concurrency().max(1) as usize
                && let Some(task) = open.next()
            {
                let run = Arc::clone(self);
                in_flight
                    .spawn(observe::observed(self.observer.clone(), async move { (task, run.run_task(task).await) }));
            }
            match in_flight.join_next().await {
                Some(Ok((task, outcome))) => progress.take(self, task, outcome).await?,
                Some(Err(_)) => return Err(lost()),
                None => return Ok(()),
            }
        }
    }

    /// One task into its file, which is there before the journal says so. Answers its rows and bytes.
    async fn run_task(&self, task: usize) -> Result<(u64, u64)> {
        let mut scan = self.scan.task(task);
        if let Some(types) = self.checkpoint().frozen() {
            scan.columns = columns::frozen_by_name(&scan.columns, types);
        }
        let mut types = None;
        // Without rows and types there is no file: its columns would not be those of the others.
        let known = scan.schema(false);
        let (stats, written) = scan
            .columns_into(&self.client, known, |schema| {
                types = Some(columns::names(schema));
                Parquet::new(self.checkpoint().part(task)?, schema, &[])
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

    /// Whether the scan itself tells the types of its columns.
    fn knows_types(&self) -> bool {
        self.scan.schema(false).is_some()
    }

    fn has_types(&self) -> bool {
        self.knows_types() || self.checkpoint().frozen().is_some()
    }

    fn checkpoint(&self) -> MutexGuard<'_, Checkpoint> {
        self.checkpoint.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the checkpoint. A run that was given up in this process a moment ago may still have it.
async fn open(folder: &Path, fingerprint: &Fingerprint, ids: &[String]) -> Result<Checkpoint> {
    let deadline = Instant::now() + GIVING_UP;
    loop {
        match block_in_place(|| Checkpoint::open(folder, fingerprint, ids)) {
            Err(error) if may_be_ours(&error) && Instant::now() < deadline => {
                tokio::time::sleep(GIVING_UP / 40).await;
            }
            opened => return opened,
        }
    }
}

/// Whether this process has the lock, or one that has not said so yet.
fn may_be_ours(error: &Error) -> bool {
    error.kind() == Kind::CheckpointLocked && error.details().pid.is_none_or(|pid| pid == process::id())
}

/// Whether what failed one task would fail every other.
fn fails_all(error: &Error) -> bool {
    matches!(
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
    )
}
