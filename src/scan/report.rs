//! The report of a run: its tasks, their figures, and signs that the service capped its responses.
//!
//! The service need not report a total, so a result is never known to be complete: a report says `unknown` or `capped`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::Serialize;

use super::Scan;
use super::cap::Suspicion;
use super::data_warning::{self, DataWarning, Dropped};
use super::day::OutOfDayRows;
use super::ids::Ids;
use super::stored::{Before, Finished, TaskFigures, Tasks};
use crate::error::Error;
use crate::folder::Folder;
use crate::time::Moment;

/// So many reasons of tasks that were split are listed.
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
    /// Whether this run replaced its part.
    pub was_refreshed: bool,
    /// Rows of the part that it had before this run.
    pub rows_before: Option<u64>,
    /// Rows that the part before did not have, if that is known.
    pub rows_changed: Option<u64>,
    /// What looks wrong in its rows, or in a newer response, for which its part was not replaced.
    pub doubts: Vec<DataWarning>,
    /// When it was requested, in Unix milliseconds.
    pub requested_at: i64,
    /// Whether it was requested after its day was over, and had settled.
    pub is_final: bool,
    /// Attributes that no record had.
    pub absent: Vec<String>,
    /// Keys that were not requested, and how many records had each.
    pub extra_keys: Vec<(String, u64)>,
    /// What a newer response lacks.
    #[serde(skip)]
    lacks: Option<String>,
    #[serde(skip)]
    figures: TaskFigures,
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
    /// The days that were not over when they were requested, or have not begun.
    pub open_days: Vec<String>,
    /// The days whose requests returned rows of others.
    pub stray_days: Vec<String>,
    /// Attributes that no record of any task had.
    pub absent: Vec<String>,
    /// The ids that were asked for and are in no row, of a scan by ids whose column is among the attributes.
    pub missing_ids: Option<Vec<String>>,
    /// What looks wrong in the data.
    pub warnings: Vec<DataWarning>,
    /// The tasks that failed in this run, in the order of the plan.
    #[serde(skip)]
    pub failed: Vec<FailedTask>,
    /// The error that ended the run before all tasks had their turn.
    #[serde(skip)]
    pub ended: Option<Error>,
}

impl TaskReport {
    fn new(scan: &Scan, folder: &Folder, tasks: &Tasks, before: &Before, done: Finished) -> Self {
        let name = tasks.names.get(done.index).filter(|_| done.file_bytes.is_some());
        let kept = done.doubt.iter().map(|lacks| DataWarning::kept(lacks));
        let lost = done.figures.lost.iter().map(|name| DataWarning::lost(name));
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
            was_refreshed: !done.was_done && before.contains_key(&done.index),
            rows_before: before.get(&done.index).and_then(|before| Some(before.as_ref()?.figures.rows)),
            rows_changed: done.rows_changed,
            doubts: kept.chain(lost).collect(),
            lacks: done.doubt,
            is_final: true,
            requested_at: done.figures.requested_at,
            absent: done.figures.absent.clone(),
            extra_keys: done.figures.extra_keys.clone(),
            figures: done.figures,
        }
    }
}

impl TaskReport {
    /// What a warning calls it.
    fn name(&self) -> &str {
        self.day.as_deref().unwrap_or(&self.id)
    }
}

impl Report {
    pub(super) fn new(
        scan: &Scan,
        folder: &Folder,
        tasks: &Tasks,
        before: &Before,
        done: Vec<Finished>,
        mut failed: Vec<FailedTask>,
        took: Duration,
    ) -> Self {
        let report = |done| TaskReport::new(scan, folder, tasks, before, done);
        let mut tasks: Vec<_> = done.into_iter().map(report).collect();
        tasks.sort_by_key(|task| task.index);
        failed.sort_by_key(|task| task.index);
        let rows: u64 = tasks.iter().map(|task| task.rows).sum();
        let Suspicion { mut reasons, requests: capped, .. } =
            suspicion(scan, tasks.iter().map(|task| (task.index, &task.figures)));
        let left = || tasks.iter().flat_map(|task| task.figures.split.iter().flatten().cloned());
        reasons.extend(left().take(NAMED));
        if left().count() > NAMED {
            reasons.push(format!("{} more like these", left().count() - NAMED));
        }
        let mut out_of_day = OutOfDayRows::default();
        let mut stray_days = Vec::new();
        let dropped = dropped(&tasks);
        for task in &mut tasks {
            if scan.splits() {
                task.doubts.extend(task.figures.split.iter().flatten().map(|reason| DataWarning::capped(reason)));
            } else if capped.contains(&task.index) {
                task.doubts.extend(reasons.first().map(|reason| DataWarning::capped(reason)));
            }
            if out_of_day.add(scan.request(task.index, None).day.as_ref(), task.figures.times.as_ref()) {
                task.doubts.push(DataWarning::of_another_day());
                stray_days.extend(task.day.clone());
            }
        }
        stray_days.dedup();
        let sum = |figure: fn(&TaskReport) -> u64| tasks.iter().map(figure).sum();
        let absent = absent(&tasks);
        let found = tasks.iter().map(|task| (task.index, task.figures.found_ids.as_deref()));
        let missing_ids = if tasks.is_empty() { None } else { Ids::missing_of_tasks(scan, found) };
        let is_empty = rows == 0 && tasks.len() == scan.requests();
        let warnings = [
            data_warning::incomplete(&reasons, scan.operation, scan.splits()),
            data_warning::stray(&out_of_day),
            data_warning::shrunk(tasks.iter().filter_map(|task| Some((task.name(), task.lacks.as_deref()?)))),
            data_warning::absent(&absent),
            data_warning::dropped(&dropped),
            is_empty.then(|| data_warning::empty(scan.plan.template(), scan.days())).flatten(),
        ];
        Self {
            folder: folder.path().to_path_buf(),
            rows,
            bytes: sum(|task| task.bytes),
            file_bytes: sum(|task| task.file_bytes),
            retries: sum(|task| task.attempts.saturating_sub(1)),
            seconds: took.as_secs_f64(),
            complete: if reasons.is_empty() { "unknown" } else { "capped" },
            reasons,
            open_days: Vec::new(),
            stray_days,
            absent,
            missing_ids,
            warnings: warnings.into_iter().flatten().collect(),
            failed,
            ended: None,
            tasks,
        }
    }
}

impl Report {
    /// The report with the days that the next run asks for again.
    pub(super) fn with_open_days(mut self, scan: &Scan, settle: Duration) -> Self {
        for task in &mut self.tasks {
            let is_final = scan.is_final(task.index, Moment::at(task.requested_at), settle);
            task.is_final = is_final && task.lacks.is_none();
        }
        let now = SystemTime::now();
        let done: BTreeMap<usize, i64> = self.tasks.iter().map(|task| (task.index, task.requested_at)).collect();
        let is_open = |task: &usize| match done.get(task) {
            Some(requested_at) => !scan.is_final(*task, Moment::at(*requested_at), settle),
            None => !scan.has_begun(*task, now),
        };
        let mut open_days: Vec<String> =
            (0..scan.requests()).filter(is_open).filter_map(|task| scan.day(task)).collect();
        open_days.dedup();
        Self { open_days, ..self }
    }
}

/// The attributes that no record of any task had.
fn absent(tasks: &[TaskReport]) -> Vec<String> {
    let mut with_rows = tasks.iter().filter(|task| task.rows > 0);
    let Some(first) = with_rows.next() else { return Vec::new() };
    let mut absent = first.absent.clone();
    for task in with_rows {
        absent.retain(|name| task.absent.contains(name));
    }
    absent
}

/// The attributes that files lack although earlier ones had them, of this run and of earlier ones.
fn dropped(tasks: &[TaskReport]) -> Vec<Dropped> {
    let of_task = |task: &TaskReport| {
        let dropped = |attribute: &String| Dropped {
            instead: task.figures.new_key(attribute).cloned(),
            attribute: attribute.clone(),
            task: task.name().to_owned(),
        };
        task.figures.lost.iter().map(dropped).collect::<Vec<_>>()
    };
    tasks.iter().flat_map(of_task).collect()
}

/// Which tasks look capped. Those that were split are no longer suspected.
pub(super) fn suspicion<'a>(scan: &Scan, tasks: impl Iterator<Item = (usize, &'a TaskFigures)>) -> Suspicion {
    let whole = tasks.filter(|(_, figures)| figures.split.is_none());
    let count = |(index, figures): (usize, &TaskFigures)| {
        scan.request(index, None).count(index, figures.rows, figures.other_total.clone())
    };
    Suspicion::of(&whole.map(count).collect::<Vec<_>>(), scan.known_row_cap())
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
            was_refreshed: false,
            rows_before: None,
            rows_changed: None,
            doubts: Vec::new(),
            lacks: None,
            is_final: true,
            requested_at: 0,
            absent: Vec::new(),
            extra_keys: Vec::new(),
            figures: TaskFigures::default(),
        };
        rows.iter().enumerate().map(task).collect()
    }

    #[test]
    fn an_attribute_is_absent_only_if_no_task_had_it() {
        let mut some = tasks(&[3, 0, 5]);
        for (task, absent) in some.iter_mut().zip([&["a", "b"][..], &["a", "b", "c"], &["b"]]) {
            task.absent = absent.iter().map(|name| (*name).to_owned()).collect();
        }
        assert_eq!(absent(&some), ["b"]);
        assert!(absent(&tasks(&[0])).is_empty());
    }
}
