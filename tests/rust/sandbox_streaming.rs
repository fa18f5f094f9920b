//! Large responses of the sandbox: sent as rows are found, waiting for slow clients, ended when the client disconnects.

use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::wire::{Reply, SEARCH, Service, allocated_time, codes, customers};
use dataaccess::sandbox::Options;
use serde_json::json;

const ROWS: usize = 60_000;
const ATTRS: &[&str] = &["customer_id", "name"];

/// A service with rows enough for many chunks and more than all socket buffers hold.
fn large() -> Service {
    let service = Service::start(Options::default());
    service.load((0..ROWS).map(|number| format!("c-{number:06}")), &"n".repeat(300));
    service
}

#[test]
fn slow_readers_are_waited_for_and_do_not_block_others() {
    let service = large();
    let slow: Vec<_> = (0..12).map(|_| service.search(&customers(ATTRS, None))).collect();
    thread::sleep(Duration::from_millis(500));
    let since = Instant::now();
    let small = codes(&json!(["id"]), &[allocated_time("after_date", "2024-01-01T00:00:00Z")]);
    assert_eq!(service.post(SEARCH, &small).status, 200);
    assert!(since.elapsed() < Duration::from_secs(2), "a small search waited for slow readers");
    for stream in slow {
        let reply = Reply::read(stream);
        assert!(reply.is_whole);
        assert_eq!(reply.body.matches("\"customer_id\":").count(), ROWS);
    }
}

#[test]
fn stopping_cuts_off_a_response_in_flight_within_two_seconds() {
    let service = large();
    let stream = service.search(&customers(ATTRS, None));
    thread::sleep(Duration::from_millis(300));
    let since = Instant::now();
    service.sandbox.stop();
    assert!(since.elapsed() < Duration::from_secs(2));
    assert!(!Reply::read(stream).is_whole);
}
