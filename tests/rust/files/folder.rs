//! A folder for one test, and parts in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use arrow_array::{Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use dataaccess::error::Result;
use dataaccess::files::{Complete, Footer, Location, Parquet, RowMemory, Writer};
use dataaccess::folder::{self, Names, PartName};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A folder of its own that ends with the test.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        let mut builder = tempfile::Builder::new();
        // Whatever the mask: the folder of a run must not be writable by others.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        Self(builder.tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }
}

/// Names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

pub const HIDDEN: &str = ".dataaccess";

/// Waits for what a folder does.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());
    RUNTIME.block_on(future)
}

fn at(path: &Path) -> Location {
    Location::Path(path.to_path_buf())
}

pub fn open(folder: &Path) -> Result<(folder::Folder, Names)> {
    wait(folder::Folder::open(&at(folder)))
}

pub fn read_only(folder: &Path) -> Result<(folder::Folder, Names)> {
    wait(folder::Folder::read_only(&at(folder)))
}

/// Reads a part with its rows.
pub fn read(part: &Path) -> Result<(Footer, Vec<RecordBatch>)> {
    wait(folder::read(&[at(part)], &RowMemory::new(u64::MAX))).remove(0)
}

pub fn part(number: usize) -> PartName {
    PartName { day: None, number }
}

pub fn of_day(day: &str, number: usize) -> PartName {
    PartName { day: Some(day.to_owned()), number }
}

/// Moves a complete file to its path.
pub trait Published {
    fn published(self) -> Result<u64>;
}

impl Published for Complete {
    fn published(self) -> Result<u64> {
        wait(self.publish()).map(|published| published.bytes)
    }
}

/// The rows of a part.
pub fn rows(number: usize) -> RecordBatch {
    let schema = Arc::new(Schema::new(vec![Field::new("number", DataType::Int64, true)]));
    let numbers = Int64Array::from_iter_values(0..=i64::try_from(number).unwrap());
    RecordBatch::try_new(schema, vec![Arc::new(numbers)]).unwrap()
}

/// Writes a part with its record.
pub fn put(folder: &folder::Folder, name: &PartName) -> u64 {
    let rows = rows(name.number);
    let mut parquet = Parquet::new(folder.create(name).unwrap(), rows.schema_ref(), rows.schema_ref()).unwrap();
    parquet.write(&rows).unwrap();
    parquet.finish_part(&json!({"task": name.to_string()})).unwrap().published().unwrap()
}

/// The numbers of the parts, each of which must be as it was written.
pub fn found(folder: &folder::Folder, names: &Names) -> Vec<usize> {
    let numbers = names.parts.iter().map(|name| {
        let part = wait(folder.part(name)).unwrap();
        assert_eq!((part.rows, part.record), (name.number as u64 + 1, json!({"task": name.to_string()})));
        let (_, batches) = read(&folder.path_of(name)).unwrap();
        assert_eq!(batches, [rows(name.number)]);
        name.number
    });
    numbers.collect()
}
