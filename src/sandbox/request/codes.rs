//! The conditions of a promotion code search: the rules of section 4.2 and the limits of section 8.

use super::Interpretation;
use super::body_value::BodyValue;
use super::condition;
use crate::contract::codes::{AUDIENCE_TYPES, MAX_CONDITIONS, OR_GROUPS, POSITIONS, REQUIRED_COLUMN, STATUSES};
use crate::contract::condition::{CODE_CONDITION_TYPE, VALUE_TYPE};
use crate::sandbox::objects::{BusinessObject, listed};
use crate::sandbox::query::Predicate;
use crate::sandbox::reply::Refusal;
use crate::sandbox::switches::CodeValueType;

/// The groups of `filters.OR`: one, or none where the specification says that the result is empty.
pub(super) fn groups(
    or: &BodyValue<'_>,
    object: &BusinessObject,
    interpretation: &Interpretation,
) -> Result<Vec<Vec<Predicate>>, Refusal> {
    let [group] = or.array()? else {
        return Err(
            or.refusal(&format!("a promotion code search has exactly {OR_GROUPS} element, not {}", or.array()?.len()))
        );
    };
    let group = or.element(0, group);
    group.object(&["AND"])?;
    let and = group.member("AND")?;
    let count = and.array()?.len();
    if count > MAX_CONDITIONS {
        return Err(and.refusal(&format!("{count} conditions; a promotion code search has at most {MAX_CONDITIONS}")));
    }
    let mut predicates = Vec::with_capacity(count);
    let mut columns: Vec<&str> = Vec::with_capacity(count);
    for condition in and.elements()? {
        columns.push(positioned(&condition, columns.last().copied(), interpretation)?);
        predicates.push(read(&condition, object, interpretation)?);
    }
    if !columns.contains(&REQUIRED_COLUMN) {
        return Err(and.refusal(&format!("the condition on `{REQUIRED_COLUMN}` is required")));
    }
    let [audience_type, allocated_audience, ..] = POSITIONS;
    let empty = columns.contains(&audience_type) && !columns.contains(&allocated_audience);
    Ok(if empty { Vec::new() } else { vec![predicates] })
}

/// The column of a condition, whose position must be after the previous one.
fn positioned<'a>(
    condition: &BodyValue<'a>,
    previous: Option<&str>,
    interpretation: &Interpretation,
) -> Result<&'a str, Refusal> {
    let members = ["type", "column", "data_type", "operator", "value", "extendValue", "time_unit", "value_type"];
    let known: &[&str] = match (interpretation.switches.value_type, &members) {
        (CodeValueType::Refused, [known @ .., _]) => known,
        (CodeValueType::Optional | CodeValueType::Required, members) => members,
    };
    condition.object(known)?;
    let column = condition.member("column")?;
    let name = column.text()?;
    let position = |name: &str| POSITIONS.iter().position(|column| *column == name);
    let Some(place) = position(name) else {
        return Err(
            column.mismatch(&format!("a column of a promotion code filter; these are {}", POSITIONS.join(", ")))
        );
    };
    match previous {
        Some(previous) if position(previous) >= Some(place) => Err(column.refusal(&format!(
            "`{name}` comes after `{previous}`; each column comes at most once, in the order {}",
            POSITIONS.join(", ")
        ))),
        _ => Ok(name),
    }
}

fn read(
    condition: &BodyValue<'_>,
    object: &BusinessObject,
    interpretation: &Interpretation,
) -> Result<Predicate, Refusal> {
    let kind = condition.member("type")?;
    if kind.integer()? != CODE_CONDITION_TYPE {
        return Err(kind.mismatch(&format!("{CODE_CONDITION_TYPE}, which it always is")));
    }
    if interpretation.switches.value_type == CodeValueType::Required {
        condition.member("value_type")?;
    }
    if let Some(value_type) = condition.optional("value_type") {
        value_type.constant(VALUE_TYPE)?;
    }
    let column = condition.member("column")?.text()?;
    let is_datetime = column == REQUIRED_COLUMN;
    if is_datetime {
        condition.member("time_unit")?;
    }
    if let Some(extend_value) = condition.optional("extendValue") {
        if is_datetime {
            return Err(extend_value.refusal("it belongs to string and number conditions"));
        }
        if !extend_value.array()?.is_empty() {
            return Err(extend_value.mismatch("an empty array, which it always is"));
        }
    }
    let predicate = condition::predicate(condition, object, interpretation)?;
    match column {
        "audience_type" => limited(&condition.member("value")?, &AUDIENCE_TYPES)?,
        "code_status" => limited(&condition.member("value")?, &STATUSES)?,
        _ => {}
    }
    Ok(predicate)
}

/// Checks that section 8 has the values.
fn limited(value: &BodyValue<'_>, allowed: &[(&str, i64)]) -> Result<(), Refusal> {
    for element in value.elements()? {
        if !allowed.iter().any(|(_, number)| element.integer().is_ok_and(|given| given == *number)) {
            return Err(element.mismatch(&format!("allowed; allowed are {}", listed(allowed))));
        }
    }
    Ok(())
}
