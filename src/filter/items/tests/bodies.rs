//! `where` as a body of the API specification, or none.

use serde_json::json;

use super::{body, checked, codes, customers, raw, refuses};
use crate::filter::input::InputValue;
use crate::filter::sample::{input, locations, problems};

#[test]
fn no_filter_asks_for_every_record() {
    let everything = json!({"OR": [{"AND": []}]});
    assert_eq!(body(customers(InputValue::Null))["filters"], everything);
    assert_eq!(body(customers(input(everything.clone())))["filters"], everything);
    for none in [InputValue::Null, input(everything)] {
        refuses(codes(none), "where", "filters.OR[0].AND", "allocated_time is required");
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
    for (field, value, element, advice) in [
        ("column", json!(3), "", "3 is an integer, not a column"),
        ("column", json!(null), "", "is required"),
        ("data_type", json!(null), "", "is required"),
        ("operator", json!(null), "", "is required"),
        ("value", json!(null), "", "is required"),
        ("value", json!("a"), "", "write [\"a\"]"),
        ("value", json!([1]), "[0]", "1 is an integer, not a string"),
        ("time_unit", json!("DAY"), "", "needs data_type datetime"),
        ("value_type", json!(1), "", "not a value_type"),
        ("extendValue", json!([]), "", "belongs to the promotion code search"),
        ("opertor", json!("x"), "", "did you mean \"operator\"?"),
        ("zzz", json!("x"), "", "they are column, data_type"),
    ] {
        let mut condition = good();
        condition[field] = value;
        let argument = format!("where[\"OR\"][0][\"AND\"][1][\"{field}\"]{element}");
        let path = format!("filters.OR[0].AND[1].{field}{element}");
        refuses(customers(raw(&json!([good(), condition]))), &argument, &path, advice);
    }
}

#[test]
fn a_datetime_of_a_body_is_one_time_in_milliseconds() {
    for (value, advice) in [
        (json!([1_704_067_200_000_i64]), "one time, not a list"),
        (json!(1_704_067_200), "looks like seconds"),
        (json!(1_704_067_200_000_000_i64), "looks like microseconds"),
    ] {
        let condition = json!({"column": "t", "data_type": "datetime", "operator": "equals", "value": value});
        let argument = "where[\"OR\"][0][\"AND\"][0][\"value\"]";
        refuses(customers(raw(&json!([condition]))), argument, "filters.OR[0].AND[0].value", advice);
    }
}

#[test]
fn the_shape_of_a_body_is_checked_at_each_level() {
    let some = json!({"AND": [{"column": "x", "data_type": "string", "operator": "like", "value": ["a"]}]});
    for (where_clause, argument, path, advice) in [
        (json!({}), "where[\"OR\"]", "filters.OR", "is required"),
        (json!({"OR": []}), "where[\"OR\"]", "filters.OR", "empty list"),
        (json!({"OR": {}}), "where[\"OR\"]", "filters.OR", "is a dict, not a list"),
        (json!({"OR": [3]}), "where[\"OR\"][0]", "filters.OR[0]", "not a group"),
        (json!({"OR": [{}]}), "where[\"OR\"][0][\"AND\"]", "filters.OR[0].AND", "is required"),
        (json!({"OR": [{"AND": []}, some]}), "where[\"OR\"][0][\"AND\"]", "filters.OR[0].AND", "empty list"),
        (json!({"OR": [{"AND": [3]}]}), "where[\"OR\"][0][\"AND\"][0]", "filters.OR[0].AND[0]", "not a condition"),
    ] {
        refuses(customers(input(where_clause)), argument, path, advice);
    }
    let condition = json!({"column": "x", "data_type": "string", "operator": "like", "value": ["a"]});
    let beside = json!({"OR": [{"AND": [condition], "and": []}], "NOT": []});
    let found = problems(checked(customers(input(beside))));
    let expected = [("where[\"NOT\"]", "filters.NOT"), ("where[\"OR\"][0][\"and\"]", "filters.OR[0].and")];
    assert_eq!(locations(&found), expected);
    assert!(found[1].message.contains("did you mean \"AND\"?"), "{}", found[1]);
}
