//! What makes the query of a scan, in the words of its arguments: everything but its days.

use serde_json::{Value, json};

use crate::contract::codes::POSITIONS;
use crate::contract::condition::{CONDITION_TYPE, Condition, DATETIME, NUMBER, STRING, TIME_UNIT, VALUE_TYPE};
use crate::folder::{Query, digest};
use crate::scan::Scan;
use crate::time::Moment;

/// The field with the zone of the times in records, where that is not UTC.
pub(super) const SOURCE_TIMEZONE: &str = "source_timezone";
/// The field with the address of the service, or the name of the sandbox.
pub(super) const SERVICE: &str = "service";
/// The field of rows of a sandbox.
pub(super) const SYNTHETIC: &str = "synthetic";
/// The field with the zone of the times in the files, where they have one.
pub(super) const TZ: &str = "tz";

/// How the parts of a folder are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// By the day that they are for.
    Days,
    /// By their number.
    Flat,
}

impl Scan {
    /// The query of a folder that this scan may use. The token is not part of it, and no value that may be personal.
    pub(super) fn query(&self, layout: Layout) -> Query {
        let body = &self.plan.template().body;
        let mut query = Query::default();
        query.add("item type", &format!("{} ({})", body.item_type_name, body.item_type_id));
        // As they are sent: an array or a string.
        query.add("attrs", &json!(body.attrs).to_string());
        let mut filters = if self.chosen.len() == self.plan.requests() {
            self.plan.filters()
        } else {
            // Of a task: with a part of a list, its query is another one than that of its scan.
            self.plan.search(self.chosen.start).body.filters.clone()
        };
        match self.by_day.filter(|_| layout == Layout::Days) {
            Some(position) => {
                query.add("layout", "days");
                query.add("timezone", self.calendar.zone.name());
                if let Some(group) = filters.or.first_mut().filter(|group| position < group.and.len()) {
                    let condition = group.and.remove(position);
                    query.add("days", &format!("of {}{}", condition.column, unusual(&condition)));
                }
            }
            None => query.add("layout", "flat"),
        }
        if !self.source_zone().is_utc() {
            query.add(SOURCE_TIMEZONE, self.source_zone().name());
        }
        if let Some(zone) = self.result_zone() {
            query.add(TZ, zone.name());
        }
        match filters.or.as_slice() {
            [group] => group.and.iter().for_each(|condition| query.add(&condition.column, &text(condition))),
            groups => {
                let json = json!(groups).to_string();
                query.add("where", &format!("{} groups ({})", groups.len(), digest(&json)));
            }
        }
        query
    }
}

/// A condition in words. Values that may be personal are shown by a digest.
fn text(condition: &Condition) -> String {
    let Condition { column, data_type, operator, value, time_unit, kind, .. } = condition;
    let values = match value {
        Value::Number(_) if data_type == DATETIME => {
            value.as_i64().map_or_else(|| value.to_string(), |sent| Moment::at(sent).to_string())
        }
        Value::Array(values) if data_type == DATETIME => {
            let days = |value: &Value| Some(Moment::at(value.as_i64()?).to_string());
            match (values.first().and_then(days), values.last().and_then(days)) {
                (Some(first), Some(last)) => format!("{} days from {first} to {last}", values.len()),
                _ => value.to_string(),
            }
        }
        // The status of a promotion code, and the kind of its holder.
        _ if kind.is_some()
            && POSITIONS.contains(&column.as_str())
            && value.as_array().is_some_and(|values| values.iter().all(Value::is_number)) =>
        {
            value.to_string()
        }
        Value::Array(values) => format!("{} values ({})", values.len(), digest(&value.to_string())),
        _ => format!("a value ({})", digest(&value.to_string())),
    };
    let compared = match time_unit.as_deref() {
        Some(unit) if unit != TIME_UNIT => format!("{operator} {unit} of {values}"),
        _ => format!("{operator} {values}"),
    };
    format!("{compared}{}", unusual(condition))
}

/// The types of a condition that are neither the specified ones nor follow from its values.
fn unusual(condition: &Condition) -> String {
    let Condition { data_type, value, value_type, condition_type, .. } = condition;
    let is_of = |is_type: fn(&Value) -> bool| value.as_array().is_none_or(|values| values.iter().all(is_type));
    let is_usual = match data_type.as_str() {
        STRING => is_of(Value::is_string),
        NUMBER => is_of(Value::is_number),
        other => other == DATETIME,
    };
    let types = [
        ("data_type", Some(data_type).filter(|_| !is_usual)),
        ("value_type", value_type.as_ref().filter(|given| *given != VALUE_TYPE)),
        ("condition_type", condition_type.as_ref().filter(|given| *given != CONDITION_TYPE)),
    ];
    types.iter().filter_map(|(name, given)| Some(format!(", {name} {}", given.as_ref()?))).collect()
}
