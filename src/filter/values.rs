//! How single values are read: texts, numbers, times, and the parts every condition has.
//!
//! Each reader gives the value or a sentence saying what to write instead. It knows no business object.

use serde_json::{Number, Value};

use super::input::{Comparison, InputValue, Method};
use super::problems::{Place, Problems};
use super::times::Times;
use crate::contract::condition::{AFTER_DATE, BEFORE_DATE, DATETIME, EQUALS, MATCHES, NUMBER, STRING, TIME_UNIT};
use crate::time::{Moment, Zone};

/// `3.5 is a float, not a text`.
pub(super) fn is_not(value: &InputValue, expected: &str) -> String {
    match value {
        InputValue::Null => format!("None is not {expected}"),
        value => format!("{} is {}, not {expected}", value.shown(), value.kind()),
    }
}

/// A text that names something, and so is not empty.
pub(super) fn name(value: &InputValue, what: &str) -> Result<String, String> {
    match value {
        InputValue::Text(text) if text.trim().is_empty() => Err(format!("an empty text is not {what}")),
        InputValue::Text(text) => Ok(text.clone()),
        value => Err(is_not(value, what)),
    }
}

/// A text to compare with.
pub(super) fn text(value: &InputValue) -> Result<Value, String> {
    match value {
        InputValue::Text(text) => Ok(Value::from(text.as_str())),
        InputValue::Integer(number) => Err(format!("{number} is a whole number, not a text: write \"{number}\"")),
        value => Err(is_not(value, "a text")),
    }
}

/// A number to compare with, exactly as JSON can carry it.
pub(super) fn number(value: &InputValue) -> Result<Value, String> {
    match value {
        InputValue::Integer(number) => Ok(Value::from(*number)),
        InputValue::BigInteger(digits) => digits
            .parse::<u64>()
            .map(Value::from)
            .map_err(|_| format!("{} has more digits than a number on the wire can carry exactly", value.shown())),
        InputValue::Number(number) => Number::from_f64(*number)
            .map(Value::Number)
            .ok_or_else(|| format!("{} is not a number that can be sent; leave missing values out", value.shown())),
        InputValue::Text(text) if text.parse::<f64>().is_ok_and(f64::is_finite) => {
            Err(format!("{} is a text, not a number: write it without the quotes", value.shown()))
        }
        value => Err(is_not(value, "a number")),
    }
}

/// Any value that JSON has, for a `data_type` the document does not show.
pub(super) fn json(value: &InputValue) -> Result<Value, String> {
    match value {
        InputValue::Bool(truth) => Ok(Value::Bool(*truth)),
        InputValue::Text(_) => text(value),
        InputValue::Integer(_) | InputValue::BigInteger(_) | InputValue::Number(_) => number(value),
        value => Err(is_not(value, "a text, a number or a bool")),
    }
}

/// A value to compare with, and the `data_type` that follows from it.
pub(super) fn typed(value: &InputValue) -> Result<(&'static str, Value), String> {
    match value {
        InputValue::Text(_) => Ok((STRING, text(value)?)),
        InputValue::Integer(_) | InputValue::BigInteger(_) | InputValue::Number(_) => Ok((NUMBER, number(value)?)),
        InputValue::Moment(_) => Err("times are compared one by one: join .on(day) conditions with |".to_owned()),
        InputValue::Bool(truth) => Err(format!(
            "{} has no data_type in the document: write .op(\"equals\", …, data_type=\"…\") if the service knows one",
            InputValue::Bool(*truth)
        )),
        value => Err(is_not(value, "a text or a number")),
    }
}

/// One time.
pub(super) fn moment(value: &InputValue, zone: &Zone) -> Result<Moment, String> {
    match value {
        InputValue::Text(text) | InputValue::Moment(text) => zone.parse_moment(text),
        InputValue::Integer(number) => Moment::from_milliseconds(*number),
        InputValue::Number(number) if number.is_finite() => {
            Err(format!("{} is a float, not a time: whole milliseconds are an int", value.shown()))
        }
        InputValue::List(_) => Err("takes one time, not a list".to_owned()),
        value => Err(is_not(value, "a time: give a date, a datetime, ISO text or Unix milliseconds")),
    }
}

/// The time of a comparison: `on(day)` sends the first instant of the day, `on(days(…))` those of all days. The service
/// has no operator that includes a day, so `since(day)` sends the last instant of the day before, which is excluded.
pub(super) fn compared_time(comparison: &Comparison, times: &Times<'_>) -> Result<Value, String> {
    match (&comparison.method, &comparison.value) {
        (Method::On, InputValue::Days(days)) => times.starts_of_days(days, comparison),
        (Method::On, day) => times.zone.start_of_day(moment(day, times.zone)?).map(wire),
        (Method::Since, day) => times.zone.start_of_day(moment(day, times.zone)?).map(|start| wire(start.preceding())),
        (_, time) => moment(time, times.zone).map(wire),
    }
}

/// A time as it is sent.
pub(super) fn wire(moment: Moment) -> Value {
    Value::from(moment.milliseconds())
}

/// The operator of a method, or the name the caller chose.
pub(super) fn operator(method: &Method, place: &Place, problems: &mut Problems) -> Option<String> {
    let operator = match method {
        Method::Matches => MATCHES,
        Method::Equals | Method::On => EQUALS,
        Method::After | Method::Since => AFTER_DATE,
        Method::Before => BEFORE_DATE,
        Method::Operator(input) => return problems.keep(&place.field("operator"), input, name(input, "an operator")),
    };
    Some(operator.to_owned())
}

/// `time_unit`, which a datetime has and nothing else.
pub(super) fn time_unit(data_type: &str, unit: &InputValue) -> Result<Option<String>, String> {
    match (data_type == DATETIME, unit) {
        (true, InputValue::Null) => Ok(Some(TIME_UNIT.to_owned())),
        (true, unit) => name(unit, "a time unit").map(Some),
        (false, InputValue::Null) => Ok(None),
        (false, _) => Err(format!("a time unit goes with times, and the data_type here is {data_type}")),
    }
}

/// Refuses a list without values, which would silently match nothing.
pub(super) fn not_empty(value: &InputValue, place: &Place, problems: &mut Problems) -> bool {
    let empty = matches!(value, InputValue::List(values) if values.is_empty());
    if empty {
        problems.add(place, value, "an empty list matches nothing: give a value, or leave the condition out");
    }
    !empty
}
