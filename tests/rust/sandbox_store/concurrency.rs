//! Loads, searches and stops at the same time.

use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use super::{Folder, on};
use crate::support::{Controlled as _, SEARCH, items, receive, send};
use dataaccess::sandbox::Cell;
use serde_json::json;

#[test]
fn a_stop_does_not_wait_for_rows_that_are_being_written() {
    let folder = Folder::new();
    let sandbox = on(&folder.file("data.db")).unwrap();
    // Somebody else writes to the file, so that the load waits.
    let other = rusqlite::Connection::open(folder.file("data.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    thread::scope(|scope| {
        let load = scope.spawn(|| sandbox.load([vec!["a".into(), Cell::Null]]));
        thread::sleep(Duration::from_millis(200));
        let since = Instant::now();
        sandbox.stop();
        assert!(since.elapsed() < Duration::from_secs(2));
        load.join().unwrap().unwrap_err();
    });
}

#[test]
fn a_load_into_a_file_and_responses_in_flight_do_not_wait_for_each_other() {
    let folder = Folder::new();
    let sandbox = on(&folder.file("data.db")).unwrap();
    let customer = |number: u32| vec![format!("c-{number:06}").into(), "n".repeat(200).into()];
    sandbox.load((0..50_000).map(customer)).unwrap();
    let everybody = items(-1003, "customer", &["customer_id", "name"], json!([{"AND": []}]));
    let mut reading = send(&sandbox, SEARCH, "", &everybody.to_string());
    let mut first = [0; 1];
    reading.read_exact(&mut first).unwrap();
    let since = Instant::now();
    sandbox.load((50_000..50_010).map(customer)).unwrap();
    assert!(since.elapsed() < Duration::from_secs(4), "the load waited for a slow reader");
    let rest = receive(reading);
    assert!(rest.is_whole);
}
