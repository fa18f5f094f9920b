//! What each switch of the sandbox changes in its responses.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use crate::support::{DOWNLOAD, allocated, codes, condition, items, post, receive, search, send};
use dataaccess::sandbox::demo::{Demo, EXPORT_FINISHED, EXPORT_MIXED};
use dataaccess::sandbox::switches::Switches;
use dataaccess::sandbox::{Cell, Options, Sandbox};
use serde_json::{Map, Value, json};

/// The service with demo data and one switch set.
fn with(name: &str, value: impl Into<Value>) -> Sandbox {
    let switches = Switches::default().with(&Map::from_iter([(name.to_owned(), value.into())])).unwrap();
    let demo = Some(Demo::until("2024-02-29").unwrap());
    Sandbox::start(Options { switches, demo, ..Options::default() }).unwrap()
}

/// A search of the demo codes of a day.
fn day(attrs: &[&str], operator: &str, at: &str) -> Value {
    codes(attrs, json!([allocated(operator, at)]))
}

fn nothing() -> Value {
    day(&["id"], "equals", "2001-01-01T00:00:00Z")
}

#[test]
fn the_day_is_cut_in_the_zone() {
    let times = |sandbox: &Sandbox| {
        let records = search(sandbox, &day(&["allocated_time"], "equals", "2024-01-15T12:00:00Z")).records();
        let mut times: Vec<String> =
            records.iter().map(|record| record["allocated_time"].as_str().unwrap().to_owned()).collect();
        times.sort();
        (times.first().unwrap().clone(), times.last().unwrap().clone())
    };
    assert_eq!(times(&with("day_zone", "UTC")), ("2024-01-15 00:00:00".to_owned(), "2024-01-15 23:59:59".to_owned()));
    let (first, last) = times(&with("day_zone", "Asia/Ho_Chi_Minh"));
    assert!(first.as_str() >= "2024-01-14 17:00:00" && first.as_str() < "2024-01-15 00:00:00", "{first}");
    assert!(last.as_str() < "2024-01-15 17:00:00", "{last}");
}

#[test]
fn the_day_itself_may_be_before_and_after() {
    let count = |sandbox: &Sandbox, operator: &str| {
        search(sandbox, &day(&["id"], operator, "2024-01-15T12:00:00Z")).records().len()
    };
    let (without, with) = (with("day_comparison", "exclusive"), with("day_comparison", "inclusive"));
    let on = count(&without, "equals");
    assert!(on > 0);
    for operator in ["before_date", "after_date"] {
        assert_eq!(count(&with, operator), count(&without, operator) + on, "{operator}");
    }
    assert_eq!(count(&with, "equals"), on);
}

#[test]
fn instants_may_be_compared_in_place_of_days() {
    let sandbox = with("day_comparison", "instants");
    let times = |operator: &str, time: &str| {
        let records = search(&sandbox, &day(&["allocated_time"], operator, time)).records();
        let mut times: Vec<String> =
            records.iter().map(|record| record["allocated_time"].as_str().unwrap().to_owned()).collect();
        times.sort();
        times
    };
    let of_day = times("equals", "2024-01-15T12:00:00Z");
    let known = of_day[of_day.len() / 2].clone();
    let [second, later] = ["", ".500"].map(|fraction| format!("{}{fraction}Z", known.replace(' ', "T")));
    // The instant itself is neither before nor after.
    assert!(times("after_date", &second).first().is_some_and(|first| *first > known));
    assert!(times("before_date", &second).last().is_some_and(|last| *last < known));
    assert!(times("after_date", &later).first().is_some_and(|first| *first > known));
    assert_eq!(times("before_date", &later).last(), Some(&known));
    assert_eq!(of_day.first().map(|time| &time[..10]), Some("2024-01-15"));
}

#[test]
fn undocumented_operators_and_units_may_match_nothing() {
    let customers = |operator: &str| {
        let or = json!([{"AND": [condition("customer_id", "string", operator, json!(["demo-customer-0001"]))]}]);
        items(-1003, "customer", &["customer_id"], or)
    };
    let sandbox = with("operators", "unmatched");
    assert_eq!(search(&sandbox, &customers("contains")).records(), Vec::<Value>::new());
    assert_eq!(search(&sandbox, &customers("matches")).records().len(), 1);
    let mut hourly = day(&["id"], "after_date", "2024-01-15T12:00:00Z");
    hourly["filters"]["OR"][0]["AND"][0]["time_unit"] = json!("HOUR");
    assert_eq!(search(&sandbox, &hourly).status, 400);
    assert_eq!(search(&with("time_unit", "unmatched"), &hourly).records(), Vec::<Value>::new());
}

#[test]
fn attrs_may_have_to_be_an_array_or_a_string() {
    let array = items(-1003, "customer", &["customer_id"], json!([{"AND": []}]));
    let mut text = array.clone();
    text["attrs"] = json!("customer_id");
    for (value, array_status, text_status) in [("both", 200, 200), ("array", 200, 400), ("string", 400, 200)] {
        let sandbox = with("attrs_format", value);
        assert_eq!((search(&sandbox, &array).status, search(&sandbox, &text).status), (array_status, text_status));
    }
}

#[test]
fn an_empty_response_has_the_shape_that_is_asked_for() {
    for (value, data) in [
        ("array", r#"{"status":true,"data":[]}"#),
        ("object", r#"{"status":true,"data":{}}"#),
        ("null", r#"{"status":true,"data":null}"#),
        ("absent", r#"{"status":true}"#),
    ] {
        let reply = search(&with("empty_shape", value), &nothing());
        let expected = format!(r#"{{"code":200,"message":"Search Business Object success","data":{data}}}"#);
        assert_eq!(reply.text(), expected);
    }
}

#[test]
fn exports_are_reported_as_the_switches_say() {
    let download = |sandbox: &Sandbox, id: i64| post(sandbox, DOWNLOAD, &json!({"scope": "download", "exportId": id}));
    let entries = |sandbox: &Sandbox, id: i64| download(sandbox, id).json()["data"]["entries"].clone();
    assert_eq!(entries(&with("finished_status", 9), EXPORT_FINISHED)[0]["exportStatus"], 9);
    assert_eq!(entries(&with("failed_status", 8), EXPORT_MIXED)[1]["exportStatus"], 8);
    let plain = entries(&with("finished_status", 9), EXPORT_FINISHED);
    assert_eq!((&plain[0]["durations"], &plain[0]["responseCode"]), (&json!(300_000), &json!(200)));
    assert_eq!(download(&with("unknown_export", "not_found"), 1).status, 404);
    let unknown = download(&with("unknown_export", "no_entries"), 1);
    assert_eq!((unknown.status, &unknown.json()["data"]), (200, &json!({"entries": [], "meta": {"total": 0}})));
}

#[test]
fn scopes_may_have_other_names() {
    // The helper's token has the scopes `item` and `download`.
    let customers = items(-1003, "customer", &["customer_id"], json!([]));
    let export = json!({"scope": "download", "exportId": EXPORT_FINISHED});
    assert_eq!(search(&with("generic_scope", "object"), &customers).status, 403);
    assert_eq!(search(&with("generic_scope", "object"), &nothing()).status, 200);
    assert_eq!(post(&with("download_scope", "segment"), DOWNLOAD, &export).status, 403);
}

#[test]
fn a_malformed_request_may_be_reported_by_the_code_only() {
    let sandbox = with("malformed_request", "code_only");
    let reply = search(&sandbox, &json!({}));
    assert_eq!((reply.status, &reply.json()["code"]), (200, &json!(400)));
    let unknown = receive(send(&sandbox, "/nowhere", "", ""));
    assert_eq!(unknown.status, 404, "an unknown path is no malformed request");
}

#[test]
fn rows_come_in_the_order_that_is_asked_for() {
    let ids = |sandbox: &Sandbox| -> Vec<String> {
        let records = search(sandbox, &day(&["id"], "equals", "2024-01-15T12:00:00Z")).records();
        records.iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect()
    };
    let by_id = ids(&with("row_order", "id"));
    assert!(by_id.is_sorted() && by_id.len() > 20);
    let reversed: Vec<String> = by_id.iter().rev().cloned().collect();
    assert_eq!(ids(&with("row_order", "reverse")), reversed);
}

#[test]
fn a_response_may_have_a_maximum_size() {
    let sandbox = with("maximum_rows", 7);
    let all = day(&["id"], "after_date", "2023-01-01T00:00:00Z");
    let found = search(&sandbox, &all).records();
    assert_eq!(found.len(), 7);
    let unlimited = search(&with("row_order", "id"), &all).records();
    assert_eq!(found, unlimited[..7]);
}

#[test]
fn a_response_may_take_its_time() {
    let sandbox = with("latency", 0.4);
    let since = Instant::now();
    assert_eq!(search(&sandbox, &nothing()).status, 200);
    assert!(since.elapsed() >= Duration::from_millis(400));
}

#[test]
fn without_demo_data_the_switches_hold_too() {
    let switches = Switches { maximum_rows: NonZeroU64::new(1), ..Switches::default() };
    let sandbox = Sandbox::start(Options { switches, ..Options::default() }).unwrap();
    sandbox.load("customer", ["a", "b"].map(|id| vec![id.into(), Cell::Null])).unwrap();
    let everybody = items(-1003, "customer", &["customer_id"], json!([{"AND": []}]));
    assert_eq!(search(&sandbox, &everybody).records(), [json!({"customer_id": "a"})]);
}
