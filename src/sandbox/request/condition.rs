//! One condition (section 2.4): the part that both wire shapes share, and the generic shape.
//!
//! The positions and limits of promotion codes are in `codes`.

use jiff::tz::TimeZone;

use super::node::Node;
use crate::contract::condition::{AFTER_DATE, BEFORE_DATE, CONDITION_TYPE, EQUALS, MATCHES, TIME_UNIT, VALUE_TYPE};
use crate::error::excerpt;
use crate::sandbox::answer::{Refusal, json};
use crate::sandbox::days::Day;
use crate::sandbox::objects::{AttributeKind, BusinessObject};
use crate::sandbox::query::{Comparison, Test};

/// A condition of a generic search.
pub(super) fn generic(condition: &Node<'_>, object: &BusinessObject, zone: &TimeZone) -> Result<Test, Refusal> {
    condition.object(&["column", "data_type", "operator", "value_type", "value", "condition_type", "time_unit"])?;
    condition.member("value_type")?.fixed(VALUE_TYPE)?;
    condition.member("condition_type")?.fixed(CONDITION_TYPE)?;
    // The generic shape lists no `time_unit` (section 4.1), so it may be absent; DAY is the one unit shown.
    if let Some(unit) = condition.optional("time_unit") {
        unit.fixed(TIME_UNIT)?;
    }
    test(condition, object, zone)
}

/// What both shapes say in the same way: column, data type, operator and value.
pub(super) fn test(condition: &Node<'_>, object: &BusinessObject, zone: &TimeZone) -> Result<Test, Refusal> {
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
    let comparison = match declared.kind {
        AttributeKind::Datetime => day(&operator, &value, zone)?,
        AttributeKind::Text | AttributeKind::Number => {
            if condition.optional("time_unit").is_some() {
                return Err(condition.refusal("`time_unit` is for datetime conditions"));
            }
            among(&operator, &value, declared.kind)?
        }
    };
    Ok(Test { attribute, comparison })
}

/// A datetime condition compares days: the value's own day is neither before nor after itself.
fn day(operator: &Node<'_>, value: &Node<'_>, zone: &TimeZone) -> Result<Comparison, Refusal> {
    // A bare number, not an array (section 2.4).
    let milliseconds = value.value.as_i64().ok_or_else(|| value.unfit("a bare whole number of Unix milliseconds"))?;
    let day = Day::of(milliseconds, zone).ok_or_else(|| value.unfit("a time in the years 1 to 9999"))?;
    match operator.text()? {
        BEFORE_DATE => Ok(Comparison::Before(day.start)),
        EQUALS => Ok(Comparison::Between(day.start, day.end)),
        AFTER_DATE => Ok(Comparison::From(day.end)),
        _ => Err(operator.unfit(&format!("an operator of a datetime: {BEFORE_DATE}, {EQUALS} or {AFTER_DATE}"))),
    }
}

/// A condition on texts or numbers compares with the elements of an array.
fn among(operator: &Node<'_>, value: &Node<'_>, kind: AttributeKind) -> Result<Comparison, Refusal> {
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
        MATCHES => {}
        EQUALS if values.len() == 1 => {}
        EQUALS => {
            return Err(value.refusal(&format!("{EQUALS} compares with exactly one value; {MATCHES} takes several")));
        }
        _ => return Err(operator.unfit(&format!("an operator of a {}: {MATCHES} or {EQUALS}", kind.data_type()))),
    }
    Ok(Comparison::Among(json(&values)))
}
