//! `where` as a body of the API specification, or none.

use serde_json::json;

use super::{body, checked, codes, customers, raw, refuses};
use crate::filter::input::InputValue;
use crate::filter::tests::{input, locations, problems};

#[test]
fn promotion_codes_need_a_filter() {
    for none in [InputValue::Null, input(json!({"OR": [{"AND": []}]}))] {
        refuses(codes(none), "where", "filters.OR[0].AND", "allocated_time");
    }
}

#[test]
fn a_body_is_sent_with_its_defaults_filled_in() {
    let where_clause = raw(&json!([
        {"column": "x", "data_type": "string", "operator": "like", "value": ["a"]},
        {"column": "t", "data_type": "datetime", "operator": "after_date", "value": "2024-01-01",
         "value_type": "special", "condition_type": "other", "time_unit": "MONTH"},
        {"column": "u", "data_type": "datetime", "operator": "equals", "value": 1_704_067_200_000_i64},
    ]));
    assert_eq!(
        body(customers(where_clause))["filters"],
        json!({"OR": [{"AND": [
            {"column": "x", "data_type": "string", "operator": "like", "value_type": "normal", "value": ["a"],
             "condition_type": "comp_attr"},
            {"column": "t", "data_type": "datetime", "operator": "after_date", "value_type": "special",
             "value": 1_704_067_200_000_i64, "time_unit": "MONTH", "condition_type": "other"},
            {"column": "u", "data_type": "datetime", "operator": "equals", "value_type": "normal",
             "value": 1_704_067_200_000_i64, "time_unit": "DAY", "condition_type": "comp_attr"},
        ]}]})
    );
}

#[test]
fn every_field_of_a_condition_of_a_body_is_checked() {
    let good = || json!({"column": "x", "data_type": "string", "operator": "like", "value": ["a"]});
    for (field, value, element, datum) in [
        ("column", json!(3), "", "integer"),
        ("column", json!(null), "", "required"),
        ("data_type", json!(null), "", "required"),
        ("operator", json!(null), "", "required"),
        ("value", json!(null), "", "required"),
        ("value", json!("a"), "", "[\"a\"]"),
        ("value", json!([1]), "[0]", "integer"),
        ("time_unit", json!("DAY"), "", "data_type datetime"),
        ("value_type", json!(1), "", "1"),
        ("extendValue", json!([]), "", "promotion"),
        ("opertor", json!("x"), "", "mean \"operator\""),
        ("zzz", json!("x"), "", "column, data_type"),
    ] {
        let mut condition = good();
        condition[field] = value;
        let argument = format!("where[\"OR\"][0][\"AND\"][1][\"{field}\"]{element}");
        let path = format!("filters.OR[0].AND[1].{field}{element}");
        refuses(customers(raw(&json!([good(), condition]))), &argument, &path, datum);
    }
}

#[test]
fn a_datetime_of_a_body_is_one_time_in_milliseconds() {
    for (value, datum) in [
        (json!([1_704_067_200_000_i64]), "list"),
        (json!(1_704_067_200), " seconds"),
        (json!(1_704_067_200_000_000_i64), "microseconds"),
    ] {
        let condition = json!({"column": "t", "data_type": "datetime", "operator": "equals", "value": value});
        let argument = "where[\"OR\"][0][\"AND\"][0][\"value\"]";
        refuses(customers(raw(&json!([condition]))), argument, "filters.OR[0].AND[0].value", datum);
    }
}

#[test]
fn the_shape_of_a_body_is_checked_at_each_level() {
    let some = json!({"AND": [{"column": "x", "data_type": "string", "operator": "like", "value": ["a"]}]});
    for (where_clause, argument, path, datum) in [
        (json!({}), "where[\"OR\"]", "filters.OR", "required"),
        (json!({"OR": []}), "where[\"OR\"]", "filters.OR", "empty"),
        (json!({"OR": {}}), "where[\"OR\"]", "filters.OR", "dict"),
        (json!({"OR": [3]}), "where[\"OR\"][0]", "filters.OR[0]", "group"),
        (json!({"OR": [{}]}), "where[\"OR\"][0][\"AND\"]", "filters.OR[0].AND", "required"),
        (json!({"OR": [{"AND": []}, some]}), "where[\"OR\"][0][\"AND\"]", "filters.OR[0].AND", "empty"),
        (json!({"OR": [{"AND": [3]}]}), "where[\"OR\"][0][\"AND\"][0]", "filters.OR[0].AND[0]", "condition"),
    ] {
        refuses(customers(input(where_clause)), argument, path, datum);
    }
    let condition = json!({"column": "x", "data_type": "string", "operator": "like", "value": ["a"]});
    let beside = json!({"OR": [{"AND": [condition], "and": []}], "NOT": []});
    let found = problems(checked(customers(input(beside))));
    let expected = [("where[\"NOT\"]", "filters.NOT"), ("where[\"OR\"][0][\"and\"]", "filters.OR[0].and")];
    assert_eq!(locations(&found), expected);
    assert!(found[1].message.contains("mean \"AND\""), "{}", found[1]);
}
