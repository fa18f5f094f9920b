//! Reads `refresh=`: the days that a run asks for once more.

use std::collections::BTreeSet;

use super::{Scan, invalid};
use crate::error::{Result, excerpt};
use crate::filter::{Days, InputValue};
use crate::time::{Moment, Zone};

const ADVICE: &str = "write refresh=\"last 3 days\", a day as \"2024-01-15\", a list of days, or da.days(start, stop)";
/// A greater number was not meant as a number of days: no scan has so many.
const MOST_DAYS: i64 = 100_000;

impl Scan {
    /// The tasks of the days that are refreshed.
    ///
    /// # Errors
    /// `Validation` for what is no day of this scan.
    pub(super) fn refreshed(&self, refresh: &InputValue) -> Result<BTreeSet<usize>> {
        if refresh.is_null() {
            return Ok(BTreeSet::new());
        }
        let Some(by_day) = &self.by_day else {
            return Err(invalid("refresh", "takes days, and the requests of this scan are not for one day each"));
        };
        let days: Vec<(usize, String)> =
            (0..self.requests()).filter_map(|index| Some((index, self.day(index)?))).collect();
        let chosen = match last(refresh).map_err(|problem| invalid("refresh", &problem))? {
            Some(count) => {
                let mut last: Vec<String> = days.iter().map(|(_, day)| day.clone()).collect();
                last.dedup();
                last.split_off(last.len().saturating_sub(count))
            }
            None => chosen(refresh, by_day.zone()).map_err(|problem| invalid("refresh", &problem))?,
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

/// The number of `last 3 days`; none for days.
fn last(refresh: &InputValue) -> Result<Option<usize>, String> {
    match refresh {
        InputValue::Text(text) => {
            let words = text.to_ascii_lowercase();
            let words: Vec<&str> = words.split_whitespace().collect();
            let ["last", count, "day" | "days"] = words.as_slice() else { return Ok(None) };
            let count = count.parse::<usize>().ok().filter(|count| *count > 0);
            count.map(Some).ok_or_else(|| format!("`{}` names no days: {ADVICE}", excerpt(text, 40)))
        }
        InputValue::Integer(count @ 1..=MOST_DAYS) => {
            let days = if *count == 1 { "day" } else { "days" };
            Err(format!("{count} is not a day: write refresh=\"last {count} {days}\""))
        }
        _ => Ok(None),
    }
}

fn chosen(refresh: &InputValue, zone: &Zone) -> Result<Vec<String>, String> {
    match refresh {
        InputValue::Days(days) => {
            let Days { start, stop } = days.as_ref();
            Ok(zone.days(moment(start, zone)?, moment(stop, zone)?).map(|day| zone.day_of(day)).collect())
        }
        InputValue::List(days) => days.iter().map(|day| Ok(zone.day_of(moment(day, zone)?))).collect(),
        day => Ok(vec![zone.day_of(moment(day, zone)?)]),
    }
}

fn moment(day: &InputValue, zone: &Zone) -> Result<Moment, String> {
    match day {
        InputValue::Text(text) | InputValue::Moment(text) => {
            zone.parse_moment(text).map_err(|_| format!("`{}` is not a day: {ADVICE}", excerpt(text, 40)))
        }
        InputValue::Integer(number) => Moment::from_milliseconds(*number),
        other => Err(format!("{} is not a day: {ADVICE}", other.shown())),
    }
}
