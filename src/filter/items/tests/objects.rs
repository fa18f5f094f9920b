//! Names, ids and attributes of objects, and the problems of all arguments together.

use serde_json::{Value, json};

use super::{ItemsArguments, body, checked, codes, customers, refuses, refuses_with, some_customers};
use crate::filter::input::InputValue;
use crate::filter::sample::{after, all, col, expression, input, locations, matches, problems};

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
fn declared_attributes_are_checked_in_attrs_and_where() {
    let declared = |attrs: Value, where_clause: InputValue| ItemsArguments {
        attrs: input(attrs),
        known_attributes: input(json!({"customer_id": "string", "email": "string", "opened": "timestamp"})),
        ..customers(where_clause)
    };
    let misspelled = "customer has no attribute \"emial\"; did you mean \"email\"?";
    refuses(declared(json!(["customer_id", "emial"]), some_customers()), "attrs[1]", "attrs[1]", misspelled);
    refuses(
        declared(json!(["zzz"]), some_customers()),
        "attrs[0]",
        "attrs[0]",
        "; they are customer_id, email, opened",
    );
    let where_clause = expression(matches("emial", json!(["a"])));
    let problem = &problems(checked(declared(json!(["email"]), where_clause)))[0];
    assert_eq!(problem.path, "filters.OR[0].AND[0].column");
    assert!(problem.message.ends_with(misspelled), "{}", problem.message);
    body(declared(json!(["email", "opened"]), some_customers()));
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
fn the_problems_of_all_arguments_are_reported_together() {
    let found = problems(checked(ItemsArguments {
        item_type_name: InputValue::text("store"),
        item_type_id: InputValue::Null,
        attrs: input(json!(["a", 3])),
        where_clause: expression(all([matches("x", json!([])), col("t", after(5))])),
        limit: InputValue::Bool(true),
        known_row_cap: InputValue::Null,
        attrs_format: InputValue::text("csv"),
        known_attributes: InputValue::Null,
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
