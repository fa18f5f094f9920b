//! The bodies of valid requests.

use serde_json::json;

use super::{CodesArguments, body, check, checked, condition, in_unit, since_2024};
use crate::contract::codes::DEFAULT_ATTRIBUTES;
use crate::filter::input::{Comparison, InputValue, Method};
use crate::filter::tests::{after, before, input, on, op};
use crate::time::{Calendar, Zone};

#[test]
fn a_full_request_has_the_specified_body() {
    let arguments = CodesArguments {
        attrs: input(json!(["id", "code_status"])),
        audience_type: input(json!(["customer", -1007])),
        allocated_audience: input(json!(["17", 42])),
        code_status: input(json!(["sent", 4, 1.0])),
        allocated_time: after("2024-01-01"),
        limit: InputValue::Integer(10),
        known_row_cap: InputValue::Null,
    };
    let search = checked(arguments).expect("a valid request");
    assert_eq!(
        serde_json::to_string(&search.body).expect("a body"),
        json!({
            "itemTypeId": -100,
            "itemTypeName": "promotion_code",
            "attrs": ["id", "code_status"],
            "filters": {"OR": [{"AND": [
                {"type": 2, "column": "audience_type", "data_type": "number", "operator": "matches",
                 "value": [-1003, -1007], "extendValue": []},
                {"type": 2, "column": "allocated_audience", "data_type": "string", "operator": "matches",
                 "value": ["17", "42"], "extendValue": []},
                {"type": 2, "column": "code_status", "data_type": "number", "operator": "matches",
                 "value": [3, 4, 1], "extendValue": []},
                {"type": 2, "column": "allocated_time", "data_type": "datetime", "operator": "after_date",
                 "value": 1_704_153_599_999_i64, "time_unit": "DAY"},
            ]}]},
        })
        .to_string()
    );
    assert_eq!(*search.attributes, ["id", "code_status"]);
    assert_eq!(search.limit, Some(10));
}

#[test]
fn arguments_that_are_left_out_are_not_sent() {
    let body = body(since_2024());
    assert_eq!(body["filters"]["OR"][0]["AND"].as_array().map(Vec::len), Some(1));
    assert_eq!(body["attrs"], json!(DEFAULT_ATTRIBUTES));
    assert_eq!(checked(since_2024()).map(|search| search.limit).expect("a valid request"), None);
}

#[test]
fn each_comparison_has_its_operator() {
    for (allocated_time, operator, milliseconds) in [
        (after("2024-01-01T12:00"), "after_date", 1_704_153_599_999_i64),
        (before(1_704_110_400_000_i64), "before_date", 1_704_067_200_000),
        (on("2024-01-01T12:00"), "equals", 1_704_067_200_000),
        (op("since", "2024-01-01T12:00"), "since", 1_704_110_400_000),
    ] {
        let condition = condition(0, CodesArguments { allocated_time, ..CodesArguments::default() });
        assert_eq!((&condition["operator"], &condition["value"]), (&json!(operator), &json!(milliseconds)));
    }
    let not_sent = condition(0, CodesArguments { code_status: op("not_matches", 3), ..since_2024() });
    assert_eq!((&not_sent["operator"], &not_sent["value"]), (&json!("not_matches"), &json!([3])));
}

#[test]
fn days_are_cut_in_the_zone_of_the_client() {
    let calendar = Calendar::new(Zone::try_new("Asia/Kathmandu").expect("a zone"));
    let arguments = CodesArguments { allocated_time: on("2024-01-01"), ..CodesArguments::default() };
    let search = check(arguments, &calendar).expect("a valid request");
    assert_eq!(search.body.filters.or[0].and[0].value, 1_704_046_500_000_i64);
}

/// 2024-01-01 begins at 1704067200000 in UTC.
#[test]
fn the_instants_of_ends_are_right_in_both_readings_of_a_comparison() {
    use crate::time::DayComparison::{Exclusive, Inclusive};

    let start = 1_704_067_200_000_i64;
    let next = start + 86_400_000;
    for (comparison, method, expected) in [
        (Exclusive, Method::After, next - 1),
        (Exclusive, Method::Since, start - 1),
        (Exclusive, Method::Before, start),
        (Exclusive, Method::Until, next),
        (Inclusive, Method::After, next),
        (Inclusive, Method::Since, start),
        (Inclusive, Method::Before, start - 1),
        (Inclusive, Method::Until, next - 1),
    ] {
        let time = Comparison::new(method.clone(), InputValue::text("2024-01-01T12:00"));
        let arguments =
            CodesArguments { allocated_time: InputValue::Comparison(Box::new(time)), ..CodesArguments::default() };
        let search = check(arguments, &Calendar { comparison, ..Calendar::default() }).expect("a valid request");
        assert_eq!(search.body.filters.or[0].and[0].value, expected, "{comparison:?} {method:?}");
    }
}

#[test]
fn a_unit_is_sent_as_given() {
    let allocated_time =
        in_unit(Method::Operator(InputValue::text("after_date")), InputValue::text("2024-01-01"), "HOUR");
    let condition = condition(0, CodesArguments { allocated_time, ..CodesArguments::default() });
    assert_eq!(condition["time_unit"], "HOUR");
}
