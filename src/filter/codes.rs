//! The promotion code search whose columns are arguments (4.2).

use std::sync::Arc;

use super::code_condition::{self, Column};
use super::input::{Comparison, InputValue, Method};
use super::problems::{ProblemPath, Problems};
use super::values::{self, Times};
use super::{Plan, Search, attributes, code_filters};
use crate::contract::business_object::{PROMOTION_CODE_ID, PROMOTION_CODE_NAME};
use crate::contract::condition::Condition;
use crate::contract::search::{Attributes, SearchBody};
use crate::error::Result;
use crate::time::Calendar;

/// The arguments of `search_codes` as given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CodesArguments {
    /// Attributes to return; null is all but `channel_id`.
    pub attrs: InputValue,
    /// Required: `after(t)`, `before(t)`, `on(day)` or `op(name, t)`; in a scan also `days(start, stop)`.
    pub allocated_time: InputValue,
    /// Numbers or names of audience types.
    pub audience_type: InputValue,
    /// Ids of customers or visitors.
    pub allocated_audience: InputValue,
    /// Numbers or names of statuses.
    pub code_status: InputValue,
    /// The most records to return.
    pub limit: InputValue,
    /// The number of records at which the service is known to cut responses.
    pub known_row_cap: InputValue,
}

/// Checks a promotion code search.
///
/// # Errors
/// `Validation`, with the problems of all arguments.
pub fn check(arguments: CodesArguments, calendar: &Calendar) -> Result<Search> {
    let scan = |days: &str| format!("client.scan_codes(allocated_time={days})");
    Problems::collect(|problems| read(arguments, &Times { calendar, instead_of_range: Some(scan) }, problems))
}

/// Checks a scan of promotion codes that sends at most `values_per_request` values of a list in one request.
///
/// # Errors
/// As [`check`].
pub fn plan(arguments: CodesArguments, values_per_request: usize, calendar: &Calendar) -> Result<Plan> {
    Problems::collect(|problems| {
        let search = read(arguments, &Times { calendar, instead_of_range: None }, problems);
        Plan::check(search, values_per_request, "allocated_time", problems)
    })
}

fn read(arguments: CodesArguments, times: &Times<'_>, problems: &mut Problems) -> Option<Search> {
    let CodesArguments { attrs, allocated_time, audience_type, allocated_audience, code_status, limit, known_row_cap } =
        arguments;
    let attributes: Option<Arc<[String]>> = attributes::code_names(&attrs, problems).map(Arc::from);
    let conditions = conditions([audience_type, allocated_audience, code_status, allocated_time], times, problems);
    let limit = values::limit(&limit, problems);
    let known_row_cap = values::known_row_cap(&known_row_cap, problems);
    attributes.zip(conditions).map(|(attributes, conditions)| Search {
        body: SearchBody {
            item_type_id: PROMOTION_CODE_ID,
            item_type_name: PROMOTION_CODE_NAME.to_owned(),
            attrs: Attributes::Names(attributes.clone()),
            filters: code_filters::of(conditions, times),
        },
        attributes,
        limit,
        known_row_cap,
    })
}

/// The conditions of the arguments that were given, in the order of their positions.
fn conditions(inputs: [InputValue; 4], times: &Times<'_>, problems: &mut Problems) -> Option<Vec<Condition>> {
    let given: Vec<(Column, InputValue)> = Column::ALL
        .into_iter()
        .zip(inputs)
        .filter(|(column, input)| *column == Column::AllocatedTime || !input.is_null())
        .collect();
    let columns: Vec<Column> = given.iter().map(|(column, _)| *column).collect();
    let mut conditions = Vec::new();
    for (position, (column, input)) in given.into_iter().enumerate() {
        let location = ProblemPath::argument(column.name(), format!("filters.OR[0].AND[{position}]"));
        if column == Column::AudienceType {
            code_filters::check_audience(&columns, &location, &input, problems);
        }
        conditions.extend(condition(column, input, &location, times, problems));
    }
    (conditions.len() == columns.len()).then_some(conditions)
}

fn condition(
    column: Column,
    input: InputValue,
    location: &ProblemPath,
    times: &Times<'_>,
    problems: &mut Problems,
) -> Option<Condition> {
    let message = match input {
        InputValue::Comparison(comparison) => {
            return code_condition::check(column, &comparison, location, times, problems);
        }
        InputValue::Null => {
            "is required: write da.since(\"2024-01-01\"), da.until(…), da.after(…), da.before(…), da.on(…) or \
             da.days(start, stop)"
                .to_owned()
        }
        InputValue::Days(_) if column != Column::AllocatedTime => {
            format!("days(…) is a range of times, and {} is not a time: give one value or several", column.name())
        }
        value => {
            let method = if matches!(value, InputValue::Days(_)) { Method::On } else { Method::Matches };
            return code_condition::check(column, &Comparison::new(method, value), location, times, problems);
        }
    };
    problems.add(&location.field("value"), &input, message);
    None
}

#[cfg(test)]
mod tests;
