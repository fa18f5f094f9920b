//! The switches that change the format of a response.

use std::time::Duration;

use dataaccess::error::Kind;
use dataaccess::sandbox::switches::{CodeValueType, EmptyShape, Switches, UnknownAttribute};
use dataaccess::sandbox::{Access, Fault, FaultKind, Options, Sandbox};
use serde_json::{Value, json};

use super::wire::{DOWNLOAD, SEARCH, Service, allocated_time, codes, condition, customers, demo};

fn service(switches: Switches) -> Service {
    Service::start(Options { switches, ..demo() })
}

#[test]
fn an_empty_response_has_the_shape_of_the_switch() {
    let nothing = codes(&json!(["id"]), &[allocated_time("equals", "2000-01-01T00:00:00Z")]);
    for (empty_shape, data) in [
        (EmptyShape::Array, r#"{"status":true,"data":[]}"#),
        (EmptyShape::Object, r#"{"status":true,"data":{}}"#),
        (EmptyShape::Null, r#"{"status":true,"data":null}"#),
        (EmptyShape::Absent, r#"{"status":true}"#),
    ] {
        let service = service(Switches { empty_shape, ..Switches::default() });
        let expected = format!(r#"{{"code":200,"message":"Search Business Object success","data":{data}}}"#);
        assert_eq!(service.post(SEARCH, &nothing).body, expected);
        let some = codes(&json!(["id"]), &[allocated_time("equals", "2024-01-01T00:00:00Z")]);
        assert!(!service.records(&some).is_empty());
    }
}

#[test]
fn the_numbers_of_an_ended_export_can_be_switched() {
    let service = service(Switches { finished_status: 20, failed_status: 30, ..Switches::default() });
    let mixed = json!({"scope": "download", "exportId": dataaccess::sandbox::demo::EXPORT_MIXED});
    let response = service.post(DOWNLOAD, &mixed).json();
    let status = |entry: usize| response["data"]["entries"][entry]["exportStatus"].clone();
    assert_eq!([status(0), status(1), status(2)], [20, 30, 1]);
}

#[test]
fn conditions_of_codes_have_a_value_type_as_switched() {
    let time = || allocated_time("equals", "2024-01-01T00:00:00Z");
    let with = |value: &str| {
        let mut time = time();
        time["value_type"] = json!(value);
        codes(&json!(["id"]), &[time])
    };
    let without = codes(&json!(["id"]), &[time()]);
    let service = |value_type| service(Switches { value_type, ..Switches::default() });

    let refused = service(CodeValueType::Refused);
    assert!(!refused.records(&without).is_empty());
    refused.post(SEARCH, &with("normal")).refuses(400, "filters.OR[0].AND[0]: `value_type` is not known here");

    let optional = service(CodeValueType::Optional);
    for body in [without.clone(), with("normal")] {
        assert!(!optional.records(&body).is_empty());
    }
    optional.post(SEARCH, &with("other")).refuses(400, "value_type: \"other\" is not `normal`");

    let required = service(CodeValueType::Required);
    assert!(!required.records(&with("normal")).is_empty());
    required.post(SEARCH, &without).refuses(400, "filters.OR[0].AND[0]: `value_type` is required");
    required.post(SEARCH, &with("other")).refuses(400, "value_type: \"other\" is not `normal`");
}

#[test]
fn an_unknown_attribute_is_ignored_in_attrs_if_switched_so() {
    let service = service(Switches { unknown_attribute: UnknownAttribute::Ignored, ..Switches::default() });
    let one = |column: &str| vec![condition(column, "string", "matches", &json!(["demo-customer-0001"]))];
    let with = |attrs: &serde_json::Value| {
        let mut body = customers(&[one("customer_id")]);
        body["attrs"] = attrs.clone();
        body
    };
    let customer = json!({"customer_id": "demo-customer-0001"});
    for (attrs, expected) in [
        (json!(["emial", "customer_id"]), &customer),
        (json!(["customer_id", "emial", "emial"]), &customer),
        (json!("customer_id,emial"), &customer),
        (json!(["emial"]), &json!({})),
    ] {
        assert_eq!(service.records(&with(&attrs)), std::slice::from_ref(expected), "{attrs}");
    }
    assert_eq!(
        service.records(&codes(&json!(["emial"]), &[allocated_time("equals", "2024-01-01T00:00:00Z")]))[0],
        json!({})
    );
    service.post(SEARCH, &customers(&[one("emial")])).refuses(400, "`customer` has no attribute `emial`");
}

#[test]
fn a_zone_that_does_not_exist_is_refused_at_the_start() {
    let switches = Switches { day_zone: "Mars/Olympus".into(), ..Switches::default() };
    let error = Sandbox::start(Options { switches, ..Options::default() }).unwrap_err();
    assert_eq!(error.kind(), Kind::Sandbox);
    assert!(error.message().contains("`Mars/Olympus` is not an IANA time zone"));
}

#[test]
fn switches_change_while_the_service_runs_all_or_none() {
    let service = service(Switches::default());
    let nothing = codes(&json!(["id"]), &[allocated_time("equals", "2000-01-01T00:00:00Z")]);
    let evening = codes(&json!(["allocated_time"]), &[allocated_time("equals", "2024-01-15T20:00:00Z")]);
    let change = |changes: Value| service.sandbox.switch(changes.as_object().unwrap());
    assert_eq!(service.records(&evening)[0]["allocated_time"].as_str().map(|time| &time[..10]), Some("2024-01-15"));

    change(json!({"empty_shape": "null", "day_zone": "Asia/Ho_Chi_Minh", "row_order": "reverse"})).unwrap();
    assert_eq!(service.post(SEARCH, &nothing).json()["data"]["data"], json!(null));
    // 20:00 in UTC is the next day in Vietnam.
    assert_eq!(service.records(&evening)[0]["allocated_time"].as_str().map(|time| &time[..10]), Some("2024-01-16"));

    let error = change(json!({"empty_shape": "object", "day_zone": "Mars/Olympus"})).unwrap_err();
    assert!(error.message().contains("switch day_zone: `Mars/Olympus` is not a value of it"), "{error}");
    assert_eq!(service.post(SEARCH, &nothing).json()["data"]["data"], json!(null));
    service.sandbox.stop();
    assert_eq!(change(json!({})).unwrap_err().kind(), Kind::Sandbox);
}

#[test]
fn a_request_has_the_switches_of_its_beginning() {
    let service = service(Switches::default());
    let endless = service.sandbox.inject(Fault::new(FaultKind::delay(Duration::MAX))).unwrap();
    let nothing = codes(&json!(["id"]), &[allocated_time("equals", "2000-01-01T00:00:00Z")]);
    let response = std::thread::scope(|scope| {
        let request = scope.spawn(|| service.post(SEARCH, &nothing).json());
        while endless.hits() == 0 {
            std::thread::yield_now();
        }
        service.sandbox.switch(json!({"empty_shape": "null"}).as_object().unwrap()).unwrap();
        endless.end();
        request.join().unwrap()
    });
    assert_eq!(response["data"]["data"], json!([]));
    assert_eq!(service.post(SEARCH, &nothing).json()["data"]["data"], json!(null));
}

#[test]
fn a_token_of_ones_own_has_a_scope_that_a_switch_names_later() {
    let token = "a-token-of-my-own";
    let access = Access { token: Some(token.into()), ..Access::default() };
    let service = Service::start(Options { access, ..demo() });
    service.sandbox.switch(json!({"generic_scope": "crm.read"}).as_object().unwrap()).unwrap();
    let one = customers(&[vec![]]).to_string();
    assert_eq!(service.post_as(&format!("Authorization: Bearer {token}"), SEARCH, &one).status, 200);
    assert_eq!(service.post(SEARCH, &customers(&[vec![]])).status, 403);
}
