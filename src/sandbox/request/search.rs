//! The body of a search: the shapes of sections 4.1 and 4.2, the condition of 2.4, and the limits of section 8.

use std::collections::BTreeMap;
use std::ops::Range;

use axum::http::StatusCode;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{JsonObject, MAX_QUOTED, constant, given, instead, integer, mismatch, refused, whole};
use crate::contract::business_object::PROMOTION_CODE_ID;
use crate::contract::codes::{self, OR_GROUPS, POSITIONS, REQUIRED_COLUMN};
use crate::contract::condition::{
    AFTER_DATE, BEFORE_DATE, CODE_CONDITION_TYPE, CONDITION_TYPE, DATETIME, EQUALS, MATCHES, TIME_UNIT, VALUE_TYPE,
};
use crate::error::excerpt;
use crate::sandbox::days;
use crate::sandbox::objects::{Attribute, AttributeKind, BusinessObject, listed};
use crate::sandbox::reply::Refusal;
use crate::sandbox::search::{Comparison, Predicate, Query};
use crate::sandbox::state::Object;
use crate::sandbox::switches::{AttrsFormat, GenericCodes, Member, Switches, Undocumented, Unlisted};

pub(in crate::sandbox) const MAX_CONDITIONS: usize = 10_000;
/// Most values of all conditions of one search together.
const MAX_VALUES: usize = 100_000;
/// The times that are milliseconds of early 1970, or seconds since 1973.
const MAYBE_SECONDS: Range<i64> = 100_000_000..10_000_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::sandbox) struct SearchBody {
    #[serde(rename = "itemTypeId", deserialize_with = "integer")]
    id: i64,
    #[serde(rename = "itemTypeName")]
    name: String,
    attrs: Value,
    filters: JsonObject<Filters>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Filters {
    #[serde(rename = "OR")]
    or: Vec<JsonObject<Group>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    #[serde(rename = "AND")]
    and: Vec<JsonObject<SearchCondition>>,
}

/// A condition (section 2.4) with the members of both shapes; [`Rules::check_members`] has their rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchCondition {
    #[serde(rename = "type", default, deserialize_with = "given")]
    kind: Option<Value>,
    column: String,
    data_type: String,
    operator: String,
    value: Value,
    #[serde(rename = "extendValue", default, deserialize_with = "given")]
    extend_value: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    time_unit: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    value_type: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    condition_type: Option<Value>,
}

impl SearchBody {
    pub(in crate::sandbox) fn is_of_promotion_codes(&self) -> bool {
        self.id == PROMOTION_CODE_ID
    }

    /// Whether, in one group, the conditions on the times of one column hold for a time of this day.
    pub(in crate::sandbox) fn has_day(&self, day: Date, switches: &Switches) -> bool {
        let day = day.to_zoned(switches.day_zone.clone()).ok().and_then(|day| days::of_day(&day));
        let Some(day) = day else { return false };
        self.filters.0.or.iter().any(|JsonObject(group)| {
            let mut columns: BTreeMap<&str, Range<i64>> = BTreeMap::new();
            for JsonObject(condition) in &group.and {
                let milliseconds = condition.value.as_i64().filter(|_| condition.data_type == DATETIME);
                let seconds = milliseconds.and_then(|time| days::seconds(&condition.operator, time, switches));
                let Some(seconds) = seconds else { continue };
                let left = columns.entry(&condition.column).or_insert_with(|| day.clone());
                *left = left.start.max(seconds.start)..left.end.min(seconds.end);
            }
            columns.values().any(|left| !left.is_empty())
        })
    }

    pub(in crate::sandbox) fn object<'a>(&self, known: &'a [Object]) -> Result<&'a Object, Refusal> {
        let Self { id, name, .. } = self;
        let mut near = known.iter().filter(|object| *id == object.declared.id || *name == object.declared.name);
        near.clone().find(|object| *id == object.declared.id && *name == object.declared.name).ok_or_else(|| {
            let hint = near.next().map(|Object { declared, .. }| {
                format!("; `{}` has the id {}", excerpt(&declared.name, MAX_QUOTED), declared.id)
            });
            let (name, hint) = (excerpt(name, MAX_QUOTED), hint.unwrap_or_default());
            let problem = format!("itemTypeId: there is no object with id {id} and itemTypeName `{name}`{hint}");
            Refusal::Problem(StatusCode::NOT_FOUND, problem)
        })
    }

    pub(in crate::sandbox) fn query(self, object: &BusinessObject, switches: &Switches) -> Result<Query, Refusal> {
        let is_promotion_codes = self.is_of_promotion_codes();
        let JsonObject(Filters { or }) = self.filters;
        let conditions = || or.iter().flat_map(|JsonObject(group)| &group.and).map(|JsonObject(condition)| condition);
        let is_generic = |condition: &SearchCondition| condition.condition_type.is_some() && condition.kind.is_none();
        let is_accepted = switches.generic_codes == GenericCodes::Accepted
            && conditions().next().is_some()
            && conditions().all(is_generic);
        let rules = Rules { object, switches, is_codes: is_promotion_codes && !is_accepted };
        let attributes = rules.attributes(self.attrs)?;
        let count: usize = or.iter().map(|JsonObject(group)| group.and.len().max(1)).sum();
        let values: usize = conditions().filter_map(|condition| condition.value.as_array()).map(Vec::len).sum();
        for (count, most, what) in [(count, MAX_CONDITIONS, "conditions"), (values, MAX_VALUES, "values")] {
            if count > most {
                return Err(refused("filters.OR", &format!("more than {most} {what}")));
            }
        }
        let is_empty = rules.is_codes && check_positions(&or)?;
        let mut groups = Vec::with_capacity(or.len());
        for (place, JsonObject(group)) in or.into_iter().enumerate() {
            let numbered = group.and.into_iter().enumerate();
            let predicates = numbered.map(|(number, JsonObject(condition))| {
                rules.predicate(&format!("filters.OR[{place}].AND[{number}]"), condition)
            });
            groups.push(predicates.collect::<Result<_, _>>()?);
        }
        if is_empty {
            groups.clear();
        }
        Ok(Query { attributes, groups })
    }
}

/// Checks rules 3 and 4 of section 4.2. Returns whether the result is empty.
fn check_positions(or: &[JsonObject<Group>]) -> Result<bool, Refusal> {
    let [JsonObject(Group { and })] = or else {
        let problem = format!("a promotion code search has exactly {OR_GROUPS} element, not {}", or.len());
        return Err(refused("filters.OR", &problem));
    };
    let columns: Vec<&str> = and.iter().map(|JsonObject(condition)| condition.column.as_str()).collect();
    let mut positions = POSITIONS.iter();
    for (number, column) in columns.iter().enumerate() {
        if !positions.any(|position| position == column) {
            let expected = if POSITIONS.contains(column) {
                let (most, order) = (codes::MAX_CONDITIONS, POSITIONS.join(", "));
                format!("in its place: at most {most} conditions, each column at most once, in the order {order}")
            } else {
                format!("a column of a promotion code filter{}", instead(column, POSITIONS))
            };
            return Err(mismatch(&format!("filters.OR[0].AND[{number}].column"), column, &expected));
        }
    }
    if !columns.contains(&REQUIRED_COLUMN) {
        return Err(refused("filters.OR[0].AND", &format!("the condition on `{REQUIRED_COLUMN}` is required")));
    }
    let [audience_type, allocated_audience, ..] = POSITIONS;
    Ok(columns.contains(&audience_type) && !columns.contains(&allocated_audience))
}

/// The rules of a search: of section 4.2 if it has the shape of promotion codes, else of 4.1.
struct Rules<'a> {
    object: &'a BusinessObject,
    switches: &'a Switches,
    is_codes: bool,
}

impl Rules<'_> {
    /// Section 4.1 calls `attrs` both an array of strings and a string; rule 2 of section 4.2 allows the array only.
    fn attributes(&self, attrs: Value) -> Result<Vec<usize>, Refusal> {
        let form = if self.is_codes { AttrsFormat::Array } else { self.switches.attrs_format };
        let names = match attrs {
            Value::Array(names) if form != AttrsFormat::String => names,
            Value::String(names) if form != AttrsFormat::Array => {
                names.split(',').map(|name| name.trim_matches(' ').into()).collect()
            }
            _ if form == AttrsFormat::String => {
                return Err(mismatch("attrs", &attrs, "a string of names separated by commas"));
            }
            _ => return Err(mismatch("attrs", &attrs, "an array of attribute names")),
        };
        if names.is_empty() {
            return Err(refused("attrs", "no attribute is named"));
        }
        let mut indexes = Vec::with_capacity(names.len());
        for (place, name) in names.iter().enumerate() {
            let text = name.as_str().ok_or_else(|| mismatch(&format!("attrs[{place}]"), name, "a string"))?;
            match self.attribute("attrs", text) {
                Ok((index, _)) if indexes.contains(&index) => {
                    return Err(refused("attrs", &format!("`{text}` is named twice")));
                }
                Ok((index, _)) => indexes.push(index),
                Err(_) if self.switches.unknown_attribute == Unlisted::Ignored => {}
                Err(unknown) => return Err(unknown),
            }
        }
        Ok(indexes)
    }

    fn attribute(&self, path: &str, name: &str) -> Result<(usize, &Attribute), Refusal> {
        self.object.attribute(name).ok_or_else(|| {
            let hint = instead(name, self.object.attributes.iter().map(|attribute| attribute.name.as_str()));
            refused(path, &format!("`{}` has no attribute `{}`{hint}", self.object.name, excerpt(name, MAX_QUOTED)))
        })
    }

    /// A condition. Where a switch accepts what is not documented, it matches nothing.
    fn predicate(&self, at: &str, condition: SearchCondition) -> Result<Predicate, Refusal> {
        let path = format!("{at}.column");
        let (index, attribute) = self.attribute(&path, &condition.column)?;
        let Attribute { name, kind } = attribute;
        let data_type = kind.data_type();
        if !kind.has_conditions() {
            return Err(refused(&path, &format!("`{name}` is a {data_type}: no condition on one is documented")));
        }
        if condition.data_type != data_type {
            let expected = format!("`{data_type}`, which `{name}` is");
            return Err(mismatch(&format!("{at}.data_type"), &condition.data_type, &expected));
        }
        let is_time = *kind == AttributeKind::Datetime;
        self.check_members(at, &condition, is_time)?;
        let operators: &[_] = if is_time { &[BEFORE_DATE, EQUALS, AFTER_DATE] } else { &[MATCHES, EQUALS] };
        let operator = condition.operator.as_str();
        let has_operator = operators.contains(&operator);
        if !has_operator && self.switches.operators == Undocumented::Refused {
            let expected = format!("an operator of a {data_type}{}", instead(operator, operators.iter().copied()));
            return Err(mismatch(&format!("{at}.operator"), &operator, &expected));
        }
        let path = format!("{at}.value");
        let is_documented = has_operator && condition.time_unit.as_ref().is_none_or(|unit| unit == TIME_UNIT);
        let comparison = if is_time {
            self.within(&path, operator, &condition.value)?
        } else {
            self.among(&path, operator, condition.value, attribute)?
        };
        let comparison = if is_documented { comparison } else { Comparison::Among(Vec::new()) };
        Ok(Predicate { attribute: index, comparison })
    }

    /// Checks the members that have one documented value each.
    fn check_members(&self, at: &str, condition: &SearchCondition, is_time: bool) -> Result<(), Refusal> {
        let switches = self.switches;
        let by_shape = |of_codes, of_items| if self.is_codes { of_codes } else { of_items };
        let extend_value = if is_time { Member::Refused } else { by_shape(Member::Optional, Member::Refused) };
        let value_type = by_shape(switches.value_type, Member::Required);
        let condition_type = by_shape(switches.code_condition_type, Member::Required);
        let time_unit = if is_time { by_shape(Member::Required, Member::Optional) } else { Member::Refused };
        let unit = match (&condition.time_unit, switches.time_unit) {
            (Some(unit @ Value::String(_)), Undocumented::Unmatched) => unit.clone(),
            _ => json!(TIME_UNIT),
        };
        let codes = "conditions of a promotion code search";
        let lists = "string and number conditions of a promotion code search";
        let items = "conditions of a generic search";
        let rules = [
            ("type", &condition.kind, by_shape(Member::Required, Member::Refused), json!(CODE_CONDITION_TYPE), codes),
            ("extendValue", &condition.extend_value, extend_value, json!([]), lists),
            ("value_type", &condition.value_type, value_type, json!(VALUE_TYPE), items),
            ("condition_type", &condition.condition_type, condition_type, json!(CONDITION_TYPE), items),
            ("time_unit", &condition.time_unit, time_unit, unit, "datetime conditions"),
        ];
        for (name, given, rule, only, owners) in rules {
            match (rule, given) {
                (Member::Required, None) => return Err(refused(at, &format!("`{name}` is required"))),
                (Member::Refused, Some(_)) => {
                    return Err(refused(at, &format!("`{name}` is not known here: it belongs to {owners}")));
                }
                (_, Some(given)) => constant(&format!("{at}.{name}"), given, &only)?,
                (_, None) => {}
            }
        }
        Ok(())
    }

    /// A condition on a time compares with a bare number, not an array (section 2.4).
    fn within(&self, path: &str, operator: &str, value: &Value) -> Result<Comparison, Refusal> {
        let time = whole(value).ok_or_else(|| mismatch(path, value, "a bare integer of Unix milliseconds"))?;
        if MAYBE_SECONDS.contains(&time) {
            if self.switches.seconds == Undocumented::Unmatched {
                return Ok(Comparison::Among(Vec::new()));
            }
            let milliseconds = time * 1_000;
            let expected =
                format!("a time in milliseconds; its magnitude indicates seconds; did you mean {milliseconds}?");
            return Err(mismatch(path, value, &expected));
        }
        let times = days::times(operator, time, self.switches);
        let (start, end) = times.ok_or_else(|| mismatch(path, value, "a time in the years 1 to 9999"))?;
        Ok(Comparison::Within(start, end))
    }

    /// A condition on strings or numbers compares with the elements of an array.
    fn among(&self, path: &str, operator: &str, value: Value, attribute: &Attribute) -> Result<Comparison, Refusal> {
        let Value::Array(values) = value else { return Err(mismatch(path, &value, "an array")) };
        let allowed = self.object.allowed_values(attribute).filter(|_| self.is_codes);
        let fits = |value: &Value| match (allowed, attribute.kind) {
            (Some(allowed), _) => allowed.iter().any(|(_, known)| whole(value) == Some(*known)),
            (None, AttributeKind::Number) => value.is_number(),
            (None, _) => value.is_string(),
        };
        if let Some((index, value)) = values.iter().enumerate().find(|(_, value)| !fits(value)) {
            let expected = match allowed {
                Some(allowed) => format!("allowed; allowed are {}", listed(allowed)),
                None => format!("a {}", attribute.kind.data_type()),
            };
            return Err(mismatch(&format!("{path}[{index}]"), value, &expected));
        }
        if operator == EQUALS && values.len() != 1 {
            let problem = format!("{EQUALS} compares with exactly one value; {MATCHES} takes several");
            return Err(refused(path, &problem));
        }
        Ok(Comparison::among(values))
    }
}
