//! The search of promotion codes.

use super::empty;
use crate::support::{SEARCH, allocated, code_condition, codes, milliseconds, receive, search, send};
use dataaccess::sandbox::{Cell, Sandbox};
use serde_json::{Value, json};

/// A promotion code with this id, status and time of allocation.
fn code(id: &str, status: i64, time: Option<&str>) -> Vec<Cell> {
    let audience: Option<&str> = time.map(|_| "holder-1");
    vec![
        id.into(),
        "Spring \"Sale\" ✓".into(),
        901.into(),
        "2023-12-01 08:00:00".into(),
        time.into(),
        audience.into(),
        time.map(|_| -1003).into(),
        status.into(),
        Cell::Null,
        Cell::Null,
        12.into(),
    ]
}

fn with_codes() -> Sandbox {
    let sandbox = empty();
    let times = ["2024-01-30 23:59:59", "2024-01-31 00:00:00", "2024-01-31 23:59:59", "2024-02-01 00:00:00"];
    let rows = times.iter().enumerate().map(|(number, time)| code(&format!("c{number}"), 3, Some(time)));
    sandbox.load("promotion_code", rows.chain([code("free", 1, None)])).unwrap();
    sandbox
}

fn ids(sandbox: &Sandbox, and: Value) -> Vec<String> {
    let records = search(sandbox, &codes(&["id"], and)).records();
    records.iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_response_is_written_as_the_specification_shows_it() {
    let sandbox = with_codes();
    let attrs = ["last_used_time", "id", "name", "pool_id", "allocated_time", "allocated_audience", "channel_id"];
    let reply = search(&sandbox, &codes(&attrs, json!([allocated("before_date", "2024-01-31T12:00:00Z")])));
    assert_eq!(
        reply.text(),
        concat!(
            r#"{"code":200,"message":"Search Business Object success","data":{"status":true,"data":[{"last_used_time":null,"#,
            r#""id":"c0","name":"Spring \"Sale\" ✓","pool_id":901,"allocated_time":"2024-01-30 23:59:59","#,
            r#""allocated_audience":"holder-1","channel_id":12}]}}"#
        )
    );
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.header("server"), Some("dataaccess-sandbox"));
    assert_eq!(reply.header("content-length"), Some(reply.body.len().to_string().as_str()));
}

#[test]
fn nothing_found_is_an_empty_array() {
    let reply = search(&empty(), &codes(&["id"], json!([allocated("equals", "2024-01-31T00:00:00Z")])));
    let expected = r#"{"code":200,"message":"Search Business Object success","data":{"status":true,"data":[]}}"#;
    assert_eq!((reply.status, reply.text()), (200, expected));
}

#[test]
fn days_have_sharp_borders_and_unset_times_belong_to_none() {
    let sandbox = with_codes();
    for at in ["2024-01-31T00:00:00Z", "2024-01-31T23:59:59.999Z"] {
        assert_eq!(ids(&sandbox, json!([allocated("before_date", at)])), ["c0"], "{at}");
        assert_eq!(ids(&sandbox, json!([allocated("equals", at)])), ["c1", "c2"], "{at}");
        assert_eq!(ids(&sandbox, json!([allocated("after_date", at)])), ["c3"], "{at}");
    }
}

#[test]
fn an_audience_type_without_its_audience_finds_nothing() {
    let sandbox = with_codes();
    let kind = || code_condition("audience_type", "number", json!([-1003, -1007]));
    let after = || allocated("after_date", "2024-01-01T00:00:00Z");
    assert!(ids(&sandbox, json!([kind(), after()])).is_empty());
    let holder = code_condition("allocated_audience", "string", json!(["holder-1", "holder-2"]));
    let status = code_condition("code_status", "number", json!([3, 4]));
    assert_eq!(ids(&sandbox, json!([kind(), holder, status, after()])).len(), 4);
    assert!(ids(&sandbox, json!([code_condition("code_status", "number", json!([])), after()])).is_empty());
}

/// A body that is right, changed at one place.
fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let status = code_condition("code_status", "number", json!([3]));
    let mut body = codes(&["id"], json!([status, allocated("after_date", "2024-01-01T00:00:00Z")]));
    change(&mut body);
    body
}

#[test]
fn a_broken_rule_of_a_promotion_code_search_is_a_400_that_names_the_place() {
    let sandbox = with_codes();
    let and = |body: &mut Value, place: usize, name: &str, value: Value| {
        body["filters"]["OR"][0]["AND"][place][name] = value;
    };
    let status = || code_condition("code_status", "number", json!([3]));
    let after = || allocated("after_date", "2024-01-01T00:00:00Z");
    let cases: Vec<(Value, &str)> = vec![
        (json!([]), "the body: [] is not an object"),
        (changed(|b| b["itemTypeId"] = json!("-100")), "itemTypeId: \"-100\" is not an integer"),
        (changed(|b| b["itemTypeName"] = json!("customer")), "itemTypeId: there is no object with id -100 and"),
        (changed(|b| drop(b.as_object_mut().unwrap().remove("attrs"))), "the body: `attrs` is required"),
        (changed(|b| b["attrs"] = json!([])), "attrs: no attribute is named"),
        (changed(|b| b["attrs"] = json!(["id", "id"])), "attrs: `id` is named twice"),
        (changed(|b| b["attrs"] = json!(["price"])), "attrs: `promotion_code` has no attribute `price`"),
        (changed(|b| b["attrs"] = json!([7])), "attrs[0]: 7 is not a string"),
        (changed(|b| b["attrs"] = json!({})), "attrs: {} is not an array of attribute names"),
        (changed(|b| b["attrs"] = json!("id")), "attrs: \"id\" is not an array of attribute names"),
        (
            changed(|b| and(b, 1, "extendValue", json!([]))),
            "filters.OR[0].AND[1].extendValue: it belongs to string and number conditions",
        ),
        (changed(|b| b["page"] = json!(1)), "the body: `page` is not known here"),
        (changed(|b| b["filters"] = json!({"AND": []})), "filters: `AND` is not known here"),
        (
            changed(|b| b["filters"]["OR"] = json!([])),
            "filters.OR: a promotion code search has exactly 1 element, not 0",
        ),
        (
            changed(|b| b["filters"]["OR"] = json!([{"AND": [after()]}, {"AND": [after()]}])),
            "filters.OR: a promotion code search has exactly 1 element, not 2",
        ),
        (codes(&["id"], json!([status()])), "filters.OR[0].AND: the condition on `allocated_time` is required"),
        (
            codes(&["id"], json!([status(), status(), status(), status(), after()])),
            "filters.OR[0].AND: 5 conditions; a promotion code search has at most 4",
        ),
        (
            codes(&["id"], json!([after(), status()])),
            "filters.OR[0].AND[1].column: `code_status` comes after `allocated_time`",
        ),
        (codes(&["id"], json!([after(), after()])), "filters.OR[0].AND[1].column: `allocated_time` comes after"),
        (
            codes(&["id"], json!([code_condition("pool_id", "number", json!([1])), after()])),
            "filters.OR[0].AND[0].column: \"pool_id\" is not a column of a promotion code filter",
        ),
        (changed(|b| and(b, 0, "type", json!(1))), "filters.OR[0].AND[0].type: 1 is not 2, which it always is"),
        (changed(|b| and(b, 0, "value", json!([2]))), "filters.OR[0].AND[0].value[0]: 2 is not allowed"),
        (changed(|b| and(b, 0, "value", json!(3))), "filters.OR[0].AND[0].value: 3 is not an array"),
        (changed(|b| and(b, 0, "value", json!(["3"]))), "filters.OR[0].AND[0].value[0]: \"3\" is not a number"),
        (
            changed(|b| and(b, 0, "data_type", json!("string"))),
            "filters.OR[0].AND[0].data_type: \"string\" is not `number`",
        ),
        (
            changed(|b| and(b, 0, "operator", json!("after_date"))),
            "filters.OR[0].AND[0].operator: \"after_date\" is not an",
        ),
        (
            changed(|b| and(b, 0, "extendValue", json!([1]))),
            "filters.OR[0].AND[0].extendValue: [1] is not an empty array",
        ),
        (
            changed(|b| and(b, 0, "time_unit", json!("DAY"))),
            "filters.OR[0].AND[0].time_unit: a time unit is for datetime",
        ),
        (
            changed(|b| and(b, 0, "value_type", json!("other"))),
            "filters.OR[0].AND[0].value_type: \"other\" is not `normal`",
        ),
        (
            changed(|b| and(b, 1, "value", json!([milliseconds("2024-01-01T00:00:00Z")]))),
            "filters.OR[0].AND[1].value: [1704",
        ),
        (
            changed(|b| and(b, 1, "value", json!(i64::MAX))),
            "filters.OR[0].AND[1].value: 9223372036854775807 is not a time",
        ),
        (
            changed(|b| and(b, 1, "operator", json!("matches"))),
            "filters.OR[0].AND[1].operator: \"matches\" is not an operator",
        ),
        (changed(|b| and(b, 1, "time_unit", json!("HOUR"))), "filters.OR[0].AND[1].time_unit: \"HOUR\" is not `DAY`"),
    ];
    for (body, expected) in cases {
        let reply = search(&sandbox, &body);
        assert!(reply.message().starts_with(expected), "{body}\n{}", reply.text());
        // Another name is another object, which there is not.
        let status = if body["itemTypeName"] == "customer" { 404 } else { 400 };
        assert_eq!(reply.status, status, "{body}");
        assert_eq!(reply.json(), json!({"code": status, "message": reply.message(), "data": reply.message()}));
    }
    let mut no_unit = changed(|_| ());
    no_unit["filters"]["OR"][0]["AND"][1].as_object_mut().unwrap().remove("time_unit");
    assert_eq!(search(&sandbox, &no_unit).message(), "filters.OR[0].AND[1]: `time_unit` is required");
    let not_json = receive(send(&sandbox, SEARCH, "", "{"));
    assert!(not_json.message().starts_with("the body is not JSON"), "{}", not_json.text());
}

#[test]
fn extend_value_may_be_absent_and_an_operator_changed() {
    let sandbox = with_codes();
    let one = json!({"type": 2, "column": "code_status", "data_type": "number", "operator": "equals", "value": [1]});
    assert!(ids(&sandbox, json!([one, allocated("after_date", "2024-01-01T00:00:00Z")])).is_empty());
}
