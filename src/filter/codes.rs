//! The promotion code search whose columns are arguments (section 4.2).

use super::code_condition::{self, Column};
use super::input::{Comparison, InputValue, Method};
use super::problems::{Place, Problems};
use super::times::Times;
use super::{Plan, Search, attributes, code_filters, limit};
use crate::contract::business_object::{PROMOTION_CODE_ID, PROMOTION_CODE_NAME};
use crate::contract::condition::CodeCondition;
use crate::contract::search::{Attributes, SearchBody};
use crate::error::Result;
use crate::time::Zone;

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
}

/// Checks a promotion code search.
///
/// # Errors
/// `Validation`, with every problem of every argument.
pub fn check(arguments: CodesArguments, zone: &Zone) -> Result<Search> {
    let mut problems = Problems::default();
    let search = read(arguments, &Times { zone, instead_of_range: Some(scanned) }, &mut problems);
    problems.settle(search)
}

/// Checks a scan of promotion codes, whose lists of values are cut after `values_per_request`.
///
/// # Errors
/// As [`check`].
pub fn plan(arguments: CodesArguments, values_per_request: &InputValue, zone: &Zone) -> Result<Plan> {
    let mut problems = Problems::default();
    let search = read(arguments, &Times { zone, instead_of_range: None }, &mut problems);
    let plan = Plan::checked(search, values_per_request, &mut problems);
    problems.settle(plan)
}

fn scanned(days: &str) -> String {
    format!("client.scan_codes(allocated_time={days})")
}

fn read(arguments: CodesArguments, times: &Times<'_>, problems: &mut Problems) -> Option<Search> {
    let CodesArguments { attrs, allocated_time, audience_type, allocated_audience, code_status, limit } = arguments;
    let attributes = attributes::code_names(&attrs, problems);
    let conditions = conditions([audience_type, allocated_audience, code_status, allocated_time], times, problems);
    let limit = limit::check(&limit, problems);
    attributes.zip(conditions).map(|(attributes, conditions)| Search {
        body: SearchBody {
            item_type_id: PROMOTION_CODE_ID,
            item_type_name: PROMOTION_CODE_NAME.to_owned(),
            attrs: Attributes::Names(attributes.clone()),
            filters: code_filters::of(conditions),
        },
        attributes,
        limit,
    })
}

/// The conditions that were given, in the order of their positions.
fn conditions(input: [InputValue; 4], times: &Times<'_>, problems: &mut Problems) -> Option<Vec<CodeCondition>> {
    let present: Vec<(Column, InputValue)> = Column::ALL
        .into_iter()
        .zip(input)
        .filter(|(column, input)| *column == Column::AllocatedTime || !input.is_null())
        .collect();
    let columns: Vec<Column> = present.iter().map(|(column, _)| *column).collect();
    let mut good = Vec::new();
    for (position, (column, input)) in present.into_iter().enumerate() {
        let place = Place::argument(column.name(), format!("filters.OR[0].AND[{position}]"));
        if column == Column::AudienceType {
            code_filters::audience_trap(&columns, &place, &input, problems);
        }
        good.extend(condition(column, input, &place, times, problems));
    }
    (good.len() == columns.len()).then_some(good)
}

fn condition(
    column: Column,
    input: InputValue,
    place: &Place,
    times: &Times<'_>,
    problems: &mut Problems,
) -> Option<CodeCondition> {
    let comparison = match input {
        InputValue::Comparison(comparison) => *comparison,
        InputValue::Null => {
            problems.add(
                &place.field("value"),
                &InputValue::Null,
                "is required: write after(\"2024-01-01\"), before(\"2024-01-01\") or on(\"2024-01-01\")",
            );
            return None;
        }
        InputValue::Days(days) if column != Column::AllocatedTime => {
            let message =
                format!("days(…) is a range of times, and {} is none: give one value or several", column.name());
            problems.add(&place.field("value"), &InputValue::Days(days), message);
            return None;
        }
        days @ InputValue::Days(_) => Comparison::new(Method::On, days),
        value => Comparison::new(Method::Matches, value),
    };
    code_condition::check(column, &comparison, place, times, problems)
}

#[cfg(test)]
mod tests;
