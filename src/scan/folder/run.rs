//! A scan into a folder: one part per task, so that a second run does only the tasks without one.
//!
//! A task that fails does not end the others, unless its error would fail them all, as a refused token or
//! a full disk.

use std::collections::{BTreeMap, BTreeSet};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use arrow_schema::SchemaRef;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::options::{OnDoubt, RunOptions};
use super::part_writer::{PartWriter, REQUESTED_AT};
use super::progress::RunProgress;
use super::query::Layout;
use super::refusal::refused;
use super::report::{FileReport, FolderReport};
use super::tasks::{Before, Done, Inventory, OtherZone, Stored, Tasks};
use crate::client::Client;
use crate::columns::{self, Types};
use crate::decode::NO_DATA;
use crate::error::{Error, Kind, Result, defect};
use crate::files::{Complete, Parquet, RowMemory, Writer as _, blocking};
use crate::folder::{self, DAY, Folder, Names, PartName};
use crate::observe::{self, Observer};
use crate::scan::data_warning::DataWarning;
use crate::scan::judge::{Findings, Seen, judge};
use crate::scan::progress::Progress;
use crate::scan::responses::panicked;
use crate::scan::stats::Figures;
use crate::scan::task::no_tasks;
use crate::scan::verdict::Verdict;
use crate::scan::{Scan, invalid};
use crate::time::Moment;

/// The column of codes whose values are unique.
const ID: &str = "id";
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
    ) -> Result<FolderReport> {
        if self.limit.is_some() {
            return Err(no_tasks());
        }
        let begun = Instant::now();
        // Readers take names that differ in case for the same column.
        let attribute = |column: &str| self.attributes().iter().find(|name| name.eq_ignore_ascii_case(column));
        if options.requested_at && attribute(REQUESTED_AT).is_some() {
            return Err(invalid(REQUESTED_AT, "adds a column of that name, and attrs has one: leave one of them out"));
        }
        let layout = if self.by_day.is_some() { Layout::Days } else { Layout::Flat };
        if let Some(name) = attribute(DAY).filter(|_| layout == Layout::Days) {
            let message = format!(
                "has \"{name}\", and a folder by days has the day of each file as the column {DAY}, which readers would \
                 show in its place: leave it out, or write one file, as with to_parquet"
            );
            return Err(invalid("attrs", &message));
        }
        let tasks = Tasks::of(self, layout, Some(&options.service), Some(options.requested_at))?;
        let refreshed = self.named("refresh", &options.refresh)?;
        let accepted = self.named("accept", &options.accept)?;
        let (folder, names) = open(options).await?;
        let folder = Arc::new(folder);
        let report = async {
            let inventory = tasks.stored(&folder, &names, &refreshed).await?;
            let Inventory { before, mut done, types, has_untyped, zone } = inventory;
            if !accepted.is_empty() {
                let Findings { doubts, .. } = self.judged(&done, &before);
                let mut is_right = doubts.iter().map(Vec::is_empty);
                done.retain(|done| is_right.next() == Some(true) || !accepted.contains(&done.index));
            }
            // What is requested again keeps its file until then.
            let snapshot = self.drop_outdated(&mut done, &before, options.settle);
            let before = Arc::new(before);
            let (scan, tasks) = match &zone {
                Some(OtherZone(zone)) => (self.in_zone(zone.as_ref()), tasks.in_zone(zone.as_ref())),
                None => (self.clone(), tasks),
            };
            let mut run = Run {
                // Only tasks that look capped are split, once all are finished.
                scan: Self { begun: Some(tokio::time::Instant::now()), ..scan.splitting(false) },
                splits: self.splits(),
                client: Arc::clone(client),
                folder: Arc::clone(&folder),
                tasks: Arc::new(tasks),
                snapshot: snapshot.unwrap_or_else(|| Moment::from(SystemTime::now()).milliseconds()),
                before: Arc::clone(&before),
                refused: Arc::default(),
                accepted: Arc::new(accepted),
                earlier: Arc::new(before.done().map(|done| (done.index, self.seen(done))).collect()),
                sent: Arc::default(),
                options: Arc::new(options.clone()),
                observer: observe::observer(),
                types: Arc::default(),
                knows_types: false,
                has_untyped,
            };
            let mut progress = RunProgress::new(&run, begun, done, progress);
            progress.send().await?;
            let ended = async {
                // Damage of one file does not keep the others from being written.
                for (task, stored) in before.tasks.iter().enumerate().filter(|(task, _)| !refreshed.contains(task)) {
                    if let Stored::Damaged(damage) = stored {
                        progress.fail(&run, task, damage.clone()).await?;
                    }
                }
                run.finish_tasks(self.splits(), types, &mut progress).await
            };
            let ended = ended.await.err();
            let RunProgress { mut done, mut failed, .. } = progress;
            failed.sort_by_key(|task| task.index);
            // A task that failed keeps the file that it had.
            let refused = std::mem::take(&mut *run.refused.lock().unwrap_or_else(PoisonError::into_inner));
            let kept = |task: usize| refused.get(&task).or_else(|| before.of(task)).cloned();
            let finished = done.len();
            let is_done: BTreeSet<usize> = done.iter().map(|done| done.index).collect();
            done.extend((0..self.requests()).filter(|task| !is_done.contains(task)).filter_map(kept));
            let Sent { requests, retries } = *run.sent.lock().unwrap_or_else(PoisonError::into_inner);
            let seconds = begun.elapsed().as_secs_f64();
            let report = self.report(&folder, &run.tasks, &before, done, options.settle);
            Ok(FolderReport { requests, retries, seconds, done: finished, failed, ended, ..report })
        };
        let report = report.await;
        folder.close().await;
        report
    }
}

/// The requests of a run, also of tasks that failed.
#[derive(Debug, Default)]
struct Sent {
    /// Retries included.
    requests: u64,
    retries: u64,
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
    /// The tasks that failed, as a response was refused, with what their parts remember of it.
    refused: Arc<Mutex<BTreeMap<usize, Done>>>,
    sent: Arc<Mutex<Sent>>,
    /// The tasks whose responses are taken as they are.
    accepted: Arc<BTreeSet<usize>>,
    /// What the folder had of its tasks, as the judge sees it.
    earlier: Arc<Vec<(usize, Seen)>>,
    options: Arc<RunOptions>,
    observer: Option<Observer>,
    /// The inferred types so far: those of the first values.
    types: Arc<Mutex<Types>>,
    /// Whether some task had rows, of this run or of an earlier one: then columns without a type have no value so far.
    knows_types: bool,
    /// Whether the folder has parts with another type for a column without values.
    has_untyped: bool,
}

/// The number of a task; its figures and whether it has rows, or its error.
type TaskOutcome = (usize, Result<(Done, bool)>);

impl Run {
    async fn finish_tasks(&mut self, is_split: bool, types: Option<Types>, progress: &mut RunProgress) -> Result<()> {
        let known = types.as_ref().map(Vec::len);
        let ran = self.run_tasks(types, progress).await;
        let ran = match ran {
            Ok(()) if is_split => self.split_tasks(progress).await,
            ran => ran,
        };
        ran?;
        let is_learned = known.is_some_and(|known| self.has_untyped || self.types().len() > known);
        if is_learned || known.is_none() && self.has_untyped_tasks(&progress.done) {
            self.type_parts(&mut progress.done).await?;
        }
        Ok(())
    }

    async fn run_tasks(&mut self, mut types: Option<Types>, progress: &mut RunProgress) -> Result<()> {
        let mut open = progress.open_tasks(&self.before);
        // The first task with rows decides most inferred types: until then, tasks run one after another.
        while types.is_none()
            && let Some(task) = open.next()
        {
            let outcome = self.run_task(task, self.scan_of(task)).await;
            let outcome = outcome.map(|(finished, has_rows)| {
                types = has_rows.then(|| self.types().clone());
                finished
            });
            progress.add(self, task, outcome).await?;
        }
        let Some(types) = types else { return Ok(()) };
        *self.types() = types;
        self.knows_types = true;
        self.write_empty(&mut progress.done).await?;
        self.run_at_once(open.map(|task| (task, self.scan_of(task))), progress).await
    }

    /// The scan of a task. One whose response looked capped before is split at once: else it would have less.
    fn scan_of(&self, task: usize) -> Scan {
        let cap = self.before(task).and_then(|before| before.figures.split_at).filter(|_| self.splits);
        if cap.is_some() { self.scan.task(task).split_at(cap) } else { self.scan.task(task) }
    }

    fn types(&self) -> MutexGuard<'_, Types> {
        self.types.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same scan with the types that are known by now.
    fn typed(&self, scan: &Scan) -> Scan {
        Scan { columns: columns::frozen(&scan.columns, &self.types()), ..scan.clone() }
    }

    /// Adds the types of a task whose file has no value in some columns. Returns false if another task has decided
    /// otherwise meanwhile.
    fn learn(&self, schema: &SchemaRef, empty_columns: &[String]) -> Result<bool> {
        let mut known = self.types();
        let mut found = columns::types(schema)?;
        let is_inferred =
            |name: &String| self.scan.columns.iter().any(|column| column.name == *name && column.column_type.is_none());
        found.retain(|(name, _)| is_inferred(name) && !empty_columns.contains(name));
        for (name, column_type) in found {
            match known.iter().find(|(known, _)| *known == name) {
                Some((_, before)) if *before != column_type => return Ok(false),
                Some(_) => {}
                None => known.push((name, column_type)),
            }
        }
        Ok(true)
    }

    /// Whether some task has no values in a column whose type is known by now.
    fn has_untyped_tasks(&self, done: &[Done]) -> bool {
        let untyped: Vec<&String> =
            self.scan.columns.iter().filter(|column| column.column_type.is_none()).map(|column| &column.name).collect();
        let types = self.types();
        let is_untyped = |name: &String| untyped.contains(&name) && types.iter().any(|(known, _)| known == name);
        let mut new = done.iter().filter(|task| !task.is_kept && task.figures.rows > 0);
        new.any(|task| task.figures.empty_columns.iter().any(is_untyped))
    }

    /// Gives the columns without values of all parts the types that are known by now, so that other readers find one type
    /// in all files.
    async fn type_parts(&self, done: &mut [Done]) -> Result<()> {
        let types = self.types().clone();
        // The rows are complete: a part that cannot be typed stays as it is.
        let Ok(parts) = self.folder.all_parts() else { return Ok(()) };
        for name in parts {
            let Ok(part) = self.folder.part(&name).await else { continue };
            let Ok(stored) = self.tasks.check(&self.folder, &name, None, part.clone()) else { continue };
            let types: Types = types.iter().filter(|(name, _)| stored.is_untyped(name)).cloned().collect();
            let schema = columns::with_types(&part.schema, &types)?;
            if schema == part.schema {
                continue;
            }
            let Ok(bytes) = self.rewrite(&name, &schema, &part.record).await else { continue };
            let index = self.tasks.all.iter().find(|task| task.name == name).map(|task| task.index);
            for task in done.iter_mut().filter(|task| Some(task.index) == index) {
                task.bytes = Some(bytes);
            }
        }
        Ok(())
    }

    /// Publishes the rows of a part once more, with these types of columns without values and this record.
    async fn rewrite(&self, name: &PartName, schema: &SchemaRef, record: &serde_json::Value) -> Result<u64> {
        let memory = RowMemory::new(self.client.max_result_bytes());
        let mut read = folder::read(&[self.folder.location_of(name)], &memory).await;
        let (_, batches) = read.pop().ok_or_else(|| defect("a part was not read"))??;
        let complete = blocking(|| {
            let file = self.folder.create(name)?;
            let mut parquet = Parquet::new(file, schema, &columns::with_dictionaries(schema))?;
            batches.iter().try_for_each(|batch| parquet.write(&columns::retyped(batch, schema)?))?;
            parquet.finish_part(record)
        })?;
        self.folder.publish(name, complete).await
    }

    /// Asks again, in parts, for the finished tasks that look capped, and replaces their parts.
    async fn split_tasks(&self, progress: &mut RunProgress) -> Result<()> {
        let Findings { suspects, cap, .. } = self.scan.judged(&progress.done, &self.before);
        let suspects: Vec<usize> =
            suspects.into_iter().filter_map(|at| progress.done.get(at)).map(|done| done.index).collect();
        progress.ends_at_first = true;
        let scan = |task: usize| self.scan.task(task).split_at(cap);
        self.run_at_once(suspects.into_iter().map(|task| (task, scan(task))), progress).await
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

    /// Writes the part of one task. Returns whether it has rows; without, there is no part while types are not known.
    async fn run_task(&self, task: usize, scan: Scan) -> Result<(Done, bool)> {
        let create = |schema: &SchemaRef, requested_at| self.part(task, schema, requested_at);
        let (stats, writer) = loop {
            let written = self.typed(&scan).write_columns(&self.client, create).await;
            match &written {
                Ok((stats, _)) => self.add_sent(stats.figures.attempts, stats.requests),
                Err(error) => self.add_sent(error.context().attempts.into(), 1),
            }
            let (stats, writer) = written?;
            let is_typed = writer.as_ref().map(|writer| self.learn(writer.schema(), &writer.empty_columns()));
            // Else it is requested once more: the types of the other task are known now.
            if is_typed.transpose()?.unwrap_or(true) {
                break (stats, writer);
            }
        };
        if stats.empty_shape == Some(NO_DATA) {
            let message = "the response has no `data`: it does not say whether there are records";
            return Err(Error::new(Kind::Envelope, message).with(|details| details.field = Some("data".to_owned())));
        }
        let empty_columns = writer.as_ref().map_or_else(|| scan.attributes().to_vec(), PartWriter::empty_columns);
        let split = scan.splits().then(|| stats.figures.split.clone().unwrap_or_default());
        let mut figures = Figures { empty_columns, split, snapshot: self.snapshot, ..stats.figures };
        figures.is_explained = self.scan.request(task, None).explains(figures.rows);
        let doubt = writer.as_ref().and_then(PartWriter::doubt);
        let verdict = Verdict::default();
        let mut finished = Done { index: task, figures, verdict, bytes: None, is_kept: false };
        finished.verdict = self.decide(&finished, doubt).await?;
        if finished.verdict.is_refused {
            return Ok((self.keep(task, finished.verdict).await?, false));
        }
        let has_rows = writer.is_some();
        let complete = blocking(|| {
            let written = match (writer, self.empty_schema()?) {
                (Some(writer), _) => Some(writer),
                (None, Some(schema)) => Some(self.part(task, &schema, finished.figures.requested_at())?),
                (None, None) => None,
            };
            let record = self.tasks.record(&finished)?;
            written.map(|writer| writer.finish_part(&record)).transpose()
        })?;
        if let Some(complete) = complete {
            finished.bytes = Some(self.publish(task, complete).await?);
        }
        Ok((finished, has_rows))
    }

    /// The schema of a part without rows, once a task has shown the types.
    fn empty_schema(&self) -> Result<Option<SchemaRef>> {
        let scan = self.typed(&self.scan);
        let is_known = self.knows_types || scan.schema(false).is_some();
        is_known.then(|| scan.empty_schema(false)).transpose()
    }

    /// What the folder has of a task.
    fn before(&self, task: usize) -> Option<&Done> {
        self.before.of(task)
    }

    /// Adds requests that were sent, and how many responses they got.
    fn add_sent(&self, attempts: u64, responses: u64) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.requests += attempts;
        sent.retries += attempts.saturating_sub(responses);
    }

    /// What is done with a response that is complete, before it replaces anything. `doubt` is what its rows show alone.
    ///
    /// # Errors
    /// `DoubtfulData` if it is refused and the caller wants to know, or there is no part that stays.
    async fn decide(&self, response: &Done, doubt: Option<DataWarning>) -> Result<Verdict> {
        let before = self.before(response.index);
        let is_same = |before: &Done| before.verdict.is_accepted && before.figures.rows == response.figures.rows;
        if self.accepted.contains(&response.index) || before.is_some_and(is_same) {
            return Ok(Verdict::accepted());
        }
        let figures = before.map(|before| &before.figures);
        let lacks = figures.and_then(|before| response.figures.lacks(before));
        let less = lacks.clone().or_else(|| response.figures.loses(figures?));
        let verdict = Verdict { doubts: doubt.into_iter().chain(less).collect(), ..Verdict::default() };
        let response = Done { verdict: verdict.clone(), ..response.clone() };
        let doubts = match &self.options.on_doubt {
            OnDoubt::Warn(errors) if errors.is_empty() => Vec::new(),
            _ => self.doubts(&response),
        };
        let is_accepted = match &self.options.on_doubt {
            OnDoubt::Warn(errors) => doubts.iter().all(|doubt| !errors.contains(&doubt.kind)),
            OnDoubt::Error => doubts.is_empty(),
            OnDoubt::Ask(ask) => {
                let doubts = doubts.iter().map(|doubt| doubt.message.clone()).collect();
                let file = self.scan.file(&response, &self.before, self.options.settle);
                ask(FileReport { doubts, ..file }).await
            }
        };
        if is_accepted {
            let stays = lacks.filter(|_| matches!(self.options.on_doubt, OnDoubt::Warn(_)));
            return Ok(stays.map_or(verdict, |lacks| Verdict::refused(&[lacks])));
        }
        if let Some(before) = before {
            let kept = self.keep(before.index, Verdict::refused(&doubts)).await?;
            self.refused.lock().unwrap_or_else(PoisonError::into_inner).insert(kept.index, kept);
        }
        Err(refused(&doubts, before.is_some()))
    }

    /// What looks wrong in a response, as far as its own rows and the folder show.
    fn doubts(&self, response: &Done) -> Vec<DataWarning> {
        let scan = self.scan.clone().splitting(self.splits);
        let seen = scan.seen(response);
        let earlier = self.earlier.iter().filter(|(task, _)| *task != response.index).map(|(_, seen)| seen);
        let seen: Vec<&Seen> = [&seen].into_iter().chain(earlier).chain(&self.before.others).collect();
        let trials = u32::try_from(self.tasks.all.len()).unwrap_or(u32::MAX);
        judge(&seen, &scan.about(false, trials)).doubts.into_iter().next().unwrap_or_default()
    }

    /// Keeps the part of a task. Its record remembers why: each run requests it again until a response is written.
    async fn keep(&self, task: usize, verdict: Verdict) -> Result<Done> {
        let before = self.before(task).ok_or_else(|| defect("a task without a part was kept"))?;
        let mut kept = Done { verdict, is_kept: true, ..before.clone() };
        kept.figures.snapshot = self.snapshot;
        let is_news = kept.verdict != before.verdict || self.scan.by_day.is_none();
        if is_news {
            let name = &self.tasks.get(task)?.name;
            let schema = self.folder.part(name).await?.schema;
            kept.bytes = Some(self.rewrite(name, &schema, &self.tasks.record(&kept)?).await?);
        }
        Ok(kept)
    }

    /// Writes the parts of the tasks without rows that were finished before types were known.
    async fn write_empty(&self, done: &mut [Done]) -> Result<()> {
        let Some(schema) = self.empty_schema()? else { return Ok(()) };
        for task in done.iter_mut().filter(|task| task.bytes.is_none()) {
            let record = self.tasks.record(task)?;
            let part = || self.part(task.index, &schema, task.figures.requested_at())?.finish_part(&record);
            let complete = blocking(part)?;
            task.bytes = Some(self.publish(task.index, complete).await?);
        }
        Ok(())
    }

    /// Puts the part of a task in its place. Returns its size.
    async fn publish(&self, task: usize, complete: Complete) -> Result<u64> {
        self.folder.publish(&self.tasks.get(task)?.name, complete).await
    }

    fn part(&self, task: usize, schema: &SchemaRef, requested_at: Moment) -> Result<PartWriter> {
        let requested_at = self.options.requested_at.then_some(requested_at);
        let id = schema.index_of(ID).ok().filter(|_| self.scan.operation == "scan_codes");
        PartWriter::new(self.folder.create(&self.tasks.get(task)?.name)?, schema, requested_at, id)
    }
}

/// Opens the folder. A run that was cancelled in this process a moment ago may still hold the lock.
async fn open(options: &RunOptions) -> Result<(Folder, Names)> {
    let deadline = Instant::now() + UNLOCKING;
    loop {
        match Folder::open(&options.folder).await {
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
