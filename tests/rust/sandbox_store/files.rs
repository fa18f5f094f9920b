//! Files that survive, and files that are refused.

use std::fs;
use std::path::{Path, PathBuf};

use super::{FOUND, Folder, STORES, all_stores, empty, on, refusal, row, store};
use crate::support::{Controlled as _, SEARCH, items, search, send};
use dataaccess::sandbox::Cell;
use serde_json::json;

#[test]
fn objects_and_rows_of_a_file_survive_and_the_file_is_complete() {
    let folder = Folder::new();
    let sandbox = on(&folder.file("data.db")).unwrap();
    sandbox.done("POST", "/objects", &store());
    sandbox.done("POST", STORES, &json!({"id": "b"}));
    sandbox.done("POST", STORES, &row("a"));
    sandbox.stop();
    assert_eq!(folder.names(), ["data.db"], "what is beside the file would be missing from a copy of it");
    fs::rename(folder.file("data.db"), folder.file("moved.db")).unwrap();

    let again = on(&folder.file("moved.db")).unwrap();
    assert_eq!(all_stores(&again), FOUND);
    again.done("POST", "/objects", &store());
    assert_eq!(again.done("POST", STORES, &row("c")), json!({"rows": 1}));
}

#[test]
fn two_sandboxes_of_one_file_see_what_either_declares_and_loads() {
    let folder = Folder::new();
    let one = on(&folder.file("data.db")).unwrap();
    let other = on(&folder.file("data.db")).unwrap();
    one.done("POST", "/objects", &store());
    one.done("POST", STORES, &row("a"));
    other.done("POST", STORES, &json!({"id": "b"}));
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
    sandbox.load((0..60_000).map(row)).unwrap();
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
    sandbox.load((0..20_000).map(|number| vec![format!("c-{number:05}").into(), "n".into()])).unwrap();
    assert_eq!(left(), before);
}
