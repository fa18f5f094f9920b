//! Large responses of the sandbox: sent as rows are found, waiting for slow clients, ended when the client disconnects.

use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::wire::{allocated_time, codes, items};
use crate::support::{Controlled as _, SEARCH, receive, search, send};
use dataaccess::sandbox::{Cell, Options, Sandbox};
use serde_json::{Value, json};

const ROWS: u32 = 60_000;

/// A service with rows enough for many chunks and more than all socket buffers hold.
fn large(options: Options) -> Sandbox {
    let sandbox = Sandbox::start(options).unwrap();
    let row = |number: u32| vec![Cell::from(format!("c-{number:06}")), "n".repeat(300).into()];
    sandbox.load((0..ROWS).map(row)).unwrap();
    sandbox
}

fn everybody() -> Value {
    items(-1003, "customer", &json!(["customer_id", "name"]), &[vec![]])
}

#[test]
fn slow_readers_are_waited_for_and_do_not_block_others() {
    let sandbox = large(Options::default());
    let slow: Vec<_> = (0..12).map(|_| send(&sandbox, SEARCH, "", &everybody().to_string())).collect();
    thread::sleep(Duration::from_millis(500));
    let since = Instant::now();
    let small = codes(&json!(["id"]), &[allocated_time("after_date", "2024-01-01T00:00:00Z")]);
    assert_eq!(search(&sandbox, &small).status, 200);
    assert!(since.elapsed() < Duration::from_secs(2), "a small search waited for slow readers");
    for stream in slow {
        let reply = receive(stream);
        assert!(reply.is_whole);
        assert_eq!(reply.body.matches("\"customer_id\":").count(), 60_000);
    }
}

#[test]
fn stopping_cuts_off_a_response_in_flight_within_two_seconds() {
    let sandbox = large(Options::default());
    let stream = send(&sandbox, SEARCH, "", &everybody().to_string());
    thread::sleep(Duration::from_millis(300));
    let since = Instant::now();
    sandbox.stop();
    assert!(since.elapsed() < Duration::from_secs(2));
    assert!(!receive(stream).is_whole);
}
