//! The report of a run: its tasks, their figures, and signs that the service capped its responses.
//!
//! The service need not report a total, so a result is never known to be complete: a report says `unknown` or `capped`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::Scan;
use super::data_warning::{self, DataWarning, DataWarningKind};
use super::day::OutOfDayRows;
use super::stored::{Finished, TaskFigures, Tasks};
use crate::error::Error;
use crate::folder::Folder;

/// So many tasks with the same, greatest number of rows look capped,
const ALIKE: usize = 3;
/// if they have at least so many rows.
const MANY: u64 = 100;
/// A greatest number of rows that is a multiple of this looks capped.
const ROUND: u64 = 1_000;
/// So many tasks whose response reports another total are named.
const NAMED: usize = 3;

/// A finished task.
#[derive(Clone, Debug, Serialize)]
pub struct TaskReport {
    /// The id of the task.
    pub id: String,
    /// The day that its request is for, as `2024-01-15`.
    pub day: Option<String>,
    /// The index of its request in the plan.
    pub index: usize,
    /// Rows.
    pub rows: u64,
    /// Bytes of the response.
    pub bytes: u64,
    /// Requests sent.
    pub attempts: u64,
    /// Duration of the task.
    pub seconds: f64,
    /// Its part, unless it has none.
    pub path: Option<PathBuf>,
    /// Bytes of the part.
    pub file_bytes: u64,
    /// Whether an earlier run finished it.
    pub was_done: bool,
    #[serde(skip)]
    figures: TaskFigures,
}

/// A task that failed permanently.
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
    /// The days whose requests returned rows of others.
    pub stray_days: Vec<String>,
    /// Attributes that no record of any task had.
    #[serde(skip)]
    pub absent: Vec<String>,
    /// What looks wrong in the data.
    pub warnings: Vec<DataWarning>,
    /// The tasks that failed permanently in this run, in the order of the plan.
    #[serde(skip)]
    pub failed: Vec<FailedTask>,
}

impl TaskReport {
    fn new(scan: &Scan, folder: &Folder, tasks: &Tasks, done: Finished) -> Self {
        let name = tasks.names.get(done.index).filter(|_| done.file_bytes.is_some());
        Self {
            id: tasks.ids.get(done.index).cloned().unwrap_or_default(),
            day: scan.day(done.index),
            index: done.index,
            rows: done.figures.rows,
            bytes: done.figures.bytes,
            attempts: done.figures.attempts,
            seconds: done.figures.seconds,
            path: name.map(|name| folder.path_of(name)),
            file_bytes: done.file_bytes.unwrap_or_default(),
            was_done: done.was_done,
            figures: done.figures,
        }
    }
}

impl Report {
    pub(super) fn new(
        scan: &Scan,
        folder: &Folder,
        tasks: &Tasks,
        done: Vec<Finished>,
        mut failed: Vec<FailedTask>,
        known_row_cap: Option<u64>,
        took: Duration,
    ) -> Self {
        let mut tasks: Vec<_> = done.into_iter().map(|done| TaskReport::new(scan, folder, tasks, done)).collect();
        tasks.sort_by_key(|task| task.index);
        failed.sort_by_key(|task| task.index);
        let sum = |figure: fn(&TaskReport) -> u64| tasks.iter().map(figure).sum();
        let reasons = cap_reasons(&tasks, known_row_cap);
        let mut out_of_day = OutOfDayRows::default();
        let mut is_stray =
            |task: &&TaskReport| out_of_day.add(scan.request(task.index, None).day, task.figures.times.as_ref());
        let stray = tasks.iter().filter(|task| is_stray(task));
        let mut stray_days: Vec<String> = stray.filter_map(|task| task.day.clone()).collect();
        stray_days.dedup();
        let absent = absent(&tasks);
        let incomplete = (!reasons.is_empty())
            .then(|| DataWarning { kind: DataWarningKind::Incomplete, message: reasons.join("; ") });
        let warnings = [incomplete, data_warning::stray(&out_of_day), data_warning::absent(&absent)];
        Self {
            folder: folder.path().to_path_buf(),
            rows: sum(|task| task.rows),
            bytes: sum(|task| task.bytes),
            file_bytes: sum(|task| task.file_bytes),
            retries: sum(|task| task.attempts.saturating_sub(1)),
            seconds: took.as_secs_f64(),
            complete: if reasons.is_empty() { "unknown" } else { "capped" },
            reasons,
            stray_days,
            absent,
            warnings: warnings.into_iter().flatten().collect(),
            failed,
            tasks,
        }
    }
}

/// The attributes that no record of any task had.
fn absent(tasks: &[TaskReport]) -> Vec<String> {
    let mut with_rows = tasks.iter().filter(|task| task.rows > 0);
    let Some(first) = with_rows.next() else { return Vec::new() };
    let mut absent = first.figures.absent.clone();
    for task in with_rows {
        absent.retain(|name| task.figures.absent.contains(name));
    }
    absent
}

/// Why responses look as if the service had capped them.
fn cap_reasons(tasks: &[TaskReport], known_row_cap: Option<u64>) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for task in tasks {
        *counts.entry(task.rows).or_default() += 1;
    }
    if let Some(count) = known_row_cap.and_then(|rows| counts.get(&rows)) {
        let rows = known_row_cap.unwrap_or_default();
        reasons.push(format!("{count} of {} tasks have exactly the {rows} rows of known_row_cap", tasks.len()));
    } else if let Some((rows, count)) = counts.last_key_value() {
        if *count >= ALIKE && *rows >= MANY {
            reasons.push(format!("{count} of {} tasks have exactly {rows} rows, and none has more", tasks.len()));
        } else if *rows > 0 && rows % ROUND == 0 {
            reasons.push(format!("the longest response has exactly {rows} rows"));
        }
    }
    let reported = tasks.iter().flat_map(|task| task.figures.incomplete.iter().map(move |text| (task, text)));
    reasons.extend(reported.take(NAMED).map(|(task, text)| format!("task {}: {text}", task.id)));
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(rows: &[u64]) -> Vec<TaskReport> {
        let task = |(index, rows): (usize, &u64)| TaskReport {
            id: format!("{index:05}"),
            day: None,
            index,
            rows: *rows,
            bytes: 0,
            attempts: 1,
            seconds: 0.0,
            path: None,
            file_bytes: 0,
            was_done: false,
            figures: TaskFigures::default(),
        };
        rows.iter().enumerate().map(task).collect()
    }

    #[test]
    fn equal_greatest_counts_and_round_ones_look_capped() {
        for (rows, known_row_cap, expected) in [
            (&[][..], None, None),
            (&[0, 0, 0, 0], None, None),
            (&[73, 73, 73], None, None),
            (&[4_711, 4_711, 12], None, None),
            (&[4_711, 4_711, 4_711, 12], None, Some("3 of 4 tasks have exactly 4711 rows, and none has more")),
            (&[4_711, 4_711, 4_711, 4_712], None, None),
            (&[10_000, 17], None, Some("the longest response has exactly 10000 rows")),
            (&[10_000, 10_001], None, None),
            (&[10_000, 10_001], Some(10_000), Some("1 of 2 tasks have exactly the 10000 rows of known_row_cap")),
            (&[10_001], Some(10_000), None),
        ] {
            let reasons = cap_reasons(&tasks(rows), known_row_cap);
            assert_eq!(reasons.first().map(String::as_str), expected, "{rows:?}");
            assert!(reasons.len() < 2);
        }
    }

    #[test]
    fn an_attribute_is_absent_only_if_no_task_had_it() {
        let mut some = tasks(&[3, 0, 5]);
        for (task, absent) in some.iter_mut().zip([&["a", "b"][..], &["a", "b", "c"], &["b"]]) {
            task.figures.absent = absent.iter().map(|name| (*name).to_owned()).collect();
        }
        assert_eq!(absent(&some), ["b"]);
        assert!(absent(&tasks(&[0])).is_empty());
    }
}
