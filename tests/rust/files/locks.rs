//! One run at a time on one checkpoint, and what a full disk leaves: both need processes of their own.
#![cfg(unix)]

use std::io::Write;
use std::process::Command;

use dataaccess::checkpoint::TaskRecord;
use dataaccess::error::{Error, Kind};
use dataaccess::files::{AtomicFile, Csv, Writer};
use serde_json::Value;

use super::children::{child, folder};
use super::folder::{Folder, JOURNAL, LOCK, done, entry, names, open, work};

fn is_locked_by(error: &Error, owner: u32) {
    assert_eq!(error.kind(), Kind::CheckpointLocked);
    assert_eq!(error.details().pid, Some(owner));
    assert!(error.message().ends_with(&format!("is in use by process {owner}")), "{}", error.message());
}

fn succeeds(mut command: Command) {
    let output = command.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "{stdout}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_second_run_learns_who_is_at_work() {
    let folder = Folder::new();
    let mut checkpoint = open(folder.path(), 2).unwrap();
    let file = checkpoint.part(0).unwrap();
    is_locked_by(&open(folder.path(), 2).unwrap_err(), std::process::id());
    succeeds(child("files::locks::finds_it_locked", folder.path(), ""));
    // Nothing of the first was touched.
    file.finish().unwrap();
    checkpoint.commit(0, entry(0), None).unwrap();
    drop(checkpoint);
    open(folder.path(), 2).unwrap();
}

#[test]
#[ignore = "run by a_second_run_learns_who_is_at_work"]
fn finds_it_locked() {
    is_locked_by(&open(&folder(), 2).unwrap_err(), std::os::unix::process::parent_id());
}

#[test]
fn a_full_disk_is_reported_and_leaves_nothing() {
    // 64 blocks of 512 bytes; a process that does not ignore the signal would be ended.
    let folder = Folder::new();
    succeeds(child("files::locks::fills_the_disk", folder.path(), "trap '' XFSZ; ulimit -f 64; export FULL=27"));
    let device = Folder::new();
    let mount = format!("mount -t tmpfs -o size=64k tmpfs '{}'; export FULL=28", device.path().display());
    if Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success()) {
        let mut inside = Command::new("unshare");
        let command = child("files::locks::fills_the_disk", device.path(), &mount);
        inside.arg("-rm").arg(command.get_program()).args(command.get_args());
        inside.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        succeeds(inside);
    } else {
        eprintln!("no small disk can be mounted here: only the limit of a process was tried");
    }
}

#[test]
#[ignore = "run by a_full_disk_is_reported_and_leaves_nothing"]
fn fills_the_disk() {
    let errno: i32 = std::env::var("FULL").unwrap().parse().unwrap();
    let is_full = |error: &Error, kind: Kind| {
        assert_eq!((error.kind(), error.details().errno), (kind, Some(errno)), "{error:?}");
        let remedy = error.hint().unwrap();
        assert!(remedy.starts_with("free some space and") || remedy.starts_with("allow larger files"), "{remedy}");
    };
    let path = folder().join("run");
    let mut checkpoint = open(&path, 3).unwrap();
    work(&mut checkpoint, 0);
    let before = names(&path);

    // A part that does not fit.
    let mut file = checkpoint.part(1).unwrap();
    assert!(file.write_all(&vec![7; 1 << 20]).is_err());
    is_full(&file.finish().unwrap_err(), Kind::Checkpoint);
    assert_eq!(names(&path), before);
    // A smaller one after it does.
    let mut file = checkpoint.part(1).unwrap();
    file.write_all(b"abc").unwrap();
    assert_eq!(file.finish().unwrap().bytes, 3);
    // A line that does not fit: the task is not done, and the next line is where it should be.
    let long = TaskRecord { extra: Value::from("x".repeat(1 << 20)), ..entry(2) };
    is_full(&checkpoint.commit(2, long, None).unwrap_err(), Kind::Checkpoint);
    work(&mut checkpoint, 1);
    drop(checkpoint);
    assert_eq!(done(&open(&path, 3).unwrap()), [0, 1]);

    // A library between the rows and the disk does not lose what the system said.
    let schema = std::sync::Arc::new(arrow_schema::Schema::new(vec![arrow_schema::Field::new(
        "x".repeat(1 << 20),
        arrow_schema::DataType::Int64,
        true,
    )]));
    let place = path.join("_a.csv");
    is_full(&Csv::new(AtomicFile::create(&place, Kind::File).unwrap(), &schema).unwrap_err(), Kind::File);
    let file = AtomicFile::create(&place, Kind::File).unwrap();
    let ended = dataaccess::files::Parquet::new(file, &schema, &[]).unwrap().finish();
    is_full(&ended.unwrap_err(), Kind::File);
    let mut expected = vec!["00000-00c0ffee.parquet", "00001-00c0ffee.parquet", JOURNAL, LOCK];
    expected.sort_unstable();
    assert_eq!(names(&path), expected);
}
