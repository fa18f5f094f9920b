//! Reads single values: strings, numbers, ids, counts and times.
//!
//! A reader returns the value, or a message that says what to write instead.

use serde_json::{Number, Value};

use super::days::{self, Days};
use super::input::{Comparison, InputValue, Method};
use super::plan::MAX_REQUESTS;
use super::problems::{Place, Problems};
use crate::time::{Calendar, Moment};

/// `3.5 is a float, not a string`.
pub(super) fn is_not(value: &InputValue, expected: &str) -> String {
    match value {
        InputValue::Null => format!("None is not {expected}"),
        value => format!("{} is {}, not {expected}", value.shown(), value.kind()),
    }
}

/// A name, which is not empty.
pub(super) fn name(value: &InputValue, what: &str) -> Result<String, String> {
    match value {
        InputValue::Text(text) if text.trim().is_empty() => Err(format!("an empty string is not {what}")),
        InputValue::Text(text) => Ok(text.clone()),
        value => Err(is_not(value, what)),
    }
}

/// An id that is an integer.
pub(super) fn id(value: &InputValue, what: &str) -> Result<i64, String> {
    match value {
        InputValue::Integer(id) => Ok(*id),
        InputValue::BigInteger(_) => Err(format!("{} is too large for {what}", value.shown())),
        InputValue::Text(text) if text.trim().parse::<i64>().is_ok() => {
            Err(format!("{} is a string: write int({})", value.shown(), value.shown()))
        }
        InputValue::Number(number) if number.fract() == 0.0 => {
            Err(format!("{number:?} is a float, which loses digits of a long id: read it as an int"))
        }
        value => Err(is_not(value, &format!("{what}, which is an integer"))),
    }
}

/// An argument that counts from 1 and is not sent. None when it is left out, and `default` says what that means.
fn count(
    argument: &'static str,
    value: &InputValue,
    what: &str,
    default: &str,
    problems: &mut Problems,
) -> Option<u64> {
    let message = match value {
        InputValue::Null => return None,
        InputValue::Integer(number) => match u64::try_from(*number) {
            Ok(count @ 1..) => return Some(count),
            _ => format!("{number} is less than 1: leave {argument} out for {default}"),
        },
        value => is_not(value, &format!("a count of {what}: write an integer of at least 1")),
    };
    problems.add(&Place::argument(argument, ""), value, message);
    None
}

/// `limit` and `known_row_cap`.
pub(super) fn limits(limit: &InputValue, known_row_cap: &InputValue, problems: &mut Problems) -> [Option<u64>; 2] {
    let limit = count("limit", limit, "records", "all records", problems);
    [limit, count("known_row_cap", known_row_cap, "rows", "no known cap", problems)]
}

/// A string to compare with.
pub(super) fn text(value: &InputValue) -> Result<Value, String> {
    match value {
        InputValue::Text(text) => Ok(Value::from(text.as_str())),
        InputValue::Integer(number) => Err(format!("{number} is an integer, not a string: write \"{number}\"")),
        value => Err(is_not(value, "a string")),
    }
}

/// An id that the API specification has as a string, also an empty one; an integer becomes a string.
pub(super) fn text_id(value: &InputValue, what: &str) -> Result<Value, String> {
    match value {
        InputValue::Text(_) => text(value),
        InputValue::Integer(number) => Ok(Value::from(number.to_string())),
        InputValue::BigInteger(digits) => Ok(Value::from(digits.as_str())),
        InputValue::Number(number) if number.is_finite() => Err(format!(
            "{number:?} is a float, and ids are strings: read the column as strings, as with dtype=str or \
             read_csv(…, dtype={{\"id\": str}}); a number has lost its leading zeros, and would select others"
        )),
        InputValue::Null | InputValue::Number(_) => {
            Err(format!("{} is a missing value, not an id: leave such values out, as ids.dropna() does", value.shown()))
        }
        value => Err(is_not(value, &format!("{what}, which is a string"))),
    }
}

/// A number to compare with, exactly as JSON can hold it.
pub(super) fn number(value: &InputValue) -> Result<Value, String> {
    match value {
        InputValue::Integer(number) => Ok(Value::from(*number)),
        InputValue::BigInteger(digits) => digits
            .parse::<u64>()
            .map(Value::from)
            .map_err(|_| format!("{} is too large to be sent exactly", value.shown())),
        InputValue::Number(number) => Number::from_f64(*number)
            .map(Value::Number)
            .ok_or_else(|| format!("{} cannot be sent as a number; leave missing values out", value.shown())),
        InputValue::Text(text) if text.parse::<f64>().is_ok_and(f64::is_finite) => {
            Err(format!("{} is a string, not a number: write it without the quotes", value.shown()))
        }
        value => Err(is_not(value, "a number")),
    }
}

/// Any scalar of JSON, for a `data_type` that is not specified.
pub(super) fn json(value: &InputValue) -> Result<Value, String> {
    match value {
        InputValue::Bool(flag) => Ok(Value::Bool(*flag)),
        InputValue::Text(_) | InputValue::Integer(_) | InputValue::BigInteger(_) | InputValue::Number(_) => {
            scalar(value)
        }
        value => Err(is_not(value, "a string, a number or a bool")),
    }
}

/// A string or a number, which has the `data_type` of that name.
pub(super) fn scalar(value: &InputValue) -> Result<Value, String> {
    match value {
        InputValue::Text(_) => text(value),
        InputValue::Integer(_) | InputValue::BigInteger(_) | InputValue::Number(_) => number(value),
        InputValue::Moment(_) => Err("times are compared one by one: join .on(day) conditions with |".to_owned()),
        InputValue::Bool(_) => Err(format!(
            "{} has no specified data_type: write .op(\"equals\", …, data_type=\"…\") if your service has one",
            value.shown()
        )),
        value => Err(is_not(value, "a string or a number")),
    }
}

/// How times are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times<'a> {
    /// The zone of times without offset, what days the service compares, and today.
    pub(super) calendar: &'a Calendar,
    /// What to write instead of a range of days, `{}`, where there is only one request.
    pub(super) instead_of_range: Option<&'static str>,
}

impl Times<'_> {
    /// The time that a comparison sends: for a day the instant that selects its rows, for `on(days(…))` a list of first
    /// instants, each of which becomes a request. An operator takes the time as given.
    pub(super) fn read(&self, comparison: &Comparison) -> Result<Value, String> {
        let zone = &self.calendar.zone;
        let (method, value) = (&comparison.method, &comparison.value);
        // The day of an instant, or a day, which may be written as one of its instants.
        let instant = || match method {
            Method::After | Method::Before => days::moment(value, zone),
            _ => days::day(value, zone),
        };
        let start = || zone.start_of_day(instant()?);
        let end = || zone.start_of_next_day(instant()?);
        match (method, value) {
            (Method::On, InputValue::Days(days)) => return self.starts_of_days(days, value),
            (Method::On, _) => start(),
            (Method::Since, _) => start().map(|start| self.calendar.after_date(start)),
            (Method::After, _) => end().map(|end| self.calendar.after_date(end)),
            (Method::Before, _) => start().map(|start| self.calendar.before_date(start)),
            (Method::Until, _) => end().map(|end| self.calendar.before_date(end)),
            _ => days::moment(value, zone),
        }
        .map(as_sent)
    }

    fn starts_of_days(&self, days: &Days, given: &InputValue) -> Result<Value, String> {
        let (start, stop) = days.bounds(self.calendar)?;
        if *days == Days::Yesterday {
            return Ok(as_sent(start));
        }
        if let Some(instead) = self.instead_of_range {
            let instead = instead.replace("{}", &given.shown());
            return Err(format!("a range of days takes one request a day: use {instead}"));
        }
        let starts: Vec<Value> = self.calendar.zone.days(start, stop).take(MAX_REQUESTS + 1).map(as_sent).collect();
        if starts.len() > MAX_REQUESTS {
            return Err(format!("the range has more than {MAX_REQUESTS} days, the most requests of a scan"));
        }
        Ok(Value::Array(starts))
    }
}

fn as_sent(moment: Moment) -> Value {
    Value::from(moment.milliseconds())
}

/// `; did you mean "…"?`, or an empty string when no known name is similar.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let misspelled = name.trim().to_lowercase();
    let nearest = known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&misspelled, &name.to_lowercase()), name))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    nearest.map(|(_, name)| format!("; did you mean \"{name}\"?")).unwrap_or_default()
}

/// As [`did_you_mean`], but all known names when none is similar.
pub(super) fn nearest_or_all(name: &str, known: &[&str]) -> String {
    match did_you_mean(name, known.iter().copied()) {
        none if none.is_empty() => format!("; they are {}", known.join(", ")),
        advice => advice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::codes::ATTRIBUTES;

    #[test]
    fn misspelled_names_find_their_name_and_others_none() {
        for (misspelled, name) in [
            ("allocated_tiem", "allocated_time"),
            ("code-status", "code_status"),
            ("Pool_ID", "pool_id"),
            ("last_used", "last_used_time"),
            ("datecreated", "date_created"),
        ] {
            assert_eq!(did_you_mean(misspelled, ATTRIBUTES), format!("; did you mean \"{name}\"?"));
        }
        for name in ["", "zzz", "price"] {
            assert_eq!(did_you_mean(name, ATTRIBUTES), "", "{name}");
        }
    }
}
