//! Sections 2.3 and 4.1: the generic search.

use dataaccess::sandbox::{AttributeKind, BusinessObject, Cell, Options};
use serde_json::{Value, json};

use super::wire::{SEARCH, Service, condition, customers, items, millis};

/// Objects with every kind of attribute, among them numbers that look alike.
fn orders() -> Service {
    let service = Service::start(Options::default());
    let attributes = [
        ("order_id", AttributeKind::Number),
        ("note", AttributeKind::Text),
        ("amount", AttributeKind::Number),
        ("placed", AttributeKind::Datetime),
    ];
    service.sandbox.declare(&BusinessObject::new(7, "order", &attributes)).unwrap();
    let row = |id: i64, note: Option<&str>, amount: Cell, placed: Option<&str>| {
        vec![id.into(), note.into(), amount, placed.into()]
    };
    let rows = vec![
        row(9_007_199_254_740_993, Some("10"), 10.into(), Some("2024-01-01 23:59:59")),
        row(9_007_199_254_740_992, Some("x"), 0.5.into(), Some("2024-01-02 00:00:00")),
        row(-1, None, Cell::Null, None),
        row(2, Some("Ünï \"q\" \\ \n\u{1}\0🎁"), 10.0.into(), Some("2024-01-02 23:59:59")),
    ];
    assert_eq!(service.sandbox.load("order", rows).unwrap(), 4);
    service
}

fn found(service: &Service, groups: &[Vec<Value>]) -> Vec<i64> {
    let records = service.records(&items(7, "order", &json!(["order_id"]), groups));
    records.iter().map(|record| record["order_id"].as_i64().unwrap()).collect()
}

const BIG: i64 = 9_007_199_254_740_993;

#[test]
fn customers_are_found_by_id() {
    let ids = json!(["demo-customer-0002", "demo-customer-2000", "nobody"]);
    let body = customers(&[vec![condition("customer_id", "string", "matches", &ids)]]);
    let reply = Service::demo().post(SEARCH, &body);
    assert_eq!(
        reply.body,
        r#"{"code":200,"message":"Search Business Object success","data":{"status":true,"data":[{"customer_id":"demo-customer-0002"},{"customer_id":"demo-customer-2000"}]}}"#
    );
}

#[test]
fn a_record_needs_one_group_and_all_its_conditions() {
    let service = orders();
    let note = |value: &str| condition("note", "string", "equals", &json!([value]));
    let amount = |value: i64| condition("amount", "number", "equals", &json!([value]));
    assert_eq!(found(&service, &[vec![note("10"), amount(10)], vec![note("x")]]), [BIG - 1, BIG]);
    assert_eq!(found(&service, &[vec![note("x"), amount(10)]]), Vec::<i64>::new());
    assert_eq!(found(&service, &[vec![note("x"), amount(10)], vec![amount(10)]]), [2, BIG]);
    assert_eq!(found(&service, &[]), Vec::<i64>::new(), "no group is satisfied");
    assert_eq!(found(&service, &[vec![]]), [-1, 2, BIG - 1, BIG], "a group without conditions is met by all");
}

#[test]
fn numbers_are_compared_as_numbers_and_strings_as_strings() {
    let service = orders();
    let by_id = |value: Value| found(&service, &[vec![condition("order_id", "number", "matches", &json!([value]))]]);
    assert_eq!(by_id(json!(BIG)), [BIG]);
    assert_eq!(by_id(json!(BIG - 1)), [BIG - 1]);
    assert_eq!(by_id(json!(-1)), [-1]);
    assert_eq!(by_id(json!(u64::MAX)), Vec::<i64>::new());
    let by_note = |value: &str| found(&service, &[vec![condition("note", "string", "matches", &json!([value]))]]);
    assert_eq!(by_note("10"), [BIG]);
    for unlike in ["10.0", " 10", "X", "x ", "x\0", "%", "", "null"] {
        assert_eq!(by_note(unlike), Vec::<i64>::new(), "{unlike:?}");
    }
    assert_eq!(by_note("Ünï \"q\" \\ \n\u{1}\0🎁"), [2]);
}

#[test]
fn datetimes_are_compared_by_day() {
    let service = orders();
    let placed = |operator: &str| {
        let mut condition = condition("placed", "datetime", operator, &json!(millis("2024-01-02T15:00:00Z")));
        condition["time_unit"] = json!("DAY");
        found(&service, &[vec![condition]])
    };
    assert_eq!(placed("equals"), [2, BIG - 1]);
    assert_eq!(placed("before_date"), [BIG]);
    assert_eq!(placed("after_date"), Vec::<i64>::new());
}

#[test]
fn values_come_back_as_they_were_stored() {
    let attrs = json!(["order_id", "note", "amount", "placed"]);
    let body = items(7, "order", &attrs, &[vec![]]);
    assert_eq!(
        orders().records(&body),
        [
            json!({"order_id": -1, "note": null, "amount": null, "placed": null}),
            json!({"order_id": 2, "note": "Ünï \"q\" \\ \n\u{1}\0🎁", "amount": 10.0, "placed": "2024-01-02 23:59:59"}),
            json!({"order_id": BIG - 1, "note": "x", "amount": 0.5, "placed": "2024-01-02 00:00:00"}),
            json!({"order_id": BIG, "note": "10", "amount": 10, "placed": "2024-01-01 23:59:59"}),
        ]
    );
}

#[test]
fn thousands_of_groups_and_values_are_answered() {
    let service = Service::demo();
    let id = |number: usize| format!("demo-customer-{number:04}");
    let groups: Vec<Vec<Value>> =
        (1..=2_000).map(|number| vec![condition("customer_id", "string", "equals", &json!([id(number)]))]).collect();
    assert_eq!(service.records(&customers(&groups)).len(), 2_000);
    let values: Vec<String> = (1..=100_000).map(id).collect();
    let body = customers(&[vec![condition("customer_id", "string", "matches", &json!(values))]]);
    assert_eq!(service.records(&body).len(), 2_025);
}

#[test]
fn rows_that_do_not_fit_are_refused_and_none_is_loaded() {
    let service = Service::start(Options::default());
    let load = |rows: Vec<Vec<Cell>>| service.sandbox.load("customer", rows).unwrap_err().message().to_owned();
    let good = || vec!["1".into(), "n".into()];
    assert!(load(vec![good(), vec!["2".into()]]).contains("row 1: 1 cells for 2 attributes"));
    assert!(load(vec![good(), vec![2.into(), "n".into()]]).contains("`customer_id`: 2 is a number, not a string"));
    assert!(load(vec![good(), good()]).contains("row 1: its identifier `1` is taken"));
    assert!(load(vec![good(), vec![Cell::Null, "n".into()]]).contains("row 1: the identifying attribute is null"));
    assert_eq!(service.records(&customers(&[vec![]])), Vec::<Value>::new());
    assert!(service.sandbox.load("nothing", vec![]).unwrap_err().message().contains("`nothing` is not declared"));
    let bad_time = vec![vec![Cell::from("c"), Cell::Null, Cell::Null, "2024-02-30 00:00:00".into()]];
    let bad_time = bad_time.into_iter().map(|mut row| {
        row.resize(11, Cell::Null);
        row
    });
    let refused = service.sandbox.load("promotion_code", bad_time).unwrap_err();
    assert!(refused.message().contains("`date_created`"), "{refused}");
}

#[test]
fn an_object_that_no_search_could_use_is_not_declared() {
    let sandbox = Service::start(Options::default()).sandbox;
    let text = AttributeKind::Text;
    let refused = |id: i64, name: &str, attributes: &[(&str, AttributeKind)]| {
        sandbox.declare(&BusinessObject::new(id, name, attributes)).unwrap_err().message().to_owned()
    };
    assert!(refused(1, "a", &[]).contains("no attributes"));
    assert!(refused(1, "a", &[("x,y", text)]).contains("cannot be named `x,y`"));
    assert!(refused(1, "a", &[("x", text), ("x", text)]).contains("`x` is declared twice"));
    let many: Vec<String> = (0..1_001).map(|number| format!("x{number}")).collect();
    let many: Vec<(&str, AttributeKind)> = many.iter().map(|name| (name.as_str(), text)).collect();
    assert_eq!(refused(1, "a", &many), "object `a`: it has 1001 attributes; an object has at most 1000");
    sandbox.declare(&BusinessObject::new(1, "a", &many[..1_000])).unwrap();
    assert!(refused(-1003, "a", &[("x", text)]).contains("its name or its id -1003 is taken by `customer`"));
    assert!(refused(1, "customer", &[("x", text)]).contains("is taken by `customer` with id -1003"));
}
