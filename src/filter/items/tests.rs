//! Each rule of an item search: names and ids, expressions, bodies, and promotion codes.

use serde_json::{Value, json};

use super::*;
use crate::filter::input::{ColumnCondition, Comparison, Method};
use crate::filter::normal_form::Tree;
use crate::filter::sample::{
    after, all, any, before, col, equals, expression, input, locations, matches, on, op, problem, problems,
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
    serde_json::to_value(checked(arguments).expect("a valid request").body).expect("a body")
}

/// The only problem of a request: its argument, its path, and a part of its message.
fn refuses(arguments: ItemsArguments, argument: &str, path: &str, advice: &str) {
    let problem = problem(checked(arguments));
    assert_eq!((problem.argument.as_str(), problem.path.as_str()), (argument, path), "{problem}");
    assert!(problem.message.contains(advice), "{problem}");
}

/// The same, with the whole message.
fn refuses_with(arguments: ItemsArguments, argument: &str, path: &str, message: &str) {
    let problem = problem(checked(arguments));
    assert_eq!((&*problem.argument, &*problem.path, &*problem.message), (argument, path, message));
}

/// The first condition of a body.
fn condition(arguments: ItemsArguments) -> Value {
    body(arguments)["filters"]["OR"][0]["AND"][0].take()
}

/// Columns of the groups of a request.
fn columns(arguments: ItemsArguments) -> Vec<Vec<String>> {
    let groups = checked(arguments).expect("a valid request").body.filters.or;
    groups.into_iter().map(|group| group.and.into_iter().map(|condition| condition.column).collect()).collect()
}

/// `col(column)` compared with any value.
fn leaf(column: &str, method: Method, value: InputValue) -> InputValue {
    let comparison = Comparison::new(method, value);
    expression(Tree::Leaf(ColumnCondition { column: InputValue::text(column), comparison }))
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
fn a_generic_search_has_the_specified_body() {
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
    for (compared, data_type, value) in [
        (matches("x", "a"), "string", json!(["a"])),
        (matches("x", json!([1, 2.5])), "number", json!([1, 2.5])),
        (equals("x", "a"), "string", json!(["a"])),
        (equals("x", "2024-01-01"), "string", json!(["2024-01-01"])),
        (equals("x", 1), "number", json!([1])),
        (col("x", after("2024-01-01")), "datetime", json!(1_704_067_200_000_i64)),
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
    refuses(customers(several), "where", "filters.OR[0].AND[0].value[0]", "join .on(day) conditions with |");
}

#[test]
fn integers_beyond_i64_are_exact_or_refused() {
    let request = |digits: &str| customers(leaf("x", Method::Matches, InputValue::BigInteger(digits.to_owned())));
    let largest = checked(request("18446744073709551615")).expect("a valid request").body;
    assert!(serde_json::to_string(&largest).unwrap().contains("[18446744073709551615]"));
    refuses(request("18446744073709551616"), "where", "filters.OR[0].AND[0].value", "too large to be sent exactly");
}

#[test]
fn values_that_no_condition_holds_are_refused() {
    for (compared, path, advice) in [
        (matches("x", json!([])), "value", "an empty list matches nothing"),
        (matches("x", json!(["a", 1])), "value[1]", "both string and number values"),
        (matches("x", json!([true])), "value[0]", "True has no specified data_type"),
        (matches("x", json!(null)), "value", "None is not a string or a number"),
        (matches("x", json!([["a"]])), "value[0]", "[\"a\"] is a list, not a string or a number"),
        (equals("x", json!(["a"])), "value", "equals takes one value"),
        (col("x", after(json!(["2024-01-01"]))), "value", "takes one time, not a list"),
        (col("x", after(1_704_067_200)), "value", "looks like seconds"),
        (col("x", op("", 1)), "operator", "an empty string is not an operator"),
        (col("", op("gt", 1)), "column", "an empty string is not a column"),
    ] {
        let problem = problem(checked(customers(expression(compared))));
        let path = format!("filters.OR[0].AND[0].{path}");
        assert_eq!((problem.argument.as_str(), problem.path.as_str()), ("where", path.as_str()));
        assert!(problem.message.starts_with("col(\"") && problem.message.contains(advice), "{problem}");
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
    for (where_clause, path, advice) in [
        (detailed("x", "gt", json!([17]), Some("string"), None), "value[0]", "write \"17\""),
        (detailed("x", "gt", json!("17"), Some("number"), None), "value", "without the quotes"),
        (detailed("x", "gt", json!([1]), Some("datetime"), None), "value", "not a list"),
        (detailed("x", "gt", json!([null]), Some("boolean"), None), "value[0]", "None is not"),
        (detailed("x", "gt", json!([1]), Some(""), None), "data_type", "an empty string"),
        (detailed("x", "gt", json!([1]), None, Some("DAY")), "time_unit", "needs data_type datetime"),
    ] {
        refuses(customers(where_clause), "where", &format!("filters.OR[0].AND[0].{path}"), advice);
    }
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
    let message = "col(\"c\").matches[1]: None is not a string or a number";
    refuses_with(customers(expression(tree)), "where", "filters.OR[0].AND[1].value[1]", message);
}

#[test]
fn too_many_groups_are_refused() {
    let pair = || any([matches("a", 1), matches("b", 2)]);
    let tree = Tree::All((0..10).map(|_| pair()).collect());
    refuses(customers(expression(tree)), "where", "filters.OR", "becomes 1024 groups");
}

#[test]
fn anything_but_a_filter_is_refused_with_an_example() {
    for (where_clause, advice) in [
        (InputValue::text("name = 'x'"), "is a string, not a filter"),
        (input(json!([{"column": "x"}])), "does not say how its conditions are joined"),
        (after("2024-01-01"), "write col(\"…\").after(\"2024-01-01\")"),
        (
            InputValue::Other { type_name: "Column".to_owned(), shown: "col(\"x\")".to_owned() },
            "col(\"x\") is of type Column",
        ),
    ] {
        refuses(customers(where_clause), "where", "filters", advice);
    }
}

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

#[test]
fn name_and_id_must_agree() {
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
        (json!(""), json!(7), "item_type_name", "an empty string"),
    ] {
        let path = if argument == "item_type_id" { "itemTypeId" } else { "itemTypeName" };
        refuses(named(name, id), argument, path, advice);
    }
}

#[test]
fn attributes_are_sent_as_an_array_or_a_string() {
    let customers = |form: Value| ItemsArguments { attrs_format: input(form), ..customers(some_customers()) };
    assert_eq!(body(customers(json!(null)))["attrs"], json!(["customer_id", "name"]));
    assert_eq!(body(customers(json!("array")))["attrs"], json!(["customer_id", "name"]));
    assert_eq!(body(customers(json!("string")))["attrs"], json!("customer_id,name"));
    let message = "\"csv\" is not a format of attrs: write \"array\" or \"string\"";
    refuses_with(customers(json!("csv")), "attrs_format", "attrs", message);
    let time = || expression(col("allocated_time", after("2024-01-01")));
    let codes = |form: &str| ItemsArguments { attrs_format: InputValue::text(form), ..codes(time()) };
    assert!(checked(codes("array")).is_ok());
    let message = "a search of promotion codes takes attrs as an array: leave attrs_format out";
    refuses_with(codes("string"), "attrs_format", "attrs", message);
}

#[test]
fn an_operator_of_dates_takes_milliseconds_whatever_the_data_type() {
    let request =
        |operator: &str, number: i64| customers(detailed("joined", operator, json!([number]), Some("number"), None));
    let path = "filters.OR[0].AND[0].value[0]";
    refuses(request("after_date", 1_706_659_200), "where", path, "1706659200 looks like seconds");
    assert!(checked(request("before_date", 1_706_659_200_000)).is_ok());
    assert!(checked(request("newer_than", 1_706_659_200)).is_ok(), "its values are not specified");
}

#[test]
fn attributes_of_other_objects_can_have_any_name() {
    for (attrs, argument, advice) in [
        (json!(null), "attrs", "is required"),
        (json!([]), "attrs", "name at least one"),
        (json!("customer_id,name"), "attrs", "write the list [\"customer_id\", \"name\"]"),
        (json!(["customer_id,name"]), "attrs[0]", "contains a comma"),
        (json!(["a", ""]), "attrs[1]", "an empty string"),
        (json!(["a", "a"]), "attrs[1]", "named twice"),
    ] {
        refuses(ItemsArguments { attrs: input(attrs), ..customers(some_customers()) }, argument, argument, advice);
    }
    let search = checked(ItemsArguments { attrs: InputValue::text("loyalty"), ..customers(some_customers()) });
    assert_eq!(*search.expect("a valid request").attributes, ["loyalty"]);
}

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
             "value": 1_704_067_200_000_i64, "time_unit": "DAY"},
        ]}]})
    );
}

#[test]
fn a_body_for_codes_is_ordered_and_completed() {
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
fn each_limit_of_8_holds_for_expressions_of_codes() {
    let time = || col("allocated_time", after("2024-01-01"));
    for (tree, path, advice) in [
        (any([time(), time()]), "filters.OR", "has 2 groups joined by OR"),
        (matches("code_status", 3), "filters.OR[0].AND", "allocated_time is required"),
        (all([time(), matches("code_status", 2)]), "filters.OR[0].AND[0].value", "2 is not a value of code_status"),
        (
            all([time(), matches("audience_type", -1)]),
            "filters.OR[0].AND[0].value",
            "-1 is not a value of audience_type",
        ),
        (
            all([time(), matches("pool_id", 2)]),
            "filters.OR[0].AND[1].column",
            "\"pool_id\" is not a column that a promotion",
        ),
        (
            all([time(), col("allocated_time", before("2024-02-01"))]),
            "filters.OR[0].AND",
            ".on(da.days(start, stop)) in a scan",
        ),
        (
            all([time(), matches("code_status", 3), matches("code_status", 4)]),
            "filters.OR[0].AND",
            "code_status is filtered 2 times",
        ),
        (all([time(), matches("audience_type", -1003)]), "filters.OR[0].AND", "silently"),
        (matches("allocated_time", "2024-01-01"), "filters.OR[0].AND[0].value", "use .after(\"2024-01-01\")"),
    ] {
        let found = problems(checked(codes(expression(tree))));
        assert!(
            found.iter().any(|problem| problem.path == path && problem.message.contains(advice)),
            "{path} {advice}: {found:#?}"
        );
    }
    let same = all([time(), time()]);
    assert_eq!(columns(codes(expression(same))), [["allocated_time"]]);
}

#[test]
fn more_than_four_conditions_of_codes_are_refused() {
    let time = |day: i64| col("allocated_time", after(1_704_067_200_000 + day));
    let found = problems(checked(codes(expression(all([time(1), time(2), time(3), time(4), time(5)])))));
    assert!(found.iter().any(|problem| problem.message.contains("has 5 conditions")), "{found:#?}");
}

#[test]
fn each_field_of_a_condition_of_a_body_for_codes_is_checked() {
    for (field, value, advice) in [
        ("type", json!(1), "1 is not the type of a condition"),
        ("extendValue", json!([1]), "not an empty list"),
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
        let problem = problem(checked(codes(raw(&json!([condition, time])))));
        assert!(problem.argument.contains(&format!("[\"{field}\"]")) && problem.message.contains(advice), "{problem}");
    }
    let time = json!({"column": "allocated_time", "data_type": "datetime", "operator": "equals", "value": "2024-01-01", "extendValue": []});
    assert!(problem(checked(codes(raw(&json!([time]))))).message.contains("belongs to string and number conditions"));
}

#[test]
fn attributes_of_codes_are_checked() {
    let arguments = ItemsArguments {
        attrs: input(json!(["pool"])),
        ..codes(expression(col("allocated_time", after("2024-01-01"))))
    };
    refuses(arguments, "attrs[0]", "attrs[0]", "did you mean \"pool_id\"?");
}

#[test]
fn the_problems_of_all_arguments_are_reported_together() {
    let found = problems(checked(ItemsArguments {
        item_type_name: InputValue::text("store"),
        item_type_id: InputValue::Null,
        attrs: input(json!(["a", 3])),
        where_clause: expression(all([matches("x", json!([])), col("t", after(5))])),
        limit: InputValue::Bool(true),
        known_row_cap: InputValue::Null,
        attrs_format: InputValue::text("csv"),
    }));
    assert_eq!(
        locations(&found),
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
