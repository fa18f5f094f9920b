//! Any valid request: the keys, positions and types of its body.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{CodesArguments, body};
use crate::contract::codes::ATTRIBUTES;
use crate::filter::input::InputValue;
use crate::filter::tests::{after, before, input, on, op};

/// One value, or a list of one to four.
fn one_or_several(value: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    prop_oneof![value.clone(), prop::collection::vec(value, 1..5).prop_map(Value::Array)]
}

fn valid_requests() -> impl Strategy<Value = CodesArguments> {
    let audience_type = one_or_several(prop::sample::select(vec![json!(-1003), json!("visitor"), json!(-1007.0)]));
    let audience =
        one_or_several(prop_oneof!["[a-z0-9]{1,8}".prop_map(Value::from), any::<i64>().prop_map(Value::from)]);
    let status = one_or_several(prop::sample::select(vec![json!(1), json!("used"), json!("Sent"), json!(4.0)]));
    let time = (0..4_u8, 100_000_000_000..100_000_000_000_000_i64).prop_map(|(method, time)| match method {
        0 => after(time),
        1 => before(time),
        2 => on(time),
        _ => op("since", time),
    });
    let attrs = prop::sample::subsequence(ATTRIBUTES.to_vec(), 1..=11).prop_shuffle();
    (prop::option::of(audience_type), prop::option::of(audience), prop::option::of(status), time, attrs).prop_map(
        |(audience_type, audience, code_status, allocated_time, attrs)| CodesArguments {
            attrs: input(json!(attrs)),
            // Audience types need audience ids.
            audience_type: audience_type.filter(|_| audience.is_some()).map_or(InputValue::Null, input),
            allocated_audience: audience.map_or(InputValue::Null, input),
            code_status: code_status.map_or(InputValue::Null, input),
            allocated_time,
            limit: InputValue::Null,
            known_row_cap: InputValue::Null,
        },
    )
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|fields| fields.keys().map(String::as_str).collect()).unwrap_or_default()
}

proptest! {
    #[test]
    fn every_valid_request_has_the_specified_keys_positions_and_types(arguments in valid_requests()) {
        let given = [&arguments.audience_type, &arguments.allocated_audience, &arguments.code_status];
        let expected: Vec<&str> = ["audience_type", "allocated_audience", "code_status"]
            .into_iter()
            .zip(given)
            .filter(|(_, input)| !input.is_null())
            .map(|(name, _)| name)
            .chain(["allocated_time"])
            .collect();
        let body = body(arguments);
        prop_assert_eq!(keys(&body), ["itemTypeId", "itemTypeName", "attrs", "filters"]);
        prop_assert_eq!(keys(&body["filters"]), ["OR"]);
        prop_assert_eq!(body["filters"]["OR"].as_array().map(Vec::len), Some(1));
        prop_assert_eq!(keys(&body["filters"]["OR"][0]), ["AND"]);
        let conditions = body["filters"]["OR"][0]["AND"].as_array().expect("conditions");
        let columns: Vec<&str> = conditions.iter().filter_map(|condition| condition["column"].as_str()).collect();
        prop_assert_eq!(columns, expected);
        for condition in conditions {
            prop_assert_eq!(&condition["type"], &json!(2));
            if condition["column"] == "allocated_time" {
                prop_assert_eq!(keys(condition), ["type", "column", "data_type", "operator", "value", "time_unit"]);
                prop_assert!(condition["value"].is_i64());
            } else {
                prop_assert_eq!(keys(condition), ["type", "column", "data_type", "operator", "value", "extendValue"]);
                let is_string = condition["data_type"] == "string";
                let values = condition["value"].as_array().expect("an array");
                let typed = values.iter().all(|value| if is_string { value.is_string() } else { value.is_i64() });
                prop_assert!(typed);
                prop_assert_eq!(&condition["extendValue"], &json!([]));
            }
        }
    }
}
