//! One condition of a promotion code search: the four columns of 4.2 and their values (8).

use serde_json::Value;

use super::input::{Comparison, InputValue, Method};
use super::nearest::did_you_mean;
use super::problems::{ProblemPath, Problems};
use super::values::{self, Times};
use crate::contract::codes::{AUDIENCE_TYPES, POSITIONS, STATUSES};
use crate::contract::condition::{CODE_CONDITION_TYPE, Condition, DATETIME, NUMBER, STRING};

/// A column that a promotion code search filters on, in the order of the positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    AudienceType,
    AllocatedAudience,
    CodeStatus,
    AllocatedTime,
}

impl Column {
    pub(super) const ALL: [Self; 4] =
        [Self::AudienceType, Self::AllocatedAudience, Self::CodeStatus, Self::AllocatedTime];

    /// Reads the name of a column.
    pub(super) fn read(input: &InputValue) -> Result<Self, String> {
        let name = values::name(input, "a column")?;
        Self::ALL.into_iter().find(|column| column.name() == name).ok_or_else(|| {
            let (shown, known, advice) = (input.shown(), POSITIONS.join(", "), did_you_mean(&name, POSITIONS));
            format!("{shown} is not a column that a promotion code search filters on ({known}){advice}")
        })
    }

    /// Its name in the body.
    pub(super) const fn name(self) -> &'static str {
        let [audience_type, allocated_audience, code_status, allocated_time] = POSITIONS;
        match self {
            Self::AudienceType => audience_type,
            Self::AllocatedAudience => allocated_audience,
            Self::CodeStatus => code_status,
            Self::AllocatedTime => allocated_time,
        }
    }

    const fn data_type(self) -> &'static str {
        match self {
            Self::AudienceType | Self::CodeStatus => NUMBER,
            Self::AllocatedAudience => STRING,
            Self::AllocatedTime => DATETIME,
        }
    }
}

/// Checks what a column is compared with.
pub(super) fn check(
    column: Column,
    comparison: &Comparison,
    location: &ProblemPath,
    times: &Times<'_>,
    problems: &mut Problems,
) -> Option<Condition> {
    let data_type = column.data_type();
    let given = &comparison.data_type;
    let is_same_type = given.is_null() || *given == InputValue::text(data_type);
    if !is_same_type {
        let message = format!("{} is not the data_type of {}: write \"{data_type}\"", given.shown(), column.name());
        problems.add(&location.field("data_type"), given, message);
    }
    let operator = values::operator(&comparison.method, location, problems);
    let unit = &comparison.unit;
    let time_unit = problems.keep_field(location, "time_unit", unit, values::time_unit(data_type, unit));
    let value = match column {
        Column::AllocatedTime => time(comparison, location, times, problems),
        column => list(column, comparison, &location.field("value"), problems),
    };
    let (operator, value, time_unit) = (operator?, value?, time_unit?);
    is_same_type.then(|| Condition {
        kind: Some(CODE_CONDITION_TYPE),
        column: column.name().to_owned(),
        data_type: data_type.to_owned(),
        operator,
        value,
        extend_value: (column != Column::AllocatedTime).then(Vec::new),
        time_unit,
        ..Condition::default()
    })
}

fn time(comparison: &Comparison, location: &ProblemPath, times: &Times<'_>, problems: &mut Problems) -> Option<Value> {
    let input = &comparison.value;
    let is = location.comparison_prefix();
    let range = if is == "." { ".on(da.days(start, stop))" } else { "da.days(start, stop)" };
    let read = match (&comparison.method, input) {
        (_, InputValue::List(_)) => Err(format!(
            "takes one time, not a list: write {is}after(t), {is}before(t), {is}since(day), {is}until(day) or {is}on(day); \
             for a range of days, {range}"
        )),
        (Method::Matches, InputValue::Text(text)) if times.calendar.zone.parse_month(text).is_ok() => {
            let month = format!("da.month({})", input.shown());
            Err(format!("is a month, not a time: write {}", if is == "." { format!(".on({month})") } else { month }))
        }
        (Method::Matches, input) => {
            // As it can be copied: a datetime in quotes too.
            let shown = match input {
                InputValue::Moment(text) => format!("\"{text}\""),
                input => input.shown(),
            };
            Err(format!(
                "ambiguous time: use {is}after({shown}), {is}before({shown}), {is}since({shown}), {is}until({shown}) or \
                 {is}on({shown}); for a range of days, {range}"
            ))
        }
        _ => times.read(comparison),
    };
    problems.keep_field(location, "value", input, read)
}

fn list(column: Column, comparison: &Comparison, location: &ProblemPath, problems: &mut Problems) -> Option<Value> {
    let Comparison { method, value: input, .. } = comparison;
    if matches!(method, Method::After | Method::Before | Method::Since | Method::Until | Method::On) {
        let name = column.name();
        let message = format!("{method}(…) compares times, and {name} is not a time: give one value or several");
        problems.add(location, input, message);
        return None;
    }
    if !values::has_values(comparison, location, problems) {
        return None;
    }
    let is_as_sent = matches!(method, Method::Operator(_));
    let values = problems.keep_each(location, input, |value| match column {
        Column::AudienceType => known_number(value, column, &AUDIENCE_TYPES, is_as_sent),
        Column::CodeStatus => known_number(value, column, &STATUSES, is_as_sent),
        _ => audience(value),
    });
    values.map(Value::Array)
}

/// The id of a customer or visitor, which is sent as a string.
fn audience(value: &InputValue) -> Result<Value, String> {
    let what = "the id of a customer or visitor";
    match value {
        InputValue::Text(_) => values::name(value, what).map(Value::from),
        value => values::text_id(value, what),
    }
}

/// A specified number, or the name that the package gives it, unless values are sent as given.
fn known_number(value: &InputValue, column: Column, known: &[(&str, i64)], is_as_sent: bool) -> Result<Value, String> {
    let number = match value {
        InputValue::Integer(number) => known.iter().find(|(_, known)| known == number),
        // A pandas column of integers with missing values holds floats.
        #[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "the known values are small integers")]
        InputValue::Number(number) => known.iter().find(|(_, known)| *known as f64 == *number),
        InputValue::Text(text) => match known.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
            Some((_, number)) if is_as_sent => {
                return Err(format!("values of an operator are sent as given: write {number}, not {}", value.shown()));
            }
            named => named,
        },
        _ => None,
    };
    number.map(|(_, number)| Value::from(*number)).ok_or_else(|| {
        let choices: Vec<String> = known.iter().map(|(name, number)| format!("{number} (\"{name}\")")).collect();
        let advice = match value {
            InputValue::Text(text) => did_you_mean(text, known.iter().map(|(name, _)| *name)),
            _ => String::new(),
        };
        format!("{} is not a value of {}: {}{advice}", value.shown(), column.name(), choices.join(", "))
    })
}
