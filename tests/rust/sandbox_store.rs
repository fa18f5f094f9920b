//! The sandbox's store: files that survive, files that are refused, declarations, loads and concurrency.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{SEARCH, condition, items, receive, search, send};
use dataaccess::error::Error;
use dataaccess::sandbox::{AttributeKind, BusinessObject, Cell, Options, Sandbox};
use serde_json::json;

/// A folder of its own that ends with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static FOLDERS: AtomicU32 = AtomicU32::new(0);
        let name = format!("dataaccess-store-{}-{}", std::process::id(), FOLDERS.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn empty() -> Sandbox {
    Sandbox::start(Options::default()).unwrap()
}

fn on(path: &Path) -> Result<Sandbox, Error> {
    Sandbox::start(Options { db: Some(path.to_owned()), ..Options::default() })
}

fn refusal(path: &Path) -> String {
    on(path).unwrap_err().summary()
}

fn store() -> BusinessObject {
    let attributes =
        [("id", AttributeKind::Text), ("area", AttributeKind::Number), ("opened", AttributeKind::Datetime)];
    BusinessObject::new(7, "store", &attributes)
}

fn row(id: &str, area: impl Into<Cell>, opened: &str) -> Vec<Cell> {
    vec![id.into(), area.into(), opened.into()]
}

fn all_stores(sandbox: &Sandbox) -> String {
    search(sandbox, &items(7, "store", &["id", "area", "opened"], json!([{"AND": []}]))).text().to_owned()
}

const FOUND: &str = r#"{"code":200,"message":"Search Business Object success","data":{"status":true,"data":[{"id":"a","area":1.5,"opened":"2024-01-31 10:00:00"},{"id":"b","area":null,"opened":null}]}}"#;

#[test]
fn objects_and_rows_of_a_file_survive_and_the_file_is_complete() {
    let folder = Folder::new();
    let sandbox = on(&folder.file("data.db")).unwrap();
    sandbox.declare(&store()).unwrap();
    sandbox.load("store", [vec!["b".into(), Cell::Null, Cell::Null]]).unwrap();
    sandbox.load("store", [row("a", 1.5, "2024-01-31 10:00:00")]).unwrap();
    sandbox.stop();
    assert_eq!(folder.names(), ["data.db"], "what is beside the file would be missing from a copy of it");
    fs::rename(folder.file("data.db"), folder.file("moved.db")).unwrap();

    let again = on(&folder.file("moved.db")).unwrap();
    assert_eq!(all_stores(&again), FOUND);
    again.declare(&store()).unwrap();
    assert_eq!(again.load("store", [row("c", 1, "2024-02-01 00:00:00")]).unwrap(), 1);
}

#[test]
fn two_sandboxes_of_one_file_see_what_either_declares_and_loads() {
    let folder = Folder::new();
    let one = on(&folder.file("data.db")).unwrap();
    let other = on(&folder.file("data.db")).unwrap();
    one.declare(&store()).unwrap();
    one.load("store", [row("a", 1.5, "2024-01-31 10:00:00")]).unwrap();
    other.load("store", [vec!["b".into(), Cell::Null, Cell::Null]]).unwrap();
    assert_eq!(all_stores(&one), FOUND);
    assert_eq!(all_stores(&other), FOUND);
}

#[cfg(unix)]
#[test]
fn a_file_is_its_owners_alone_and_a_link_is_not_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    let sandbox = on(&folder.file("data.db")).unwrap();
    for name in folder.names() {
        let mode = fs::metadata(folder.file(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    sandbox.stop();
    symlink(folder.file("data.db"), folder.file("link.db")).unwrap();
    symlink(folder.file("nowhere.db"), folder.file("dangling.db")).unwrap();
    for name in ["link.db", "dangling.db"] {
        assert!(refusal(&folder.file(name)).ends_with("is a symbolic link, which is not followed"), "{name}");
    }
    assert!(!folder.file("nowhere.db").exists());
}

#[test]
fn what_is_no_store_is_refused_and_left_as_it_is() {
    let folder = Folder::new();
    fs::write(folder.file("notes.txt"), "these are my notes, which are longer than the head of a database".repeat(20))
        .unwrap();
    let foreign = rusqlite::Connection::open(folder.file("other.db")).unwrap();
    foreign.execute_batch("CREATE TABLE mine (x); INSERT INTO mine VALUES (1)").unwrap();
    drop(foreign);
    for name in ["notes.txt", "other.db"] {
        let before = fs::read(folder.file(name)).unwrap();
        let message = refusal(&folder.file(name));
        assert!(message.starts_with("db: `") && message.contains(name), "{message}");
        assert!(message.contains("is not a sandbox store; it was not changed"), "{message}");
        assert_eq!(fs::read(folder.file(name)).unwrap(), before, "{name}");
    }
    assert_eq!(folder.names().len(), 2);
    assert!(refusal(&folder.0).ends_with("is not a file"));
    assert!(refusal(&folder.file("missing/data.db")).contains("is in a folder that cannot be used"));
    assert!(refusal(Path::new("/")).contains("names no file"));
}

#[test]
fn an_address_of_the_database_is_no_path() {
    for name in [":memory:", "file:data.db?mode=ro"] {
        let message = refusal(Path::new(name));
        assert!(message.contains("is the address of a database, not the path of a file"), "{message}");
        assert!(!Path::new(name).exists());
    }
}

#[test]
fn a_file_that_was_deleted_is_reported_as_such() {
    let folder = Folder::new();
    let sandbox = on(&folder.file("data.db")).unwrap();
    let row = |number: u32| vec![Cell::from(format!("c-{number:06}")), "n".repeat(300).into()];
    sandbox.load("customer", (0..60_000).map(row)).unwrap();
    // One connection is kept from before: while its response waits to be read, the next search opens another.
    let everything = items(-1003, "customer", &["customer_id", "name"], json!([{"AND": []}]));
    let unread = send(&sandbox, SEARCH, "", &everything.to_string());
    unread.peek(&mut [0]).unwrap();
    fs::remove_file(folder.file("data.db")).unwrap();
    let reply = search(&sandbox, &items(-1003, "customer", &["customer_id"], json!([])));
    assert_eq!(reply.status, 503);
    assert_eq!(reply.message(), "the file of the sandbox's store cannot be opened; was it moved or deleted?");
}

#[test]
fn a_store_of_another_version_is_refused() {
    let folder = Folder::new();
    let path = folder.file("data.db");
    on(&path).unwrap().stop();
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    assert!(refusal(&path).ends_with("is a store of version 2; this package reads version 1"));
}

#[test]
fn a_store_in_memory_leaves_nothing_on_disk() {
    let left = || {
        let folders = [std::env::current_dir().unwrap(), std::env::temp_dir(), PathBuf::from("/")];
        let names = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        // How the store calls its database, and SQLite its temporary files.
        names.filter(|name| name.starts_with("sandbox-") || name.starts_with("etilqs_")).count()
    };
    let before = left();
    let sandbox = empty();
    sandbox.load("customer", (0..20_000).map(|number| vec![format!("c-{number:05}").into(), "n".into()])).unwrap();
    assert_eq!(left(), before);
}

#[test]
fn a_declaration_may_be_repeated_and_an_object_without_rows_declared_again() {
    let sandbox = empty();
    let message = |object: &BusinessObject| sandbox.declare(object).unwrap_err().summary();
    let customer = |attributes: &[(&str, AttributeKind)]| BusinessObject::new(-1003, "customer", attributes);
    sandbox.declare(&BusinessObject::customer()).unwrap();
    sandbox.declare(&customer(&[("customer_id", AttributeKind::Text), ("age", AttributeKind::Number)])).unwrap();
    sandbox.load("customer", [vec!["17".into(), 40.into()]]).unwrap();
    let body =
        items(-1003, "customer", &["age"], json!([{"AND": [condition("age", "number", "equals", json!([40]))]}]));
    assert_eq!(search(&sandbox, &body).records(), [json!({"age": 40})]);
    assert_eq!(message(&BusinessObject::customer()), "object `customer`: it is declared already with other attributes");
    let codes = BusinessObject::new(-100, "promotion_code", &[("id", AttributeKind::Text)]);
    assert_eq!(message(&codes), "object `promotion_code`: it is declared already with other attributes");
    let taken = BusinessObject::new(-1003, "client", &[("id", AttributeKind::Text)]);
    assert_eq!(message(&taken), "object `client`: its name or its id -1003 is taken by `customer` with id -1003");
    assert_eq!(message(&BusinessObject::new(8, "", &[])), "a business object needs a name");
    let twice = BusinessObject::new(8, "x", &[("a", AttributeKind::Text), ("a", AttributeKind::Text)]);
    assert_eq!(message(&twice), "object `x`: attribute `a` is declared twice");
}

#[test]
fn rows_are_loaded_all_or_none_and_the_one_that_does_not_fit_is_named() {
    let sandbox = empty();
    sandbox.declare(&store()).unwrap();
    let good = || row("a", 1, "2024-01-31 10:00:00");
    let message = |bad: Vec<Cell>| sandbox.load("store", [good(), bad]).unwrap_err().summary();
    for (bad, expected) in [
        (row("b", "12", "2024-01-31 10:00:00"), "attribute `area`: `12` is a string, not a number"),
        (row("b", f64::NAN, "2024-01-31 10:00:00"), "attribute `area`: NaN is not a finite number"),
        (row("b", 1, "2024-02-30 10:00:00"), "is not a time in whole seconds, written YYYY-MM-DD HH:MM:SS"),
        (row("b", 1, "2024-1-31 10:00:00"), "is not a time in whole seconds, written YYYY-MM-DD HH:MM:SS"),
        (vec![5.into(), 1.into(), Cell::Null], "attribute `id`: 5 is a number, not a string"),
        (vec![Cell::Null, 1.into(), Cell::Null], "the identifying attribute is null"),
        (vec!["b".into()], "1 cells for 3 attributes"),
        (good(), "its identifier `a` is taken; replace=True puts such rows in the place of those that are there"),
    ] {
        let line = message(bad);
        assert!(line.starts_with("object `store`, row 1: ") && line.ends_with(expected), "{line}");
    }
    assert!(all_stores(&sandbox).contains(r#""data":[]"#), "a load that failed left rows");
    let unknown = sandbox.load("stroe", [good()]).unwrap_err().summary();
    assert_eq!(
        unknown,
        "business object `stroe` is not declared; known: promotion_code, customer, store; add it with declare()"
    );
}

#[test]
fn rows_that_come_part_by_part_are_found_all_or_none() {
    let sandbox = empty();
    let customer = |id: &str| vec![id.into(), "x".into()];
    let customers = items(-1003, "customer", &["customer_id"], json!([{"AND": []}]));
    let found = || search(&sandbox, &customers).records().len();
    let mut dropped = sandbox.begin_load("customer").unwrap();
    dropped.add([customer("a")]).unwrap();
    drop(dropped);
    let mut load = sandbox.begin_load("customer").unwrap();
    load.add([customer("a")]).unwrap();
    // Neither a search nor another load waits for it.
    assert_eq!(sandbox.load("customer", [customer("z")]).unwrap(), 1);
    load.add([customer("b")]).unwrap();
    assert_eq!(found(), 1);
    assert_eq!(load.finish(false).unwrap(), 2);
    assert_eq!(found(), 3);
}

#[test]
fn rows_are_replaced_by_their_identifiers_and_taken_away() {
    let sandbox = empty();
    let customer = |id: &str, name: &str| vec![id.into(), name.into()];
    sandbox.load("customer", [customer("a", "old"), customer("b", "old")]).unwrap();
    let mut load = sandbox.begin_load("customer").unwrap();
    load.add([customer("c", "new"), customer("a", "first"), customer("a", "last")]).unwrap();
    assert_eq!(load.finish(true).unwrap(), 3);
    let everybody = items(-1003, "customer", &["customer_id", "name"], json!([{"AND": []}]));
    let names = [("a", "last"), ("b", "old"), ("c", "new")];
    let expected = names.map(|(id, name)| json!({"customer_id": id, "name": name}));
    assert_eq!(search(&sandbox, &everybody).records(), expected);
    assert_eq!(sandbox.clear("customer").unwrap(), 3);
    assert_eq!(search(&sandbox, &everybody).records(), Vec::<serde_json::Value>::new());
    assert!(sandbox.clear("costumer").unwrap_err().summary().starts_with("business object `costumer` is not declared"));
}

#[test]
fn rows_for_an_object_that_is_declared_again_are_refused() {
    let sandbox = empty();
    let mut load = sandbox.begin_load("customer").unwrap();
    load.add([vec!["a".into(), "x".into()]]).unwrap();
    sandbox.declare(&BusinessObject::new(-1003, "customer", &[("id", AttributeKind::Text)])).unwrap();
    let message = load.finish(false).unwrap_err().summary();
    assert_eq!(message, "object `customer` was declared again while rows for it were loaded; load them again");
}

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
    let mut reading = send(&sandbox, crate::support::SEARCH, "", &everybody.to_string());
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
