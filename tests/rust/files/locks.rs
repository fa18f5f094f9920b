//! One run at a time in one folder, and what a full disk leaves: both need processes of their own.
#![cfg(unix)]

use std::io::Write;
use std::process::Command;

use dataaccess::error::{Error, Kind};
use dataaccess::files::{AtomicFile, Compression, Csv, CsvOptions, Output, Writer};

use super::children::{child, folder};
use super::folder::{Folder, HIDDEN, Published, found, names, open, part, put};

fn is_locked_by(error: &Error, owner: u32) {
    assert_eq!(error.kind(), Kind::FolderLocked);
    assert_eq!(error.details().pid, Some(owner));
    assert!(error.message().ends_with(&format!(" {owner}")), "{error}");
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
    let (opened, _) = open(folder.path()).unwrap();
    let mut file = opened.create(&part(0)).unwrap();
    is_locked_by(&open(folder.path()).unwrap_err(), std::process::id());
    succeeds(child("files::locks::finds_it_locked", folder.path(), ""));
    // Nothing of the first was touched.
    file.finish().unwrap().published().unwrap();
    drop(opened);
    open(folder.path()).unwrap();
}

#[test]
#[ignore = "run by a_second_run_learns_who_is_at_work"]
fn finds_it_locked() {
    is_locked_by(&open(&folder()).unwrap_err(), std::os::unix::process::parent_id());
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
        let remedy = if errno == 28 { " space " } else { " limit" };
        assert!(error.hint().is_some_and(|hint| hint.contains(remedy)), "{error:?}");
    };
    let path = folder().join("run");
    let (opened, _) = open(&path).unwrap();
    put(&opened, &part(0));
    let hidden = path.join(HIDDEN);

    // A part that does not fit.
    let mut file = opened.create(&part(1)).unwrap();
    assert!(file.write_all(&vec![7; 1 << 20]).is_err());
    is_full(&file.finish().unwrap_err(), Kind::FolderFile);
    drop(file);
    assert_eq!((names(&path), names(&hidden)), (vec![HIDDEN.to_owned(), part(0).to_string()], vec!["lock".to_owned()]));
    // A smaller one after it does.
    put(&opened, &part(1));
    drop(opened);
    let (opened, listed) = open(&path).unwrap();
    assert_eq!(found(&opened, &listed), [0, 1]);

    // A library between the rows and the disk does not lose the system's error.
    let schema = std::sync::Arc::new(arrow_schema::Schema::new(vec![arrow_schema::Field::new(
        incompressible(1 << 20),
        arrow_schema::DataType::Int64,
        true,
    )]));
    let place = path.join("_a.csv");
    for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
        let output = Output::new(AtomicFile::create(&place, Kind::File).unwrap(), compression).unwrap();
        let options = CsvOptions { separator: b',', escape_formulas: false };
        is_full(&Csv::new(output, options, &schema).and_then(Writer::finish).unwrap_err(), Kind::File);
    }
    let file = AtomicFile::create(&place, Kind::File).unwrap();
    let ended = dataaccess::files::Parquet::new(file, &schema, &schema).unwrap().finish();
    is_full(&ended.unwrap_err(), Kind::File);
    assert_eq!(names(&path), [HIDDEN.to_owned(), part(0).to_string(), part(1).to_string()]);
}

fn incompressible(length: u32) -> String {
    // A multiplicative generator: the letters repeat after more than this length.
    (0..length)
        .scan(1_u32, |state, _| {
            *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from_digit(*state >> 27, 36)
        })
        .collect()
}
