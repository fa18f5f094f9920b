//! A scan into a folder: one part per task, so that a second run does only the tasks without one.
//!
//! A task that fails does not end the others, unless its error would fail them all, as a refused token or
//! a full disk.

use std::process;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use arrow_schema::SchemaRef;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::cap::Suspicion;
use super::doubts::{Doubts, Kept};
use super::outdated::newest;
use super::part_writer::{PartWriter, REQUESTED_AT, RowHashes};
use super::progress::Progress;
use super::report::{Report, TaskReport, suspicion};
use super::responses::panicked;
use super::run_options::{Keep, Layout, OnDoubt, OnShrink, RunOptions};
use super::run_progress::RunProgress;
use super::shrink::{doubtful, shrunk};
use super::stats::Figures;
use super::task::no_tasks;
use super::tasks::{Before, Stored, Tasks};
use super::{Scan, invalid};
use crate::client::Client;
use crate::columns::{self, Types};
use crate::decode::NO_DATA;
use crate::error::{Error, Kind, Result, defect};
use crate::files::{Complete, RowMemory, blocking};
use crate::folder::{self, Folder, Names, PartName};
use crate::observe::{self, Observer};
use crate::time::Moment;

/// Earlier tasks that show what is usual.
const COMPARED: usize = 1_000;
/// How long a cancelled run in this process may still hold its folder.
const UNLOCKING: Duration = Duration::from_secs(2);

impl Scan {
    /// Runs the unfinished tasks and reports on all of them. Blocks its thread for short times.
    ///
    /// An error that would fail every task, as `PermissionDenied`, ends the run and is in its report. Finished tasks
    /// are kept.
    ///
    /// # Errors
    /// `Validation` for a scan with a limit, or options that do not fit it; `Folder` and its kinds for the folder.
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
        if options.requested_at && self.attributes().iter().any(|name| name == REQUESTED_AT) {
            return Err(invalid(REQUESTED_AT, "adds a column of that name, and attrs has one: leave one of them out"));
        }
        let layout = self.layout(options.layout)?;
        let tasks = Tasks::of(self, layout, &options.service, Some(options.requested_at))?;
        let refresh = self.refresh(&options.refresh, SystemTime::now())?;
        let (folder, names) = open(options).await?;
        let folder = Arc::new(folder);
        let report = async {
            let refreshed =
                |done: &[TaskReport]| refresh.tasks(self, done, options.settle, Moment::from(SystemTime::now()));
            let (doubts, kept) = Doubts::read(&folder)?;
            let stored = tasks.stored(&folder, &names, &kept, refreshed).await?;
            let Stored { before, mut done, damaged, types, other_service } = stored;
            if let Some(other) = other_service {
                other.check(&options.service, options.same_service, folder.path())?;
            }
            // What is requested again keeps its file until then.
            let snapshot = match options.keep {
                Keep::All => newest(&done),
                Keep::Final => self.drop_outdated(&mut done, &before, options.settle),
            };
            let before = Arc::new(before);
            let mut run = Run {
                // Only tasks that look capped are split, once all are finished.
                scan: self.clone().splitting(false),
                splits: self.splits(),
                client: Arc::clone(client),
                folder: Arc::clone(&folder),
                tasks: Arc::new(tasks),
                snapshot: snapshot.unwrap_or_else(|| Moment::from(SystemTime::now()).milliseconds()),
                before: Arc::clone(&before),
                doubts: Arc::new(doubts),
                options: Arc::new(options.clone()),
                observer: observe::observer(),
            };
            let mut progress = RunProgress::new(&run, begun, options.fail_fast, done, progress);
            progress.send().await?;
            let ended = async {
                // Damage of one file does not keep the others from being written.
                for (task, damage) in damaged {
                    progress.fail(&run, task, damage).await?;
                }
                run.finish_tasks(self.splits(), types, &mut progress).await
            };
            let ended = ended.await.err();
            let RunProgress { done, failed, .. } = progress;
            let took = begun.elapsed();
            let report = Report::new(self, &folder, &before, done, failed, took, 1);
            Ok(Report { ended, ..report.with_open_days(self, options.settle) })
        };
        let report = report.await;
        folder.close().await;
        report
    }

    fn layout(&self, chosen: Option<Layout>) -> Result<Layout> {
        match chosen {
            Some(Layout::Days) if self.by_day.is_none() => Err(invalid(
                "layout",
                "is \"days\", and the requests of this scan are not for one day each: leave it out",
            )),
            Some(layout) => Ok(layout),
            None if self.by_day.is_some() => Ok(Layout::Days),
            None => Ok(Layout::Flat),
        }
    }
}

/// What the tasks of a run share.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) scan: Scan,
    /// Whether tasks that look capped are split, once all are finished.
    splits: bool,
    client: Arc<Client>,
    pub(super) folder: Arc<Folder>,
    pub(super) tasks: Arc<Tasks>,
    /// When the first run of this snapshot began, in Unix milliseconds.
    snapshot: i64,
    /// What the folder had of its tasks.
    before: Arc<Before>,
    /// The files that were kept in doubt.
    doubts: Arc<Doubts>,
    options: Arc<RunOptions>,
    observer: Option<Observer>,
}

/// The number of a task; its figures and its schema, or its error.
type TaskOutcome = (usize, Result<(TaskReport, Option<SchemaRef>)>);

impl Run {
    async fn finish_tasks(&mut self, is_split: bool, types: Option<Types>, progress: &mut RunProgress) -> Result<()> {
        self.run_tasks(types, progress).await?;
        if is_split { self.split_tasks(progress).await } else { Ok(()) }
    }

    async fn run_tasks(&mut self, mut types: Option<Types>, progress: &mut RunProgress) -> Result<()> {
        let mut open = progress.open_tasks(&self.before);
        // The first task with rows decides the inferred types: until then, tasks run one after another.
        while types.is_none()
            && let Some(task) = open.next()
        {
            let outcome = self.run_task(task, self.scan.task(task)).await;
            let outcome = outcome.and_then(|(finished, schema)| {
                types = schema.map(|schema| columns::types(&schema)).transpose()?;
                Ok(finished)
            });
            progress.add(self, task, outcome).await?;
        }
        let Some(types) = types else { return Ok(()) };
        self.scan.columns = columns::frozen(&self.scan.columns, &types);
        self.write_empty(&mut progress.done).await?;
        self.run_at_once(open.map(|task| (task, self.scan.task(task))), progress).await
    }

    /// Asks again, in parts, for the finished tasks that look capped, and replaces their parts.
    async fn split_tasks(&self, progress: &mut RunProgress) -> Result<()> {
        let done = progress.done.iter().map(|done| (done.index, &done.figures));
        let Suspicion { requests, cap, .. } = suspicion(&self.scan, done, &self.before.others, 1);
        progress.fail_fast = true;
        let scan = |task: usize| self.scan.task(task).split_at(cap);
        self.run_at_once(requests.into_iter().map(|task| (task, scan(task))), progress).await
    }

    /// Runs tasks, each in a task of its own: encoding and syncing one file does not keep the others from reading.
    async fn run_at_once(
        &self,
        mut open: impl Iterator<Item = (usize, Scan)>,
        progress: &mut RunProgress,
    ) -> Result<()> {
        let mut in_flight: JoinSet<TaskOutcome> = JoinSet::new();
        loop {
            while in_flight.len() < self.client.concurrency()
                && let Some((task, scan)) = open.next()
            {
                let run = self.clone();
                let observer = self.observer.clone();
                in_flight.spawn(observe::observed(observer, async move { (task, run.run_task(task, scan).await) }));
            }
            match in_flight.join_next().await {
                Some(Ok((task, outcome))) => {
                    let outcome = outcome.map(|(finished, _)| finished);
                    if outcome.as_ref().is_err_and(|error| progress.ends(error)) {
                        self.stop(&mut in_flight, progress).await?;
                    }
                    progress.add(self, task, outcome).await?;
                }
                Some(Err(_)) => return Err(panicked()),
                None => return Ok(()),
            }
        }
    }

    /// Stops the tasks in flight and adds those that finish nevertheless: once the folder is unlocked, none may write.
    async fn stop(&self, in_flight: &mut JoinSet<TaskOutcome>, progress: &mut RunProgress) -> Result<()> {
        in_flight.abort_all();
        while let Some(ended) = in_flight.join_next().await {
            if let Ok((task, Ok((finished, _)))) = ended {
                progress.add(self, task, Ok(finished)).await?;
            }
        }
        Ok(())
    }

    /// Writes the part of one task. Returns its schema too; without rows there is none, and no part, while types are
    /// not known.
    async fn run_task(&self, task: usize, scan: Scan) -> Result<(TaskReport, Option<SchemaRef>)> {
        let create = |schema: &SchemaRef, requested_at| self.part(task, schema, requested_at);
        let (stats, mut writer) = scan.write_columns(&self.client, create).await?;
        if stats.empty_shape == Some(NO_DATA) {
            let message = "the response has no `data`: it does not say whether there are records";
            return Err(Error::new(Kind::Envelope, message).with(|details| details.field = Some("data".to_owned())));
        }
        let empty_columns = writer.as_ref().map(PartWriter::empty_columns).unwrap_or_default();
        let split = scan.splits().then(|| stats.figures.split.clone().unwrap_or_default());
        let mut figures = Figures { empty_columns, split, snapshot: self.snapshot, ..stats.figures };
        figures.lost = self.lost(task, &figures);
        figures.is_explained =
            self.scan.request(task, None).count(task, figures.rows, figures.found(), None).is_explained;
        let lacks = self.before(task).and_then(|before| figures.lacks(&before.figures));
        let rows = writer.as_mut().and_then(PartWriter::take_rows);
        let rows_changed = self.rows_changed(task, rows).await;
        let mut finished = TaskReport { rows_changed, lacks, ..self.tasks.finished(&self.folder, task, figures) };
        self.accept(&finished).await?;
        if let Some(lacks) = finished.lacks.take().filter(|_| self.options.on_shrink != OnShrink::Replace) {
            return Ok((self.keep(task, lacks).await?, None));
        }
        let (schema, complete) = blocking(|| {
            let written = match (writer, self.scan.schema(false)) {
                (Some(writer), _) => Some(writer),
                (None, Some(schema)) => Some(self.part(task, &schema, finished.figures.requested_at())?),
                (None, None) => None,
            };
            let schema = written.as_ref().map(|writer| SchemaRef::clone(writer.schema()));
            let record = self.tasks.record(task, &finished.figures)?;
            Ok::<_, Error>((schema, written.map(|writer| writer.finish_part(&record)).transpose()?))
        })?;
        if let Some(complete) = complete {
            finished.file_bytes = Some(self.publish(task, complete).await?);
        }
        Ok((finished, schema))
    }

    /// What the folder has of a task.
    fn before(&self, task: usize) -> Option<&TaskReport> {
        self.before.tasks.get(&task).and_then(Option::as_ref)
    }

    /// The attributes that a new response lacks and earlier files had, unless that is right.
    fn lost(&self, task: usize, figures: &Figures) -> Vec<String> {
        if self.options.on_shrink == OnShrink::Replace || figures.rows == 0 {
            return Vec::new();
        }
        let tasks = || self.before.tasks.values().flatten().filter(|done| done.index != task).map(|done| &done.figures);
        let others = || self.before.others.iter().map(|other| &other.figures);
        let earlier = || tasks().chain(others()).filter(|done| done.rows > 0);
        let has = |done: &Figures, name: &String| !done.absent.contains(name);
        let had = |done: &Figures, name: &String| has(done, name) || done.lost.contains(name);
        let is_lost = |name: &&String| {
            let is_usual = earlier().next().is_some() && earlier().all(|done| had(done, name));
            is_usual || figures.new_key(name).is_some() && earlier().any(|done| has(done, name))
        };
        figures.absent.iter().filter(is_lost).cloned().collect()
    }

    /// Keeps the file of a task, as a new response has less: it stays in doubt until a response replaces it.
    async fn keep(&self, task: usize, lacks: String) -> Result<TaskReport> {
        let Some(before) = self.before(task).filter(|_| self.options.on_shrink == OnShrink::Keep) else {
            return Err(shrunk(&lacks));
        };
        let kept = Kept { lacks: lacks.clone(), snapshot: self.snapshot };
        self.doubts.mark(&self.folder, self.name(task)?, Some(kept)).await?;
        Ok(TaskReport { lacks: Some(lacks), ..before.clone() })
    }

    /// Whether a response may be written, as far as its own rows and the folder show. Decided before it replaces
    /// anything.
    async fn accept(&self, finished: &TaskReport) -> Result<()> {
        if matches!(self.options.on_doubt, OnDoubt::Warn) {
            return Ok(());
        }
        let earlier = self.before.tasks.values().flatten().filter(|done| done.index != finished.index).take(COMPARED);
        let done = earlier.chain([finished]).cloned().collect();
        let scan = self.scan.clone().splitting(self.splits);
        let reports = u32::try_from(self.tasks.ids.len()).unwrap_or(u32::MAX);
        let report = Report::new(&scan, &self.folder, &self.before, done, Vec::new(), Duration::ZERO, reports);
        let Some(task) = report.tasks.into_iter().find(|task| task.index == finished.index) else { return Ok(()) };
        let accepted = match &self.options.on_doubt {
            OnDoubt::Ask(ask) => ask(task.clone()).await,
            _ => task.doubts.is_empty(),
        };
        match &finished.lacks {
            _ if accepted => Ok(()),
            Some(lacks) if self.options.on_shrink != OnShrink::Replace => Err(shrunk(lacks)),
            _ => Err(doubtful(&task.doubts)),
        }
    }

    /// How many rows were added, removed or changed since the part that they replace, at the least; none if there is no
    /// part, or one that is damaged or too large.
    async fn rows_changed(&self, task: usize, rows: Option<RowHashes>) -> Option<u64> {
        let before = self.before(task)?;
        let Some(rows) = rows else { return Some(before.figures.rows) };
        let name = self.tasks.names.get(task).filter(|_| before.figures.rows <= RowHashes::MOST)?;
        let memory = RowMemory::new(self.client.max_result_bytes());
        let before = folder::read(&[self.folder.location_of(name)], &memory).await.pop();
        let Some(Ok((_, before))) = before else { return None };
        let mut others = RowHashes::default();
        blocking(|| {
            for batch in &before {
                others.add(batch);
            }
            Some(rows.changes(others))
        })
    }

    /// Writes the parts of the tasks without rows that were finished before types were known.
    async fn write_empty(&self, done: &mut [TaskReport]) -> Result<()> {
        let Some(schema) = self.scan.schema(false) else { return Ok(()) };
        for task in done.iter_mut().filter(|task| task.file_bytes.is_none()) {
            let record = self.tasks.record(task.index, &task.figures)?;
            let part = || self.part(task.index, &schema, task.figures.requested_at())?.finish_part(&record);
            let complete = blocking(part)?;
            task.file_bytes = Some(self.publish(task.index, complete).await?);
        }
        Ok(())
    }

    /// Puts the part of a task in its place. Returns its size.
    async fn publish(&self, task: usize, complete: Complete) -> Result<u64> {
        let name = self.name(task)?;
        let bytes = self.folder.publish(name, complete).await?;
        self.doubts.mark(&self.folder, name, None).await?;
        Ok(bytes)
    }

    fn name(&self, task: usize) -> Result<&PartName> {
        let name = self.tasks.names.get(task);
        name.ok_or_else(|| defect("a run has no such task"))
    }

    fn part(&self, task: usize, schema: &SchemaRef, requested_at: Moment) -> Result<PartWriter> {
        let requested_at = self.options.requested_at.then_some(requested_at);
        let counts_changes = self.before(task).is_some();
        PartWriter::new(self.folder.create(self.name(task)?)?, schema, requested_at, counts_changes)
    }
}

/// Opens the folder. A run that was cancelled in this process a moment ago may still hold the lock.
async fn open(options: &RunOptions) -> Result<(Folder, Names)> {
    let deadline = Instant::now() + UNLOCKING;
    loop {
        match Folder::open(&options.folder, options.is_private).await {
            Err(error) if may_be_ours(&error) && Instant::now() < deadline => {
                tokio::time::sleep(UNLOCKING / 40).await;
            }
            opened => return opened,
        }
    }
}

/// Whether the lock is held by this process, or by one that did not write its id yet.
fn may_be_ours(error: &Error) -> bool {
    error.kind() == Kind::FolderLocked && error.details().pid.is_none_or(|pid| pid == process::id())
}
