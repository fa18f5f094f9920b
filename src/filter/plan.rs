//! A scan as requests: one for each day of a range, and for each part of a long list of values.
//!
//! No row comes twice: repeated values of a list are dropped, and groups joined by OR, which may overlap, stay one
//! request. Requests are made on demand, so that a plan is small however many there are.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::input::InputValue;
use super::problems::{Place, Problems};
use super::{Search, SearchPart};
use crate::contract::condition::{Condition, MATCHES};
use crate::contract::search::Filters;

/// Requests of one scan.
pub(super) const MAX_REQUESTS: usize = 100_000;
/// The most values of one condition of one request of a scan. The API specification gives no maximum.
pub const VALUES_PER_REQUEST: usize = 990;

/// The requests of one scan, in order: day by day, and within each day the parts of lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    template: Arc<Search>,
    axes: Vec<Axis>,
    /// The requests one by one, of a plan that was made of parts.
    parts: Vec<Search>,
}

/// A condition whose value varies between the requests.
#[derive(Clone, Debug, PartialEq)]
struct Axis {
    position: usize,
    values: Vec<Value>,
}

impl Plan {
    /// The plan of a checked search that sends at most `values_per_request` values of a list in one request. A problem
    /// with the number of requests is reported for `argument`.
    pub(super) fn check(
        search: Option<Search>,
        values_per_request: usize,
        argument: &'static str,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mut search = search?;
        let axes = match search.body.filters.or.as_mut_slice() {
            [group] => axes(&mut group.and, values_per_request),
            _ => Vec::new(),
        };
        refuse_ranges(&search, problems);
        let counts: Vec<usize> = axes.iter().map(|axis| axis.values.len()).collect();
        let requests = counts.iter().try_fold(1_usize, |product, count| product.checked_mul(*count));
        if requests.is_none_or(|requests| requests > MAX_REQUESTS) {
            let counts = counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
            let message =
                format!("the scan needs {counts} requests, more than {MAX_REQUESTS}: request fewer days or values");
            problems.add(&Place::argument(argument, ""), &InputValue::Null, message);
        }
        Some(Self { template: Arc::new(search), axes, parts: Vec::new() })
    }

    /// The plan of some parts of requests of a plan.
    #[must_use]
    pub fn of_parts(plan: &Self, parts: &[SearchPart]) -> Self {
        let parts = parts.iter().map(|part| part.search.clone()).collect();
        Self { template: Arc::clone(&plan.template), axes: Vec::new(), parts }
    }

    /// The number of requests.
    pub fn requests(&self) -> usize {
        if !self.parts.is_empty() {
            return self.parts.len();
        }
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// The request of an index.
    pub fn search(&self, index: usize) -> Arc<Search> {
        if let Some(part) = self.parts.get(index) {
            return Arc::new(part.clone());
        }
        if self.axes.is_empty() {
            return Arc::clone(&self.template);
        }
        let mut search = Search::clone(&self.template);
        for (position, value) in self.values(index) {
            search.body.filters.set_value(position, value.clone());
        }
        Arc::new(search)
    }

    /// The value of a condition of the first group in the request of an index.
    pub fn value(&self, index: usize, position: usize) -> Option<&Value> {
        let search = self.parts.get(index).unwrap_or(&self.template);
        let varying = self.values(index).find(|(varying, _)| *varying == position);
        varying.map(|(_, value)| value).or(Some(&search.body.filters.or.first()?.and.get(position)?.value))
    }

    /// The positions and values of the conditions that vary, in the request of an index.
    fn values(&self, index: usize) -> impl Iterator<Item = (usize, &Value)> {
        let mut rest = index;
        self.axes.iter().rev().filter_map(move |Axis { position, values }| {
            let value = values.get(rest % values.len())?;
            rest /= values.len();
            Some((*position, value))
        })
    }

    /// The conditions of all requests together: each list with all its values.
    pub fn filters(&self) -> Filters {
        let mut filters = self.template.body.filters.clone();
        for Axis { position, values } in &self.axes {
            let parts = values.iter().map(|value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]));
            filters.set_value(*position, parts.flatten().collect());
        }
        filters
    }

    /// What all requests have in common: the business object, the attributes, the limit.
    pub fn template(&self) -> &Search {
        &self.template
    }
}

impl From<Search> for Plan {
    /// One request.
    fn from(search: Search) -> Self {
        Self { template: Arc::new(search), axes: Vec::new(), parts: Vec::new() }
    }
}

/// Takes the values out of the conditions that need several requests. Days come before lists.
fn axes(conditions: &mut [Condition], values_per_request: usize) -> Vec<Axis> {
    let (mut days, mut lists) = (Vec::new(), Vec::new());
    for (position, condition) in conditions.iter_mut().enumerate() {
        let (is_range, is_list) = (condition.is_range(), condition.operator == MATCHES);
        let Value::Array(values) = &mut condition.value else { continue };
        if is_range {
            days.push(Axis { position, values: std::mem::take(values) });
        } else if is_list {
            let mut seen = HashSet::new();
            values.retain(|value| seen.insert(identity(value)));
            if values.len() <= values_per_request {
                continue;
            }
            let values = values.chunks(values_per_request).map(|part| Value::from(part.to_vec())).collect();
            lists.push(Axis { position, values });
        } else {
            continue;
        }
        condition.value = Value::Null;
    }
    days.append(&mut lists);
    days
}

/// A value as a service compares it: 1 and 1.0 are one number, and no number is a string.
fn identity(value: &Value) -> String {
    // Formatted with all digits and no fraction; adding 0.0 turns -0.0 into 0.0.
    let whole = value.as_f64().filter(|number| value.is_f64() && number.fract() == 0.0);
    whole.map_or_else(|| value.to_string(), |number| format!("{:.0}", number + 0.0))
}

/// Refuses ranges of days in groups joined by OR: the groups may overlap, so they stay one request.
fn refuse_ranges(search: &Search, problems: &mut Problems) {
    let groups = &search.body.filters.or;
    for (group, conditions) in groups.iter().enumerate() {
        for (position, condition) in conditions.and.iter().enumerate().filter(|(_, condition)| condition.is_range()) {
            let location = Place::argument("where", format!("filters.OR[{group}].AND[{position}].value"));
            let message = format!(
                "{} has a range of days in one of {} groups joined by OR, so rows could come twice: use a scan for each \
                 group",
                condition.column,
                groups.len(),
            );
            problems.add(&location, &InputValue::Null, message);
        }
    }
}

#[cfg(test)]
mod tests;
