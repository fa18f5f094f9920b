//! Every rule of sections 2.4, 4.1, 4.2, 4.3 and 8: broken once, refused with its place.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::wire::{DOWNLOAD, SEARCH, Service, allocated_time, codes, condition, customers, matches};

static SERVICE: LazyLock<Service> = LazyLock::new(Service::demo);

fn good_codes() -> Value {
    let conditions = [
        matches("audience_type", "number", &json!([-1003])),
        matches("allocated_audience", "string", &json!(["demo-customer-0001"])),
        matches("code_status", "number", &json!([3, 4])),
        allocated_time("after_date", "2024-01-01T00:00:00Z"),
    ];
    codes(&json!(["id"]), &conditions)
}

fn good_customers() -> Value {
    customers(&[vec![condition("customer_id", "string", "matches", &json!(["demo-customer-0001"]))]])
}

/// Sets a value in a body by its pointer and asserts the refusal.
#[track_caller]
fn refused(mut body: Value, path: &str, pointer: &str, value: Value, part: &str) {
    *body.pointer_mut(pointer).expect("a place in the body") = value;
    SERVICE.post(path, &body).refuses(400, part);
}

/// Takes each member away in turn and asserts that it is missed.
#[track_caller]
fn each_is_required(body: &Value, path: &str, pointer: &str, members: &[&str]) {
    for member in members {
        let mut body = body.clone();
        body.pointer_mut(pointer).unwrap().as_object_mut().unwrap().shift_remove(*member).expect("was there");
        SERVICE.post(path, &body).refuses(400, &format!("`{member}` is required"));
    }
}

const AND: &str = "/filters/OR/0/AND";

#[test]
fn the_unbroken_bodies_are_answered() {
    for body in [good_codes(), good_customers()] {
        assert_eq!(SERVICE.post(SEARCH, &body).status, 200);
    }
}

#[test]
fn every_member_is_required() {
    for body in [good_codes(), good_customers()] {
        each_is_required(&body, SEARCH, "", &["itemTypeId", "itemTypeName", "attrs", "filters"]);
        each_is_required(&body, SEARCH, "/filters", &["OR"]);
        each_is_required(&body, SEARCH, "/filters/OR/0", &["AND"]);
        each_is_required(&body, SEARCH, &format!("{AND}/0"), &["column", "data_type", "operator", "value"]);
    }
    each_is_required(&good_codes(), SEARCH, &format!("{AND}/0"), &["type"]);
    each_is_required(&good_codes(), SEARCH, &format!("{AND}/3"), &["type", "time_unit"]);
    each_is_required(&good_customers(), SEARCH, &format!("{AND}/0"), &["value_type", "condition_type"]);
    each_is_required(&json!({"scope": "download", "exportId": 1}), DOWNLOAD, "", &["scope", "exportId"]);
}

#[test]
fn unknown_members_are_refused() {
    let mut body = good_codes();
    body["limit"] = json!(10);
    SERVICE.post(SEARCH, &body).refuses(400, "the body: `limit` is not known here");
    let mut body = good_codes();
    body["filters"]["AND"] = json!([]);
    SERVICE.post(SEARCH, &body).refuses(400, "filters: `AND` is not known here");
    let mut body = good_codes();
    body["filters"]["OR"][0]["AND"][2]["condition_type"] = json!("comp_attr");
    SERVICE.post(SEARCH, &body).refuses(400, "filters.OR[0].AND[2]: `condition_type` is not known here");
    let mut body = good_customers();
    body["filters"]["OR"][0]["AND"][0]["type"] = json!(2);
    SERVICE.post(SEARCH, &body).refuses(400, "filters.OR[0].AND[0]: `type` is not known here");
}

#[test]
fn members_have_their_types() {
    let body = good_codes;
    refused(body(), SEARCH, "/itemTypeId", json!("-100"), "itemTypeId: \"-100\" is not an integer");
    refused(body(), SEARCH, "/itemTypeName", json!(null), "itemTypeName: null is not a string");
    refused(body(), SEARCH, "/attrs", json!({"id": 1}), "attrs: {\"id\":1} is not an array");
    refused(body(), SEARCH, "/attrs", json!(["id", 5]), "attrs[1]: 5 is not a string");
    refused(body(), SEARCH, "/filters", json!([]), "filters: [] is not an object");
    refused(body(), SEARCH, "/filters/OR", json!({}), "filters.OR: {} is not an array");
    refused(body(), SEARCH, "/filters/OR/0", json!([]), "filters.OR[0]: [] is not an object");
    refused(body(), SEARCH, AND, json!({}), "filters.OR[0].AND: {} is not an array");
    refused(body(), SEARCH, &format!("{AND}/1"), json!(3), "filters.OR[0].AND[1]: 3 is not an object");
    refused(body(), SEARCH, &format!("{AND}/0/extendValue"), json!({}), "AND[0].extendValue: {} is not an array");
    refused(body(), SEARCH, &format!("{AND}/0/value"), json!(-1003), "AND[0].value: -1003 is not an array");
    refused(body(), SEARCH, &format!("{AND}/1/value"), json!([17]), "AND[1].value[0]: 17 is not a string");
    refused(body(), SEARCH, &format!("{AND}/2/value"), json!([3, "4"]), "AND[2].value[1]: \"4\" is not a number");
    for bad in [json!([1_704_067_200_000_i64]), json!("2024-01-01"), json!(0.5), json!(null)] {
        refused(body(), SEARCH, &format!("{AND}/3/value"), bad, "is not a bare integer");
    }
    // JSON has one kind of number: a whole one may be written with a point.
    let mut pointed = body();
    pointed["filters"]["OR"][0]["AND"][3]["value"] = json!(1.5e12);
    assert_eq!(SERVICE.post(SEARCH, &pointed).status, 200);
    refused(body(), SEARCH, &format!("{AND}/3/value"), json!(i64::MAX), "is not a time in the years 1 to 9999");
    SERVICE.post(SEARCH, &json!([])).refuses(400, "the body: [] is not an object");
}

#[test]
fn what_is_not_json_is_refused() {
    let bearer = format!("Authorization: Bearer {}", SERVICE.token);
    for body in ["", "{", "nonsense", "{\"itemTypeId\":1e999}", &"[".repeat(100_000)] {
        SERVICE.post_as(&bearer, SEARCH, body).refuses(400, "the body is not JSON");
        SERVICE.post_as(&bearer, DOWNLOAD, body).refuses(400, "the body is not JSON");
    }
}

#[test]
fn the_object_must_be_known_by_id_and_name_together() {
    for (mut body, member, value, part) in [
        (good_customers(), "itemTypeId", json!(-5), "no object with id -5 and itemTypeName `customer`"),
        (good_customers(), "itemTypeName", json!("promotion_code"), "no object with id -1003"),
        (good_codes(), "itemTypeName", json!("customer"), "no object with id -100"),
        (good_codes(), "itemTypeId", json!(-1003), "no object with id -1003 and itemTypeName `promotion_code`"),
    ] {
        body[member] = value;
        SERVICE.post(SEARCH, &body).refuses(404, part);
    }
}

#[test]
fn attributes_must_be_known_and_named_once() {
    refused(
        good_codes(),
        SEARCH,
        "/attrs",
        json!(["id", "colour"]),
        "attrs: `promotion_code` has no attribute `colour`",
    );
    refused(good_codes(), SEARCH, "/attrs", json!("id,name"), "attrs: \"id,name\" is not an array of attribute names");
    refused(good_customers(), SEARCH, "/attrs", json!("name,colour"), "has no attribute `colour`");
    refused(good_codes(), SEARCH, "/attrs", json!([]), "no attribute is named");
    refused(good_customers(), SEARCH, "/attrs", json!(""), "has no attribute ``");
    refused(good_codes(), SEARCH, "/attrs", json!(["id", "id"]), "`id` is named twice");
    refused(
        good_customers(),
        SEARCH,
        &format!("{AND}/0/column"),
        json!("email"),
        "`customer` has no attribute `email`",
    );
}

#[test]
fn promotion_codes_have_one_group_of_at_most_four_conditions() {
    let group = json!({"AND": [allocated_time("equals", "2024-01-01T00:00:00Z")]});
    refused(
        good_codes(),
        SEARCH,
        "/filters/OR",
        json!([]),
        "filters.OR: a promotion code search has exactly 1 element, not 0",
    );
    refused(good_codes(), SEARCH, "/filters/OR", json!([group, group]), "exactly 1 element, not 2");
    let five = vec![matches("code_status", "number", &json!([1])); 5];
    refused(good_codes(), SEARCH, AND, json!(five), "5 conditions; a promotion code search has at most 4");
}

#[test]
fn allocated_time_is_required() {
    let status = matches("code_status", "number", &json!([1]));
    refused(good_codes(), SEARCH, AND, json!([status]), "the condition on `allocated_time` is required");
    refused(good_codes(), SEARCH, AND, json!([]), "the condition on `allocated_time` is required");
}

#[test]
fn columns_come_once_and_in_the_order_of_positions() {
    let status = matches("code_status", "number", &json!([1]));
    let audience = matches("allocated_audience", "string", &json!(["a"]));
    let time = allocated_time("equals", "2024-01-01T00:00:00Z");
    refused(
        good_codes(),
        SEARCH,
        AND,
        json!([time, status]),
        "AND[1].column: `code_status` comes after `allocated_time`",
    );
    refused(
        good_codes(),
        SEARCH,
        AND,
        json!([status, audience, time]),
        "`allocated_audience` comes after `code_status`",
    );
    refused(good_codes(), SEARCH, AND, json!([status, status, time]), "each column comes at most once");
    refused(
        good_codes(),
        SEARCH,
        &format!("{AND}/2/column"),
        json!("pool_id"),
        "is not a column of a promotion code filter",
    );
}

#[test]
fn conditions_are_of_type_two_and_of_the_columns_data_type() {
    refused(good_codes(), SEARCH, &format!("{AND}/0/type"), json!(1), "AND[0].type: 1 is not 2");
    refused(
        good_codes(),
        SEARCH,
        &format!("{AND}/0/data_type"),
        json!("string"),
        "is not `number`, which `audience_type` is",
    );
    refused(good_codes(), SEARCH, &format!("{AND}/3/data_type"), json!("number"), "is not `datetime`");
    refused(good_customers(), SEARCH, &format!("{AND}/0/data_type"), json!("number"), "is not `string`");
}

#[test]
fn only_the_values_of_section_8_are_taken() {
    for bad in [0, 2, 5] {
        refused(
            good_codes(),
            SEARCH,
            &format!("{AND}/2/value"),
            json!([3, bad]),
            &format!("AND[2].value[1]: {bad} is not allowed"),
        );
    }
    refused(good_codes(), SEARCH, &format!("{AND}/2/value"), json!([3.5]), "3.5 is not allowed");
    refused(
        good_codes(),
        SEARCH,
        &format!("{AND}/0/value"),
        json!([-1003, -100]),
        "AND[0].value[1]: -100 is not allowed",
    );
}

#[test]
fn operators_and_units_are_those_shown() {
    refused(good_codes(), SEARCH, &format!("{AND}/3/operator"), json!("matches"), "is not an operator of a datetime");
    refused(good_codes(), SEARCH, &format!("{AND}/2/operator"), json!("after_date"), "is not an operator of a number");
    refused(good_codes(), SEARCH, &format!("{AND}/2/operator"), json!("equals"), "compares with exactly one value");
    refused(
        good_customers(),
        SEARCH,
        &format!("{AND}/0/operator"),
        json!("contains"),
        "is not an operator of a string",
    );
    refused(good_codes(), SEARCH, &format!("{AND}/3/time_unit"), json!("HOUR"), "\"HOUR\" is not `DAY`");
    refused(good_customers(), SEARCH, &format!("{AND}/0/value_type"), json!("x"), "\"x\" is not `normal`");
    refused(good_customers(), SEARCH, &format!("{AND}/0/condition_type"), json!("x"), "\"x\" is not `comp_attr`");
    let mut body = good_codes();
    body["filters"]["OR"][0]["AND"][0]["time_unit"] = json!("DAY");
    SERVICE.post(SEARCH, &body).refuses(400, "time_unit: a time unit is for datetime conditions");
}

#[test]
fn a_search_of_ten_thousand_conditions_is_too_long() {
    let short = vec![vec![]; 10_000];
    let long = vec![vec![]; 10_001];
    assert_eq!(SERVICE.post(SEARCH, &customers(&short)).status, 200);
    SERVICE.post(SEARCH, &customers(&long)).refuses(400, "filters.OR: more than 10000 conditions");
}

#[test]
fn a_download_names_its_scope_and_an_integer() {
    let body = json!({"scope": "download", "exportId": 5_637_051});
    refused(body.clone(), DOWNLOAD, "/scope", json!("item"), "scope: \"item\" is not `download`");
    refused(body.clone(), DOWNLOAD, "/exportId", json!("5637051"), "exportId: \"5637051\" is not an integer");
    refused(body, DOWNLOAD, "/exportId", json!(1.5), "exportId: 1.5 is not an integer");
}

#[test]
fn a_promotion_code_search_needs_its_content_type_and_the_generic_one_does_not() {
    let host = format!("Host: {}", SERVICE.address());
    let bearer = format!("Authorization: Bearer {}", SERVICE.token);
    let send = |headers: &[&str], body: &Value| {
        let headers: Vec<&str> = [host.as_str(), bearer.as_str()].iter().chain(headers).copied().collect();
        SERVICE.request(&format!("POST {SEARCH}"), &headers, &body.to_string())
    };
    send(&[], &good_codes()).refuses(415, "Content-Type: a search of promotion_code needs application/json");
    send(&["Content-Type: text/plain"], &good_codes()).refuses(415, "Content-Type");
    assert_eq!(send(&["Content-Type: application/json; charset=utf-8"], &good_codes()).status, 200);
    assert_eq!(send(&[], &good_customers()).status, 200);
}
