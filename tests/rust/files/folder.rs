//! A folder for one test, and the checkpoint most tests begin with.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use dataaccess::checkpoint::{Checkpoint, Fingerprint, TaskRecord};
use dataaccess::error::Result;
use dataaccess::files::Written;
use serde_json::json;

/// A folder of its own that ends with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static FOLDERS: AtomicU32 = AtomicU32::new(0);
        let name = format!("dataaccess-files-{}-{}", std::process::id(), FOLDERS.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        let mut builder = fs::DirBuilder::new();
        // Whatever the mask: a checkpoint's folder must not be writable by others.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).unwrap();
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

pub fn tasks(count: usize) -> Vec<String> {
    (0..count).map(|task| format!("{task:05}-00c0ffee")).collect()
}

pub fn fingerprint() -> Fingerprint {
    Fingerprint::default()
        .with("host", "cdp.example.com")
        .with("attrs", "code,pool_id")
        .with_hidden("filters", "customer 17")
}

/// The checkpoint of so many tasks.
pub fn open(folder: &Path, count: usize) -> Result<Checkpoint> {
    Checkpoint::open(folder, &fingerprint(), &tasks(count))
}

pub fn entry(task: usize) -> TaskRecord {
    let rows = task as u64;
    TaskRecord {
        rows,
        bytes: 10 * rows,
        attempts: 1,
        seconds: 0.1,
        extra: json!({"day": format!("{task}"), "note": "é"}),
    }
}

pub fn content(task: usize) -> String {
    format!("rows of task {task}")
}

/// Puts the part of a task in its place.
pub fn put(checkpoint: &Checkpoint, task: usize) -> Written {
    let mut file = checkpoint.part(task).unwrap();
    file.write_all(content(task).as_bytes()).unwrap();
    file.finish().unwrap()
}

/// Does a task from beginning to end.
pub fn work(checkpoint: &mut Checkpoint, task: usize) {
    let written = put(checkpoint, task);
    checkpoint.commit(task, entry(task), Some(written)).unwrap();
}

/// The completed tasks, in order. Each must be reported as it was kept and have its part file; no other task has one.
pub fn done(checkpoint: &Checkpoint) -> Vec<usize> {
    let mut parts = Vec::new();
    for done in checkpoint.done() {
        assert_eq!(done.entry, entry(done.task));
        if let Some(file) = &done.file {
            assert_eq!(file, &Written::of(&checkpoint.place(done.task).unwrap()).unwrap());
            assert_eq!(fs::read_to_string(checkpoint.place(done.task).unwrap()).unwrap(), content(done.task));
            parts.push(checkpoint.place(done.task).unwrap().file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    parts.sort();
    let mut visible = names(checkpoint.folder());
    visible.retain(|name| !name.starts_with(['_', '.']));
    assert_eq!(visible, parts);
    checkpoint.done().iter().map(|done| done.task).collect()
}

pub const JOURNAL: &str = "_dataaccess.journal";
pub const LOCK: &str = "_dataaccess.lock";
