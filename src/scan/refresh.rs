//! Reads `refresh=`: the days that a run asks for once more.

use std::collections::BTreeSet;

use super::{Scan, invalid};
use crate::error::{Result, excerpt};
use crate::filter::{Days, InputValue};
use crate::time::{Moment, Zone};

const ADVICE: &str = "write days, as [\"2024-01-15\"], or \"last 3 days\"";

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
        let days: Vec<String> = (0..self.requests()).filter_map(|index| self.day(index)).collect();
        let chosen = match last(refresh) {
            Some(count) => {
                let mut last: Vec<String> = days.clone();
                last.dedup();
                last.split_off(last.len().saturating_sub(count))
            }
            None => chosen(refresh, by_day.zone()).map_err(|problem| invalid("refresh", &problem))?,
        };
        if let Some(other) = chosen.iter().find(|day| !days.contains(day)) {
            let (first, last) = (days.first().cloned().unwrap_or_default(), days.last().cloned().unwrap_or_default());
            let message = format!("{other} is not a day of this scan, which asks for {first} to {last}");
            return Err(invalid("refresh", &message));
        }
        let is_chosen = |(_, day): &(usize, &String)| chosen.contains(day);
        Ok(days.iter().enumerate().filter(is_chosen).map(|(index, _)| index).collect())
    }
}

/// The number of `last 3 days`.
fn last(refresh: &InputValue) -> Option<usize> {
    let InputValue::Text(text) = refresh else { return None };
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["last", count, "day" | "days"] => count.parse().ok().filter(|count| *count > 0),
        _ => None,
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
