//! A scan as the requests it takes: one for each day of a range, one for each part of a long list of values.
//!
//! Every row comes once: values of a list are told apart before they are shared out, and groups joined by OR, which
//! may overlap, stay one request. Requests are made when they are asked for, so that a plan is small however many
//! there are.

use std::collections::HashSet;

use serde_json::Value;

use super::Search;
use super::input::InputValue;
use super::problems::{Place, Problems};
use super::values::is_not;
use crate::contract::condition::{Condition, MATCHES};

/// Requests of one scan.
pub(super) const MOST_REQUESTS: usize = 100_000;
/// Values of one condition of one request, unless the caller says otherwise. The document tells no maximum.
const VALUES_PER_REQUEST: usize = 1_000;

/// The requests of one scan, in order: the days one after the other, the parts of lists within each day.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What they have in common.
    template: Search,
    axes: Vec<Axis>,
}

/// A condition of the one group whose value is another in each request.
#[derive(Clone, Debug, PartialEq)]
struct Axis {
    position: usize,
    values: Vec<Value>,
}

impl Plan {
    /// The plan of a search that was read, whose lists are cut after so many values.
    pub(super) fn checked(
        search: Option<Search>,
        values_per_request: &InputValue,
        problems: &mut Problems,
    ) -> Option<Self> {
        let values_per_request = check_count(values_per_request, problems);
        let (mut search, values_per_request) = (search?, values_per_request?);
        let axes = match search.body.filters.or.as_mut_slice() {
            [group] => axes(&mut group.and, values_per_request),
            _ => Vec::new(),
        };
        refuse_ranges(&search, problems);
        let plan = Self { template: search, axes };
        plan.is_bounded(problems).then_some(plan)
    }

    /// How many requests it takes.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// One of them.
    #[must_use]
    pub fn search(&self, index: usize) -> Search {
        let mut search = self.template.clone();
        let mut rest = index;
        for Axis { position, values } in self.axes.iter().rev() {
            let condition = search.body.filters.or.first_mut().and_then(|group| group.and.get_mut(*position));
            if let (Some(condition), Some(value)) = (condition, values.get(rest % values.len())) {
                condition.value_mut().clone_from(value);
            }
            rest /= values.len();
        }
        search
    }

    /// What all of them have in common: the object, the attributes, the limit.
    #[must_use]
    pub fn template(&self) -> &Search {
        &self.template
    }

    fn is_bounded(&self, problems: &mut Problems) -> bool {
        let counts: Vec<usize> = self.axes.iter().map(|axis| axis.values.len()).collect();
        let requests = counts.iter().try_fold(1_usize, |product, count| product.checked_mul(*count));
        let is_bounded = requests.is_some_and(|requests| requests <= MOST_REQUESTS);
        if !is_bounded {
            let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
            let message = format!(
                "the scan would take {} requests, and one takes {MOST_REQUESTS} at most: raise values_per_request, or ask for less",
                counts.join(" x ")
            );
            problems.add(&Place::argument("values_per_request", ""), &InputValue::Null, message);
        }
        is_bounded
    }
}

impl From<Search> for Plan {
    /// One request.
    fn from(search: Search) -> Self {
        Self { template: search, axes: Vec::new() }
    }
}

/// The conditions that take several requests; their values are taken out. Days come before lists.
fn axes(conditions: &mut [Condition], values_per_request: usize) -> Vec<Axis> {
    let (mut days, mut lists) = (Vec::new(), Vec::new());
    for (position, condition) in conditions.iter_mut().enumerate() {
        let (is_range, is_list) = (condition.is_range(), condition.operator() == MATCHES);
        let value = condition.value_mut();
        let Value::Array(values) = value else { continue };
        if is_range {
            days.push(Axis { position, values: std::mem::take(values) });
            *value = Value::Null;
        } else if is_list {
            let mut seen = HashSet::new();
            values.retain(|value| seen.insert(identity(value)));
            if values.len() > values_per_request {
                let values = values.chunks(values_per_request).map(|part| Value::from(part.to_vec())).collect();
                lists.push(Axis { position, values });
                *value = Value::Null;
            }
        }
    }
    days.append(&mut lists);
    days
}

/// What a value is to a service: 1 and 1.0 are one number, and no number is a text.
fn identity(value: &Value) -> String {
    // A whole float shows all its digits and no fraction: it reads as the number it is, and minus nothing as nothing.
    let whole = value.as_f64().filter(|number| value.is_f64() && number.fract() == 0.0);
    whole.map_or_else(|| value.to_string(), |number| format!("{:.0}", number + 0.0))
}

/// Groups joined by OR may overlap, so they are one request, and none of them can be one a day.
fn refuse_ranges(search: &Search, problems: &mut Problems) {
    for (group, conditions) in search.body.filters.or.iter().enumerate() {
        for (position, condition) in conditions.and.iter().enumerate().filter(|(_, condition)| condition.is_range()) {
            let place = Place::argument("where", format!("filters.OR[{group}].AND[{position}].value"));
            let message = format!(
                "{} has a range of days in one of {} groups joined by OR, whose rows could come twice: make it the \
                 one group, or take a scan for each",
                condition.column(),
                search.body.filters.or.len(),
            );
            problems.add(&place, &InputValue::Null, message);
        }
    }
}

/// `values_per_request`: values of one condition of one request.
fn check_count(values_per_request: &InputValue, problems: &mut Problems) -> Option<usize> {
    let read = match values_per_request {
        InputValue::Null => return Some(VALUES_PER_REQUEST),
        InputValue::Integer(number) => match usize::try_from(*number) {
            Ok(values_per_request) if values_per_request >= 1 => Ok(values_per_request),
            _ => Err(format!(
                "{number} is less than 1: leave values_per_request out for {VALUES_PER_REQUEST} values a request"
            )),
        },
        value => Err(is_not(value, "a count of values: write a whole number of at least 1")),
    };
    problems.keep(&Place::argument("values_per_request", ""), values_per_request, read)
}

#[cfg(test)]
mod tests;
