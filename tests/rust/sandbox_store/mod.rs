//! The sandbox's store: its files, and their use by several at once.

mod concurrency;
mod files;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::{items, search};
use dataaccess::error::Error;
use dataaccess::sandbox::{Options, Sandbox};
use serde_json::{Value, json};

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

/// The route of the rows of `store`.
const STORES: &str = "/objects/store/rows";

fn store() -> Value {
    json!({"name": "store", "item_type_id": 7, "attributes": {"id": "string", "area": "number", "opened": "datetime"}})
}

fn row(id: &str) -> Value {
    json!({"id": id, "area": 1.5, "opened": "2024-01-31 10:00:00"})
}

fn all_stores(sandbox: &Sandbox) -> String {
    search(sandbox, &items(7, "store", &["id", "area", "opened"], json!([{"AND": []}]))).text().to_owned()
}

const FOUND: &str = r#"{"code":200,"message":"Search Business Object success","data":{"status":true,"data":[{"id":"a","area":1.5,"opened":"2024-01-31 10:00:00"},{"id":"b","area":null,"opened":null}]}}"#;
