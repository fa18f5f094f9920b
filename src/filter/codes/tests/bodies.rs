//! What the bodies of `tests/json/contract.json` do not say of a search.

use serde_json::json;

use super::{CodesArguments, checked, condition, since_2024};
use crate::filter::input::InputValue;
use crate::filter::tests::{input, on, op};

#[test]
fn a_search_has_its_attributes_and_its_limit() {
    let attrs = input(json!(["id", "code_status"]));
    let search = checked(CodesArguments { attrs, limit: InputValue::Integer(10), ..since_2024() });
    let search = search.expect("a valid request");
    assert_eq!(*search.attributes, ["id", "code_status"]);
    assert_eq!(search.limit, Some(10));
    assert_eq!(checked(since_2024()).expect("a valid request").limit, None);
}

#[test]
fn one_status_or_several_are_a_list_of_numbers() {
    for (code_status, operator, sent) in [
        (input(json!(["sent", 4, 1.0])), "matches", json!([3, 4, 1])),
        (op("not_matches", 3), "not_matches", json!([3])),
    ] {
        let condition = condition(0, CodesArguments { code_status, ..since_2024() });
        assert_eq!((&condition["operator"], &condition["value"]), (&json!(operator), &sent));
    }
}

#[test]
fn on_a_time_of_day_counts_as_its_day() {
    let arguments = CodesArguments { allocated_time: on("2024-01-01T12:00"), ..CodesArguments::default() };
    assert_eq!(condition(0, arguments)["value"], 1_704_067_200_000_i64);
}
