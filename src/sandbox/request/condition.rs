//! One condition (section 2.4): the part that both wire shapes share, and the generic shape.
//!
//! The positions and limits of promotion codes are in `codes`.

use std::fmt::Write;

use serde_json::Value;

use super::Reading;
use super::node::Node;
use crate::contract::condition::{AFTER_DATE, BEFORE_DATE, CONDITION_TYPE, EQUALS, MATCHES, TIME_UNIT, VALUE_TYPE};
use crate::error::excerpt;
use crate::sandbox::days::Day;
use crate::sandbox::objects::{AttributeKind, BusinessObject};
use crate::sandbox::query::{Comparison, Test};
use crate::sandbox::reply::{Refusal, json};
use crate::sandbox::switches::{DayComparison, Unshown};

/// A condition of a generic search.
pub(super) fn generic(condition: &Node<'_>, object: &BusinessObject, reading: &Reading<'_>) -> Result<Test, Refusal> {
    condition.object(&["column", "data_type", "operator", "value_type", "value", "condition_type", "time_unit"])?;
    condition.member("value_type")?.fixed(VALUE_TYPE)?;
    condition.member("condition_type")?.fixed(CONDITION_TYPE)?;
    test(condition, object, reading)
}

/// What both shapes say in the same way: column, data type, operator and value.
pub(super) fn test(condition: &Node<'_>, object: &BusinessObject, reading: &Reading<'_>) -> Result<Test, Refusal> {
    let column = condition.member("column")?;
    let (attribute, declared) = object.attribute(column.text()?).ok_or_else(|| {
        column.refusal(&format!("`{}` has no attribute `{}`", object.name, excerpt(column.text().unwrap_or(""), 60)))
    })?;
    let data_type = condition.member("data_type")?;
    if data_type.text()? != declared.kind.data_type() {
        let expected = format!("`{}`, which `{}` is", declared.kind.data_type(), declared.name);
        return Err(data_type.unfit(&expected));
    }
    let (operator, value) = (condition.member("operator")?, condition.member("value")?);
    // The generic shape lists no `time_unit` (section 4.1), so it may be absent.
    let unit = condition.optional("time_unit");
    let comparison = match (declared.kind, unit) {
        (AttributeKind::Datetime, unit) => {
            let comparison = day(&operator, &value, reading)?;
            if is_shown(unit.as_ref(), reading)? { comparison } else { Comparison::Never }
        }
        (AttributeKind::Text | AttributeKind::Number, Some(unit)) => {
            return Err(unit.refusal("a time unit is for datetime conditions"));
        }
        (AttributeKind::Text | AttributeKind::Number, None) => among(&operator, &value, declared.kind, reading)?,
    };
    Ok(Test { attribute, comparison })
}

/// Whether a time unit is DAY, the one that is shown.
fn is_shown(unit: Option<&Node<'_>>, reading: &Reading<'_>) -> Result<bool, Refusal> {
    match (unit, reading.switches.time_unit) {
        (None, _) => Ok(true),
        (Some(unit), Unshown::Refused) => unit.fixed(TIME_UNIT).map(|()| true),
        (Some(unit), Unshown::Unmatched) => unit.text().map(|unit| unit == TIME_UNIT),
    }
}

/// A datetime condition compares days: whether the value's own day is before or after itself is a switch.
fn day(operator: &Node<'_>, value: &Node<'_>, reading: &Reading<'_>) -> Result<Comparison, Refusal> {
    // A bare number, not an array (section 2.4).
    let milliseconds = value.integer().map_err(|_| value.unfit("a bare whole number of Unix milliseconds"))?;
    let day = Day::of(milliseconds, reading.zone).ok_or_else(|| value.unfit("a time in the years 1 to 9999"))?;
    match (operator.text()?, reading.switches.day_comparison) {
        (BEFORE_DATE, DayComparison::Exclusive) => Ok(Comparison::Before(day.start)),
        (BEFORE_DATE, DayComparison::Inclusive) => Ok(Comparison::Before(day.end)),
        (EQUALS, _) => Ok(Comparison::Between(day.start, day.end)),
        (AFTER_DATE, DayComparison::Exclusive) => Ok(Comparison::From(day.end)),
        (AFTER_DATE, DayComparison::Inclusive) => Ok(Comparison::From(day.start)),
        _ => unshown(operator, &format!("of a datetime: {BEFORE_DATE}, {EQUALS} or {AFTER_DATE}"), reading),
    }
}

/// A condition on texts or numbers compares with the elements of an array.
fn among(
    operator: &Node<'_>,
    value: &Node<'_>,
    kind: AttributeKind,
    reading: &Reading<'_>,
) -> Result<Comparison, Refusal> {
    let values = value.array()?;
    for (index, element) in values.iter().enumerate() {
        let fits = match kind {
            AttributeKind::Number => element.is_number(),
            AttributeKind::Text | AttributeKind::Datetime => element.is_string(),
        };
        if !fits {
            return Err(value.element(index, element).unfit(&format!("a {}", kind.data_type())));
        }
    }
    match operator.text()? {
        MATCHES => Ok(listed(values)),
        EQUALS if values.len() == 1 => Ok(listed(values)),
        EQUALS => Err(value.refusal(&format!("{EQUALS} compares with exactly one value; {MATCHES} takes several"))),
        _ => unshown(operator, &format!("of a {}: {MATCHES} or {EQUALS}", kind.data_type()), reading),
    }
}

/// `SQLite`'s JSON reader ends a text at a zero character: such texts go by their bytes.
fn listed(values: &[Value]) -> Comparison {
    let holds_zero = |element: &Value| element.as_str().is_some_and(|text| text.contains('\0'));
    let (apart, listed): (Vec<&Value>, Vec<&Value>) = values.iter().partition(|element| holds_zero(element));
    let apart: Vec<String> = apart.into_iter().filter_map(Value::as_str).map(hexadecimal).collect();
    Comparison::Among(json(&listed), (!apart.is_empty()).then(|| json(&apart)))
}

/// The bytes of a text as digits.
fn hexadecimal(text: &str) -> String {
    text.bytes().fold(String::with_capacity(2 * text.len()), |mut digits, byte| {
        // Writing to a text cannot fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// An operator that is none of those shown.
fn unshown(operator: &Node<'_>, shown: &str, reading: &Reading<'_>) -> Result<Comparison, Refusal> {
    match reading.switches.operators {
        Unshown::Refused => Err(operator.unfit(&format!("an operator {shown}"))),
        Unshown::Unmatched => Ok(Comparison::Never),
    }
}
