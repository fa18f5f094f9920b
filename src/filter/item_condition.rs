//! One condition of a generic search (section 4.1): its `data_type` follows the values unless it is named.

use serde_json::Value;

use super::input::{ColumnCondition, Comparison, InputValue, Method};
use super::problems::{Place, Problems};
use super::times::Times;
use super::values;
use crate::contract::condition::{
    AFTER_DATE, BEFORE_DATE, CONDITION_TYPE, DATETIME, ItemCondition, NUMBER, STRING, VALUE_TYPE,
};
use crate::time::Moment;

/// Checks a condition; `types` are its `value_type` and `condition_type` where the caller gave them.
pub(super) fn check(
    condition: &ColumnCondition,
    types: Option<(String, String)>,
    place: &Place,
    times: &Times<'_>,
    problems: &mut Problems,
) -> Option<ItemCondition> {
    let ColumnCondition { column, comparison } = condition;
    let column = problems.keep(&place.field("column"), column, values::name(column, "a column"));
    let operator = values::operator(&comparison.method, place, problems);
    let (data_type, value) = typed_value(comparison, place, times, problems)?;
    let unit = &comparison.unit;
    let time_unit = problems.keep(&place.field("time_unit"), unit, values::time_unit(&data_type, unit));
    let (value_type, condition_type) = types.unwrap_or_else(|| (VALUE_TYPE.to_owned(), CONDITION_TYPE.to_owned()));
    Some(ItemCondition {
        column: column?,
        data_type,
        operator: operator?,
        value_type,
        value,
        time_unit: time_unit?,
        condition_type,
    })
}

fn typed_value(
    comparison: &Comparison,
    place: &Place,
    times: &Times<'_>,
    problems: &mut Problems,
) -> Option<(String, Value)> {
    let named = match &comparison.data_type {
        InputValue::Null => None,
        input => Some(problems.keep(&place.field("data_type"), input, values::name(input, "a data_type"))?),
    };
    let place = place.field("value");
    let input = &comparison.value;
    let is_time = matches!(comparison.method, Method::After | Method::Before | Method::Since | Method::On);
    match named {
        None if is_time || matches!(input, InputValue::Moment(_)) => {
            time(comparison, &place, times, problems).map(|value| (DATETIME.to_owned(), value))
        }
        None => followed(comparison, &place, problems),
        Some(data_type) => {
            let value = match data_type.as_str() {
                DATETIME => time(comparison, &place, times, problems),
                STRING => list(comparison, &place, problems, values::text),
                NUMBER => list(comparison, &place, problems, values::number),
                _ => list(comparison, &place, problems, values::json),
            }?;
            Some((data_type, value))
        }
    }
}

/// The values, and the `data_type` that they have in common.
fn followed(comparison: &Comparison, place: &Place, problems: &mut Problems) -> Option<(String, Value)> {
    let values = several(comparison, place, problems, values::typed)?;
    let (data_type, _) = values.first()?;
    if let Some(stranger) = values.iter().position(|(other, _)| other != data_type) {
        let message =
            format!("has both {STRING} and {NUMBER} values: a condition has one data_type, so write all alike");
        problems.add(&place.element(stranger), &comparison.value, message);
        return None;
    }
    let data_type = (*data_type).to_owned();
    Some((data_type, values.into_iter().map(|(_, value)| value).collect()))
}

fn time(comparison: &Comparison, place: &Place, times: &Times<'_>, problems: &mut Problems) -> Option<Value> {
    let input = &comparison.value;
    let read = match input {
        InputValue::List(_) => Err("takes one time, not a list: join one condition a time with |".to_owned()),
        _ => values::compared_time(comparison, times),
    };
    problems.keep(place, input, read)
}

fn list(
    comparison: &Comparison,
    place: &Place,
    problems: &mut Problems,
    read: impl Fn(&InputValue) -> Result<Value, String>,
) -> Option<Value> {
    several(comparison, place, problems, read).map(Value::Array)
}

fn several<T>(
    comparison: &Comparison,
    place: &Place,
    problems: &mut Problems,
    read: impl Fn(&InputValue) -> Result<T, String>,
) -> Option<Vec<T>> {
    let input = &comparison.value;
    if comparison.method == Method::Equals && matches!(input, InputValue::List(_)) {
        problems.add(place, input, "equals takes one value: several go into .matches([...])");
        return None;
    }
    if !values::not_empty(input, place, problems) {
        return None;
    }
    problems.keep_each(place, input, |value| {
        refuse_other_units(&comparison.method, value)?;
        read(value)
    })
}

/// An operator of dates takes Unix milliseconds, also under another `data_type`: seconds would silently be days of
/// January 1970.
fn refuse_other_units(method: &Method, value: &InputValue) -> Result<(), String> {
    match (method, value) {
        (Method::Operator(InputValue::Text(operator)), InputValue::Integer(number))
            if [BEFORE_DATE, AFTER_DATE].contains(&operator.as_str()) =>
        {
            Moment::from_milliseconds(*number).map(drop)
        }
        _ => Ok(()),
    }
}
