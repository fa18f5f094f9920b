//! Each rule of an item search: names and ids, expressions, raw bodies, and promotion codes by this way.

use serde_json::{Value, json};

use super::*;
use crate::filter::input::{ColumnCondition, Comparison, Method};
use crate::filter::normal_form::Tree;
use crate::filter::sample::{
    after, all, any, before, col, equals, expression, input, matches, on, op, places, problem, problems,
};

fn checked(arguments: ItemsArguments) -> Result<Search> {
    check(arguments, &Zone::default())
}

fn customers(where_clause: InputValue) -> ItemsArguments {
    ItemsArguments {
        item_type_name: InputValue::text("customer"),
        attrs: input(json!(["customer_id", "name"])),
        where_clause,
        ..ItemsArguments::default()
    }
}

fn codes(where_clause: InputValue) -> ItemsArguments {
    ItemsArguments {
        item_type_name: InputValue::text("promotion_code"),
        attrs: input(json!(["id"])),
        where_clause,
        ..ItemsArguments::default()
    }
}

fn some_customers() -> InputValue {
    expression(matches("customer_id", json!(["17", "42"])))
}

fn body(arguments: ItemsArguments) -> Value {
    serde_json::to_value(checked(arguments).expect("a good request").body).expect("a body")
}

/// Columns of the groups of a body.
fn columns(body: &Value) -> Vec<Vec<&str>> {
    let groups = body["filters"]["OR"].as_array().expect("groups");
    let names = |group: &'_ Value| -> Vec<Value> { group["AND"].as_array().expect("conditions").clone() };
    groups
        .iter()
        .map(|group| {
            let count = names(group).len();
            (0..count).filter_map(|place| group["AND"][place]["column"].as_str()).collect()
        })
        .collect()
}

/// A condition with `unit=` and `data_type=`.
fn detailed(column: &str, operator: &str, value: Value, data_type: Option<&str>, unit: Option<&str>) -> InputValue {
    let comparison = Comparison {
        method: Method::Operator(InputValue::text(operator)),
        value: input(value),
        unit: unit.map_or(InputValue::Null, InputValue::text),
        data_type: data_type.map_or(InputValue::Null, InputValue::text),
    };
    expression(Tree::Leaf(ColumnCondition { column: InputValue::text(column), comparison }))
}

fn raw(conditions: &Value) -> InputValue {
    input(json!({"OR": [{"AND": conditions}]}))
}

#[test]
fn the_generic_shape_is_the_document_s_literally() {
    assert_eq!(
        body(customers(some_customers())).to_string(),
        json!({
            "itemTypeId": -1003,
            "itemTypeName": "customer",
            "attrs": ["customer_id", "name"],
            "filters": {"OR": [{"AND": [
                {"column": "customer_id", "data_type": "string", "operator": "matches", "value_type": "normal",
                 "value": ["17", "42"], "condition_type": "comp_attr"},
            ]}]},
        })
        .to_string()
    );
}

#[test]
fn the_data_type_follows_the_value() {
    for (condition, data_type, value) in [
        (matches("x", "a"), "string", json!(["a"])),
        (matches("x", json!([1, 2.5])), "number", json!([1, 2.5])),
        (equals("x", "a"), "string", json!(["a"])),
        (equals("x", 1), "number", json!([1])),
        (col("x", after("2024-01-01")), "datetime", json!(1_704_067_200_000_i64)),
        (col("x", before("2024-01-01")), "datetime", json!(1_704_067_200_000_i64)),
        (col("x", on("2024-01-01T12:00")), "datetime", json!(1_704_067_200_000_i64)),
        (col("x", op("gt", json!([1]))), "number", json!([1])),
    ] {
        let condition = body(customers(expression(condition)))["filters"]["OR"][0]["AND"][0].take();
        assert_eq!((condition["data_type"].as_str(), &condition["value"]), (Some(data_type), &value));
        assert_eq!(condition["time_unit"].as_str(), (data_type == "datetime").then_some("DAY"));
    }
}

#[test]
fn a_date_object_makes_a_datetime_and_a_text_does_not() {
    let leaf = |value| {
        let comparison = Comparison::new(Method::Equals, value);
        expression(Tree::Leaf(ColumnCondition { column: InputValue::text("birthday"), comparison }))
    };
    let date = body(customers(leaf(InputValue::Moment("2024-01-01".to_owned()))));
    assert_eq!(date["filters"]["OR"][0]["AND"][0]["value"], 1_704_067_200_000_i64);
    let several = Comparison::new(Method::Matches, InputValue::List(vec![InputValue::Moment("2024-01-01".to_owned())]));
    let condition = ColumnCondition { column: InputValue::text("birthday"), comparison: several };
    let told = problem(checked(customers(expression(Tree::Leaf(condition)))));
    assert!(told.message.contains("join .on(day) conditions with |"), "{told}");
    let text = body(customers(leaf(InputValue::text("2024-01-01"))));
    assert_eq!(text["filters"]["OR"][0]["AND"][0]["value"], json!(["2024-01-01"]));
}

#[test]
fn whole_numbers_beyond_i64_are_exact_or_refused() {
    let leaf = |digits: &str| {
        let comparison = Comparison::new(Method::Matches, InputValue::BigInteger(digits.to_owned()));
        expression(Tree::Leaf(ColumnCondition { column: InputValue::text("x"), comparison }))
    };
    let largest = checked(customers(leaf("18446744073709551615"))).expect("a good request").body;
    assert!(serde_json::to_string(&largest).unwrap().contains("[18446744073709551615]"));
    assert!(problem(checked(customers(leaf("18446744073709551616")))).message.contains("more digits"));
}

#[test]
fn values_that_no_condition_holds_are_told() {
    for (condition, advice) in [
        (matches("x", json!([])), "an empty list matches nothing"),
        (matches("x", json!(["a", 1])), "both string and number values"),
        (matches("x", json!([true])), "True has no data_type in the document"),
        (matches("x", json!(null)), "None is not a text or a number"),
        (matches("x", json!([["a"]])), "[\"a\"] is a list, not a text or a number"),
        (equals("x", json!(["a"])), "equals takes one value"),
        (col("x", after(json!(["2024-01-01"]))), "takes one time, not a list"),
        (col("x", after(1_704_067_200)), "looks like seconds"),
        (col("x", op("", 1)), "an empty text is not an operator"),
        (col("", op("gt", 1)), "an empty text is not a column"),
    ] {
        let told = problem(checked(customers(expression(condition))));
        assert_eq!(told.argument, "where");
        assert!(told.message.starts_with("col(\"") && told.message.contains(advice), "{told}");
        assert!(told.path.starts_with("filters.OR[0].AND[0]."), "{told:?}");
    }
}

#[test]
fn an_operator_of_one_s_own_is_sent_as_given() {
    for (data_type, value, sent) in [
        (Some("string"), json!("a"), json!(["a"])),
        (Some("number"), json!([1, 2]), json!([1, 2])),
        (Some("datetime"), json!("2024-01-01"), json!(1_704_067_200_000_i64)),
        (Some("boolean"), json!(true), json!([true])),
        (None, json!(1), json!([1])),
    ] {
        let unit = (data_type == Some("datetime")).then_some("HOUR");
        let condition =
            body(customers(detailed("x", "gt", value, data_type, unit)))["filters"]["OR"][0]["AND"][0].take();
        assert_eq!((&condition["value"], condition["operator"].as_str()), (&sent, Some("gt")));
        assert_eq!(condition["time_unit"].as_str(), unit);
    }
}

#[test]
fn a_named_data_type_and_a_unit_must_fit_the_values() {
    for (where_clause, path, advice) in [
        (detailed("x", "gt", json!([17]), Some("string"), None), "value[0]", "write \"17\""),
        (detailed("x", "gt", json!("17"), Some("number"), None), "value", "without the quotes"),
        (detailed("x", "gt", json!([1]), Some("datetime"), None), "value", "not a list"),
        (detailed("x", "gt", json!([null]), Some("boolean"), None), "value[0]", "None is not"),
        (detailed("x", "gt", json!([1]), Some(""), None), "data_type", "an empty text"),
        (detailed("x", "gt", json!([1]), None, Some("DAY")), "time_unit", "goes with times"),
    ] {
        let told = problem(checked(customers(where_clause)));
        assert_eq!(told.path, format!("filters.OR[0].AND[0].{path}"));
        assert!(told.message.contains(advice), "{told}");
    }
}

#[test]
fn and_and_or_to_any_depth_become_an_or_of_ands() {
    let tree = all([matches("a", 1), any([matches("b", 2), all([matches("c", 3), matches("a", 1)])])]);
    let body = body(customers(expression(tree)));
    // The second group names a twice, alike: it is sent once.
    assert_eq!(columns(&body), [vec!["a", "b"], vec!["a", "c"]]);
}

#[test]
fn a_problem_of_a_condition_in_many_groups_is_told_once() {
    let tree = all([any([matches("a", 1), matches("b", 2)]), matches("c", json!([1, null]))]);
    let told = problem(checked(customers(expression(tree))));
    assert_eq!(told.path, "filters.OR[0].AND[1].value[1]");
    assert_eq!(told.message, "col(\"c\").matches[1]: None is not a text or a number");
}

#[test]
fn too_many_groups_are_refused() {
    let pair = || any([matches("a", 1), matches("b", 2)]);
    let told = problem(checked(customers(expression(Tree::All((0..10).map(|_| pair()).collect())))));
    assert_eq!((told.argument.as_str(), told.path.as_str()), ("where", "filters.OR"));
    assert!(told.message.contains("becomes 1024 groups"), "{told}");
}

#[test]
fn what_is_no_filter_is_told_with_an_example() {
    for (where_clause, advice) in [
        (InputValue::Null, "is required: write col(\"customer_id\")"),
        (InputValue::text("name = 'x'"), "is a text, not a filter"),
        (input(json!([{"column": "x"}])), "does not say how its conditions are joined"),
        (after("2024-01-01"), "write col(\"…\").after(\"2024-01-01\")"),
        (
            InputValue::Other { type_name: "Column".to_owned(), shown: "col(\"x\")".to_owned() },
            "col(\"x\") is of type Column",
        ),
    ] {
        let told = problem(checked(customers(where_clause)));
        assert_eq!((told.argument.as_str(), told.path.as_str()), ("where", "filters"));
        assert!(told.message.contains(advice), "{told}");
    }
}

#[test]
fn a_raw_filter_is_sent_with_its_defaults_filled_in() {
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
fn every_field_of_a_raw_condition_is_checked_at_its_place() {
    let good = || json!({"column": "x", "data_type": "string", "operator": "like", "value": ["a"]});
    for (field, value, place, advice) in [
        ("column", json!(3), "column", "3 is a whole number, not a column"),
        ("column", json!(null), "column", "is required"),
        ("data_type", json!(null), "data_type", "is required"),
        ("operator", json!(null), "operator", "is required"),
        ("value", json!(null), "value", "is required"),
        ("value", json!("a"), "value", "write [\"a\"]"),
        ("value", json!([1]), "value", "1 is a whole number, not a text"),
        ("time_unit", json!("DAY"), "time_unit", "goes with times"),
        ("value_type", json!(1), "value_type", "not a value type"),
        ("extendValue", json!([]), "extendValue", "belongs to the promotion code search"),
        ("opertor", json!("x"), "opertor", "did you mean \"operator\"?"),
        ("zzz", json!("x"), "zzz", "there are column, data_type"),
    ] {
        let mut condition = good();
        condition[field] = value;
        let told = problem(checked(customers(raw(&json!([good(), condition])))));
        let argument = format!("where[\"OR\"][0][\"AND\"][1][\"{place}\"]");
        assert!(told.argument.starts_with(&argument), "{told}");
        assert!(told.path.starts_with(&format!("filters.OR[0].AND[1].{place}")), "{told:?}");
        assert!(told.message.contains(advice), "{told}");
    }
}

#[test]
fn a_raw_datetime_is_one_time_in_milliseconds() {
    for (value, advice) in [
        (json!([1_704_067_200_000_i64]), "one time, not a list"),
        (json!(1_704_067_200), "looks like seconds"),
        (json!(1_704_067_200_000_000_i64), "looks like microseconds"),
    ] {
        let condition = json!({"column": "t", "data_type": "datetime", "operator": "equals", "value": value});
        let told = problem(checked(customers(raw(&json!([condition])))));
        assert!(told.message.contains(advice), "{told}");
    }
}

#[test]
fn the_shape_of_a_raw_filter_is_checked_at_each_level() {
    for (where_clause, argument, path, advice) in [
        (json!({}), "where[\"OR\"]", "filters.OR", "is required"),
        (json!({"OR": []}), "where[\"OR\"]", "filters.OR", "empty list"),
        (json!({"OR": {}}), "where[\"OR\"]", "filters.OR", "is a dict, not a list"),
        (json!({"OR": [3]}), "where[\"OR\"][0]", "filters.OR[0]", "not a group"),
        (json!({"OR": [{}]}), "where[\"OR\"][0][\"AND\"]", "filters.OR[0].AND", "is required"),
        (json!({"OR": [{"AND": []}]}), "where[\"OR\"][0][\"AND\"]", "filters.OR[0].AND", "empty list"),
        (json!({"OR": [{"AND": [3]}]}), "where[\"OR\"][0][\"AND\"][0]", "filters.OR[0].AND[0]", "not a condition"),
    ] {
        let told = problem(checked(customers(input(where_clause))));
        assert_eq!((told.argument.as_str(), told.path.as_str()), (argument, path));
        assert!(told.message.contains(advice), "{told}");
    }
    let condition = json!({"column": "x", "data_type": "string", "operator": "like", "value": ["a"]});
    let beside = json!({"OR": [{"AND": [condition], "and": []}], "NOT": []});
    let told = problems(checked(customers(input(beside))));
    assert_eq!(places(&told), [("where[\"NOT\"]", "filters.NOT"), ("where[\"OR\"][0][\"and\"]", "filters.OR[0].and")]);
    assert!(told[1].message.contains("did you mean \"AND\"?"), "{}", told[1]);
}

#[test]
fn names_and_ids_belong_together() {
    let named = |name: Value, id: Value| ItemsArguments {
        item_type_name: input(name),
        item_type_id: input(id),
        ..customers(some_customers())
    };
    for (name, id) in [("customer", json!(null)), ("customer", json!(-1003)), ("store", json!(7))] {
        assert_eq!(body(named(json!(name), id))["itemTypeName"], name);
    }
    for (name, id, argument, advice) in [
        (json!("store"), json!(null), "item_type_id", "is required for \"store\""),
        (json!("customers"), json!(null), "item_type_id", "did you mean \"customer\"?"),
        (json!("customer"), json!(-1007), "item_type_id", "\"customer\" has the id -1003, not -1007"),
        (json!("store"), json!(-1003), "item_type_name", "the id -1003 is that of \"customer\""),
        (json!("store"), json!("7"), "item_type_id", "write int(\"7\")"),
        (json!("store"), json!(7.0), "item_type_id", "7.0 is a float"),
        (json!("store"), json!(true), "item_type_id", "True is a bool"),
        (json!(null), json!(7), "item_type_name", "None is not the name"),
        (json!(""), json!(7), "item_type_name", "an empty text"),
    ] {
        let told = problem(checked(named(name, id)));
        assert_eq!(told.argument, argument, "{told}");
        assert!(told.message.contains(advice), "{told}");
    }
}

#[test]
fn attributes_are_sent_as_an_array_or_a_text() {
    let sent =
        |form: Value| body(ItemsArguments { attrs_format: input(form), ..customers(some_customers()) })["attrs"].take();
    assert_eq!(sent(json!(null)), json!(["customer_id", "name"]));
    assert_eq!(sent(json!("array")), json!(["customer_id", "name"]));
    assert_eq!(sent(json!("string")), json!("customer_id,name"));
    let told =
        problem(checked(ItemsArguments { attrs_format: InputValue::text("csv"), ..customers(some_customers()) }));
    assert_eq!(told.message, "\"csv\" is not a form of attrs: it is \"array\" or \"string\"");
}

#[test]
fn an_operator_of_dates_takes_milliseconds_whatever_the_data_type() {
    let asked = |operator: &str, number: i64| {
        checked(customers(detailed("joined", operator, json!([number]), Some("number"), None)))
    };
    let told = problem(asked("after_date", 1_706_659_200));
    assert_eq!(told.path, "filters.OR[0].AND[0].value[0]");
    assert!(told.message.contains("1706659200 looks like seconds"), "{told}");
    assert!(asked("before_date", 1_706_659_200_000).is_ok());
    assert!(asked("newer_than", 1_706_659_200).is_ok(), "what it takes is not shown");
}

#[test]
fn attributes_of_promotion_codes_are_sent_as_an_array_alone() {
    let time = || expression(col("allocated_time", after("2024-01-01")));
    let asked = |form: &str| checked(ItemsArguments { attrs_format: InputValue::text(form), ..codes(time()) });
    assert!(asked("array").is_ok());
    let told = problem(asked("string"));
    assert_eq!((told.argument.as_str(), told.path.as_str()), ("attrs_format", "attrs"));
    assert_eq!(told.message, "a search of promotion codes takes attrs as an array: leave attrs_format out");
}

#[test]
fn attributes_of_other_objects_are_free_but_must_be_names() {
    for (attrs, argument, advice) in [
        (json!(null), "attrs", "is required"),
        (json!([]), "attrs", "name at least one"),
        (json!("customer_id,name"), "attrs", "holds a comma"),
        (json!(["a", ""]), "attrs[1]", "an empty text"),
        (json!(["a", "a"]), "attrs[1]", "named twice"),
    ] {
        let told = problem(checked(ItemsArguments { attrs: input(attrs), ..customers(some_customers()) }));
        assert_eq!(told.argument, argument);
        assert!(told.message.contains(advice), "{told}");
    }
    let search = checked(ItemsArguments { attrs: InputValue::text("loyalty"), ..customers(some_customers()) });
    assert_eq!(search.expect("a good request").attributes, ["loyalty"]);
}

#[test]
fn promotion_codes_take_section_4_2_by_this_way_too() {
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
             "value": 1_704_067_200_000_i64, "time_unit": "DAY"},
        ]}]})
    );
}

#[test]
fn a_raw_filter_of_codes_is_ordered_and_completed() {
    let where_clause = raw(&json!([
        {"column": "allocated_time", "data_type": "datetime", "operator": "equals", "value": "2024-01-01", "type": 2},
        {"column": "code_status", "data_type": "number", "operator": "matches", "value": [3], "extendValue": []},
    ]));
    assert_eq!(
        body(codes(where_clause))["filters"],
        json!({"OR": [{"AND": [
            {"type": 2, "column": "code_status", "data_type": "number", "operator": "matches", "value": [3],
             "extendValue": []},
            {"type": 2, "column": "allocated_time", "data_type": "datetime", "operator": "equals",
             "value": 1_704_067_200_000_i64, "time_unit": "DAY"},
        ]}]})
    );
}

#[test]
fn each_limit_of_section_8_holds_for_expressions_of_codes() {
    let time = || col("allocated_time", after("2024-01-01"));
    for (tree, path, advice) in [
        (any([time(), time()]), "filters.OR", "has 2 groups joined by OR"),
        (matches("code_status", 3), "filters.OR[0].AND", "allocated_time is required"),
        (all([time(), matches("code_status", 2)]), "filters.OR[0].AND[0].value", "2 is not one of code_status"),
        (all([time(), matches("audience_type", -1)]), "filters.OR[0].AND[0].value", "-1 is not one of audience_type"),
        (
            all([time(), matches("pool_id", 2)]),
            "filters.OR[0].AND[1].column",
            "\"pool_id\" is not a column a promotion",
        ),
        (
            all([time(), col("allocated_time", before("2024-02-01"))]),
            "filters.OR[0].AND",
            "client.scan_codes(allocated_time=days(",
        ),
        (
            all([time(), matches("code_status", 3), matches("code_status", 4)]),
            "filters.OR[0].AND",
            "code_status is filtered 2 times",
        ),
        (all([time(), matches("audience_type", -1003)]), "filters.OR[0].AND", "silently"),
        (matches("allocated_time", "2024-01-01"), "filters.OR[0].AND[0].value", "write after(\"2024-01-01\")"),
    ] {
        let told = problems(checked(codes(expression(tree))));
        assert!(
            told.iter().any(|problem| problem.path == path && problem.message.contains(advice)),
            "{path} {advice}: {told:#?}"
        );
    }
    let same = all([time(), time()]);
    assert_eq!(columns(&body(codes(expression(same)))), [["allocated_time"]]);
}

#[test]
fn more_than_four_conditions_of_codes_are_told() {
    let time = |day: i64| col("allocated_time", after(1_704_067_200_000 + day));
    let told = problems(checked(codes(expression(all([time(1), time(2), time(3), time(4), time(5)])))));
    assert!(told.iter().any(|problem| problem.message.contains("has 5 conditions")), "{told:#?}");
}

#[test]
fn each_field_of_a_raw_condition_of_codes_is_checked() {
    for (field, value, advice) in [
        ("type", json!(1), "1 is not the type of a condition"),
        ("extendValue", json!([1]), "not an empty array"),
        ("value_type", json!("normal"), "belongs to a generic search"),
        ("data_type", json!("string"), "write \"number\""),
        ("value", json!(3), "write [3]"),
        ("value", json!(["sent"]), "sent as given: write 3"),
        ("column", json!("code_statu"), "did you mean \"code_status\"?"),
    ] {
        let mut condition =
            json!({"column": "code_status", "data_type": "number", "operator": "matches", "value": [3]});
        condition[field] = value;
        let time =
            json!({"column": "allocated_time", "data_type": "datetime", "operator": "equals", "value": "2024-01-01"});
        let told = problem(checked(codes(raw(&json!([condition, time])))));
        assert!(told.argument.contains(&format!("[\"{field}\"]")) && told.message.contains(advice), "{told}");
    }
    let time = json!({"column": "allocated_time", "data_type": "datetime", "operator": "equals", "value": "2024-01-01", "extendValue": []});
    assert!(problem(checked(codes(raw(&json!([time]))))).message.contains("belongs to string and number conditions"));
}

#[test]
fn attributes_of_codes_are_checked_by_this_way_too() {
    let arguments = ItemsArguments {
        attrs: input(json!(["pool"])),
        ..codes(expression(col("allocated_time", after("2024-01-01"))))
    };
    assert!(problem(checked(arguments)).message.contains("did you mean \"pool_id\"?"));
}

#[test]
fn every_problem_of_every_argument_is_told_at_once() {
    let told = problems(checked(ItemsArguments {
        item_type_name: InputValue::text("store"),
        item_type_id: InputValue::Null,
        attrs: input(json!(["a", 3])),
        where_clause: expression(all([matches("x", json!([])), col("t", after(5))])),
        limit: InputValue::Bool(true),
        attrs_format: InputValue::text("csv"),
    }));
    assert_eq!(
        places(&told),
        [
            ("item_type_id", "itemTypeId"),
            ("attrs[1]", "attrs[1]"),
            ("attrs_format", "attrs"),
            ("where", "filters.OR[0].AND[0].value"),
            ("where", "filters.OR[0].AND[1].value"),
            ("limit", ""),
        ]
    );
}
