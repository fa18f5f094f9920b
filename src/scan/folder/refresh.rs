//! Which tasks `refresh=` and `accept=` name, and what a run requests again anyway: days that may still change, files that
//! a response was refused for, and the next snapshot of a scan without days.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use super::tasks::{Before, Done};
use crate::error::{Result, excerpt};
use crate::filter::InputValue;
use crate::scan::{Scan, invalid};
use crate::time::Moment;

const ALL: &str = "all";
const FORMS: &str = "write \"all\", a day as \"2024-01-15\", \"last_days(3)\", \"yesterday()\", \
                     da.days(\"2024-01-15\", \"2024-01-20\") or a list of these; settle requests the last days each time";

impl Scan {
    /// The tasks that an argument names: `all`, a day, days, or a list of these.
    ///
    /// # Errors
    /// `Validation` for what is no day of this scan.
    pub(super) fn named(&self, argument: &str, given: &InputValue) -> Result<BTreeSet<usize>> {
        match given {
            InputValue::Null => return Ok(BTreeSet::new()),
            InputValue::Text(text) if text == ALL => return Ok((0..self.requests()).collect()),
            InputValue::List(several) if several.contains(&InputValue::text(ALL)) => {
                return Ok((0..self.requests()).collect());
            }
            _ if self.by_day.is_none() => {
                return Err(invalid(argument, "takes \"all\": the requests of this scan are not for one day each"));
            }
            _ => {}
        }
        let days: Vec<(usize, String)> =
            (0..self.requests()).filter_map(|index| Some((index, self.day(index)?))).collect();
        let chosen = self.days_of(given).map_err(|problem| invalid(argument, &problem))?;
        if let Some(other) = chosen.iter().find(|chosen| !days.iter().any(|(_, day)| day == *chosen)) {
            let day = |day: Option<&(usize, String)>| day.map(|(_, day)| day.clone()).unwrap_or_default();
            let (first, last) = (day(days.first()), day(days.last()));
            let message = format!("{other} is not a day of this scan, which asks for {first} to {last}");
            return Err(invalid(argument, &message));
        }
        Ok(days.into_iter().filter(|(_, day)| chosen.contains(day)).map(|(index, _)| index).collect())
    }

    fn days_of(&self, given: &InputValue) -> Result<BTreeSet<String>, String> {
        let zone = &self.calendar.zone;
        let day = |moment| BTreeSet::from([zone.day_of(moment)]);
        match given {
            InputValue::List(several) => several
                .iter()
                .map(|one| self.days_of(one))
                .collect::<Result<Vec<_>, _>>()
                .map(|several| several.into_iter().flatten().collect()),
            InputValue::Days(days) => {
                let (start, stop) = days.bounds(&self.calendar)?;
                Ok(zone.days(start, stop).map(|day| zone.day_of(day)).collect())
            }
            InputValue::Text(text) | InputValue::Moment(text) => {
                let moment = zone.parse_moment(text);
                moment.map(day).map_err(|_| format!("`{}` is not a day: {FORMS}", excerpt(text, 40)))
            }
            InputValue::Integer(number) if *number > 100_000 => Moment::from_milliseconds(*number).map(day),
            other => Err(format!("{} is not a day: {FORMS}", other.shown())),
        }
    }

    /// Takes the tasks that this run does again out of the finished ones. Returns the snapshot that it resumes.
    ///
    /// A day is requested until it is final. A scan without days has no final rows: each run makes a new snapshot,
    /// unless the last run was broken off. Whether it was, all files `before` this run say, also those that it refreshes.
    pub(super) fn drop_outdated(&self, done: &mut Vec<Done>, before: &Before, settle: Duration) -> Option<i64> {
        done.retain(|done| !done.verdict.is_refused);
        if self.by_day.is_some() {
            done.retain(|done| self.is_final(done.index, done.figures.requested_at(), settle));
            return None;
        }
        let all = || before.done();
        let snapshot = all().map(|done| done.figures.snapshot).max();
        let is_whole = all().count() == self.requests() && all().all(|done| Some(done.figures.snapshot) == snapshot);
        done.retain(|done| !is_whole && Some(done.figures.snapshot) == snapshot);
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
    pub fn open_days(&self, now: SystemTime, settle: Duration) -> Vec<String> {
        let is_open = |task: &usize| !self.is_final(*task, Moment::from(now), settle);
        let mut days: Vec<String> = (0..self.requests()).filter(is_open).filter_map(|task| self.day(task)).collect();
        days.dedup();
        days
    }
}
