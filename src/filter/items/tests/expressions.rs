//! `where` as an expression: values, data types, operators and groups.

use serde_json::json;

use super::{checked, columns, condition, customers, detailed, leaf, refuses};
use crate::filter::input::{InputValue, Method};
use crate::filter::normal_form::Tree;
use crate::filter::tests::{after, all, any, before, col, equals, expression, input, matches, on, op, problem};

#[test]
fn the_data_type_follows_the_value() {
    for (compared, data_type, value) in [
        (matches("x", "a"), "string", json!(["a"])),
        (matches("x", json!([1, 2.5])), "number", json!([1, 2.5])),
        (equals("x", "a"), "string", json!(["a"])),
        (equals("x", "2024-01-01"), "string", json!(["2024-01-01"])),
        (equals("x", 1), "number", json!([1])),
        (col("x", after("2024-01-01")), "datetime", json!(1_704_153_599_999_i64)),
        (col("x", before("2024-01-01")), "datetime", json!(1_704_067_200_000_i64)),
        (col("x", on("2024-01-01T12:00")), "datetime", json!(1_704_067_200_000_i64)),
        (col("x", op("gt", json!([1]))), "number", json!([1])),
    ] {
        let condition = condition(customers(expression(compared)));
        assert_eq!((condition["data_type"].as_str(), &condition["value"]), (Some(data_type), &value));
        assert_eq!(condition["time_unit"].as_str(), (data_type == "datetime").then_some("DAY"));
    }
}

#[test]
fn a_date_object_makes_a_datetime() {
    let date = || InputValue::Moment("2024-01-01".to_owned());
    assert_eq!(condition(customers(leaf("birthday", Method::Equals, date())))["value"], 1_704_067_200_000_i64);
    let several = leaf("birthday", Method::Matches, InputValue::List(vec![date()]));
    refuses(customers(several), "where", "filters.OR[0].AND[0].value[0]", ".on(day)");
}

#[test]
fn integers_beyond_i64_are_exact_or_refused() {
    let request = |digits: &str| customers(leaf("x", Method::Matches, InputValue::BigInteger(digits.to_owned())));
    let largest = checked(request("18446744073709551615")).expect("a valid request").body;
    assert!(serde_json::to_string(&largest).unwrap().contains("[18446744073709551615]"));
    refuses(request("18446744073709551616"), "where", "filters.OR[0].AND[0].value", "18446744073709551616");
}

#[test]
fn values_that_no_condition_holds_are_refused() {
    for (compared, path, datum) in [
        (matches("x", json!([])), "value", "empty"),
        (matches("x", json!(["a", 1])), "value[1]", "both"),
        (matches("x", json!([true])), "value[0]", "True"),
        (matches("x", json!(null)), "value", "None"),
        (matches("x", json!([["a"]])), "value[0]", "[\"a\"]"),
        (equals("x", json!(["a"])), "value", "equals"),
        (col("x", after(json!(["2024-01-01"]))), "value", "list"),
        (col("x", after(1_704_067_200)), "value", "1704067200000"),
        (col("x", op("", 1)), "operator", "empty"),
        (col("", op("gt", 1)), "column", "empty"),
    ] {
        let problem = problem(checked(customers(expression(compared))));
        let path = format!("filters.OR[0].AND[0].{path}");
        assert_eq!((problem.argument.as_str(), problem.path.as_str()), ("where", path.as_str()));
        assert!(problem.message.starts_with("col(\"") && problem.message.contains(datum), "{problem}");
    }
}

#[test]
fn a_named_operator_is_sent_as_given() {
    for (data_type, value, sent) in [
        (Some("string"), json!("a"), json!(["a"])),
        (Some("number"), json!([1, 2]), json!([1, 2])),
        (Some("datetime"), json!("2024-01-01"), json!(1_704_067_200_000_i64)),
        (Some("boolean"), json!(true), json!([true])),
        (None, json!(1), json!([1])),
    ] {
        let unit = (data_type == Some("datetime")).then_some("HOUR");
        let condition = condition(customers(detailed("x", "gt", value, data_type, unit)));
        assert_eq!((&condition["value"], condition["operator"].as_str()), (&sent, Some("gt")));
        assert_eq!(condition["time_unit"].as_str(), unit);
    }
}

#[test]
fn a_named_data_type_and_a_unit_must_fit_the_values() {
    for (where_clause, path, datum) in [
        (detailed("x", "gt", json!([17]), Some("string"), None), "value[0]", "\"17\""),
        (detailed("x", "gt", json!("17"), Some("number"), None), "value", "quotes"),
        (detailed("x", "gt", json!([1]), Some("datetime"), None), "value", "list"),
        (detailed("x", "gt", json!([null]), Some("boolean"), None), "value[0]", "None"),
        (detailed("x", "gt", json!([1]), Some(""), None), "data_type", "empty"),
        (detailed("x", "gt", json!([1]), None, Some("DAY")), "time_unit", "data_type datetime"),
    ] {
        refuses(customers(where_clause), "where", &format!("filters.OR[0].AND[0].{path}"), datum);
    }
}

#[test]
fn an_operator_of_dates_takes_milliseconds_whatever_the_data_type() {
    let request =
        |operator: &str, number: i64| customers(detailed("joined", operator, json!([number]), Some("number"), None));
    let path = "filters.OR[0].AND[0].value[0]";
    refuses(request("after_date", 1_706_659_200), "where", path, "1706659200000");
    assert!(checked(request("before_date", 1_706_659_200_000)).is_ok());
    assert!(checked(request("newer_than", 1_706_659_200)).is_ok(), "its values are not specified");
}

#[test]
fn and_and_or_to_any_depth_become_an_or_of_ands() {
    let tree = all([matches("a", 1), any([matches("b", 2), all([matches("c", 3), matches("a", 1)])])]);
    // The second group has the condition on a twice: it is sent once.
    assert_eq!(columns(customers(expression(tree))), [["a", "b"], ["a", "c"]]);
}

#[test]
fn a_problem_of_a_condition_in_many_groups_is_reported_once() {
    let tree = all([any([matches("a", 1), matches("b", 2)]), matches("c", json!([1, null]))]);
    refuses(customers(expression(tree)), "where", "filters.OR[0].AND[1].value[1]", "col(\"c\").matches[1]: None");
}

#[test]
fn too_many_groups_are_refused() {
    let pair = || any([matches("a", 1), matches("b", 2)]);
    let tree = Tree::All((0..10).map(|_| pair()).collect());
    refuses(customers(expression(tree)), "where", "filters.OR", "1024");
}

#[test]
fn anything_but_a_filter_is_refused_with_an_example() {
    for (where_clause, datum) in [
        (InputValue::text("name = 'x'"), "string"),
        (input(json!([{"column": "x"}])), "list"),
        (after("2024-01-01"), "col(\"…\").after(\"2024-01-01\")"),
        (InputValue::Other { type_name: "Column".to_owned(), shown: "col(\"x\")".to_owned() }, "Column"),
    ] {
        refuses(customers(where_clause), "where", "filters", datum);
    }
}
