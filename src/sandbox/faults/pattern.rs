//! What the body of a request must contain for a fault to match it.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use axum::http::{HeaderMap, HeaderValue, header};
use jiff::civil::Date;
use memchr::memmem;
use serde_json::Value;

use crate::sandbox::days::Day;
use crate::sandbox::query::Comparison;
use crate::sandbox::request::{Interpretation, comparison};

/// What the body of a request must contain. Everything that is given must hold; what is none matches every body.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::sandbox) struct BodyPattern {
    /// `itemTypeId` of a search.
    pub item_type_id: Option<i64>,
    /// `itemTypeName` of a search.
    pub item_type_name: Option<String>,
    /// `exportId` of a download.
    pub export_id: Option<i64>,
    /// The column of a condition, to which `value` and `day` apply then.
    pub column: Option<String>,
    /// The value of a condition, or one of its values.
    pub value: Option<Value>,
    /// A day, in the zone of days, whose rows the conditions of one column do not exclude.
    pub day: Option<Date>,
    /// Text of the body as it was sent.
    pub contains: Option<String>,
}

/// A request, as faults match it.
pub(in crate::sandbox) struct Received<'a> {
    pub(in crate::sandbox) path: &'a str,
    pub(in crate::sandbox) headers: &'a HeaderMap,
    pub(in crate::sandbox) body: &'a [u8],
    pub(in crate::sandbox) interpretation: &'a Interpretation,
    /// The body as JSON, parsed once for all faults.
    json: OnceCell<Option<Value>>,
}

impl<'a> Received<'a> {
    pub(in crate::sandbox) fn new(
        path: &'a str,
        headers: &'a HeaderMap,
        body: &'a [u8],
        interpretation: &'a Interpretation,
    ) -> Self {
        Self { path, headers, body, interpretation, json: OnceCell::new() }
    }

    /// The value of `Authorization`.
    pub(super) fn authorization(&self) -> Option<&[u8]> {
        self.headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes)
    }

    fn json(&self) -> Option<&Value> {
        self.json.get_or_init(|| serde_json::from_slice(self.body).ok()).as_ref()
    }
}

impl BodyPattern {
    /// Whether a request has all that the pattern names.
    pub(super) fn matches(&self, received: &Received<'_>) -> bool {
        let has_text = |text: &String| memmem::find(received.body, text.as_bytes()).is_some();
        let is_text_only = *self == Self { contains: self.contains.clone(), ..Self::default() };
        self.contains.as_ref().is_none_or(has_text)
            && (is_text_only || received.json().is_some_and(|body| self.matches_json(body, received.interpretation)))
    }

    fn matches_json(&self, body: &Value, interpretation: &Interpretation) -> bool {
        let is = |name: &str, wanted: Option<Value>| wanted.is_none_or(|wanted| body.get(name) == Some(&wanted));
        is("itemTypeId", self.item_type_id.map(Value::from))
            && is("itemTypeName", self.item_type_name.clone().map(Value::from))
            && is("exportId", self.export_id.map(Value::from))
            && self.matches_conditions(body, interpretation)
    }

    /// Whether one group of conditions has the column, the value and the day.
    fn matches_conditions(&self, body: &Value, interpretation: &Interpretation) -> bool {
        if self.column.is_none() && self.value.is_none() && self.day.is_none() {
            return true;
        }
        let Some(groups) = body.pointer("/filters/OR").and_then(Value::as_array) else { return false };
        groups.iter().filter_map(|group| group.get("AND")?.as_array()).any(|group| {
            let column = |condition: &Value| Some(condition.get("column")?.as_str()?.to_owned());
            let of_column: Vec<(String, &Value)> = group
                .iter()
                .filter_map(|condition| Some((column(condition)?, condition)))
                .filter(|(name, _)| self.column.as_ref().is_none_or(|wanted| wanted == name))
                .collect();
            !of_column.is_empty()
                && self.value.as_ref().is_none_or(|value| of_column.iter().any(|(_, each)| has_value(each, value)))
                && self.day.is_none_or(|day| includes(&of_column, day, interpretation))
        })
    }
}

/// Whether a condition has the value, alone or in its list.
fn has_value(condition: &Value, wanted: &Value) -> bool {
    match condition.get("value") {
        Some(Value::Array(values)) => values.contains(wanted),
        value => value == Some(wanted),
    }
}

/// Whether the datetime conditions of one column, taken together, include a time of the day.
fn includes(conditions: &[(String, &Value)], day: Date, interpretation: &Interpretation) -> bool {
    let Some(day) = Day::of_date(day, &interpretation.zones) else { return false };
    let mut spans: BTreeMap<&str, (String, String)> = BTreeMap::new();
    for (column, condition) in conditions {
        let Some(comparison) = comparison(condition, interpretation) else { continue };
        let (start, end) = spans.entry(column).or_insert_with(|| (day.start.clone(), day.end.clone()));
        let (from, before) = match comparison {
            Comparison::Within(from, before) => (from, before),
            Comparison::Among(_) => (None, Some(String::new())),
        };
        *start = from.into_iter().fold(std::mem::take(start), String::max);
        *end = before.into_iter().fold(std::mem::take(end), String::min);
    }
    spans.values().any(|(start, end)| start < end)
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use serde_json::json;

    use super::*;
    use crate::sandbox::days::Zones;
    use crate::sandbox::faults::Fault;
    use crate::sandbox::switches::{DayComparison, Switches};

    /// Whether a fault with this `where` matches a body, with days of Ho Chi Minh City.
    fn matches_with(pattern: &Value, body: &Value, day_comparison: DayComparison) -> bool {
        let fault: Fault = serde_json::from_value(json!({"kind": "reset", "where": pattern})).unwrap();
        let zones = Zones { days: TimeZone::get("Asia/Ho_Chi_Minh").unwrap(), records: TimeZone::UTC };
        let switches = Switches { day_comparison, ..Switches::default() };
        let (headers, body) = (HeaderMap::new(), body.to_string());
        let interpretation = Interpretation { switches, zones };
        fault.pattern.matches(&Received::new("/", &headers, body.as_bytes(), &interpretation))
    }

    fn matches(pattern: &Value, body: &Value) -> bool {
        matches_with(pattern, body, DayComparison::Exclusive)
    }

    fn time(column: &str, operator: &str, time: &str) -> Value {
        let milliseconds = time.parse::<jiff::Timestamp>().unwrap().as_millisecond();
        json!({"column": column, "data_type": "datetime", "operator": operator, "value": milliseconds})
    }

    fn search(conditions: &[Value]) -> Value {
        json!({"itemTypeId": -1003, "itemTypeName": "customer", "attrs": ["id"], "filters": {"OR": [{"AND": conditions}]}})
    }

    #[test]
    fn a_day_is_of_the_zone_of_days() {
        // 18:00 in UTC is the next day in Ho Chi Minh City.
        let body = search(&[time("opened", "equals", "2024-01-14T18:00:00Z")]);
        assert!(matches(&json!({"day": "2024-01-15"}), &body));
        assert!(!matches(&json!({"day": "2024-01-14"}), &body));
        assert!(matches(&json!({"day": "2024-01-15", "column": "opened"}), &body));
        assert!(!matches(&json!({"day": "2024-01-15", "column": "closed"}), &body));
    }

    #[test]
    fn a_day_is_in_the_range_of_a_column_as_the_service_reads_it() {
        let days = |body: &Value, comparison| {
            let is_in = |day: &i32| matches_with(&json!({"day": format!("2024-01-{day}")}), body, comparison);
            (12..=18).filter(is_in).collect::<Vec<_>>()
        };
        let range =
            [time("t", "after_date", "2024-01-14T16:59:59.999Z"), time("t", "before_date", "2024-01-15T17:00:00Z")];
        let body = search(&range);
        assert_eq!(days(&body, DayComparison::Exclusive), [15]);
        assert_eq!(days(&body, DayComparison::Inclusive), [14, 15, 16]);
        assert_eq!(days(&body, DayComparison::Instants), [15]);
        assert_eq!(days(&search(&range[..1]), DayComparison::Exclusive), [15, 16, 17, 18]);
        // Of two columns each has its own range.
        let body = search(&[time("t", "equals", "2024-01-13T00:00:00Z"), time("u", "equals", "2024-01-17T00:00:00Z")]);
        assert_eq!(days(&body, DayComparison::Exclusive), [13, 17]);
        assert!(days(&search(&[]), DayComparison::Exclusive).is_empty());
    }

    #[test]
    fn values_are_found_alone_and_in_lists() {
        let status = json!({"column": "code_status", "data_type": "number", "operator": "matches", "value": [2, 3]});
        let body = search(&[status, time("t", "equals", "2024-01-13T00:00:00Z")]);
        assert!(matches(&json!({"column": "code_status", "value": 3}), &body));
        assert!(matches(&json!({"value": 3}), &body));
        assert!(matches(&json!({"column": "t"}), &body));
        for other in [json!({"column": "code_status", "value": 4}), json!({"column": "t", "value": 3})] {
            assert!(!matches(&other, &body), "{other}");
        }
    }

    #[test]
    fn everything_that_is_given_must_hold() {
        let body = search(&[]);
        assert!(matches(&json!({}), &body));
        assert!(matches(
            &json!({"item_type_name": "customer", "item_type_id": -1003, "contains": "\"attrs\":[\"id\"]"}),
            &body
        ));
        assert!(!matches(&json!({"item_type_name": "customer", "contains": "name]"}), &body));
        assert!(!matches(&json!({"item_type_name": "store", "contains": "attrs"}), &body));
        assert!(matches(&json!({"export_id": 5}), &json!({"scope": "download", "exportId": 5})));
        assert!(!matches(&json!({"export_id": 5}), &body));
        assert!(!matches(&json!({"export_id": 5}), &json!("5")));
    }
}
