//! Every byte of a small checkpoint damaged in turn: it is reported, or a correct shorter run goes on; never wrong rows.

use std::fs;
use std::path::Path;

use dataaccess::checkpoint::Checkpoint;
use dataaccess::error::Kind;

use super::folder::{Folder, JOURNAL, content, done, entry, open, work};

const TASKS: usize = 4;

/// The journal of tasks 2, 0 and 1; that of 0 has no part, and task 3 is open.
fn journal(folder: &Path) -> Vec<u8> {
    let mut checkpoint = open(folder, TASKS).unwrap();
    checkpoint.freeze(&types()).unwrap();
    work(&mut checkpoint, 2);
    checkpoint.commit(0, entry(0), None).unwrap();
    work(&mut checkpoint, 1);
    fs::read(folder.join(JOURNAL)).unwrap()
}

fn types() -> Vec<(String, String)> {
    vec![("code".to_owned(), "string".to_owned())]
}

const ORDER: [usize; 3] = [2, 0, 1];
/// What is done to a byte: its least bit, and all of them.
const FLIPS: [u8; 2] = [1, 255];

/// Lays the checkpoint as it was, but for its journal.
fn lay(folder: &Path, journal: &[u8]) {
    for task in [1, 2] {
        fs::write(folder.join(format!("{task:05}-00c0ffee.parquet")), content(task)).unwrap();
    }
    fs::write(folder.join(JOURNAL), journal).unwrap();
}

/// How many tasks count as done, if it opens at all: always the first ones, each as it was kept.
fn opened(folder: &Path) -> Option<usize> {
    match open(folder, TASKS) {
        Ok(checkpoint) => Some(check(&checkpoint)),
        Err(error) => {
            assert_eq!(error.kind(), Kind::CheckpointCorrupt, "{}", error.summary());
            None
        }
    }
}

fn check(checkpoint: &Checkpoint) -> usize {
    let found = done(checkpoint);
    assert_eq!(found, ORDER[..found.len()]);
    let types = types();
    assert!(checkpoint.frozen() == Some(&types) || (checkpoint.frozen().is_none() && found.is_empty()));
    let expected: Vec<_> = (0..TASKS).filter(|task| !found.contains(task)).collect();
    assert_eq!(checkpoint.open_tasks().collect::<Vec<_>>(), expected);
    found.len()
}

#[test]
fn every_byte_of_the_journal() {
    let folder = Folder::new();
    let journal = journal(folder.path());
    let last = journal[..journal.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let mut before_last = 0;
    for place in 0..journal.len() {
        for flip in FLIPS {
            let mut damaged = journal.clone();
            damaged[place] ^= flip;
            lay(folder.path(), &damaged);
            match opened(folder.path()) {
                // What a crash can do to the last line is made good; an earlier one is damaged.
                Some(done) if place >= last => assert_eq!(done, 2, "byte {place} ^ {flip}"),
                Some(done) => {
                    assert_eq!((place, done), (last - 1, 1), "byte {place} ^ {flip}");
                    before_last += 1;
                }
                None => {}
            }
        }
    }
    // The line end before the last line: then the last two are one.
    assert_eq!(before_last, FLIPS.len());
    lay(folder.path(), &journal);
    assert_eq!(opened(folder.path()), Some(3));
}

#[test]
fn every_byte_of_a_part() {
    let folder = Folder::new();
    let journal = journal(folder.path());
    let part = folder.file("00001-00c0ffee.parquet");
    for place in 0..content(1).len() {
        for flip in FLIPS {
            lay(folder.path(), &journal);
            let mut damaged = content(1).into_bytes();
            damaged[place] ^= flip;
            fs::write(&part, damaged).unwrap();
            assert_eq!(opened(folder.path()), None, "byte {place} ^ {flip}");
        }
    }
    for length in 0..content(1).len() {
        lay(folder.path(), &journal);
        fs::write(&part, &content(1)[..length]).unwrap();
        assert_eq!(opened(folder.path()), None, "cut at {length}");
    }
}

#[test]
fn a_journal_cut_anywhere_counts_up_to_its_last_complete_line() {
    let folder = Folder::new();
    let journal = journal(folder.path());
    for length in 0..=journal.len() {
        let lines = journal[..length].split(|byte| *byte == b'\n').count() - 1;
        lay(folder.path(), &journal[..length]);
        let expected = lines.checked_sub(1).map(|lines| lines.saturating_sub(1));
        assert_eq!(opened(folder.path()), expected, "cut at {length}");
        if let Some(found) = expected {
            let mut checkpoint = open(folder.path(), TASKS).unwrap();
            work(&mut checkpoint, 3);
            drop(checkpoint);
            let expected = [&ORDER[..found], &[3]].concat();
            assert_eq!(done(&open(folder.path(), TASKS).unwrap()), expected, "cut at {length}");
            fs::remove_file(folder.file("00003-00c0ffee.parquet")).unwrap();
        }
    }
}

#[test]
fn lines_that_contradict_each_other_are_reported() {
    let folder = Folder::new();
    let journal = String::from_utf8(journal(folder.path())).unwrap();
    let lines: Vec<_> = journal.split_inclusive('\n').collect();
    let [begin, settled, second, first, third] = lines[..] else { panic!("{lines:?}") };
    let other = |line: &str, from: &str, to: &str| {
        let json = line[9..].trim_end().replace(from, to);
        assert_ne!(json, line[9..].trim_end());
        let mut crc = flate2::Crc::new();
        crc.update(json.as_bytes());
        format!("{:08x} {json}\n", crc.sum())
    };
    let is_reported = |lines: &[&str], expected: &str| {
        lay(folder.path(), lines.concat().as_bytes());
        let error = open(folder.path(), TASKS).unwrap_err();
        assert_eq!(error.kind(), Kind::CheckpointCorrupt);
        assert!(error.message().ends_with(expected), "{}", error.message());
    };
    is_reported(&[settled, second], "has no beginning in line 1");
    is_reported(&[begin, settled, begin, second], "begins a second time in line 3");
    is_reported(&[begin, settled, &other(settled, "string", "int64")], "has other columns in line 3");
    is_reported(&[begin, settled, &other(second, "00002-", "00009-")], "names an unknown task in line 3");
    let more = other(second, "\"rows\":2", "\"rows\":3");
    is_reported(&[begin, second, &more, first], "tells otherwise of a task that is done in line 3");
    is_reported(&[begin, &second.replace("\"rows\":2", "\"rows\":3"), first, third], "is damaged in line 2");
    // The same again says nothing new.
    lay(folder.path(), [begin, settled, settled, second, second, first, third, third].concat().as_bytes());
    assert_eq!(opened(folder.path()), Some(3));
}
