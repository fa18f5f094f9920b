//! Schemas of the conditions (section 2.4): one for each position of a promotion code search, one for each kind
//! of attribute in a generic one.

use serde_json::{Value, json};

use super::shapes::{closed_object, described, joined};
use crate::contract::codes::{AUDIENCE_TYPES, POSITIONS, STATUSES};
use crate::contract::condition::{
    AFTER_DATE, BEFORE_DATE, CODE_CONDITION_TYPE, CONDITION_TYPE, EQUALS, MATCHES, TIME_UNIT, VALUE_TYPE,
};
use crate::sandbox::days::TIMES;
use crate::sandbox::objects::AttributeKind;

/// Names of the conditions of a promotion code search, in the order of their positions (section 4.2, rule 4).
pub(super) const POSITIONED: [&str; 4] =
    ["AudienceTypeCondition", "AllocatedAudienceCondition", "CodeStatusCondition", "AllocatedTimeCondition"];

/// Names of the conditions on attributes of an object that is not described here.
pub(super) const GENERIC: [&str; 3] = ["TextCondition", "NumberCondition", "DatetimeCondition"];

/// The named schemas of this room.
pub(super) fn schemas() -> Value {
    let [audience_type, allocated_audience, code_status, allocated_time] = POSITIONED;
    let [types, audience, status, time] = POSITIONS;
    let [text, number, datetime] = GENERIC;
    let any = json!({ "type": "string" });
    json!({
        (audience_type): code_condition(types, AttributeKind::Number, &one_of(&AUDIENCE_TYPES)),
        (allocated_audience): code_condition(audience, AttributeKind::Text, &any),
        (code_status): code_condition(status, AttributeKind::Number, &one_of(&STATUSES)),
        (allocated_time): code_time_condition(time),
        (text): generic(AttributeKind::Text, &any),
        (number): generic(AttributeKind::Number, &any),
        (datetime): generic(AttributeKind::Datetime, &any),
    })
}

/// A condition of a generic search on columns of one kind.
pub(super) fn generic(kind: AttributeKind, column: &Value) -> Value {
    let ends = json!({ "value_type": { "const": VALUE_TYPE }, "condition_type": { "const": CONDITION_TYPE } });
    let element = match kind {
        AttributeKind::Text => json!({ "type": "string" }),
        AttributeKind::Number => json!({ "type": "number" }),
        AttributeKind::Datetime => return with(time_condition(column), &ends, &["time_unit"]),
    };
    one_value_when_equal(with(list_condition(kind, column, &element), &ends, &[]))
}

/// A condition of a promotion code search that compares with a list.
fn code_condition(column: &str, kind: AttributeKind, element: &Value) -> Value {
    let ends = json!({
        "type": { "const": CODE_CONDITION_TYPE },
        "extendValue": described("Always empty.", json!({ "type": "array", "maxItems": 0 })),
    });
    let members = list_condition(kind, &json!({ "const": column }), element);
    one_value_when_equal(with(members, &ends, &["extendValue"]))
}

/// The condition of a promotion code search that is always required.
fn code_time_condition(column: &str) -> Value {
    let ends = json!({ "type": { "const": CODE_CONDITION_TYPE } });
    with(time_condition(&json!({ "const": column })), &ends, &[])
}

/// What both shapes of a list condition have.
fn list_condition(kind: AttributeKind, column: &Value, element: &Value) -> Value {
    json!({
        "column": column,
        "data_type": { "const": kind.data_type() },
        "operator": { "enum": [MATCHES, EQUALS] },
        "value": { "type": "array", "items": element },
    })
}

/// What both shapes of a datetime condition have.
fn time_condition(column: &Value) -> Value {
    let about = "Unix milliseconds; the day they fall into is compared.";
    json!({
        "column": column,
        "data_type": { "const": AttributeKind::Datetime.data_type() },
        "operator": { "enum": [BEFORE_DATE, EQUALS, AFTER_DATE] },
        "value": described(about, json!({ "type": "integer", "minimum": TIMES.start(), "maximum": TIMES.end() })),
        "time_unit": { "const": TIME_UNIT },
    })
}

/// The condition of these members and those of its shape.
fn with(members: Value, ends: &Value, optional: &[&str]) -> Value {
    closed_object(&joined([members, ends.clone()]), optional)
}

/// `equals` compares with exactly one value.
fn one_value_when_equal(condition: Value) -> Value {
    let rule = json!({
        "if": { "properties": { "operator": { "const": EQUALS } } },
        "then": { "properties": { "value": { "minItems": 1, "maxItems": 1 } } },
    });
    joined([condition, rule])
}

/// The values of section 8, with their names.
fn one_of(values: &[(&str, i64)]) -> Value {
    let numbers: Vec<i64> = values.iter().map(|(_, number)| *number).collect();
    let names: Vec<String> = values.iter().map(|(name, number)| format!("{number}: {name}")).collect();
    described(&names.join(", "), json!({ "enum": numbers }))
}
