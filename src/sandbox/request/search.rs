//! The body of a search (section 4.1): object, attributes and conditions.

use std::num::NonZeroU64;

use axum::http::StatusCode;
use serde_json::Value;

use super::body_value::BodyValue;
use super::{Interpretation, codes, condition};
use crate::contract::business_object::PROMOTION_CODE_ID;
use crate::error::excerpt;
use crate::sandbox::objects::BusinessObject;
use crate::sandbox::query::{Predicate, Query};
use crate::sandbox::reply::Refusal;
use crate::sandbox::switches::{AttrsFormat, GenericCodes, UnknownAttribute};

/// Most conditions of one search.
pub(in crate::sandbox) const MAX_CONDITIONS: usize = 10_000;
/// Most values of all conditions of one search together.
const MAX_VALUES: usize = 100_000;

/// The object that a search names.
pub(in crate::sandbox) struct Target<'a> {
    pub(in crate::sandbox) id: i64,
    pub(in crate::sandbox) name: &'a str,
}

impl<'a> Target<'a> {
    /// Reads `itemTypeId` and `itemTypeName`.
    pub(in crate::sandbox) fn read(body: &'a Value) -> Result<Self, Refusal> {
        let body = BodyValue::body(body);
        body.object(&["itemTypeId", "itemTypeName", "attrs", "filters"])?;
        Ok(Self { id: body.member("itemTypeId")?.integer()?, name: body.member("itemTypeName")?.text()? })
    }

    /// Whether the rules of section 4.2 apply.
    pub(in crate::sandbox) fn is_promotion_codes(&self) -> bool {
        self.id == PROMOTION_CODE_ID
    }

    /// Whether id and name belong to the object.
    pub(in crate::sandbox) fn is(&self, object: &BusinessObject) -> bool {
        self.id == object.id && self.name == object.name
    }

    /// The refusal of an unknown object.
    pub(in crate::sandbox) fn unknown(&self) -> Refusal {
        let name = excerpt(self.name, 60);
        let problem = format!("itemTypeId: there is no object with id {} and itemTypeName `{name}`", self.id);
        Refusal::Problem(StatusCode::NOT_FOUND, problem)
    }
}

/// Parses `attrs` and `filters` of a search of this object.
pub(in crate::sandbox) fn query(
    body: &Value,
    object: &BusinessObject,
    interpretation: &Interpretation,
) -> Result<Query, Refusal> {
    let body = BodyValue::body(body);
    let has_rules_of_codes = object.id == PROMOTION_CODE_ID
        && !(interpretation.switches.generic_codes == GenericCodes::Accepted && has_generic_shape(&body));
    // Rule 2 of section 4.2 allows the array only.
    let form = if has_rules_of_codes { AttrsFormat::Array } else { interpretation.switches.attrs_format };
    let attributes = attributes(&body.member("attrs")?, object, form, interpretation.switches.unknown_attribute)?;
    let filters = body.member("filters")?;
    filters.object(&["OR"])?;
    let or = filters.member("OR")?;
    if values(or.array()?) > MAX_VALUES {
        return Err(or.refusal(&format!("more than {MAX_VALUES} values")));
    }
    let groups = if has_rules_of_codes {
        codes::groups(&or, object, interpretation)?
    } else {
        groups(&or, object, interpretation)?
    };
    Ok(Query {
        attributes,
        groups,
        order: interpretation.switches.row_order,
        limit: interpretation.switches.maximum_rows.map(NonZeroU64::get),
    })
}

/// Whether the conditions of a body have the `condition_type` of the generic shape; also a body without conditions.
fn has_generic_shape(body: &BodyValue<'_>) -> bool {
    let groups = body.value.pointer("/filters/OR").and_then(Value::as_array).into_iter().flatten();
    let mut conditions = groups.filter_map(|group| group.get("AND")?.as_array()).flatten();
    conditions.all(|condition| condition.get("condition_type").is_some())
}

/// Section 4.1 calls `attrs` both an array of strings and a string.
fn attributes(
    attrs: &BodyValue<'_>,
    object: &BusinessObject,
    form: AttrsFormat,
    unknown: UnknownAttribute,
) -> Result<Vec<usize>, Refusal> {
    let names: Vec<&str> = match (attrs.value, form) {
        (Value::String(names), AttrsFormat::Both | AttrsFormat::String) => {
            names.split(',').map(|name| name.trim_matches(' ')).collect()
        }
        (Value::Array(_), AttrsFormat::Both | AttrsFormat::Array) => {
            attrs.elements()?.map(|name| name.text()).collect::<Result<_, _>>()?
        }
        (_, AttrsFormat::String) => return Err(attrs.mismatch("a comma-separated string of attribute names")),
        (_, AttrsFormat::Both | AttrsFormat::Array) => return Err(attrs.mismatch("an array of attribute names")),
    };
    if names.is_empty() {
        return Err(attrs.refusal("no attribute is named"));
    }
    let mut indexes = Vec::with_capacity(names.len());
    for name in names {
        let shown = excerpt(name, 60);
        let Some((index, _)) = object.attribute(name) else {
            if unknown == UnknownAttribute::Ignored {
                continue;
            }
            return Err(attrs.refusal(&format!("`{}` has no attribute `{shown}`", object.name)));
        };
        if indexes.contains(&index) {
            return Err(attrs.refusal(&format!("`{shown}` is named twice")));
        }
        indexes.push(index);
    }
    Ok(indexes)
}

/// The number of values of all conditions.
fn values(or: &[Value]) -> usize {
    let conditions = or.iter().filter_map(|group| group.get("AND")?.as_array()).flatten();
    conditions.filter_map(|condition| condition.get("value")?.as_array()).map(Vec::len).sum()
}

/// The groups of a generic search.
fn groups(
    or: &BodyValue<'_>,
    object: &BusinessObject,
    interpretation: &Interpretation,
) -> Result<Vec<Vec<Predicate>>, Refusal> {
    let mut count = 0;
    let mut groups = Vec::with_capacity(or.array()?.len().min(MAX_CONDITIONS));
    for group in or.elements()? {
        group.object(&["AND"])?;
        let and = group.member("AND")?;
        count += and.array()?.len().max(1);
        if count > MAX_CONDITIONS {
            return Err(or.refusal(&format!("more than {MAX_CONDITIONS} conditions")));
        }
        groups.push(
            and.elements()?.map(|each| condition::generic(&each, object, interpretation)).collect::<Result<_, _>>()?,
        );
    }
    Ok(groups)
}
