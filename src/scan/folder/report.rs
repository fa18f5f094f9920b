//! What a folder holds, after a run and at any time: its files, where its days stand, and what looks wrong.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::Value;

use super::query::{SERVICE, SYNTHETIC};
use super::tasks::{Before, Done, Stored, Tasks};
use crate::error::Error;
use crate::folder::{Folder, Query};
use crate::scan::Scan;
use crate::scan::data_warning::{self, DataWarning};
use crate::scan::judge::{Findings, Seen, judge};
use crate::scan::stats::Figures;
use crate::time::Moment;

/// What became of a file in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The run wrote it for the first time.
    New,
    /// It is as it was before.
    #[default]
    Kept,
    /// The run replaced it.
    Refreshed,
    /// It cannot be read.
    Damaged,
}

/// A file of a folder.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FileReport {
    /// Its day, as `2024-01-15`; none of a scan without days.
    pub day: Option<String>,
    /// Where it is; none while it is not written, as no type is known.
    pub path: Option<PathBuf>,
    /// Rows; 0 if it is damaged.
    pub rows: u64,
    /// Rows of the file that was there before the run.
    pub rows_before: Option<u64>,
    /// Bytes of the file.
    pub bytes: u64,
    /// When it was requested, in Unix milliseconds; none if it is damaged.
    pub requested_at: Option<i64>,
    /// Whether it was requested after its day was over and had settled, and no later response was refused.
    pub is_final: bool,
    /// What became of it.
    pub state: State,
    /// What looks wrong in its rows, or in a newer response, for which it was not replaced, or why it cannot be read.
    pub doubts: Vec<String>,
    /// Requests sent for it, retries included.
    pub attempts: u64,
    /// How long they took.
    pub seconds: f64,
}

/// A task that failed.
#[derive(Clone, Debug)]
pub struct FailedTask {
    /// The index of its request in the plan.
    pub index: usize,
    /// The id of the task.
    pub id: String,
    /// The day that its request is for.
    pub day: Option<String>,
    /// Why it failed.
    pub error: Error,
}

/// What a folder holds.
#[derive(Debug, Default, Serialize)]
pub struct FolderReport {
    /// The folder.
    pub folder: PathBuf,
    /// The address of the service whose rows it has.
    pub service: Option<String>,
    /// The query that it belongs to, in words.
    pub query: BTreeMap<String, Value>,
    /// Its files, in the order of their days; after a run the files of its scan.
    pub files: Vec<FileReport>,
    /// What looks wrong in the files together.
    pub warnings: Vec<DataWarning>,
    /// Whether numbers of rows look as if the service capped its responses.
    pub maybe_capped: bool,
    /// The days that are over and have no file.
    pub missing_days: Vec<String>,
    /// The days that were not over when they were requested, or are not over.
    pub open_days: Vec<String>,
    /// The days that were over when they were requested, and may still change.
    pub unsettled_days: Vec<String>,
    /// The days that are over and look wrong; of a folder without days the names of the files.
    pub doubtful_days: Vec<String>,
    /// Requests that the run sent, retries included.
    pub requests: u64,
    /// Requests that the run sent once more.
    pub retries: u64,
    /// How long it took.
    pub seconds: f64,
    /// The tasks that the run, or an earlier one, finished.
    #[serde(skip)]
    pub done: usize,
    /// The tasks that failed in the run, in the order of the plan.
    #[serde(skip)]
    pub failed: Vec<FailedTask>,
    /// The error that ended the run before all tasks had their turn.
    #[serde(skip)]
    pub ended: Option<Error>,
}

impl FileReport {
    /// A file with these figures.
    pub(super) fn new(day: Option<String>, figures: &Figures, bytes: u64) -> Self {
        Self {
            day,
            rows: figures.rows,
            bytes,
            requested_at: Some(figures.requested_at),
            attempts: figures.attempts,
            seconds: figures.seconds,
            ..Self::default()
        }
    }

    /// A file that cannot be read.
    pub(super) fn damaged(day: Option<String>, path: PathBuf, damage: &Error) -> Self {
        let doubts = vec![damage.message().to_owned()];
        Self { day, path: Some(path), state: State::Damaged, doubts, ..Self::default() }
    }
}

impl FolderReport {
    /// Adds a file, which was requested after its day was over or has none, and its day to those that are like it.
    pub(super) fn add(&mut self, file: FileReport, name: String, is_over: bool) {
        let days = match () {
            () if !is_over => Some(&mut self.open_days),
            () if !file.doubts.is_empty() => Some(&mut self.doubtful_days),
            () if !file.is_final => Some(&mut self.unsettled_days),
            () => None,
        };
        if let Some(days) = days
            && days.last() != Some(&name)
        {
            days.push(name);
        }
        self.files.push(file);
    }
}

/// The address of the service, and the other fields of a query.
pub(super) fn service_and_query(query: &Query) -> (Option<String>, BTreeMap<String, Value>) {
    let mut fields = query.fields();
    fields.remove(SYNTHETIC);
    let service = fields.remove(SERVICE);
    (service.as_ref().and_then(Value::as_str).map(ToOwned::to_owned), fields)
}

impl Scan {
    /// A finished task, as the judge sees it.
    pub(super) fn seen(&self, done: &Done) -> Seen {
        let requested_at = done.figures.requested_at();
        let day = self.day(done.index);
        Seen {
            is_day: day.is_some() && self.is_final(done.index, requested_at, Duration::ZERO),
            name: day.unwrap_or_else(|| format!("request {}", done.index + 1)),
            window: self.window(done.index),
            compared: done.figures.compared(),
            is_other: false,
            verdict: done.verdict.clone(),
            figures: done.figures.clone(),
        }
    }

    /// What looks wrong in finished tasks, beside the other files of their folder.
    pub(super) fn judged(&self, done: &[Done], before: &Before) -> Findings {
        let own: Vec<Seen> = done.iter().map(|done| self.seen(done)).collect();
        let seen: Vec<&Seen> = own.iter().chain(&before.others).collect();
        judge(&seen, &self.about(done.len() == self.requests(), 1))
    }

    /// The file of a finished task.
    pub(super) fn file(&self, done: &Done, before: &Before, settle: Duration) -> FileReport {
        FileReport {
            rows_before: before.of(done.index).map(|before| before.figures.rows),
            is_final: self.is_final(done.index, done.figures.requested_at(), settle) && !done.verdict.is_refused,
            state: match before.tasks.get(done.index) {
                _ if done.is_kept => State::Kept,
                Some(Stored::Missing) | None => State::New,
                Some(_) => State::Refreshed,
            },
            ..FileReport::new(self.day(done.index), &done.figures, done.bytes.unwrap_or_default())
        }
    }

    /// The report of the tasks that are finished, also those that failed and have an earlier file.
    pub(super) fn report(
        &self,
        folder: &Folder,
        tasks: &Tasks,
        before: &Before,
        mut done: Vec<Done>,
        settle: Duration,
    ) -> FolderReport {
        done.sort_by_key(|done| done.index);
        let Findings { doubts, reasons, mut warnings, .. } = self.judged(&done, before);
        let is_empty = done.len() == self.requests() && done.iter().all(|done| done.figures.rows == 0);
        warnings.extend(is_empty.then(|| data_warning::empty(self)).flatten());
        let (service, query) = service_and_query(tasks.query());
        let mut report = FolderReport {
            folder: folder.path().to_path_buf(),
            service,
            query,
            maybe_capped: !reasons.is_empty(),
            warnings,
            ..FolderReport::default()
        };
        let now = Moment::from(SystemTime::now());
        let mut done = done.iter().zip(doubts).peekable();
        for task in &tasks.all {
            let path = folder.path_of(&task.name);
            let name = task.day.clone().unwrap_or_else(|| task.name.to_string());
            let is_over = |requested_at| self.is_final(task.index, requested_at, Duration::ZERO);
            match (done.next_if(|(done, _)| done.index == task.index), before.tasks.get(task.index)) {
                (Some((done, doubts)), _) => {
                    let doubts = doubts.into_iter().map(|doubt| doubt.message).collect();
                    let path = done.bytes.map(|_| path);
                    let file = FileReport { path, doubts, ..self.file(done, before, settle) };
                    report.add(file, name, is_over(done.figures.requested_at()));
                }
                (None, Some(Stored::Damaged(damage))) => {
                    report.add(FileReport::damaged(task.day.clone(), path, damage), name, true);
                }
                // Without a response, what one would be now.
                (None, _) => {
                    let days = if is_over(now) { &mut report.missing_days } else { &mut report.open_days };
                    days.extend(task.day.clone().filter(|day| days.last() != Some(day)));
                }
            }
        }
        report
    }
}
