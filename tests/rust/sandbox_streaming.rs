//! Large responses of the sandbox: sent as rows are found, waiting for slow clients, ended when the client disconnects.

use std::io::Read;
use std::net::Shutdown;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Controlled as _, SEARCH, allocated, codes, items, receive, search, send};
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
    items(-1003, "customer", &["customer_id", "name"], json!([{"AND": []}]))
}

#[test]
fn a_large_response_is_sent_in_chunks_and_complete() {
    let reply = search(&large(Options::default()), &everybody());
    assert_eq!(reply.header("transfer-encoding"), Some("chunked"));
    assert!(reply.is_whole);
    let records = reply.records();
    assert_eq!(records.len(), usize::try_from(ROWS).unwrap());
    assert_eq!(records[59_999], json!({"customer_id": "c-059999", "name": "n".repeat(300)}));
}

#[test]
fn slow_readers_are_waited_for_and_do_not_block_others() {
    let sandbox = large(Options::default());
    let slow: Vec<_> = (0..12).map(|_| send(&sandbox, SEARCH, "", &everybody().to_string())).collect();
    thread::sleep(Duration::from_millis(500));
    let since = Instant::now();
    let small = codes(&["id"], json!([allocated("after_date", "2024-01-01T00:00:00Z")]));
    assert_eq!(search(&sandbox, &small).status, 200);
    assert!(since.elapsed() < Duration::from_secs(2), "a small search waited for slow readers");
    for stream in slow {
        let reply = receive(stream);
        assert!(reply.is_whole);
        assert_eq!(reply.text().matches("\"customer_id\":").count(), 60_000);
    }
}

#[test]
fn waiting_for_a_reader_is_no_part_of_the_time_a_search_may_take() {
    let sandbox = large(Options { search_timeout: Duration::from_secs(5), ..Options::default() });
    let stream = send(&sandbox, SEARCH, "", &everybody().to_string());
    thread::sleep(Duration::from_millis(5_500));
    assert!(receive(stream).is_whole);
}

#[test]
fn a_search_that_takes_too_long_is_a_503() {
    let sandbox = large(Options { search_timeout: Duration::ZERO, ..Options::default() });
    let mut scan = everybody();
    scan["filters"]["OR"][0]["AND"] = json!([crate::support::condition("name", "string", "equals", json!(["nobody"]))]);
    let reply = search(&sandbox, &scan);
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")));
    assert_eq!(reply.message(), "the search took too long and was ended");
    // The connection that was ended is not used again.
    let one = items(-1003, "customer", &["name"], json!([]));
    assert_eq!(search(&sandbox, &one).status, 200);
}

#[test]
fn a_search_is_ended_when_its_time_is_over_and_not_before() {
    let longest = Duration::from_millis(300);
    let sandbox = large(Options { search_timeout: longest, ..Options::default() });
    let scan = |groups: usize| {
        let nobody = json!({"AND": [crate::support::condition("name", "string", "equals", json!(["nobody"]))]});
        items(-1003, "customer", &["customer_id"], json!(vec![nobody; groups]))
    };
    assert_eq!(search(&sandbox, &scan(1)).status, 200);
    let since = Instant::now();
    let reply = search(&sandbox, &scan(5_000));
    assert_eq!((reply.status, reply.message().as_str()), (503, "the search took too long and was ended"));
    assert!((longest..longest * 10).contains(&since.elapsed()), "{:?}", since.elapsed());
}

#[test]
fn a_client_that_leaves_frees_the_store() {
    let sandbox = large(Options::default());
    let mut stream = send(&sandbox, SEARCH, "", &everybody().to_string());
    stream.read_exact(&mut [0; 100]).unwrap();
    // While its response is read, nothing can be loaded in memory.
    stream.shutdown(Shutdown::Both).unwrap();
    drop(stream);
    let since = Instant::now();
    sandbox.load([vec!["new".into(), Cell::Null]]).unwrap();
    assert!(since.elapsed() < Duration::from_secs(3), "the response for a client that left was still read");
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
