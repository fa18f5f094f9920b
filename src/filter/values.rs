//! Reads single values: strings, numbers, ids, counts, times, and the parts that every condition has.
//!
//! A reader returns the value, or a message that says what to write instead.

use serde_json::{Number, Value};

use super::input::{Comparison, Days, InputValue, Method};
use super::plan::MAX_REQUESTS;
use super::problems::{ProblemPath, Problems};
use crate::contract::condition::{AFTER_DATE, BEFORE_DATE, DATETIME, EQUALS, MATCHES, NUMBER, STRING, TIME_UNIT};
use crate::error::named;
use crate::time::{Moment, Zone};

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

/// An argument that counts from 1; none when it is left out, and `default` says what that means.
pub(super) fn count(argument: &str, value: &InputValue, what: &str, default: &str) -> Result<Option<u64>, String> {
    match value {
        InputValue::Null => Ok(None),
        InputValue::Integer(number) => match u64::try_from(*number) {
            Ok(count @ 1..) => Ok(Some(count)),
            _ => Err(format!("{number} is less than 1: leave {} out for {default}", named(argument))),
        },
        value => Err(is_not(value, &format!("a count of {what}: write an integer of at least 1"))),
    }
}

/// `limit`, which is not sent.
pub(super) fn limit(value: &InputValue, problems: &mut Problems) -> Option<u64> {
    let read = count("limit", value, "records", "all records");
    problems.keep(&ProblemPath::argument("limit", ""), value, read).flatten()
}

/// `known_row_cap`, which is not sent.
pub(super) fn known_row_cap(value: &InputValue, problems: &mut Problems) -> Option<u64> {
    let read = count("known_row_cap", value, "rows", "no known cap");
    problems.keep(&ProblemPath::argument("known_row_cap", ""), value, read).flatten()
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
            "{number:?} is a float, and ids are strings: a pandas column with missing values holds floats, so write \
             ids.dropna().astype(\"int64\"), or read the column as strings"
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
        InputValue::Text(_) => text(value),
        InputValue::Integer(_) | InputValue::BigInteger(_) | InputValue::Number(_) => number(value),
        value => Err(is_not(value, "a string, a number or a bool")),
    }
}

/// A value to compare with, and the `data_type` that follows from it.
pub(super) fn typed(value: &InputValue) -> Result<(&'static str, Value), String> {
    match value {
        InputValue::Text(_) => Ok((STRING, text(value)?)),
        InputValue::Integer(_) | InputValue::BigInteger(_) | InputValue::Number(_) => Ok((NUMBER, number(value)?)),
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
    /// The zone of times without offset.
    pub(super) zone: &'a Zone,
    /// What to write instead of a range of days, where there is only one request.
    pub(super) instead_of_range: Option<fn(&str) -> String>,
}

impl Times<'_> {
    /// The time that a comparison sends: the first instant of the day for `on(day)`; for `on(days(…))` a list of them,
    /// each of which becomes a request. The service has no operator that includes a day, so `since(day)` sends the
    /// last instant of the day before, which is excluded.
    pub(super) fn read(&self, comparison: &Comparison) -> Result<Value, String> {
        match (&comparison.method, &comparison.value) {
            (Method::On, InputValue::Days(days)) => self.starts_of_days(days, comparison),
            (Method::On, day) => self.zone.start_of_day(self.day(day)?).map(as_sent),
            (Method::Since, day) => self.zone.start_of_day(self.day(day)?).map(|start| as_sent(start.preceding())),
            (_, time) => self.moment(time).map(as_sent),
        }
    }

    /// A moment of a day, which is a day of this zone.
    fn day(&self, value: &InputValue) -> Result<Moment, String> {
        match value {
            InputValue::Text(text) | InputValue::Moment(text) => self.zone.parse_day(text),
            value => self.moment(value),
        }
    }

    fn moment(&self, value: &InputValue) -> Result<Moment, String> {
        match value {
            InputValue::Text(text) | InputValue::Moment(text) => self.zone.parse_moment(text),
            InputValue::Integer(number) => Moment::from_milliseconds(*number),
            InputValue::Number(number) if number.is_finite() => {
                Err(format!("{} is a float, not a time: write milliseconds as an int", value.shown()))
            }
            InputValue::List(_) => Err("takes one time, not a list".to_owned()),
            value => Err(is_not(value, "a time: give a date, a datetime, an ISO 8601 string or Unix milliseconds")),
        }
    }

    fn starts_of_days(&self, days: &Days, comparison: &Comparison) -> Result<Value, String> {
        let (start, stop) = (self.day(&days.start)?, self.day(&days.stop)?);
        if let Some(instead) = self.instead_of_range {
            return Err(format!("a range of days takes one request a day: use {}", instead(&comparison.value.shown())));
        }
        if !comparison.unit.is_null() && comparison.unit != InputValue::text(TIME_UNIT) {
            let unit = comparison.unit.shown();
            return Err(format!("a range of days takes one request a day: leave unit={unit} out"));
        }
        let starts: Vec<Value> = self.zone.days(start, stop).take(MAX_REQUESTS + 1).map(as_sent).collect();
        match starts.len() {
            0 => Err(no_day(start, stop, days)),
            1..=MAX_REQUESTS => Ok(Value::Array(starts)),
            _ => Err(format!("the range has more than {MAX_REQUESTS} days, the most requests of a scan")),
        }
    }
}

/// What is wrong with a range that ends before it begins.
fn no_day(start: Moment, stop: Moment, days: &Days) -> String {
    let (first, last) = (days.start.shown(), days.stop.shown());
    let problem = if start > stop { format!("start {first} is after stop {last}") } else { format!("both are {last}") };
    format!("the range has no day: {problem}, and stop is excluded")
}

fn as_sent(moment: Moment) -> Value {
    Value::from(moment.milliseconds())
}

/// The operator of a method, or of `op()`.
pub(super) fn operator(method: &Method, location: &ProblemPath, problems: &mut Problems) -> Option<String> {
    let operator = match method {
        Method::Matches => MATCHES,
        Method::Equals | Method::On => EQUALS,
        Method::After | Method::Since => AFTER_DATE,
        Method::Before => BEFORE_DATE,
        Method::Operator(input) => {
            return problems.keep(&location.field("operator"), input, name(input, "an operator"));
        }
    };
    Some(operator.to_owned())
}

/// `time_unit`, which only datetime conditions have.
pub(super) fn time_unit(data_type: &str, unit: &InputValue) -> Result<Option<String>, String> {
    match (data_type == DATETIME, unit) {
        (true, InputValue::Null) => Ok(Some(TIME_UNIT.to_owned())),
        (true, unit) => name(unit, "a time unit").map(Some),
        (false, InputValue::Null) => Ok(None),
        (false, _) => Err(format!("a time unit needs data_type {DATETIME}, not {data_type}")),
    }
}

/// Refuses values that a comparison cannot hold: several in `equals`, and an empty list, which would match nothing.
pub(super) fn has_values(comparison: &Comparison, location: &ProblemPath, problems: &mut Problems) -> bool {
    let InputValue::List(values) = &comparison.value else { return true };
    let message = if comparison.method == Method::Equals {
        "equals takes one value: use matches([...]) for several"
    } else if values.is_empty() {
        "an empty list matches nothing: give a value, or leave the condition out"
    } else {
        return true;
    };
    problems.add(location, &comparison.value, message);
    false
}
