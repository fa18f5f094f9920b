//! Names, ids and attributes of objects, and the problems of all arguments together.

use serde_json::{Value, json};

use super::{ItemsArguments, body, checked, customers, refuses, some_customers};
use crate::filter::input::InputValue;
use crate::filter::tests::{after, all, col, expression, input, locations, matches, problems};

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
    let suggested = "mean \"email\"";
    refuses(declared(json!(["customer_id", "emial"]), some_customers()), "attrs[1]", "attrs[1]", suggested);
    refuses(declared(json!(["zzz"]), some_customers()), "attrs[0]", "attrs[0]", "customer_id, email, opened");
    let where_clause = expression(matches("emial", json!(["a"])));
    refuses(declared(json!(["email"]), where_clause), "where", "filters.OR[0].AND[0].column", suggested);
    body(declared(json!(["email", "opened"]), some_customers()));
}

#[test]
fn name_and_id_must_agree() {
    let named = |name: Value, id: Value| ItemsArguments {
        item_type_name: input(name),
        item_type_id: input(id),
        ..customers(some_customers())
    };
    for (name, id, argument, datum) in [
        (json!("store"), json!(null), "item_type_id", "\"store\""),
        (json!("customers"), json!(null), "item_type_id", "mean \"customer\""),
        (json!("customer"), json!(-1007), "item_type_id", "-1003, not -1007"),
        (json!("store"), json!(-1003), "item_type_name", "\"customer\""),
        (json!("store"), json!("7"), "item_type_id", "int(\"7\")"),
        (json!("store"), json!(7.0), "item_type_id", "float"),
        (json!("store"), json!(true), "item_type_id", "bool"),
        (json!(null), json!(7), "item_type_name", "None"),
        (json!(""), json!(7), "item_type_name", "empty"),
    ] {
        let path = if argument == "item_type_id" { "itemTypeId" } else { "itemTypeName" };
        refuses(named(name, id), argument, path, datum);
    }
}

#[test]
fn attributes_are_sent_as_an_array_unless_a_string_is_asked_for() {
    let customers = ItemsArguments { attrs_format: InputValue::text("array"), ..customers(some_customers()) };
    assert_eq!(body(customers)["attrs"], json!(["customer_id", "name"]));
}

#[test]
fn attributes_of_other_objects_can_have_any_name() {
    for (attrs, argument, datum) in [
        (json!(null), "attrs", "required"),
        (json!([]), "attrs", "least"),
        (json!("customer_id,name"), "attrs", "[\"customer_id\", \"name\"]"),
        (json!(["customer_id,name"]), "attrs[0]", "comma"),
        (json!(["a", ""]), "attrs[1]", "empty"),
        (json!(["a", "a"]), "attrs[1]", "twice"),
    ] {
        refuses(ItemsArguments { attrs: input(attrs), ..customers(some_customers()) }, argument, argument, datum);
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
        attrs_format: InputValue::Null,
        known_attributes: InputValue::Null,
    }));
    assert_eq!(
        locations(&found),
        [
            ("item_type_id", "itemTypeId"),
            ("attrs[1]", "attrs[1]"),
            ("where", "filters.OR[0].AND[0].value"),
            ("where", "filters.OR[0].AND[1].value"),
            ("limit", ""),
        ]
    );
}
