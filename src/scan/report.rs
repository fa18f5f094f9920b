//! The report of a run: its tasks, their figures, and signs that the service capped its responses.
//!
//! The service need not report a total, so a result is never known to be complete: a report says `unknown` or `capped`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::{Serialize, Serializer};

use super::Scan;
use super::cap::{Count, Suspicion};
use super::data_warning::{self, DataWarning, Dropped};
use super::other_files::OtherFile;
use super::record_stats::add_new;
use super::stats::Figures;
use super::tasks::Before;
use super::window::Strays;
use crate::error::Error;
use crate::folder::Folder;

/// Reasons of tasks that were split and are listed.
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
    /// What a newer response lacks, for which its file was not replaced.
    #[serde(skip)]
    pub(super) lacks: Option<String>,
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
    /// The days that were not over when they were requested, or have not begun.
    pub open_days: Vec<String>,
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

impl TaskReport {
    /// What a warning calls it.
    fn name(&self) -> &str {
        self.day.as_deref().unwrap_or(&self.id)
    }
}

impl Report {
    /// Of the tasks that are finished. With several `reports` of one run, chance has as many times to make counts equal.
    pub(super) fn new(
        scan: &Scan,
        folder: &Folder,
        before: &Before,
        mut tasks: Vec<TaskReport>,
        mut failed: Vec<FailedTask>,
        took: Duration,
        reports: u32,
    ) -> Self {
        tasks.sort_by_key(|task| task.index);
        failed.sort_by_key(|task| task.index);
        let rows: u64 = tasks.iter().map(|task| task.figures.rows).sum();
        let Suspicion { mut reasons, requests: capped, .. } =
            suspicion(scan, tasks.iter().map(|task| (task.index, &task.figures)), &before.others, reports);
        let left = || tasks.iter().flat_map(|task| task.figures.split.iter().flatten().cloned());
        reasons.extend(left().take(NAMED));
        if left().count() > NAMED {
            reasons.push(format!("{} more like these", left().count() - NAMED));
        }
        let mut strays = Strays::default();
        let (zone, source) = (&scan.calendar.zone, scan.source_zone());
        let dropped = dropped(&tasks);
        for task in &mut tasks {
            let before = before.tasks.get(&task.index);
            task.path = task.path.take().filter(|_| task.file_bytes.is_some());
            task.was_refreshed = !task.was_done && before.is_some();
            task.rows_before = before.and_then(|before| Some(before.as_ref()?.figures.rows));
            task.doubts.extend(task.lacks.iter().map(|lacks| DataWarning::kept(lacks)));
            task.doubts.extend(task.figures.lost.iter().map(|name| DataWarning::lost(name)));
            if scan.splits() {
                task.doubts.extend(task.figures.split.iter().flatten().map(|reason| DataWarning::capped(reason)));
            } else if capped.contains(&task.index) {
                task.doubts.extend(reasons.first().map(|reason| DataWarning::capped(reason)));
            }
            let window = scan.window(task.index);
            if strays.add(window.as_ref(), task.figures.times.as_ref(), zone, source) {
                let is_of_days = window.is_some_and(|window| window.is_of_days());
                task.doubts.push(if is_of_days { DataWarning::of_another_day() } else { DataWarning::out_of_range() });
            }
        }
        let sum = |figure: fn(&TaskReport) -> u64| tasks.iter().map(figure).sum();
        let absent = absent(&tasks);
        let misspelled: Vec<String> =
            absent.iter().filter(|name| dropped.iter().all(|lost| lost.attribute != **name)).cloned().collect();
        let is_whole = tasks.len() == scan.requests();
        let is_empty = rows == 0 && is_whole;
        let warnings = [
            data_warning::incomplete(&reasons, scan.operation, scan.splits()),
            data_warning::stray(strays.message(&scan.calendar, source, is_whole.then_some(rows))),
            data_warning::shrunk(tasks.iter().filter_map(|task| Some((task.name(), task.lacks.as_deref()?)))),
            data_warning::absent(&misspelled),
            data_warning::dropped(&dropped),
            data_warning::mixed(&mixed(&tasks)),
            is_empty.then(|| data_warning::empty(scan)).flatten(),
        ];
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
            stray_days: strays.days,
            absent,
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
            let is_final = scan.is_final(task.index, task.figures.requested_at(), settle);
            task.is_final = is_final && task.lacks.is_none();
        }
        let now = SystemTime::now();
        let done: BTreeMap<usize, bool> = self.tasks.iter().map(|task| (task.index, task.is_final)).collect();
        let is_open = |task: &usize| done.get(task).map_or_else(|| !scan.has_begun(*task, now), |is_final| !is_final);
        let mut open_days: Vec<String> =
            (0..scan.requests()).filter(is_open).filter_map(|task| scan.day(task)).collect();
        open_days.dedup();
        Self { open_days, ..self }
    }
}

/// The attributes that no record of any task had.
fn absent(tasks: &[TaskReport]) -> Vec<String> {
    let mut with_rows = tasks.iter().filter(|task| task.figures.rows > 0);
    let Some(first) = with_rows.next() else { return Vec::new() };
    let mut absent = first.figures.absent.clone();
    for task in with_rows {
        absent.retain(|name| task.figures.absent.contains(name));
    }
    absent
}

/// The columns of strings that have other values in some task.
fn mixed(tasks: &[TaskReport]) -> Vec<String> {
    let mut mixed = Vec::new();
    for task in tasks {
        add_new(&mut mixed, task.figures.mixed.iter().cloned());
    }
    mixed
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

/// Which tasks look capped, beside `others`. Those that were split show what is usual, and are no longer suspected.
pub(super) fn suspicion<'a>(
    scan: &Scan,
    tasks: impl Iterator<Item = (usize, &'a Figures)>,
    others: &[OtherFile],
    reports: u32,
) -> Suspicion {
    let count = |(index, figures): (usize, &Figures)| {
        let (rows, total) = (figures.compared()?, figures.other_total.clone());
        let (is_explained, is_other) = (figures.is_explained, figures.split.is_some());
        Some(Count { is_explained, is_other, ..scan.request(index, None).count(index, rows, None, total) })
    };
    let counts: Vec<_> = tasks.filter_map(count).chain(others.iter().filter_map(OtherFile::count)).collect();
    Suspicion::in_reports(reports, &counts, scan.known_row_cap())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(rows: &[u64]) -> Vec<TaskReport> {
        let task = |(index, rows): (usize, &u64)| TaskReport {
            id: format!("{index:05}"),
            day: None,
            index,
            figures: Figures { rows: *rows, ..Figures::default() },
            path: None,
            file_bytes: None,
            was_done: false,
            was_refreshed: false,
            rows_before: None,
            doubts: Vec::new(),
            is_final: true,
            lacks: None,
        };
        rows.iter().enumerate().map(task).collect()
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
