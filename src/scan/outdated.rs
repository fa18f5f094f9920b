//! What a folder has and a run requests again: days that were not over, snapshots that are complete, and files that
//! were kept in doubt.

use std::time::{Duration, SystemTime};

use super::Scan;
use super::report::TaskReport;
use super::tasks::Before;
use crate::time::Moment;

impl Scan {
    /// Takes the tasks that this run does again out of the finished ones. Returns the snapshot that it resumes.
    ///
    /// A day is requested until it is final. A scan without days has no final rows: each run makes a new snapshot,
    /// unless the last run was broken off. Whether it was, all files `before` this run say, also those that it refreshes.
    pub(super) fn drop_outdated(&self, done: &mut Vec<TaskReport>, before: &Before, settle: Duration) -> Option<i64> {
        if self.by_day.is_some() {
            done.retain(|done| done.lacks.is_none() && self.is_final(done.index, done.figures.requested_at(), settle));
            return None;
        }
        let all = || before.tasks.values().flatten();
        let snapshot = newest(all());
        let is_whole = all().count() == self.requests() && all().all(|done| Some(done.figures.snapshot) == snapshot);
        done.retain(|done| !is_whole && done.lacks.is_none() && Some(done.figures.snapshot) == snapshot);
        snapshot.filter(|_| !is_whole && !done.is_empty())
    }

    /// Whether a request that was sent then, for the day of a task, was sent after the day was over and its rows had so
    /// long to settle. A scan without days has none to wait for.
    pub(super) fn is_final(&self, task: usize, requested_at: Moment, settle: Duration) -> bool {
        self.day_window(task).is_none_or(|day| day.is_final(requested_at, settle))
    }

    /// Whether the day of a task has begun. Other objects than codes may have times in the future.
    pub(super) fn has_begun(&self, task: usize, now: SystemTime) -> bool {
        let day = self.day_window(task).filter(|_| self.operation == "scan_codes");
        day.is_none_or(|day| day.has_begun(Moment::from(now)))
    }

    /// The days that are not over at a time, or were over for less than `settle`.
    #[must_use]
    pub fn open_days(&self, now: SystemTime, settle: Duration) -> Vec<String> {
        let is_open = |task: &usize| !self.is_final(*task, Moment::from(now), settle);
        let mut days: Vec<String> = (0..self.requests()).filter(is_open).filter_map(|task| self.day(task)).collect();
        days.dedup();
        days
    }
}

/// The newest snapshot of these tasks.
pub(super) fn newest<'a>(done: impl IntoIterator<Item = &'a TaskReport>) -> Option<i64> {
    done.into_iter().map(|done| done.figures.snapshot).max()
}
