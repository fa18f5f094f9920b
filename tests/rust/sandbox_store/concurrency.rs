//! Loads, searches and stops at the same time.

use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use super::{Folder, empty, on};
use crate::support::{SEARCH, condition, items, receive, search, send};
use dataaccess::sandbox::Cell;
use serde_json::json;

#[test]
fn a_stop_ends_running_loads_and_leaves_the_file_complete() {
    let folder = Folder::new();
    let sandbox = on(&folder.file("data.db")).unwrap();
    let row = |number: u32| vec![format!("c-{number}").into(), Cell::Null];
    let mut gathering = sandbox.begin_load("customer").unwrap();
    gathering.add((0..10).map(row)).unwrap();
    let mut complete = sandbox.begin_load("customer").unwrap();
    complete.add((0..10).map(row)).unwrap();
    sandbox.stop();
    assert_eq!(folder.names(), ["data.db"]);
    let again = on(&folder.file("data.db")).unwrap();
    let stopped = "this sandbox was stopped; start another one";
    assert_eq!(gathering.add([row(10)]).unwrap_err().summary(), stopped);
    assert_eq!(complete.finish(false).unwrap_err().summary(), stopped);
    assert_eq!(again.load("customer", (0..10).map(row)).unwrap(), 10);
}

#[test]
fn a_stop_does_not_wait_for_rows_that_are_being_written() {
    let folder = Folder::new();
    let sandbox = on(&folder.file("data.db")).unwrap();
    // Somebody else writes to the file, so that the load waits.
    let other = rusqlite::Connection::open(folder.file("data.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    thread::scope(|scope| {
        let load = scope.spawn(|| sandbox.load("customer", [vec!["a".into(), Cell::Null]]));
        thread::sleep(Duration::from_millis(200));
        let since = Instant::now();
        sandbox.stop();
        assert!(since.elapsed() < Duration::from_secs(2));
        assert!(load.join().unwrap().unwrap_err().summary().starts_with("this sandbox was stopped"));
    });
}

#[test]
fn eight_threads_write_and_search_one_file_at_once() {
    let folder = Folder::new();
    let sandbox = on(&folder.file("data.db")).unwrap();
    let everybody = items(-1003, "customer", &["customer_id"], json!([{"AND": []}]));
    thread::scope(|scope| {
        for writer in 0..4 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                for part in 0..5 {
                    let id = |number: u32| format!("{writer}-{part}-{number:03}");
                    let rows = (0..100).map(|number| vec![Cell::from(id(number)), Cell::Null]);
                    assert_eq!(sandbox.load("customer", rows).unwrap(), 100);
                }
            });
        }
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let found = search(&sandbox, &everybody).records().len();
                    assert_eq!(found % 100, 0, "a part of a load was seen");
                }
            });
        }
    });
    assert_eq!(search(&sandbox, &everybody).records().len(), 2_000);
}

#[test]
fn a_load_into_a_file_and_responses_in_flight_do_not_wait_for_each_other() {
    let folder = Folder::new();
    let sandbox = on(&folder.file("data.db")).unwrap();
    let customer = |number: u32| vec![format!("c-{number:06}").into(), "n".repeat(200).into()];
    sandbox.load("customer", (0..50_000).map(customer)).unwrap();
    let everybody = items(-1003, "customer", &["customer_id", "name"], json!([{"AND": []}]));
    let mut reading = send(&sandbox, SEARCH, "", &everybody.to_string());
    let mut first = [0; 1];
    reading.read_exact(&mut first).unwrap();
    let since = Instant::now();
    sandbox.load("customer", (50_000..50_010).map(customer)).unwrap();
    assert!(since.elapsed() < Duration::from_secs(4), "the load waited for a slow reader");
    let rest = receive(reading);
    assert!(rest.is_whole);
}

#[test]
fn a_search_in_memory_neither_waits_for_a_load_nor_finds_half_of_it() {
    let sandbox = empty();
    let customers = items(-1003, "customer", &["customer_id"], json!([{"AND": []}]));
    let rows = (0..3).map(|number| {
        assert_eq!(search(&sandbox, &customers).records(), Vec::<serde_json::Value>::new());
        vec![format!("c-{number}").into(), Cell::Null]
    });
    assert_eq!(sandbox.load("customer", rows).unwrap(), 3);
    assert_eq!(search(&sandbox, &customers).records().len(), 3);
}

#[test]
fn a_search_while_rows_are_written_to_memory_finds_all_of_them_or_none() {
    let sandbox = empty();
    let last = json!([{"AND": [condition("customer_id", "string", "equals", json!(["c-29999"]))]}, {"AND": [condition("customer_id", "string", "equals", json!(["c-00000"]))]}]);
    let ends = items(-1003, "customer", &["customer_id"], last);
    let mut load = sandbox.begin_load("customer").unwrap();
    load.add((0..30_000).map(|number| vec![format!("c-{number:05}").into(), Cell::Null])).unwrap();
    let mut found = Vec::new();
    thread::scope(|scope| {
        let written = scope.spawn(|| load.finish(false).unwrap());
        while !written.is_finished() {
            found.push(search(&sandbox, &ends).records().len());
        }
    });
    found.push(search(&sandbox, &ends).records().len());
    assert!(found.is_sorted() && found.iter().all(|count| [0, 2].contains(count)), "{found:?}");
    assert_eq!(found.last(), Some(&2));
}
