//! The body of a search: the shapes of sections 4.1 and 4.2, the condition of 2.4, and the limits of section 8.

use std::num::NonZeroU64;

use axum::http::StatusCode;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Interpretation, MAX_QUOTED, Object, constant, given, instead, integer, mismatch, read, refused, whole};
use crate::contract::business_object::PROMOTION_CODE_ID;
use crate::contract::codes::{self, AUDIENCE_TYPES, OR_GROUPS, POSITIONS, REQUIRED_COLUMN, STATUSES};
use crate::contract::condition::{
    AFTER_DATE, BEFORE_DATE, CODE_CONDITION_TYPE, CONDITION_TYPE, DATETIME, EQUALS, MATCHES, TIME_UNIT, VALUE_TYPE,
};
use crate::error::excerpt;
use crate::sandbox::days::{self, Day};
use crate::sandbox::objects::{Attribute, AttributeKind, BusinessObject, listed};
use crate::sandbox::query::{Comparison, Predicate, Query};
use crate::sandbox::reply::Refusal;
use crate::sandbox::switches::{
    AttrsFormat, DayComparison, DayEquals, GenericCodes, Member, Undocumented, UnknownAttribute,
};

/// Most conditions of one search.
pub(in crate::sandbox) const MAX_CONDITIONS: usize = 10_000;
/// Most values of all conditions of one search together.
const MAX_VALUES: usize = 100_000;
/// The times that are milliseconds of early 1970, or seconds since 1973.
const MAYBE_SECONDS: std::ops::Range<i64> = 100_000_000..10_000_000_000;
/// What a time must be that has no day.
const CALENDAR: &str = "a time in the years 1 to 9999";

/// The object that a search names, read before the rest: it decides on the scope and the rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::sandbox) struct Target {
    #[serde(rename = "itemTypeId", deserialize_with = "integer")]
    id: i64,
    #[serde(rename = "itemTypeName")]
    name: String,
    #[serde(rename = "attrs", default)]
    _attrs: IgnoredAny,
    #[serde(rename = "filters", default)]
    _filters: IgnoredAny,
}

/// The body of a search.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    #[serde(rename = "itemTypeId")]
    _id: IgnoredAny,
    #[serde(rename = "itemTypeName")]
    _name: IgnoredAny,
    attrs: Value,
    filters: Object<Filters>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Filters {
    #[serde(rename = "OR")]
    or: Vec<Object<Group>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    #[serde(rename = "AND")]
    and: Vec<Object<SearchCondition>>,
}

/// A condition (section 2.4) with the members of both shapes; [`SearchCondition::check_members`] has their rules.
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
    time_unit: Option<String>,
    #[serde(default, deserialize_with = "given")]
    value_type: Option<String>,
    #[serde(default, deserialize_with = "given")]
    condition_type: Option<String>,
}

impl Target {
    /// Reads `itemTypeId` and `itemTypeName`.
    pub(in crate::sandbox) fn read(body: &[u8]) -> Result<Self, Refusal> {
        read(body)
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
    pub(in crate::sandbox) fn unknown<'a>(&self, known: impl IntoIterator<Item = &'a BusinessObject>) -> Refusal {
        let near = known.into_iter().find(|object| self.id == object.id || self.name == object.name);
        let hint = near.map(|object| format!("; `{}` has the id {}", excerpt(&object.name, MAX_QUOTED), object.id));
        let (id, name, hint) = (self.id, excerpt(&self.name, MAX_QUOTED), hint.unwrap_or_default());
        let problem = format!("itemTypeId: there is no object with id {id} and itemTypeName `{name}`{hint}");
        Refusal::Problem(StatusCode::NOT_FOUND, problem)
    }
}

/// Reads `attrs` and `filters` of a search of this object.
pub(in crate::sandbox) fn query(
    body: &[u8],
    object: &BusinessObject,
    interpretation: &Interpretation,
) -> Result<Query, Refusal> {
    let Search { attrs, filters: Object(Filters { or }), .. } = read(body)?;
    let switches = &interpretation.switches;
    let has_generic_shape =
        |condition: &SearchCondition| condition.condition_type.is_some() && condition.kind.is_none();
    let is_codes = object.id == PROMOTION_CODE_ID
        && !(switches.generic_codes == GenericCodes::Accepted && conditions(&or).all(has_generic_shape));
    // Rule 2 of section 4.2 allows the array only.
    let form = if is_codes { AttrsFormat::Array } else { switches.attrs_format };
    let attributes = attributes(&attrs, object, form, switches.unknown_attribute)?;
    if or.iter().map(|Object(group)| group.and.len().max(1)).sum::<usize>() > MAX_CONDITIONS {
        return Err(refused("filters.OR", &format!("more than {MAX_CONDITIONS} conditions")));
    }
    if conditions(&or).filter_map(|condition| condition.value.as_array()).map(Vec::len).sum::<usize>() > MAX_VALUES {
        return Err(refused("filters.OR", &format!("more than {MAX_VALUES} values")));
    }
    let is_empty = is_codes && check_positions(&or)?;
    let mut groups = Vec::with_capacity(or.len());
    for (place, Object(group)) in or.into_iter().enumerate() {
        let numbered = group.and.into_iter().enumerate();
        let predicates = numbered.map(|(number, Object(condition))| {
            let at = format!("filters.OR[{place}].AND[{number}]");
            condition.check_members(&at, is_codes, interpretation)?;
            condition.predicate(&at, object, interpretation)
        });
        groups.push(predicates.collect::<Result<_, _>>()?);
    }
    if is_empty {
        groups.clear();
    }
    Ok(Query { attributes, groups, order: switches.row_order, limit: switches.maximum_rows.map(NonZeroU64::get) })
}

fn conditions(or: &[Object<Group>]) -> impl Iterator<Item = &SearchCondition> {
    or.iter().flat_map(|Object(group)| &group.and).map(|Object(condition)| condition)
}

/// Section 4.1 calls `attrs` both an array of strings and a string.
fn attributes(
    attrs: &Value,
    object: &BusinessObject,
    form: AttrsFormat,
    unknown: UnknownAttribute,
) -> Result<Vec<usize>, Refusal> {
    let names: Vec<&str> = match (attrs, form) {
        (Value::String(names), AttrsFormat::Both | AttrsFormat::String) => {
            names.split(',').map(|name| name.trim_matches(' ')).collect()
        }
        (Value::Array(names), AttrsFormat::Both | AttrsFormat::Array) => {
            let text = |(index, name): (usize, &'_ Value)| mismatch(&format!("attrs[{index}]"), name, "a string");
            let names = names.iter().enumerate();
            names.map(|each| each.1.as_str().ok_or_else(|| text(each))).collect::<Result<_, _>>()?
        }
        (_, AttrsFormat::String) => {
            return Err(mismatch("attrs", attrs, "a comma-separated string of attribute names"));
        }
        (_, AttrsFormat::Both | AttrsFormat::Array) => {
            return Err(mismatch("attrs", attrs, "an array of attribute names"));
        }
    };
    if names.is_empty() {
        return Err(refused("attrs", "no attribute is named"));
    }
    let mut indexes = Vec::with_capacity(names.len());
    for name in names {
        match object.attribute(name) {
            Some((index, _)) if indexes.contains(&index) => {
                return Err(refused("attrs", &format!("`{name}` is named twice")));
            }
            Some((index, _)) => indexes.push(index),
            None if unknown == UnknownAttribute::Ignored => {}
            None => return Err(unknown_attribute("attrs", name, object)),
        }
    }
    Ok(indexes)
}

fn unknown_attribute(path: &str, name: &str, object: &BusinessObject) -> Refusal {
    let hint = instead(name, object.attributes.iter().map(|attribute| attribute.name.as_str()));
    refused(path, &format!("`{}` has no attribute `{}`{hint}", object.name, excerpt(name, MAX_QUOTED)))
}

/// Checks the positions of a promotion code search (section 4.2, rules 3 and 4). Returns whether its result is empty.
fn check_positions(or: &[Object<Group>]) -> Result<bool, Refusal> {
    let [Object(Group { and })] = or else {
        let problem = format!("a promotion code search has exactly {OR_GROUPS} element, not {}", or.len());
        return Err(refused("filters.OR", &problem));
    };
    let (path, count, most) = ("filters.OR[0].AND", and.len(), codes::MAX_CONDITIONS);
    if count > most {
        return Err(refused(path, &format!("{count} conditions; a promotion code search has at most {most}")));
    }
    let position = |name: &str| POSITIONS.iter().position(|column| *column == name);
    let mut last: Option<&str> = None;
    for (number, name) in conditions(or).map(|condition| condition.column.as_str()).enumerate() {
        let path = format!("{path}[{number}].column");
        if position(name).is_none() {
            let expected = format!("a column of a promotion code filter{}", instead(name, POSITIONS));
            return Err(mismatch(&path, &name, &expected));
        }
        if let Some(last) = last.filter(|last| position(last) >= position(name)) {
            let order = POSITIONS.join(", ");
            let problem =
                format!("`{name}` comes after `{last}`; each column comes at most once, in the order {order}");
            return Err(refused(&path, &problem));
        }
        last = Some(name);
    }
    let has = |column: &str| conditions(or).any(|condition| condition.column == column);
    if !has(REQUIRED_COLUMN) {
        return Err(refused(path, &format!("the condition on `{REQUIRED_COLUMN}` is required")));
    }
    let [audience_type, allocated_audience, ..] = POSITIONS;
    Ok(has(audience_type) && !has(allocated_audience))
}

impl SearchCondition {
    /// Checks the members whose rules the shape decides: of section 4.2 for promotion codes, else of 4.1.
    fn check_members(&self, at: &str, is_codes: bool, interpretation: &Interpretation) -> Result<(), Refusal> {
        let switches = &interpretation.switches;
        let is_time = is_codes && self.column == REQUIRED_COLUMN;
        let of_codes = |rule| if is_codes { rule } else { Member::Refused };
        let shared = |of_codes| if is_codes { of_codes } else { Member::Required };
        let time_unit = if is_time { Member::Required } else { Member::Optional };
        for (name, is_given, rule) in [
            ("type", self.kind.is_some(), of_codes(Member::Required)),
            ("extendValue", self.extend_value.is_some(), of_codes(Member::Optional)),
            ("value_type", self.value_type.is_some(), shared(switches.value_type)),
            ("condition_type", self.condition_type.is_some(), shared(switches.code_condition_type)),
            ("time_unit", self.time_unit.is_some(), time_unit),
        ] {
            match rule {
                Member::Required if !is_given => return Err(refused(at, &format!("`{name}` is required"))),
                Member::Refused if is_given => {
                    let shape = if is_codes { "promotion codes" } else { "the generic search" };
                    return Err(refused(at, &format!("`{name}` is not known here: no condition of {shape} has it")));
                }
                _ => {}
            }
        }
        let number = |value: &Value| value.as_number().and_then(whole);
        if let Some(kind) = self.kind.as_ref().filter(|kind| number(kind) != Some(CODE_CONDITION_TYPE)) {
            return Err(mismatch(&format!("{at}.type"), kind, &format!("{CODE_CONDITION_TYPE}, which it always is")));
        }
        for (name, given, expected) in
            [("value_type", &self.value_type, VALUE_TYPE), ("condition_type", &self.condition_type, CONDITION_TYPE)]
        {
            given.as_ref().map_or(Ok(()), |given| constant(&format!("{at}.{name}"), given, expected))?;
        }
        if let Some(extend_value) = &self.extend_value {
            let path = format!("{at}.extendValue");
            if is_time {
                return Err(refused(&path, "it belongs to string and number conditions"));
            }
            if extend_value.as_array().is_none_or(|values| !values.is_empty()) {
                return Err(mismatch(&path, extend_value, "an empty array, which it always is"));
            }
        }
        let allowed: &[_] = match self.column.as_str() {
            "audience_type" if is_codes => &AUDIENCE_TYPES,
            "code_status" if is_codes => &STATUSES,
            _ => return Ok(()),
        };
        let is_allowed = |value: &Value| allowed.iter().any(|(_, known)| number(value) == Some(*known));
        match self.value.as_array().into_iter().flatten().enumerate().find(|(_, value)| !is_allowed(value)) {
            None => Ok(()),
            Some((index, value)) => {
                let expected = format!("allowed; allowed are {}", listed(allowed));
                Err(mismatch(&format!("{at}.value[{index}]"), value, &expected))
            }
        }
    }

    /// The members of both shapes: column, data type, operator and value.
    fn predicate(
        self,
        at: &str,
        object: &BusinessObject,
        interpretation: &Interpretation,
    ) -> Result<Predicate, Refusal> {
        let path = format!("{at}.column");
        let (attribute, Attribute { name, kind }) =
            object.attribute(&self.column).ok_or_else(|| unknown_attribute(&path, &self.column, object))?;
        let data_type = kind.data_type();
        if !kind.has_conditions() {
            return Err(refused(&path, &format!("`{name}` is a {data_type}: no condition on one is documented")));
        }
        if self.data_type != data_type {
            let expected = format!("`{data_type}`, which `{name}` is");
            return Err(mismatch(&format!("{at}.data_type"), &self.data_type, &expected));
        }
        let comparison = match (kind, &self.time_unit) {
            (AttributeKind::Datetime, _) => self.on_time(at, interpretation)?,
            (_, Some(_)) => return Err(refused(&format!("{at}.time_unit"), "a time unit is for datetime conditions")),
            (_, None) => self.among(at, *kind, interpretation)?,
        };
        Ok(Predicate { attribute, comparison })
    }

    /// A condition on a time. Where a switch accepts what is not documented, it matches nothing.
    fn on_time(&self, at: &str, interpretation: &Interpretation) -> Result<Comparison, Refusal> {
        let switches = &interpretation.switches;
        let comparison = day(at, &self.operator, &self.value, interpretation)?;
        let time = self.value.as_number().and_then(whole).filter(|time| MAYBE_SECONDS.contains(time));
        let unit = self.time_unit.as_deref().filter(|unit| *unit != TIME_UNIT);
        if let (Some(seconds), Undocumented::Refused) = (time, switches.seconds) {
            let milliseconds = seconds * 1_000;
            let expected =
                format!("a time in milliseconds; its magnitude indicates seconds; did you mean {milliseconds}?");
            return Err(mismatch(&format!("{at}.value"), &seconds, &expected));
        }
        if let (Some(unit), Undocumented::Refused) = (unit, switches.time_unit) {
            constant(&format!("{at}.time_unit"), unit, TIME_UNIT)?;
        }
        Ok(if time.is_some() || unit.is_some() { Comparison::Among(Vec::new()) } else { comparison })
    }

    /// A condition on strings or numbers compares with the elements of an array.
    fn among(self, at: &str, kind: AttributeKind, interpretation: &Interpretation) -> Result<Comparison, Refusal> {
        let path = format!("{at}.value");
        let Value::Array(values) = self.value else { return Err(mismatch(&path, &self.value, "an array")) };
        let fits = |value: &Value| if kind == AttributeKind::Number { value.is_number() } else { value.is_string() };
        if let Some((index, value)) = values.iter().enumerate().find(|(_, value)| !fits(value)) {
            return Err(mismatch(&format!("{path}[{index}]"), value, &format!("a {}", kind.data_type())));
        }
        match self.operator.as_str() {
            EQUALS if values.len() != 1 => {
                Err(refused(&path, &format!("{EQUALS} compares with exactly one value; {MATCHES} takes several")))
            }
            MATCHES | EQUALS => Ok(Comparison::among(values)),
            other => undocumented(at, other, kind.data_type(), &[MATCHES, EQUALS], interpretation),
        }
    }
}

/// A condition on a time compares days; a switch decides whether `before` and `after` include the value's day, or
/// compare instants.
fn day(at: &str, operator: &str, value: &Value, interpretation: &Interpretation) -> Result<Comparison, Refusal> {
    let path = format!("{at}.value");
    // A bare number, not an array (section 2.4).
    let milliseconds = value.as_number().and_then(whole);
    let milliseconds = milliseconds.ok_or_else(|| mismatch(&path, value, "a bare integer of Unix milliseconds"))?;
    let day = Day::of(milliseconds, &interpretation.zones).ok_or_else(|| mismatch(&path, value, CALENDAR))?;
    // Records have whole seconds.
    let second = |seconds| {
        days::of_seconds(seconds, &interpretation.zones).map(Some).ok_or_else(|| mismatch(&path, value, CALENDAR))
    };
    let first = -(-milliseconds).div_euclid(1_000);
    let compared = interpretation.switches.day_comparison;
    let (from, until) = match (operator, compared) {
        (EQUALS, _) if interpretation.switches.day_equals == DayEquals::Window => {
            (second(first)?, second(first + 24 * 3_600)?)
        }
        (EQUALS, _) => (Some(day.start), Some(day.end)),
        (BEFORE_DATE, DayComparison::Exclusive) => (None, Some(day.start)),
        (BEFORE_DATE, DayComparison::Inclusive) => (None, Some(day.end)),
        (BEFORE_DATE, DayComparison::Instants) => (None, second(first)?),
        (AFTER_DATE, DayComparison::Exclusive) => (Some(day.end), None),
        (AFTER_DATE, DayComparison::Inclusive) => (Some(day.start), None),
        (AFTER_DATE, DayComparison::Instants) => (second(milliseconds.div_euclid(1_000) + 1)?, None),
        _ => return undocumented(at, operator, DATETIME, &[BEFORE_DATE, EQUALS, AFTER_DATE], interpretation),
    };
    Ok(Comparison::Within(from, until))
}

/// The comparison of an operator that is not among the documented ones.
fn undocumented(
    at: &str,
    operator: &str,
    data_type: &str,
    documented: &[&str],
    interpretation: &Interpretation,
) -> Result<Comparison, Refusal> {
    if interpretation.switches.operators == Undocumented::Unmatched {
        return Ok(Comparison::Among(Vec::new()));
    }
    let expected = format!("an operator of a {data_type}{}", instead(operator, documented.iter().copied()));
    Err(mismatch(&format!("{at}.operator"), &operator, &expected))
}
