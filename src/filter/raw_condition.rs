//! A condition that a caller wrote as the document does (section 2.4): its fields, before they are read.
//!
//! Nothing is dropped silently: a field is taken, or told as a problem.

use super::input::{ColumnCondition, Comparison, InputValue, Method};
use super::nearest::did_you_mean;
use super::problems::{Place, Problems};
use super::values;
use super::where_clause::{ParsedCondition, RawFields};
use crate::contract::condition::{CODE_CONDITION_TYPE, CONDITION_TYPE, DATETIME, VALUE_TYPE};

/// Fields that every condition has.
const COMMON: [&str; 5] = ["column", "data_type", "operator", "value", "time_unit"];
/// Fields of a promotion code search alone.
const OF_CODES: [&str; 2] = ["type", "extendValue"];
/// Fields of the generic search alone.
const OF_ITEMS: [&str; 2] = ["value_type", "condition_type"];

/// Tells the fields that every condition has from the others.
pub(super) fn split(mut fields: Vec<(String, InputValue)>, argument: String) -> ParsedCondition {
    let mut take = |name: &str| {
        let place = fields.iter().position(|(field, _)| field == name);
        place.map(|place| fields.remove(place).1).unwrap_or_default()
    };
    let [column, data_type, operator, value, unit] = COMMON.map(&mut take);
    let comparison = Comparison { method: Method::Operator(operator), value, unit, data_type };
    ParsedCondition { condition: ColumnCondition { column, comparison }, raw: Some(RawFields { argument, fields }) }
}

/// Whether the fields that 2.4 requires are there, each told when not.
pub(super) fn is_complete(condition: &ColumnCondition, place: &Place, problems: &mut Problems) -> bool {
    let ColumnCondition { column, comparison } = condition;
    let Method::Operator(operator) = &comparison.method else { return true };
    let required = [column, &comparison.data_type, operator, &comparison.value];
    let mut complete = true;
    for (name, _) in COMMON.into_iter().zip(required).filter(|(_, input)| input.is_null()) {
        complete = false;
        problems.add(&place.field(name), &InputValue::Null, "is required in a condition (section 2.4)");
    }
    let is_datetime = matches!(&comparison.data_type, InputValue::Text(data_type) if data_type == DATETIME);
    if complete && !is_datetime && !matches!(comparison.value, InputValue::List(_)) {
        complete = false;
        let shown = comparison.value.shown();
        problems.add(&place.field("value"), &comparison.value, format!("{shown} is to be an array: write [{shown}]"));
    }
    complete
}

/// Checks the fields that a condition of a promotion code search has beside the common ones; what is left
/// out is filled in by others.
pub(super) fn check_code_fields(
    fields: &[(String, InputValue)],
    is_datetime: bool,
    place: &Place,
    problems: &mut Problems,
) {
    for (name, value) in fields {
        let message = match name.as_str() {
            "type" if *value == InputValue::Integer(CODE_CONDITION_TYPE) => continue,
            "type" => {
                format!("{} is not the type of a condition, which is always {CODE_CONDITION_TYPE}", value.shown())
            }
            "extendValue" if is_datetime => "belongs to string and number conditions: leave it out here".to_owned(),
            "extendValue" if matches!(value, InputValue::List(values) if values.is_empty()) => continue,
            "extendValue" => format!("{} is not an empty array, the one value the document has", value.shown()),
            name => unknown(name, &OF_CODES, &OF_ITEMS, "a generic search"),
        };
        problems.add(&place.field(name), value, message);
    }
}

/// `value_type` and `condition_type` of a generic condition, the document's own where left out.
pub(super) fn item_types(
    fields: &[(String, InputValue)],
    place: &Place,
    problems: &mut Problems,
) -> Option<(String, String)> {
    let (mut value_type, mut condition_type) = (Some(VALUE_TYPE.to_owned()), Some(CONDITION_TYPE.to_owned()));
    let mut good = true;
    for (name, value) in fields {
        match name.as_str() {
            "value_type" => value_type = problems.keep(&place.field(name), value, values::name(value, "a value type")),
            "condition_type" => {
                condition_type = problems.keep(&place.field(name), value, values::name(value, "a condition type"));
            }
            name => {
                good = false;
                let message = unknown(name, &OF_ITEMS, &OF_CODES, "the promotion code search");
                problems.add(&place.field(name), value, message);
            }
        }
    }
    good.then_some((value_type?, condition_type?))
}

fn unknown(name: &str, own: &[&'static str], foreign: &[&'static str], elsewhere: &str) -> String {
    if foreign.contains(&name) {
        return format!("\"{name}\" belongs to {elsewhere}: leave it out here");
    }
    let known = COMMON.iter().chain(own).copied();
    let advice = did_you_mean(name, known.clone());
    let advice =
        if advice.is_empty() { format!("; there are {}", known.collect::<Vec<_>>().join(", ")) } else { advice };
    format!("\"{name}\" is not a field of a condition{advice}")
}
