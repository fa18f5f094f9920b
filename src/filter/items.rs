//! The item search of any business object (section 4.1). Promotion codes get section 4.2 here too: the rules
//! belong to the object, not to the call.

use super::input::InputValue;
use super::item_type::ItemType;
use super::problems::Problems;
use super::times::Times;
use super::where_clause::WhereClause;
use super::{Plan, Search, attributes, item_filters, limit};
use crate::contract::codes;
use crate::contract::search::SearchBody;
use crate::error::Result;
use crate::time::Zone;

/// The arguments of `search_items` as given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemsArguments {
    /// Name of the business object.
    pub item_type_name: InputValue,
    /// Attributes to return.
    pub attrs: InputValue,
    /// `where`: an expression, or the document's `{"OR": [{"AND": […]}]}`.
    pub where_clause: InputValue,
    /// Id of the business object; null where the name tells.
    pub item_type_id: InputValue,
    /// The most records to return.
    pub limit: InputValue,
    /// `"array"` or null sends `attrs` as an array, `"text"` as a text, but not for promotion codes.
    pub attrs_format: InputValue,
}

/// Checks an item search.
///
/// # Errors
/// `Validation`, with every problem of every argument.
pub fn check(arguments: ItemsArguments, zone: &Zone) -> Result<Search> {
    let mut problems = Problems::default();
    let search = read(arguments, &Times { zone, instead_of_range: Some(scanned) }, &mut problems);
    problems.settle(search)
}

/// Checks a scan of items, whose lists of values are cut after `values_per_request`.
///
/// # Errors
/// As [`check`].
pub fn plan(arguments: ItemsArguments, values_per_request: &InputValue, zone: &Zone) -> Result<Plan> {
    let mut problems = Problems::default();
    let search = read(arguments, &Times { zone, instead_of_range: None }, &mut problems);
    let plan = Plan::checked(search, values_per_request, &mut problems);
    problems.settle(plan)
}

fn scanned(_days: &str) -> String {
    "client.scan_items(…) with the same where".to_owned()
}

fn read(arguments: ItemsArguments, times: &Times<'_>, problems: &mut Problems) -> Option<Search> {
    let ItemsArguments { item_type_name, attrs, where_clause, item_type_id, limit, attrs_format } = arguments;
    let item_type = ItemType::read(&item_type_name, &item_type_id, problems);
    let is_promotion_code = item_type.is_promotion_code();
    let known: Option<&[&str]> = is_promotion_code.then_some(&codes::ATTRIBUTES);
    let attributes = attributes::names(&attrs, known, problems);
    let attrs = attributes::as_sent(attributes.clone().unwrap_or_default(), &attrs_format, is_promotion_code, problems);
    let filters = WhereClause::read(where_clause, problems).and_then(|where_clause| {
        if is_promotion_code {
            item_filters::of_codes(where_clause, times, problems)
        } else {
            item_filters::of_items(&where_clause, times, problems)
        }
    });
    let limit = limit::check(&limit, problems);
    let ItemType { name, id } = item_type;
    match (name, id, attributes, attrs, filters) {
        (Some(item_type_name), Some(item_type_id), Some(attributes), Some(attrs), Some(filters)) => {
            Some(Search { body: SearchBody { item_type_id, item_type_name, attrs, filters }, attributes, limit })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
