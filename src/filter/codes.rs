//! The promotion code search whose columns are arguments (4.2).

use std::sync::Arc;

use super::attributes::{self, KnownAttributes};
use super::conditions::{self, Shape};
use super::given::{Conditions, Given};
use super::input::InputValue;
use super::problems::{Place, Problems};
use super::values::{self, Times};
use super::{Plan, Search};
use crate::contract::business_object::{PROMOTION_CODE_ID, PROMOTION_CODE_NAME};
use crate::contract::codes::{DEFAULT_ATTRIBUTES, POSITIONS, REQUIRED_COLUMN};
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
    let times = Times { calendar, instead_of_range: Some("client.scan_codes(allocated_time={})") };
    Problems::collect(|problems| read(arguments, &times, problems))
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
    let attributes = if attrs.is_null() {
        Some(DEFAULT_ATTRIBUTES.iter().map(|name| (*name).to_owned()).collect())
    } else {
        attributes::names(&attrs, Some(&KnownAttributes::of_codes()), problems)
    };
    let shown = audience_type.clone();
    let inputs = POSITIONS.into_iter().zip([audience_type, allocated_audience, code_status, allocated_time]);
    let given = inputs.filter(|(name, input)| *name == REQUIRED_COLUMN || !input.is_null());
    let given: Vec<Given> = given.map(|(name, input)| Given::argument(name, input)).collect();
    let conditions = Conditions {
        groups: vec![(0..given.len()).collect()],
        // Arguments can only lack the ids of audience types, which are the first condition.
        place: Place::argument(POSITIONS[0], "filters.OR[0].AND[0]"),
        shown,
        given,
    };
    let filters = conditions::filters(conditions, &Shape::Codes, times, problems);
    let [limit, known_row_cap] = values::limits(&limit, &known_row_cap, problems);
    let attributes: Arc<[String]> = attributes?;
    let body = SearchBody {
        item_type_id: PROMOTION_CODE_ID,
        item_type_name: PROMOTION_CODE_NAME.to_owned(),
        attrs: Attributes::Names(Arc::clone(&attributes)),
        filters: filters?,
    };
    Some(Search { body, attributes, limit, known_row_cap })
}

#[cfg(test)]
mod tests;
