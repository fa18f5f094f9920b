//! The report of a run: its tasks, their figures, and signs that the service capped its responses.
//!
//! The service need not report a total, so a result is never known to be complete: a report says `unknown` or `capped`.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::{Serialize, Serializer};

use super::Scan;
use super::data_warning::{self, DataWarning};
use super::judge::{Findings, Seen, judge};
use super::stats::Figures;
use super::tasks::{Before, Tasks};
use super::verdict::Verdict;
use crate::error::Error;
use crate::folder::Folder;
use crate::time::Moment;

/// A finished task.
#[derive(Clone, Debug, Serialize)]
pub struct TaskReport {
    /// The id of the task.
    pub id: String,
    /// The day that its request is for, as `2024-01-15`.
    pub day: Option<String>,
    /// The index of its request in the plan.
    pub index: usize,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// Its file, if it has one.
    pub path: Option<PathBuf>,
    /// Bytes of the file. None for a task without rows while the types of a file are not known.
    #[serde(serialize_with = "or_zero")]
    pub file_bytes: Option<u64>,
    /// Whether an earlier run finished it.
    pub was_done: bool,
    /// Whether this run replaced its file.
    pub was_refreshed: bool,
    /// Rows of the file that it had before this run.
    pub rows_before: Option<u64>,
    /// What looks wrong in its rows, or in a newer response, for which its file was not replaced.
    pub doubts: Vec<DataWarning>,
    /// Whether it was requested after its day was over, and had settled.
    pub is_final: bool,
    /// What was decided of its newest response.
    #[serde(skip)]
    pub(super) verdict: Verdict,
}

#[expect(clippy::ref_option, reason = "the signature that serde calls")]
fn or_zero<S: Serializer>(bytes: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    bytes.unwrap_or_default().serialize(serializer)
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

/// The report of a run.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The folder of the files.
    pub folder: PathBuf,
    /// The finished tasks, in the order of the plan.
    pub tasks: Vec<TaskReport>,
    /// Rows of all tasks.
    pub rows: u64,
    /// Bytes of all responses.
    pub bytes: u64,
    /// Bytes of all files.
    pub file_bytes: u64,
    /// Requests that were retried.
    pub retries: u64,
    /// Duration of this run.
    pub seconds: f64,
    /// `unknown` or `capped`.
    pub complete: &'static str,
    /// Why it is `capped`.
    pub reasons: Vec<String>,
    /// The days that were not over when they were requested, or are not over.
    pub open_days: Vec<String>,
    /// The days that were over when they were requested, and may still change.
    pub unsettled_days: Vec<String>,
    /// The days that are over and have no file.
    pub missing_days: Vec<String>,
    /// The days whose requests returned rows of others.
    pub stray_days: Vec<String>,
    /// Attributes that no record of any task had.
    pub absent: Vec<String>,
    /// What looks wrong in the data.
    pub warnings: Vec<DataWarning>,
    /// The tasks that failed in this run, in the order of the plan.
    #[serde(skip)]
    pub failed: Vec<FailedTask>,
    /// The error that ended the run before all tasks had their turn.
    #[serde(skip)]
    pub ended: Option<Error>,
}

impl Scan {
    /// A finished task, as the judge sees it.
    pub(super) fn seen(&self, task: &TaskReport) -> Seen {
        let requested_at = task.figures.requested_at();
        Seen {
            name: task.day.clone().unwrap_or_else(|| format!("request {}", task.index + 1)),
            window: self.window(task.index),
            compared: task.figures.compared(),
            is_day: task.day.is_some() && self.is_final(task.index, requested_at, Duration::ZERO),
            is_other: false,
            verdict: task.verdict.clone(),
            figures: task.figures.clone(),
        }
    }

    /// What looks wrong in finished tasks, beside the other files of their folder.
    pub(super) fn judged(&self, tasks: &[TaskReport], before: &Before) -> Findings {
        let own: Vec<Seen> = tasks.iter().map(|task| self.seen(task)).collect();
        let seen: Vec<&Seen> = own.iter().chain(&before.others).collect();
        judge(&seen, &self.about(tasks.len() == self.requests(), 1))
    }
}

impl Report {
    /// Of the tasks that are finished, and of those that failed and have an earlier file.
    pub(super) fn new(
        scan: &Scan,
        folder: &Folder,
        before: &Before,
        mut tasks: Vec<TaskReport>,
        mut failed: Vec<FailedTask>,
        took: Duration,
    ) -> Self {
        tasks.sort_by_key(|task| task.index);
        failed.sort_by_key(|task| task.index);
        let Findings { doubts, reasons, stray_days, absent, mut warnings, .. } = scan.judged(&tasks, before);
        for (task, doubts) in tasks.iter_mut().zip(doubts) {
            let before = before.tasks.get(&task.index);
            task.doubts = doubts;
            task.path = task.path.take().filter(|_| task.file_bytes.is_some());
            task.was_refreshed = !task.was_done && before.is_some();
            task.rows_before = before.and_then(|before| Some(before.as_ref()?.figures.rows));
        }
        let sum = |figure: fn(&TaskReport) -> u64| tasks.iter().map(figure).sum();
        let rows: u64 = sum(|task| task.figures.rows);
        let is_empty = rows == 0 && tasks.len() == scan.requests();
        warnings.extend(is_empty.then(|| data_warning::empty(scan)).flatten());
        Self {
            folder: folder.path().to_path_buf(),
            rows,
            bytes: sum(|task| task.figures.bytes),
            file_bytes: sum(|task| task.file_bytes.unwrap_or_default()),
            retries: sum(|task| task.figures.attempts.saturating_sub(1)),
            seconds: took.as_secs_f64(),
            complete: if reasons.is_empty() { "unknown" } else { "capped" },
            reasons,
            open_days: Vec::new(),
            unsettled_days: Vec::new(),
            missing_days: Vec::new(),
            stray_days,
            absent,
            warnings,
            failed,
            ended: None,
            tasks,
        }
    }

    /// The report with the days that the next run asks for again.
    pub(super) fn with_open_days(mut self, scan: &Scan, tasks: &Tasks, settle: Duration, now: SystemTime) -> Self {
        let now = Moment::from(now);
        let mut done = self.tasks.iter_mut().peekable();
        for task in &tasks.all {
            let done = done.next_if(|done| done.index == task.index);
            // Without a response, what one would be now.
            let requested_at = done.as_ref().map_or(now, |done| done.figures.requested_at());
            let is_over = scan.is_final(task.index, requested_at, Duration::ZERO);
            let days = match done {
                Some(done) => {
                    let has_settled = scan.is_final(task.index, requested_at, settle);
                    done.is_final = has_settled && !done.verdict.is_refused;
                    match is_over {
                        false => Some(&mut self.open_days),
                        true if done.is_final || !done.doubts.is_empty() => None,
                        true => Some(&mut self.unsettled_days),
                    }
                }
                None if is_over => Some(&mut self.missing_days),
                None => Some(&mut self.open_days),
            };
            if let Some((days, day)) = days.zip(task.day.clone()) {
                days.push(day);
            }
        }
        for days in [&mut self.open_days, &mut self.unsettled_days, &mut self.missing_days] {
            days.dedup();
        }
        self
    }
}
