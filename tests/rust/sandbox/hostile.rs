//! Texts meant to break out of a statement: in every position of a request, and the store stays as it was.

use serde_json::{Value, json};

use super::wire::{DOWNLOAD, SEARCH, Service, allocated_time, codes, condition, customers, items, matches};

const TEXTS: [&str; 14] = [
    "'; DROP TABLE item_0; --",
    "\"; DELETE FROM item_1; --",
    "a0",
    "a0 FROM item_0; --",
    "item_0",
    "sqlite_master",
    "rowid",
    "customer_id\" = \"customer_id",
    "' OR '1'='1",
    "1) OR (1=1",
    "%",
    "\0",
    "\u{202e}\u{feff}\u{1b}[31m",
    "ＤＲＯＰ\u{fffd}🎁",
];

fn everything(service: &Service) -> (Vec<Value>, Vec<Value>) {
    let attrs = json!(["id", "name", "allocated_time", "code_status", "allocated_audience"]);
    let codes = codes(&attrs, &[allocated_time("after_date", "2000-01-01T00:00:00Z")]);
    (service.records(&codes), service.records(&customers(&[vec![]])))
}

#[test]
fn no_text_in_any_position_changes_the_store() {
    let service = Service::demo();
    let before = everything(&service);
    assert_eq!(before.1.len(), 2_025);
    let time = || allocated_time("equals", "2024-01-01T00:00:00Z");
    for text in TEXTS {
        let mut unit = time();
        unit["time_unit"] = json!(text);
        let refused = [
            items(-1003, text, &json!(["customer_id"]), &[vec![]]),
            items(-1003, "customer", &json!([text]), &[vec![]]),
            items(-1003, "customer", &json!(text), &[vec![]]),
            customers(&[vec![condition(text, "string", "matches", &json!(["x"]))]]),
            customers(&[vec![condition("customer_id", text, "matches", &json!(["x"]))]]),
            customers(&[vec![condition("customer_id", "string", text, &json!(["x"]))]]),
            codes(&json!([text]), &[time()]),
            codes(&json!(["id"]), &[matches(text, "string", &json!(["x"])), time()]),
            codes(&json!(["id"]), &[unit]),
            json!({text: 1}),
        ];
        for body in refused {
            let reply = service.post(SEARCH, &body);
            let expected = if body["itemTypeName"] == text { 404 } else { 400 };
            assert_eq!(reply.status, expected, "{body}: {}", reply.body);
            let message = reply.json()["message"].as_str().unwrap().to_owned();
            assert!(!message.chars().any(char::is_control), "{message:?}");
        }
        let found_none = [
            customers(&[vec![condition("customer_id", "string", "matches", &json!([text]))]]),
            codes(&json!(["id"]), &[matches("allocated_audience", "string", &json!([text])), time()]),
        ];
        for body in found_none {
            assert_eq!(service.records(&body), Vec::<Value>::new(), "{body}");
        }
        let reply = service.post(DOWNLOAD, &json!({"scope": text, "exportId": text}));
        assert_eq!(reply.status, 400);
    }
    assert_eq!(everything(&service), before);
}

#[test]
fn names_of_objects_and_attributes_may_be_hostile_too() {
    use dataaccess::sandbox::{AttributeKind, BusinessObject, Options};
    let service = Service::start(Options::default());
    for (id, text) in (1..).zip(TEXTS) {
        service.sandbox.declare(&BusinessObject::new(id, text, &[(text, AttributeKind::Text)])).unwrap();
        service.sandbox.load(text, vec![vec![text.into()]]).unwrap();
        let body = items(id, text, &json!([text]), &[vec![condition(text, "string", "equals", &json!([text]))]]);
        assert_eq!(service.records(&body), [json!({text: text})]);
    }
}
