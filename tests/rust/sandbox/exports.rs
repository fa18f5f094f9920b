//! Sections 2.5, 3.2 and 4.3: exports in their stages by the clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use dataaccess::sandbox::demo::{self, Demo};
use dataaccess::sandbox::switches::{Switches, UnknownExport};
use dataaccess::sandbox::{Clock, ExportPlan, Options, PlannedEntry};
use serde_json::{Value, json};

use super::wire::{DOWNLOAD, Service};

/// 2024-03-01 00:00:00 UTC.
const START: Duration = Duration::from_secs(1_709_251_200);

/// A demo service whose clock moves only when the test moves it.
fn service(switches: Switches) -> (Service, Arc<AtomicU64>) {
    let millis = Arc::new(AtomicU64::new(0));
    let clock = {
        let millis = Arc::clone(&millis);
        Clock::new(move || SystemTime::UNIX_EPOCH + START + Duration::from_millis(millis.load(Ordering::SeqCst)))
    };
    let demo = Some(Demo { export_takes: Duration::from_millis(2_500), ..Demo::default() });
    (Service::start(Options { clock, demo, switches, ..Options::default() }), millis)
}

fn download(service: &Service, id: i64) -> Value {
    let reply = service.post(DOWNLOAD, &json!({"scope": "download", "exportId": id}));
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.json()
}

fn running(start: &str) -> Value {
    json!({"exportStatus": 1, "exportedRows": null, "startTime": start, "endTime": null, "durations": null,
           "responseCode": null, "responseMessage": null})
}

#[test]
fn a_response_is_the_specifications_to_the_letter() {
    let (service, _) = service(Switches::default());
    let reply = service.post(DOWNLOAD, &json!({"scope": "download", "exportId": demo::EXPORT_RUNNING}));
    let expected = concat!(
        r#"{"code":200,"message":"Success","data":{"entries":[{"exportStatus":1,"exportedRows":null,"#,
        r#""startTime":"2024-03-01T00:00:00.000Z","endTime":null,"durations":null,"responseCode":null,"#,
        r#""responseMessage":null}],"meta":{"total":1}},"codeMessage":null,"duration":""#
    );
    let duration = reply.body.strip_prefix(expected).expect("the specified response");
    let number = duration.strip_suffix("ms\"}").expect("a number followed by ms");
    assert!(number.parse::<u64>().is_ok(), "{number}");
}

#[test]
fn an_export_ends_when_its_time_has_come() {
    let (service, millis) = service(Switches::default());
    let entries = || download(&service, demo::EXPORT_FINISHING)["data"]["entries"].clone();
    assert_eq!(entries(), json!([running("2024-03-01T00:00:00.000Z")]));
    millis.store(2_499, Ordering::SeqCst);
    assert_eq!(entries(), json!([running("2024-03-01T00:00:00.000Z")]));
    millis.store(2_500, Ordering::SeqCst);
    let finished = json!([{"exportStatus": 2, "exportedRows": 2000, "startTime": "2024-03-01T00:00:00.000Z",
        "endTime": "2024-03-01T00:00:02.500Z", "durations": 2500, "responseCode": 200, "responseMessage": "OK"}]);
    assert_eq!(entries(), finished);
}

#[test]
fn the_demo_has_exports_in_every_stage() {
    let (service, _) = service(Switches::default());
    let data = |id: i64| download(&service, id)["data"].clone();
    assert_eq!(data(5_637_051)["entries"][0]["endTime"], "2024-02-29T23:05:00.000Z");
    assert_eq!(data(demo::EXPORT_EMPTY), json!({"entries": [], "meta": {"total": 0}}));
    let mixed = data(demo::EXPORT_MIXED);
    assert_eq!(mixed["meta"]["total"], 3);
    let statuses: Vec<&Value> =
        mixed["entries"].as_array().unwrap().iter().map(|entry| &entry["exportStatus"]).collect();
    assert_eq!(statuses, [2, 3, 1]);
    assert_eq!(mixed["entries"][1]["responseCode"], 500);
    assert_eq!(mixed["entries"][2], running("2024-03-01T00:00:00.000Z"));
}

#[test]
fn an_entry_appears_when_it_starts() {
    let (service, millis) = service(Switches::default());
    let starts = SystemTime::UNIX_EPOCH + START + Duration::from_millis(1_001);
    let entry = PlannedEntry { starts, takes: Duration::MAX, rows: 1, succeeds: true, code: None, message: None };
    service.sandbox.plan_export(9, vec![entry]).unwrap();
    assert_eq!(download(&service, 9)["data"]["meta"]["total"], 0);
    millis.store(1_001, Ordering::SeqCst);
    assert_eq!(download(&service, 9)["data"]["entries"], json!([running("2024-03-01T00:00:01.001Z")]));
}

#[test]
fn an_unknown_export_is_what_the_switch_says() {
    let body = json!({"scope": "download", "exportId": 1});
    service(Switches::default()).0.post(DOWNLOAD, &body).refuses(404, "exportId: there is no export 1");
    let lenient = Switches { unknown_export: UnknownExport::NoEntries, ..Switches::default() };
    assert_eq!(download(&service(lenient).0, 1)["data"], json!({"entries": [], "meta": {"total": 0}}));
}

#[test]
fn an_export_that_is_started_lists_its_entries_and_ends_them_one_after_another() {
    let (service, millis) = service(Switches::default());
    let seconds = Duration::from_secs;
    let plan = ExportPlan { delay: seconds(2), takes: seconds(4), entries: 2, rows: 7, succeeds: false };
    let id = service.sandbox.start_export(None, &plan).unwrap();
    let at = |time: u64| {
        millis.store(time, Ordering::SeqCst);
        download(&service, id)["data"].clone()
    };
    assert_eq!(at(1_999), json!({"entries": [], "meta": {"total": 0}}));
    let waiting = running("2024-03-01T00:00:02.000Z");
    assert_eq!(at(2_000), json!({"entries": [waiting, waiting], "meta": {"total": 2}}));
    let first = json!({"exportStatus": 3, "exportedRows": 7, "startTime": "2024-03-01T00:00:02.000Z",
        "endTime": "2024-03-01T00:00:04.000Z", "durations": 2000, "responseCode": 500,
        "responseMessage": "The destination refused the file"});
    assert_eq!(at(4_000)["entries"], json!([first, waiting]));
    assert_eq!(at(6_000)["entries"][1]["endTime"], "2024-03-01T00:00:06.000Z");
}

#[test]
fn an_export_takes_a_free_id_or_the_place_of_the_one_it_names() {
    let (service, _) = service(Switches::default());
    let plan = |rows| ExportPlan { delay: Duration::ZERO, takes: Duration::ZERO, entries: 1, rows, succeeds: true };
    let first = service.sandbox.start_export(None, &plan(1)).unwrap();
    assert_eq!(service.sandbox.start_export(Some(first + 1), &plan(2)).unwrap(), first + 1);
    let third = service.sandbox.start_export(None, &plan(3)).unwrap();
    service.sandbox.start_export(Some(first), &plan(4)).unwrap();
    let rows = [first, first + 1, third].map(|id| download(&service, id)["data"]["entries"][0]["exportedRows"].clone());
    assert_eq!((third, rows), (first + 2, [json!(4), json!(2), json!(3)]));
}

#[test]
fn an_export_may_last_forever_or_have_nothing_in_it() {
    let (service, _) = service(Switches::default());
    let for_ever = ExportPlan { delay: Duration::ZERO, takes: Duration::MAX, entries: 3, rows: 1, succeeds: true };
    for (plan, total) in [
        (for_ever, 3),
        (ExportPlan { delay: Duration::MAX, ..for_ever }, 0),
        (ExportPlan { entries: 0, ..for_ever }, 0),
    ] {
        let id = service.sandbox.start_export(None, &plan).unwrap();
        let data = download(&service, id)["data"].clone();
        assert_eq!(data["meta"]["total"], total);
        assert!(data["entries"].as_array().unwrap().iter().all(|entry| entry["endTime"].is_null()));
    }
}
