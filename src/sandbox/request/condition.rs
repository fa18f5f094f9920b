//! One condition (section 2.4): the part that both wire shapes share, and the generic shape.

use super::Interpretation;
use super::body_value::BodyValue;
use crate::contract::condition::{AFTER_DATE, BEFORE_DATE, CONDITION_TYPE, EQUALS, MATCHES, TIME_UNIT, VALUE_TYPE};
use crate::error::excerpt;
use crate::sandbox::days::{self, Day};
use crate::sandbox::objects::{AttributeKind, BusinessObject};
use crate::sandbox::query::{Comparison, Predicate};
use crate::sandbox::reply::Refusal;
use crate::sandbox::switches::{DayComparison, DayEquals, Undocumented};

/// A condition of a generic search.
pub(super) fn generic(
    condition: &BodyValue<'_>,
    object: &BusinessObject,
    interpretation: &Interpretation,
) -> Result<Predicate, Refusal> {
    condition.object(&["column", "data_type", "operator", "value_type", "value", "condition_type", "time_unit"])?;
    condition.member("value_type")?.constant(VALUE_TYPE)?;
    condition.member("condition_type")?.constant(CONDITION_TYPE)?;
    predicate(condition, object, interpretation)
}

/// The members of both shapes: column, data type, operator and value.
pub(super) fn predicate(
    condition: &BodyValue<'_>,
    object: &BusinessObject,
    interpretation: &Interpretation,
) -> Result<Predicate, Refusal> {
    let column = condition.member("column")?;
    let (attribute, declared) = object.attribute(column.text()?).ok_or_else(|| {
        column.refusal(&format!("`{}` has no attribute `{}`", object.name, excerpt(column.text().unwrap_or(""), 60)))
    })?;
    if !declared.kind.has_conditions() {
        let (name, kind) = (&declared.name, declared.kind.data_type());
        return Err(column.refusal(&format!("`{name}` is a {kind}: no condition on one is documented")));
    }
    let data_type = condition.member("data_type")?;
    if data_type.text()? != declared.kind.data_type() {
        let expected = format!("`{}`, which `{}` is", declared.kind.data_type(), declared.name);
        return Err(data_type.mismatch(&expected));
    }
    let (operator, value) = (condition.member("operator")?, condition.member("value")?);
    // The generic shape lists no `time_unit` (section 4.1), so it may be absent.
    let unit = condition.optional("time_unit");
    let comparison = match (declared.kind, unit) {
        (AttributeKind::Datetime, unit) => {
            let comparison = day(&operator, &value, interpretation)?;
            let is_documented = in_milliseconds(&value, interpretation)? && has_unit(unit.as_ref(), interpretation)?;
            if is_documented { comparison } else { Comparison::Among(Vec::new()) }
        }
        (_, Some(unit)) => {
            return Err(unit.refusal("a time unit is for datetime conditions"));
        }
        (_, None) => among(&operator, &value, declared.kind, interpretation)?,
    };
    Ok(Predicate { attribute, comparison })
}

/// Whether a time unit is DAY, the only documented one.
fn has_unit(unit: Option<&BodyValue<'_>>, interpretation: &Interpretation) -> Result<bool, Refusal> {
    match (unit, interpretation.switches.time_unit) {
        (None, _) => Ok(true),
        (Some(unit), Undocumented::Refused) => unit.constant(TIME_UNIT).map(|()| true),
        (Some(unit), Undocumented::Unmatched) => unit.text().map(|unit| unit == TIME_UNIT),
    }
}

/// Whether a time is in milliseconds, as its magnitude indicates (section 2.4): seconds since 1973 are milliseconds of
/// early 1970.
fn in_milliseconds(value: &BodyValue<'_>, interpretation: &Interpretation) -> Result<bool, Refusal> {
    match interpretation.switches.seconds {
        _ if !(100_000_000..10_000_000_000).contains(&value.integer()?) => Ok(true),
        Undocumented::Refused => Err(value.mismatch("a time in milliseconds; its magnitude indicates seconds")),
        Undocumented::Unmatched => Ok(false),
    }
}

/// A datetime condition compares days; a switch decides whether `before` and `after` include the value's day, or compare
/// instants.
pub(super) fn day(
    operator: &BodyValue<'_>,
    value: &BodyValue<'_>,
    interpretation: &Interpretation,
) -> Result<Comparison, Refusal> {
    // A bare number, not an array (section 2.4).
    let milliseconds = value.integer().map_err(|_| value.mismatch("a bare integer of Unix milliseconds"))?;
    let day =
        Day::of(milliseconds, &interpretation.zones).ok_or_else(|| value.mismatch("a time in the years 1 to 9999"))?;
    // Records have whole seconds.
    let second = |seconds| {
        days::of_seconds(seconds, &interpretation.zones).ok_or_else(|| value.mismatch("a time in the years 1 to 9999"))
    };
    match (operator.text()?, interpretation.switches.day_comparison) {
        (BEFORE_DATE, DayComparison::Exclusive) => Ok(Comparison::Within(None, Some(day.start))),
        (BEFORE_DATE, DayComparison::Inclusive) => Ok(Comparison::Within(None, Some(day.end))),
        (EQUALS, _) if interpretation.switches.day_equals == DayEquals::Window => {
            let start = -(-milliseconds).div_euclid(1_000);
            Ok(Comparison::Within(Some(second(start)?), Some(second(start + 24 * 3_600)?)))
        }
        (EQUALS, _) => Ok(Comparison::Within(Some(day.start), Some(day.end))),
        (AFTER_DATE, DayComparison::Exclusive) => Ok(Comparison::Within(Some(day.end), None)),
        (AFTER_DATE, DayComparison::Inclusive) => Ok(Comparison::Within(Some(day.start), None)),
        (BEFORE_DATE, DayComparison::Instants) => {
            second(-(-milliseconds).div_euclid(1_000)).map(|end| Comparison::Within(None, Some(end)))
        }
        (AFTER_DATE, DayComparison::Instants) => {
            second(milliseconds.div_euclid(1_000) + 1).map(|start| Comparison::Within(Some(start), None))
        }
        _ => undocumented(operator, &format!("of a datetime: {BEFORE_DATE}, {EQUALS} or {AFTER_DATE}"), interpretation),
    }
}

/// A condition on strings or numbers compares with the elements of an array.
fn among(
    operator: &BodyValue<'_>,
    value: &BodyValue<'_>,
    kind: AttributeKind,
    interpretation: &Interpretation,
) -> Result<Comparison, Refusal> {
    let values = value.array()?;
    for (index, element) in values.iter().enumerate() {
        let fits = match kind {
            AttributeKind::Number => element.is_number(),
            _ => element.is_string(),
        };
        if !fits {
            return Err(value.element(index, element).mismatch(&format!("a {}", kind.data_type())));
        }
    }
    match operator.text()? {
        MATCHES => Ok(Comparison::Among(values.to_vec())),
        EQUALS if values.len() == 1 => Ok(Comparison::Among(values.to_vec())),
        EQUALS => Err(value.refusal(&format!("{EQUALS} compares with exactly one value; {MATCHES} takes several"))),
        _ => undocumented(operator, &format!("of a {}: {MATCHES} or {EQUALS}", kind.data_type()), interpretation),
    }
}

/// The comparison of an undocumented operator.
fn undocumented(
    operator: &BodyValue<'_>,
    documented: &str,
    interpretation: &Interpretation,
) -> Result<Comparison, Refusal> {
    match interpretation.switches.operators {
        Undocumented::Refused => Err(operator.mismatch(&format!("an operator {documented}"))),
        Undocumented::Unmatched => Ok(Comparison::Among(Vec::new())),
    }
}
