//! The filters of a generic search (4.1). The `data_type` of a condition follows its values unless it is named, or the
//! attribute is an id that the API specification has as a string.

use serde_json::Value;

use super::attributes::KnownAttributes;
use super::input::{Comparison, InputValue, Method};
use super::problems::{ProblemPath, Problems};
use super::values::{self, Times};
use super::where_clause::{ParsedCondition, WhereClause};
use crate::contract::business_object::{CUSTOMER_ID, CUSTOMER_KEY};
use crate::contract::condition::{
    AFTER_DATE, BEFORE_DATE, CONDITION_TYPE, Condition, DATETIME, EQUALS, NUMBER, STRING, TIME_UNIT, VALUE_TYPE,
};
use crate::contract::search::{Filters, Group};
use crate::time::{Calendar, Moment};

/// The filters of a `where` for the business object with this id, whose columns are of the known ones where they are
/// known.
pub(super) fn of_where(
    clause: &WhereClause,
    item_type: Option<i64>,
    known: Option<&KnownAttributes<'_>>,
    times: &Times<'_>,
    problems: &mut Problems,
) -> Option<Filters> {
    let conditions: Vec<Option<Condition>> = clause
        .conditions
        .iter()
        .zip(clause.locations())
        .map(|(parsed, location)| check(parsed, item_type, known, &location, times, problems))
        .collect();
    let groups = clause.groups.iter().map(|numbers| {
        let mut group = Vec::with_capacity(numbers.len());
        for number in numbers {
            let condition = conditions.get(*number)?.clone()?;
            // A condition written twice is one condition.
            if !group.contains(&condition) {
                group.push(condition);
            }
        }
        Some(Group { and: group })
    });
    let or = groups.collect::<Option<Vec<Group>>>()?;
    let is_empty = or.iter().filter_map(|group| empty_range(&group.and, times.calendar));
    let problem = is_empty
        .map(|message| problems.add(&ProblemPath::argument("where", "filters.OR"), &clause.shown, message))
        .next();
    problem.is_none().then_some(Filters { or })
}

/// What is wrong with a group whose conditions select no time of a column: the service would respond with no rows.
fn empty_range(group: &[Condition], calendar: &Calendar) -> Option<String> {
    let by_day = |condition: &&Condition| condition.time_unit.as_deref() == Some(TIME_UNIT);
    for column in group.iter().filter(by_day).map(|condition| &condition.column) {
        let days = group.iter().filter(by_day).filter(|condition| condition.column == *column);
        let (starts, ends): (Vec<_>, Vec<_>) = days.map(|condition| edges(condition, calendar)).unzip();
        let (start, end) = (starts.into_iter().flatten().max()?, ends.into_iter().flatten().min()?);
        if start >= end {
            let (first, last) = (calendar.zone.day_of(start), calendar.zone.day_of(end.preceding()));
            return Some(format!(
                "{column} has a range of times that begins on {first} and ends on {last}, so it selects no row: write the earlier day first"
            ));
        }
    }
    None
}

/// The first instant that a condition selects, and the instant after the last one. None where it has no limit, and within
/// a day, where the readings of the specification differ.
fn edges(condition: &Condition, calendar: &Calendar) -> (Option<Moment>, Option<Moment>) {
    let moment = |value: Option<&Value>| Moment::from_milliseconds(value?.as_i64()?).ok();
    let (first, last) = match &condition.value {
        Value::Array(days) => (moment(days.first()), moment(days.last())),
        time => (moment(Some(time)), moment(Some(time))),
    };
    match condition.operator.as_str() {
        AFTER_DATE => (first.and_then(|time| calendar.start_of_rows(time)), None),
        BEFORE_DATE => (None, last.and_then(|time| calendar.end_of_rows(time))),
        EQUALS => (
            first.and_then(|time| calendar.zone.start_of_day(time).ok()),
            last.and_then(|time| calendar.zone.start_of_next_day(time).ok()),
        ),
        _ => (None, None),
    }
}

fn check(
    parsed: &ParsedCondition,
    item_type: Option<i64>,
    known: Option<&KnownAttributes<'_>>,
    location: &ProblemPath,
    times: &Times<'_>,
    problems: &mut Problems,
) -> Option<Condition> {
    let [value_type, condition_type] = parsed.item_types(location, problems);
    if !parsed.is_complete(location, problems) {
        return None;
    }
    let (input, comparison) = (&parsed.condition.column, &parsed.condition.comparison);
    let column = values::name(input, "a column").and_then(|name| {
        known.map_or(Ok(()), |known| known.check(&name))?;
        Ok(name)
    });
    let column = problems.keep(&location.field("column"), input, column);
    let operator = values::operator(&comparison.method, location, problems);
    let is_declared = |name: &str| known.is_some_and(|known| known.is_declared_string(name));
    let text_of = column.as_deref().and_then(|name| match name {
        CUSTOMER_KEY if item_type == Some(CUSTOMER_ID) => Some("the id of a customer"),
        name => is_declared(name).then_some("a string or an id"),
    });
    let (data_type, value) = typed_value(comparison, text_of, location, times, problems)?;
    let unit = &comparison.unit;
    let time_unit = problems.keep(&location.field("time_unit"), unit, values::time_unit(&data_type, unit));
    Some(Condition {
        column: column?,
        data_type,
        operator: operator?,
        value_type: Some(value_type.unwrap_or_else(|| VALUE_TYPE.to_owned())),
        value,
        time_unit: time_unit?,
        condition_type: Some(condition_type.unwrap_or_else(|| CONDITION_TYPE.to_owned())),
        ..Condition::default()
    })
}

/// The value as it is sent, with its `data_type`.
fn typed_value(
    comparison: &Comparison,
    text_of: Option<&str>,
    location: &ProblemPath,
    times: &Times<'_>,
    problems: &mut Problems,
) -> Option<(String, Value)> {
    let Comparison { method, value: input, data_type, .. } = comparison;
    let named = match data_type {
        InputValue::Null => None,
        input => Some(problems.keep(&location.field("data_type"), input, values::name(input, "a data_type"))?),
    };
    let location = location.field("value");
    let is_time = matches!(method, Method::After | Method::Before | Method::Since | Method::Until | Method::On)
        || matches!(input, InputValue::Moment(_));
    let data_type = match named {
        None if is_time => DATETIME.to_owned(),
        None => {
            let Some(what) = text_of else { return inferred(comparison, &location, problems) };
            let ids = several(comparison, &location, problems, |value| values::text_id(value, what));
            return ids.map(|ids| (STRING.to_owned(), Value::Array(ids)));
        }
        Some(data_type) => data_type,
    };
    let read = match data_type.as_str() {
        DATETIME => return problems.keep(&location, input, time(comparison, times)).map(|value| (data_type, value)),
        STRING => values::text,
        NUMBER => values::number,
        _ => values::json,
    };
    several(comparison, &location, problems, read).map(|values| (data_type, Value::Array(values)))
}

fn time(comparison: &Comparison, times: &Times<'_>) -> Result<Value, String> {
    match comparison.value {
        InputValue::List(_) => Err("takes one time, not a list: join one condition for each time with |".to_owned()),
        _ => times.read(comparison),
    }
}

/// The values, with the `data_type` that they have in common.
fn inferred(comparison: &Comparison, location: &ProblemPath, problems: &mut Problems) -> Option<(String, Value)> {
    let values = several(comparison, location, problems, values::typed)?;
    let (data_type, _) = values.first()?;
    if let Some(other) = values.iter().position(|(other, _)| other != data_type) {
        let message =
            format!("has both {STRING} and {NUMBER} values: a condition has one data_type, so write all alike");
        problems.add(&location.element(other), &comparison.value, message);
        return None;
    }
    let data_type = (*data_type).to_owned();
    Some((data_type, values.into_iter().map(|(_, value)| value).collect()))
}

fn several<T>(
    comparison: &Comparison,
    location: &ProblemPath,
    problems: &mut Problems,
    read: impl Fn(&InputValue) -> Result<T, String>,
) -> Option<Vec<T>> {
    if !values::has_values(comparison, location, problems) {
        return None;
    }
    problems.keep_each(location, &comparison.value, |value| {
        check_unit(&comparison.method, value)?;
        read(value)
    })
}

/// Operators of dates take Unix milliseconds, also under another `data_type`: seconds would silently be days of
/// January 1970.
fn check_unit(method: &Method, value: &InputValue) -> Result<(), String> {
    match (method, value) {
        (Method::Operator(InputValue::Text(operator)), InputValue::Integer(number))
            if [BEFORE_DATE, AFTER_DATE].contains(&operator.as_str()) =>
        {
            Moment::from_milliseconds(*number).map(drop)
        }
        _ => Ok(()),
    }
}
