//! Start, stop, and what the service survives.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use dataaccess::error::Kind;
use dataaccess::sandbox::{Clock, Options, Sandbox};
use serde_json::json;

use super::wire::{DOWNLOAD, Service, allocated_time, codes, demo};

#[test]
fn the_demo_has_codes_on_every_day_and_some_that_are_free() {
    let service = Service::demo();
    let attrs = json!(["id", "allocated_time", "name", "code_status", "allocated_audience"]);
    let records = service.records(&codes(&attrs, &[allocated_time("after_date", "2000-01-01T00:00:00Z")]));
    let days: std::collections::BTreeSet<&str> =
        records.iter().map(|record| &record["allocated_time"].as_str().unwrap()[..10]).collect();
    assert_eq!((days.len(), days.first(), days.last()), (60, Some(&"2024-01-01"), Some(&"2024-02-29")));
    let times: Vec<&str> = records.iter().map(|record| record["allocated_time"].as_str().unwrap()).collect();
    assert!(times.contains(&"2024-01-01 00:00:00") && times.contains(&"2024-02-29 23:59:59"));
    let free = 6_000 - records.len();
    assert!((1_500..2_100).contains(&free), "{free} codes without a time");
    let available: Vec<_> = records.iter().filter(|record| record["code_status"] == 1).collect();
    assert!((100..200).contains(&available.len()), "{} available codes", available.len());
    assert!(available.iter().all(|record| record["allocated_audience"].is_null()));
    assert!(records.iter().any(|record| !record["name"].as_str().unwrap().is_ascii()));
}

#[test]
fn dropping_stops_without_keeping_anyone_waiting() {
    let service = Service::demo();
    let address = service.address().to_owned();
    drop(service);
    let end = Instant::now() + Duration::from_secs(2);
    while TcpStream::connect(&address).is_ok() {
        assert!(Instant::now() < end, "the port is still open");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_port_can_be_chosen_and_one_that_is_taken_is_reported() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = Sandbox::start(Options { port, ..Options::default() }).unwrap_err();
    assert_eq!(error.kind(), Kind::Sandbox);
    assert!(error.message().contains(&format!("cannot listen on 127.0.0.1:{port}")), "{error}");
    drop(taken);
    let sandbox = Sandbox::start(Options { port, ..Options::default() }).unwrap();
    assert_eq!(sandbox.base_url(), format!("http://127.0.0.1:{port}"));
}

#[test]
fn a_panic_is_a_response_and_the_service_continues() {
    let broken = Arc::new(AtomicBool::new(false));
    let clock = {
        let broken = Arc::clone(&broken);
        Clock::new(move || {
            // The first look is within the operation.
            assert!(!broken.swap(false, Ordering::SeqCst), "the clock of this test is broken on purpose");
            SystemTime::now()
        })
    };
    let service = Service::start(Options { clock, ..demo() });
    let body = json!({"scope": "download", "exportId": 5_637_051});
    for _ in 0..10 {
        broken.store(true, Ordering::SeqCst);
        service.post(DOWNLOAD, &body).refuses(500, "the sandbox failed to respond");
    }
    assert_eq!(service.post(DOWNLOAD, &body).status, 200);
}
