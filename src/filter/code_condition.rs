//! One condition of a promotion code search: the four columns of section 4.2 and the values of section 8.
//!
//! All calls meet here, whether they name the columns as arguments, in an expression or in a raw body.

use serde_json::Value;

use super::input::{Comparison, InputValue, Method};
use super::nearest::did_you_mean;
use super::problems::{Place, Problems};
use super::times::Times;
use super::values::{self, is_not};
use crate::contract::codes::{AUDIENCE_TYPES, POSITIONS, STATUSES};
use crate::contract::condition::{CODE_CONDITION_TYPE, CodeCondition, DATETIME, NUMBER, STRING};

/// A column that a promotion code search filters on; the order is that of the positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    AudienceType,
    AllocatedAudience,
    CodeStatus,
    AllocatedTime,
}

impl Column {
    pub(super) const ALL: [Self; 4] =
        [Self::AudienceType, Self::AllocatedAudience, Self::CodeStatus, Self::AllocatedTime];

    /// The column of a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    /// Its name on the wire.
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

/// Reads the name of a column.
pub(super) fn column(input: &InputValue) -> Result<Column, String> {
    let name = values::name(input, "a column")?;
    Column::named(&name).ok_or_else(|| {
        let advice = did_you_mean(&name, POSITIONS);
        format!(
            "{} is not a column a promotion code search filters on ({}){advice}",
            input.shown(),
            POSITIONS.join(", ")
        )
    })
}

/// Checks what a column is compared with.
pub(super) fn check(
    column: Column,
    comparison: &Comparison,
    place: &Place,
    times: &Times<'_>,
    problems: &mut Problems,
) -> Option<CodeCondition> {
    let data_type = column.data_type();
    let same_type = is_of_type(column, &comparison.data_type, place, problems);
    let operator = values::operator(&comparison.method, place, problems);
    let unit = &comparison.unit;
    let time_unit = problems.keep(&place.field("time_unit"), unit, values::time_unit(data_type, unit));
    let value = match column {
        Column::AllocatedTime => time(comparison, &place.field("value"), times, problems),
        column => list(column, comparison, &place.field("value"), problems),
    };
    if !same_type {
        return None;
    }
    Some(CodeCondition {
        kind: CODE_CONDITION_TYPE,
        column: column.name().to_owned(),
        data_type: data_type.to_owned(),
        operator: operator?,
        value: value?,
        extend_value: (column != Column::AllocatedTime).then(Vec::new),
        time_unit: time_unit?,
    })
}

fn is_of_type(column: Column, data_type: &InputValue, place: &Place, problems: &mut Problems) -> bool {
    let expected = column.data_type();
    let same = data_type.is_null() || matches!(data_type, InputValue::Text(text) if text == expected);
    if !same {
        let message = format!("{} is not the data_type of {}: write \"{expected}\"", data_type.shown(), column.name());
        problems.add(&place.field("data_type"), data_type, message);
    }
    same
}

fn time(comparison: &Comparison, place: &Place, times: &Times<'_>, problems: &mut Problems) -> Option<Value> {
    let input = &comparison.value;
    let read = match (&comparison.method, input) {
        (_, InputValue::List(_)) => {
            Err("takes one time, not a list: write after(t), before(t) or on(day); a range of days \
                                    is one on(day) each, as client.scan_codes(allocated_time=days(start, stop)) sends"
                .to_owned())
        }
        (Method::Matches, input) => {
            let shown = input.shown();
            Err(format!("{shown} says neither after nor before: write after({shown}), before({shown}) or on({shown})"))
        }
        _ => values::compared_time(comparison, times),
    };
    problems.keep(place, input, read)
}

fn list(column: Column, comparison: &Comparison, place: &Place, problems: &mut Problems) -> Option<Value> {
    let input = &comparison.value;
    match &comparison.method {
        Method::After | Method::Before | Method::Since | Method::On => {
            let message = format!(
                "{}(…) compares times, and {} is none: give one value or several",
                comparison.method,
                column.name()
            );
            problems.add(place, input, message);
            return None;
        }
        Method::Equals if matches!(input, InputValue::List(_)) => {
            problems.add(place, input, "equals takes one value: several go into matches([...])");
            return None;
        }
        _ => {}
    }
    if !values::not_empty(input, place, problems) {
        return None;
    }
    // An operator of the caller's own takes values as they are on the wire.
    let translates = !matches!(comparison.method, Method::Operator(_));
    problems
        .keep_each(place, input, |value| match column {
            Column::AudienceType => known_number(value, column, &AUDIENCE_TYPES, translates),
            Column::CodeStatus => known_number(value, column, &STATUSES, translates),
            _ => audience(value),
        })
        .map(Value::Array)
}

/// A value of section 8, or the name the package gives it.
fn known_number(value: &InputValue, column: Column, known: &[(&str, i64)], translates: bool) -> Result<Value, String> {
    let number = match value {
        InputValue::Integer(number) => known.iter().find(|(_, known)| known == number),
        // A column of whole numbers turns into floats as soon as one is missing.
        #[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "the known values are small whole numbers")]
        InputValue::Number(number) => known.iter().find(|(_, known)| *known as f64 == *number),
        InputValue::Text(text) => {
            let named = known.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
            match named {
                Some((_, number)) if !translates => {
                    return Err(format!(
                        "{} is a name, and here values are sent as given: write {number}",
                        value.shown()
                    ));
                }
                named => named,
            }
        }
        _ => None,
    };
    number.map(|(_, number)| Value::from(*number)).ok_or_else(|| {
        let choices: Vec<String> = known.iter().map(|(name, number)| format!("{number} (\"{name}\")")).collect();
        let advice = match value {
            InputValue::Text(text) => did_you_mean(text, known.iter().map(|(name, _)| *name)),
            _ => String::new(),
        };
        format!("{} is not one of {} {}{advice}", value.shown(), column.name(), choices.join(", "))
    })
}

/// The id of a customer or visitor, which is a text on the wire.
fn audience(value: &InputValue) -> Result<Value, String> {
    match value {
        InputValue::Text(_) => values::name(value, "the id of a customer or visitor").map(Value::from),
        InputValue::Integer(number) => Ok(Value::from(number.to_string())),
        InputValue::BigInteger(digits) => Ok(Value::from(digits.as_str())),
        InputValue::Number(number) if number.is_finite() => Err(format!(
            "{number:?} is a float, and ids are texts: a pandas column with missing values holds floats, so write \
             ids.dropna().astype(\"int64\"), or read the column as text"
        )),
        InputValue::Null | InputValue::Number(_) => {
            Err(format!("{} is a missing value, not an id: leave such values out, as ids.dropna() does", value.shown()))
        }
        value => Err(is_not(value, "the id of a customer or visitor, which is a text")),
    }
}
