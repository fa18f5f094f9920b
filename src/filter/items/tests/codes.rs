//! Promotion codes, whose filters have a shape of their own.

use serde_json::{Value, json};

use super::{ItemsArguments, body, checked, codes, columns, raw, refuses};
use crate::filter::tests::{after, all, any, before, col, expression, input, matches, problem, problems};

#[test]
fn a_search_of_promotion_codes_takes_the_shape_of_4_2() {
    let tree = all([
        col("allocated_time", after("2024-01-01")),
        matches("code_status", json!(["sent", 4])),
        matches("allocated_audience", json!([17])),
        matches("audience_type", "customer"),
    ]);
    assert_eq!(
        body(codes(expression(tree)))["filters"],
        json!({"OR": [{"AND": [
            {"type": 2, "column": "audience_type", "data_type": "number", "operator": "matches", "value": [-1003],
             "extendValue": []},
            {"type": 2, "column": "allocated_audience", "data_type": "string", "operator": "matches", "value": ["17"],
             "extendValue": []},
            {"type": 2, "column": "code_status", "data_type": "number", "operator": "matches", "value": [3, 4],
             "extendValue": []},
            {"type": 2, "column": "allocated_time", "data_type": "datetime", "operator": "after_date",
             "value": 1_704_153_599_999_i64, "time_unit": "DAY"},
        ]}]})
    );
}

#[test]
fn a_body_for_codes_is_ordered_and_completed_and_may_have_a_value_type() {
    for more in [json!({"extendValue": []}), json!({"value_type": "normal"})] {
        let status = |own: Value| {
            let fields = json!({"column": "code_status", "data_type": "number", "operator": "matches", "value": [3]});
            let parts = [fields, more.clone(), own].into_iter().filter_map(|part| part.as_object().cloned());
            parts.flatten().collect::<Value>()
        };
        let where_clause = raw(&json!([
            {"column": "allocated_time", "data_type": "datetime", "operator": "equals", "value": "2024-01-01", "type": 2},
            status(json!({})),
        ]));
        assert_eq!(
            body(codes(where_clause))["filters"],
            json!({"OR": [{"AND": [
                status(json!({"type": 2, "extendValue": []})),
                {"type": 2, "column": "allocated_time", "data_type": "datetime", "operator": "equals",
                 "value": 1_704_067_200_000_i64, "time_unit": "DAY"},
            ]}]})
        );
    }
}

#[test]
fn each_limit_of_8_holds_for_expressions_of_codes() {
    let time = || col("allocated_time", after("2024-01-01"));
    for (tree, path, datum) in [
        (any([time(), time()]), "filters.OR", "2"),
        (matches("code_status", 3), "filters.OR[0].AND", "allocated_time"),
        (all([time(), matches("code_status", 2)]), "filters.OR[0].AND[0].value", "code_status"),
        (all([time(), matches("audience_type", -1)]), "filters.OR[0].AND[0].value", "audience_type"),
        (all([time(), matches("pool_id", 2)]), "filters.OR[0].AND[1].column", "\"pool_id\""),
        (all([time(), col("allocated_time", before("2024-02-01"))]), "filters.OR[0].AND", ".on(da.days(start, stop))"),
        (all([time(), matches("code_status", 3), matches("code_status", 4)]), "filters.OR[0].AND", "code_status"),
        (all([time(), matches("audience_type", -1003)]), "filters.OR[0].AND", "silently"),
        (matches("allocated_time", "2024-01-01"), "filters.OR[0].AND[0].value", ".after(\"2024-01-01\")"),
    ] {
        let found = problems(checked(codes(expression(tree))));
        assert!(
            found.iter().any(|problem| problem.path == path && problem.message.contains(datum)),
            "{path} {datum}: {found:#?}"
        );
    }
    let same = all([time(), time()]);
    assert_eq!(columns(codes(expression(same))), [["allocated_time"]]);
}

#[test]
fn more_than_four_conditions_of_codes_are_refused() {
    let time = |day: i64| col("allocated_time", after(1_704_067_200_000 + day * 86_400_000));
    let found = problems(checked(codes(expression(all([time(1), time(2), time(3), time(4), time(5)])))));
    assert!(found.iter().any(|problem| problem.message.contains(" 5 ")), "{found:#?}");
}

#[test]
fn each_field_of_a_condition_of_a_body_for_codes_is_checked() {
    for (field, value, datum) in [
        ("type", json!(1), "1"),
        ("extendValue", json!([1]), "not [],"),
        ("condition_type", json!("comp_attr"), "generic"),
        ("value_type", json!(1), "1"),
        ("data_type", json!("string"), "\"number\""),
        ("value", json!(3), "[3]"),
        ("value", json!(["sent"]), "3, not \"sent\""),
        ("column", json!("code_statu"), "mean \"code_status\""),
    ] {
        let mut condition =
            json!({"column": "code_status", "data_type": "number", "operator": "matches", "value": [3]});
        condition[field] = value;
        let time =
            json!({"column": "allocated_time", "data_type": "datetime", "operator": "equals", "value": "2024-01-01"});
        let problem = problem(checked(codes(raw(&json!([condition, time])))));
        assert!(problem.argument.contains(&format!("[\"{field}\"]")) && problem.message.contains(datum), "{problem}");
    }
    let time = json!({"column": "allocated_time", "data_type": "datetime", "operator": "equals", "value": "2024-01-01", "extendValue": []});
    assert!(problem(checked(codes(raw(&json!([time]))))).argument.ends_with("[\"extendValue\"]"));
}

#[test]
fn attributes_of_codes_are_checked() {
    let arguments = ItemsArguments {
        attrs: input(json!(["pool"])),
        ..codes(expression(col("allocated_time", after("2024-01-01"))))
    };
    refuses(arguments, "attrs[0]", "attrs[0]", "mean \"pool_id\"");
}
