//! Reads `refresh=`: what a run asks for once more although its folder has it.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use super::report::TaskReport;
use super::{Scan, invalid};
use crate::error::{Result, excerpt};
use crate::filter::{Days, InputValue};
use crate::time::{Calendar, Moment, Zone};

/// No scan has more days: a greater number was not meant as a number of days.
const MOST_DAYS: u32 = 100_000;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Which tasks are asked for once more.
#[derive(Debug, Default)]
pub(super) struct Refresh {
    /// The tasks of the days that were named, or all.
    tasks: BTreeSet<usize>,
    /// Tasks whose last request is older are asked for too.
    older_than: Option<Duration>,
    /// Tasks whose last request was sent before are asked for too.
    requested_before: Option<Moment>,
    /// One of this many tasks is asked for too, the oldest first.
    one_of: Option<usize>,
}

impl Refresh {
    /// The tasks to do once more, of those that a folder has.
    pub(super) fn tasks(&self, scan: &Scan, done: &[TaskReport], settle: Duration, now: Moment) -> BTreeSet<usize> {
        let mut tasks = self.tasks.clone();
        let of_age = self.older_than.map(|age| {
            let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
            now.milliseconds().saturating_sub(age)
        });
        if let Some(limit) = of_age.max(self.requested_before.map(Moment::milliseconds)) {
            tasks.extend(done.iter().filter(|done| done.figures.requested_at < limit).map(|done| done.index));
        }
        if let Some(parts) = self.one_of {
            // The others are done once more anyway, unless all are kept.
            let is_final = |done: &&TaskReport| {
                done.lacks.is_none() && scan.is_final(done.index, done.figures.requested_at(), settle)
            };
            let mut oldest: Vec<&TaskReport> = done.iter().filter(is_final).collect();
            oldest.sort_by_key(|done| (done.figures.requested_at, done.index));
            let count = scan.requests().div_ceil(parts);
            tasks.extend(oldest.iter().take(count).map(|done| done.index));
        }
        tasks
    }
}

impl Scan {
    /// What `refresh=` asks for.
    ///
    /// # Errors
    /// `Validation` for what is no day of this scan.
    pub(super) fn refresh(&self, refresh: &InputValue, now: SystemTime) -> Result<Refresh> {
        let mut all = Refresh::default();
        match refresh {
            InputValue::Null => {}
            InputValue::List(several) => several.iter().try_for_each(|one| self.add_refresh(&mut all, one, now))?,
            one => self.add_refresh(&mut all, one, now)?,
        }
        Ok(all)
    }

    fn add_refresh(&self, all: &mut Refresh, refresh: &InputValue, now: SystemTime) -> Result<()> {
        let form = Form::read(refresh).map_err(|problem| invalid("refresh", &problem))?;
        match form {
            Form::All => all.tasks.extend(0..self.requests()),
            Form::OlderThan(age) => all.older_than = Some(all.older_than.map_or(age, |other| other.min(age))),
            Form::RequestedBefore(time) => {
                let time = moment(&InputValue::text(time), &self.calendar.zone);
                let time = time.map_err(|problem| invalid("refresh", &problem))?;
                all.requested_before = all.requested_before.max(Some(time));
            }
            Form::OneOf(parts) => all.one_of = Some(all.one_of.map_or(parts, |other| other.min(parts))),
            Form::Last(_) | Form::To(..) | Form::Days(_) | Form::Day(_) => {
                all.tasks.extend(self.tasks_of_days(&form, now)?);
            }
        }
        Ok(())
    }

    /// The tasks of the days that are named.
    fn tasks_of_days(&self, form: &Form, now: SystemTime) -> Result<BTreeSet<usize>> {
        if self.by_day.is_none() {
            let message = "takes \"all\", \"older than 7 days\" or \"1/30\": the requests of this scan are not for one \
                           day each";
            return Err(invalid("refresh", message));
        }
        let days: Vec<(usize, String)> =
            (0..self.requests()).filter_map(|index| Some((index, self.day(index)?))).collect();
        let chosen = match form {
            // A run requests no day that has not begun.
            Form::Last(count) => {
                let begun = days.iter().filter(|(index, _)| self.has_begun(*index, now));
                let mut last: Vec<String> = begun.map(|(_, day)| day.clone()).collect();
                last.dedup();
                last.split_off(last.len().saturating_sub(*count))
            }
            _ => form.days(&self.calendar).map_err(|problem| invalid("refresh", &problem))?,
        };
        if let Some(other) = chosen.iter().find(|chosen| !days.iter().any(|(_, day)| day == *chosen)) {
            let day = |day: Option<&(usize, String)>| day.map(|(_, day)| day.clone()).unwrap_or_default();
            let (first, last) = (day(days.first()), day(days.last()));
            let message = format!("{other} is not a day of this scan, which asks for {first} to {last}");
            return Err(invalid("refresh", &message));
        }
        Ok(days.into_iter().filter(|(_, day)| chosen.contains(day)).map(|(index, _)| index).collect())
    }
}

/// One of the forms of `refresh=`.
enum Form<'a> {
    All,
    /// `last 3 days` of the scan that have begun.
    Last(usize),
    /// `older than 7 days`.
    OlderThan(Duration),
    /// `requested before 2024-02-01T06:00`.
    RequestedBefore(&'a str),
    /// `1/30`.
    OneOf(usize),
    /// From the first to the last day.
    To(&'a str, &'a str),
    Days(&'a Days),
    Day(&'a InputValue),
}

impl<'a> Form<'a> {
    fn read(refresh: &'a InputValue) -> Result<Self, String> {
        match refresh {
            InputValue::Text(text) => Self::of_text(text).unwrap_or(Ok(Self::Day(refresh))),
            InputValue::Integer(count @ 1..=100_000) => {
                let days = if *count == 1 { "day" } else { "days" };
                Err(format!("{count} is not a day: write \"last {count} {days}\""))
            }
            InputValue::Days(days) => Ok(Self::Days(days)),
            day => Ok(Self::Day(day)),
        }
    }

    /// None for a text that may be a day.
    fn of_text(text: &'a str) -> Option<Result<Self, String>> {
        if let Some(time) = text.strip_prefix("requested before ") {
            return Some(Ok(Self::RequestedBefore(time.trim())));
        }
        if let Some((first, last)) = text.split_once(" to ") {
            return Some(Ok(Self::To(first.trim(), last.trim())));
        }
        let lower = text.to_ascii_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| (1..=MOST_DAYS).contains(number));
        let form = match words.as_slice() {
            ["all"] => Some(Self::All),
            ["last", count, "day" | "days"] => number(count).map(|count| Self::Last(count as usize)),
            ["older", "than", count, "day" | "days"] => number(count).map(|count| Self::OlderThan(DAY * count)),
            ["older", "than", count, "hour" | "hours"] => number(count).map(|count| Self::OlderThan(DAY / 24 * count)),
            [part] if part.starts_with("1/") => part.get(2..).and_then(number).map(|parts| Self::OneOf(parts as usize)),
            _ => return None,
        };
        Some(form.ok_or_else(|| format!("`{}` names no days: {}", excerpt(text, 40), ADVICE)))
    }

    fn days(&self, calendar: &Calendar) -> Result<Vec<String>, String> {
        let zone = &calendar.zone;
        let days = |start, stop| zone.days(start, stop).map(|day| zone.day_of(day)).collect::<Vec<_>>();
        match self {
            Self::To(first, last) => {
                let [first, last] = [first, last].map(|day| moment(&InputValue::text(*day), zone));
                let (first, last) = (first?, last?);
                let last_day = zone.day_of(last);
                if first > last {
                    return Err(format!("{} is after {last_day}", zone.day_of(first)));
                }
                Ok(days(first, last).into_iter().chain([last_day]).collect())
            }
            Self::Days(range) => range.bounds(calendar).map(|(start, stop)| days(start, stop)),
            Self::Day(day) => Ok(vec![zone.day_of(moment(day, zone)?)]),
            Self::All | Self::Last(_) | Self::OlderThan(_) | Self::RequestedBefore(_) | Self::OneOf(_) => {
                Ok(Vec::new())
            }
        }
    }
}

const ADVICE: &str = "write \"last 3 days\", \"older than 7 days\", \"1/30\", \"all\", a day as \"2024-01-15\", days as \
                      \"2024-01-15 to 2024-01-20\", or a list of these";

fn moment(day: &InputValue, zone: &Zone) -> Result<Moment, String> {
    match day {
        InputValue::Text(text) | InputValue::Moment(text) => {
            zone.parse_moment(text).map_err(|_| format!("`{}` is not a day: {}", excerpt(text, 40), ADVICE))
        }
        InputValue::Integer(number) => Moment::from_milliseconds(*number),
        other => Err(format!("{} is not a day: {}", other.shown(), ADVICE)),
    }
}
