//! Sections 2.2, 3.1 and 4.2: the promotion code search.

use serde_json::{Value, json};

use super::wire::{SEARCH, Service, allocated_time, codes, matches};

const ALL: &str = "2023-12-31T00:00:00Z";

#[test]
fn a_response_is_the_specifications_to_the_letter() {
    let service = Service::demo();
    let body = codes(&json!(["id", "allocated_time"]), &[allocated_time("equals", "2024-01-01T12:00:00Z")]);
    let reply = service.post(SEARCH, &body);
    let first = r#"{"code":200,"message":"Search Business Object success","data":{"status":true,"data":[{"id":"demo-code-00001","allocated_time":"2024-01-01 00:00:00"},{"id":"#;
    assert!(reply.body.starts_with(first), "{}", &reply.body[..200]);
    assert!(reply.body.ends_with(r#""}]}}"#));
    assert_eq!(reply.header("server"), Some("dataaccess-sandbox"));
    assert_eq!(reply.header("content-type"), Some("application/json"));
}

#[test]
fn an_empty_response_is_an_empty_array() {
    let body = codes(&json!(["id"]), &[allocated_time("before_date", "2000-01-01T00:00:00Z")]);
    assert_eq!(
        Service::demo().post(SEARCH, &body).body,
        r#"{"code":200,"message":"Search Business Object success","data":{"status":true,"data":[]}}"#
    );
}

#[test]
fn a_record_has_the_attributes_asked_for_in_their_order_and_null_where_unset() {
    let service = Service::demo();
    let attrs = json!(["last_used_time", "channel_id", "code_status", "id", "last_used_source"]);
    let sent = [matches("code_status", "number", &json!([3])), allocated_time("after_date", ALL)];
    let records = service.records(&codes(&attrs, &sent));
    assert!(records.len() > 1_000);
    for record in &records {
        let keys: Vec<&String> = record.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["last_used_time", "channel_id", "code_status", "id", "last_used_source"]);
        assert_eq!((&record["last_used_time"], &record["last_used_source"]), (&Value::Null, &Value::Null));
        assert_eq!(record["code_status"], 3);
    }
    let used = [matches("code_status", "number", &json!([4])), allocated_time("after_date", ALL)];
    assert!(service.records(&codes(&attrs, &used)).iter().all(|record| record["last_used_time"].is_string()));
}

#[test]
fn all_four_conditions_hold_together() {
    let service = Service::demo();
    let attrs = json!(["id", "allocated_audience", "audience_type", "code_status"]);
    let everyone = service.records(&codes(&attrs, &[allocated_time("after_date", ALL)]));
    let audience =
        everyone.iter().find(|record| record["audience_type"] == -1007).unwrap()["allocated_audience"].clone();
    let body = codes(
        &attrs,
        &[
            matches("audience_type", "number", &json!([-1007])),
            matches("allocated_audience", "string", &json!([audience, "demo-customer-0001"])),
            matches("code_status", "number", &json!([3, 4])),
            allocated_time("after_date", ALL),
        ],
    );
    let expected: Vec<Value> = everyone.into_iter().filter(|record| record["allocated_audience"] == audience).collect();
    assert!(!expected.is_empty());
    assert_eq!(service.records(&body), expected);
}

#[test]
fn an_audience_type_without_audiences_returns_nothing() {
    let conditions = [matches("audience_type", "number", &json!([-1003])), allocated_time("after_date", ALL)];
    assert_eq!(Service::demo().records(&codes(&json!(["id"]), &conditions)), Vec::<Value>::new());
}

#[test]
fn a_code_that_was_never_allocated_is_in_no_day() {
    let service = Service::demo();
    let status = matches("code_status", "number", &json!([1]));
    for (operator, time) in [
        ("after_date", "0001-01-02T00:00:00Z"),
        ("before_date", "9999-01-01T00:00:00Z"),
        ("equals", "2024-01-15T00:00:00Z"),
    ] {
        let body = codes(&json!(["allocated_time"]), &[status.clone(), allocated_time(operator, time)]);
        let records = service.records(&body);
        assert!(records.iter().all(|record| record["allocated_time"].is_string()), "{operator}: {records:?}");
    }
    // Some available codes have a time; most have none, and no search finds them.
    let found = |conditions: &[Value]| service.records(&codes(&json!(["id"]), conditions)).len();
    let available = found(&[status, allocated_time("after_date", ALL)]);
    let allocated = found(&[allocated_time("after_date", ALL)]);
    assert!((100..200).contains(&available) && allocated < 5_000, "{available} of {allocated}");
}

#[test]
fn equals_takes_one_value_and_extend_value_may_be_absent() {
    let service = Service::demo();
    let time = allocated_time("equals", "2024-02-29T00:00:00Z");
    let by = |operator: &str| {
        let status =
            json!({"type": 2, "column": "code_status", "data_type": "number", "operator": operator, "value": [4]});
        service.records(&codes(&json!(["id"]), &[status, time.clone()]))
    };
    assert!(!by("equals").is_empty());
    assert_eq!(by("equals"), by("matches"));
}

#[test]
fn records_come_in_the_order_of_their_ids() {
    let service = Service::demo();
    let conditions = [allocated_time("after_date", ALL)];
    let ids = service.texts(&codes(&json!(["id", "name"]), &conditions), "id");
    assert!(ids.is_sorted() && ids.len() > 3_000);
}
