//! The item search of any business object (4.1). Promotion codes follow 4.2 here too: the rules belong to the
//! business object, not to the call.

use super::attributes::{self, KnownAttributes};
use super::conditions::{self, Shape};
use super::given::Conditions;
use super::input::InputValue;
use super::problems::{Place, Problems};
use super::values::{self, Times, did_you_mean};
use super::{Plan, Search};
use crate::contract::business_object::{KNOWN, PROMOTION_CODE_ID, PROMOTION_CODE_NAME};
use crate::contract::search::{Attributes, SearchBody};
use crate::error::Result;
use crate::time::Calendar;

/// The arguments of `search_items` as given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemsArguments {
    /// Name of the business object.
    pub item_type_name: InputValue,
    /// Attributes to return.
    pub attrs: InputValue,
    /// `where`: an expression, or the body's `{"OR": [{"AND": […]}]}`; null is every record.
    pub where_clause: InputValue,
    /// Id of the business object; null where the name has a specified one.
    pub item_type_id: InputValue,
    /// The most records to return.
    pub limit: InputValue,
    /// The number of records at which the service is known to cut responses.
    pub known_row_cap: InputValue,
    /// `"string"` sends `attrs` as a string with commas, but not for promotion codes; else it is an array.
    pub attrs_format: InputValue,
    /// All attributes of the business object and their types, if the user declared them; 4.2 has the attributes of codes.
    pub known_attributes: InputValue,
}

/// Checks an item search.
///
/// # Errors
/// `Validation`, with the problems of all arguments.
pub fn check(arguments: ItemsArguments, calendar: &Calendar) -> Result<Search> {
    let times = Times { calendar, instead_of_range: Some("client.scan_items(…) with the same where") };
    Problems::collect(|problems| read(arguments, &times, problems))
}

/// Checks a scan of items that sends at most `values_per_request` values of a list in one request.
///
/// # Errors
/// As [`check`].
pub fn plan(arguments: ItemsArguments, values_per_request: usize, calendar: &Calendar) -> Result<Plan> {
    Problems::collect(|problems| {
        let search = read(arguments, &Times { calendar, instead_of_range: None }, problems);
        Plan::check(search, values_per_request, "where", problems)
    })
}

fn read(arguments: ItemsArguments, times: &Times<'_>, problems: &mut Problems) -> Option<Search> {
    let ItemsArguments { item_type_name, attrs, where_clause, item_type_id, limit, known_row_cap, .. } = arguments;
    let (attrs_format, known_attributes) = (arguments.attrs_format, arguments.known_attributes);
    let (name, id) = item_type(&item_type_name, &item_type_id, problems);
    // Also where name and id contradict each other.
    let is_promotion_code = id == Some(PROMOTION_CODE_ID) || name.as_deref() == Some(PROMOTION_CODE_NAME);
    let known = if is_promotion_code {
        Some(KnownAttributes::of_codes())
    } else {
        KnownAttributes::declared(name.as_deref(), &known_attributes)
    };
    let attributes = attributes::names(&attrs, known.as_ref(), problems);
    let shape = if is_promotion_code { Shape::Codes } else { Shape::Items(id, known.as_ref()) };
    let conditions = Conditions::of_where(where_clause, problems);
    let filters = conditions.and_then(|conditions| conditions::filters(conditions, &shape, times, problems));
    let [limit, known_row_cap] = values::limits(&limit, &known_row_cap, problems);
    let attributes = attributes?;
    let attrs = match attrs_format {
        InputValue::Text(format) if format == "string" && !is_promotion_code => Attributes::Text(attributes.join(",")),
        _ => Attributes::Names(attributes.clone()),
    };
    let body = SearchBody { item_type_id: id?, item_type_name: name?, attrs, filters: filters? };
    Some(Search { body, attributes, limit, known_row_cap })
}

/// Name and id of the business object; a specified name needs no id.
fn item_type(name: &InputValue, id: &InputValue, problems: &mut Problems) -> (Option<String>, Option<i64>) {
    let name_location = Place::argument("item_type_name", "itemTypeName");
    let id_location = Place::argument("item_type_id", "itemTypeId");
    let read_name = problems.keep(&name_location, name, values::name(name, "the name of a business object"));
    let read_id = match id {
        InputValue::Null => None,
        id => problems.keep(&id_location, id, values::id(id, "the id of a business object")),
    };
    let known = KNOWN.into_iter().find(|(known, _)| read_name.as_deref() == Some(known));
    match (&read_name, read_id, known) {
        (Some(name), None, None) if id.is_null() => {
            let advice = did_you_mean(name, KNOWN.map(|(name, _)| name));
            let message = format!("is required for \"{name}\", whose id is not in the API specification{advice}");
            problems.add(&id_location, id, message);
        }
        (Some(name), Some(read_id), Some((_, known))) if read_id != known => {
            let message = format!("\"{name}\" has the id {known}, not {read_id}: leave item_type_id out");
            problems.add(&id_location, id, message);
        }
        (Some(other), Some(read_id), None) => {
            if let Some((known, _)) = KNOWN.into_iter().find(|(_, known)| *known == read_id) {
                let message = format!("the id {read_id} is that of \"{known}\", not of \"{other}\"");
                problems.add(&name_location, name, message);
            }
        }
        _ => {}
    }
    (read_name, read_id.or(known.map(|(_, id)| id)))
}

#[cfg(test)]
mod tests;
