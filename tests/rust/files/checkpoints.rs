//! Checkpoints: begun, gone on with, refused, and made good after a crash at any step.

use std::fs;
use std::io::Write;
use std::path::Path;

use dataaccess::checkpoint::{Checkpoint, Fingerprint};
use dataaccess::error::{Error, Kind};

use super::folder::{Folder, JOURNAL, LOCK, content, done, entry, fingerprint, names, open, put, tasks, work};

fn types() -> Vec<(String, String)> {
    vec![("code".to_owned(), "string".to_owned()), ("pool_id".to_owned(), "int64".to_owned())]
}

fn refusal(folder: &Path) -> Error {
    open(folder, 3).unwrap_err()
}

#[test]
fn a_run_continues_where_it_ended() {
    let folder = Folder::new();
    let path = folder.file("runs").join("2024q1");
    let mut checkpoint = open(&path, 4).unwrap();
    assert_eq!((checkpoint.frozen(), done(&checkpoint)), (None, vec![]));
    assert_eq!(checkpoint.open_tasks().collect::<Vec<_>>(), [0, 1, 2, 3]);
    checkpoint.freeze(&types()).unwrap();
    checkpoint.freeze(&types()).unwrap();
    work(&mut checkpoint, 2);
    checkpoint.commit(0, entry(0), None).unwrap();
    drop(checkpoint);
    let mut checkpoint = open(&path, 4).unwrap();
    assert_eq!((checkpoint.frozen(), done(&checkpoint)), (Some(&types()[..]), vec![2, 0]));
    assert_eq!(checkpoint.open_tasks().collect::<Vec<_>>(), [1, 3]);
    work(&mut checkpoint, 3);
    work(&mut checkpoint, 1);
    drop(checkpoint);
    let checkpoint = open(&path, 4).unwrap();
    assert_eq!(done(&checkpoint), [2, 0, 3, 1]);
    assert_eq!(checkpoint.open_tasks().count(), 0);
    let visible = ["00001-00c0ffee.parquet", "00002-00c0ffee.parquet", "00003-00c0ffee.parquet"];
    assert_eq!(names(&path), [&visible[..], &[JOURNAL, LOCK]].concat());
}

#[test]
fn mistakes_of_its_user_are_reported_as_bugs() {
    let folder = Folder::new();
    let mut checkpoint = open(folder.path(), 2).unwrap();
    work(&mut checkpoint, 0);
    checkpoint.freeze(&types()).unwrap();
    let defects = [
        checkpoint.commit(0, entry(0), None).unwrap_err(),
        checkpoint.commit(2, entry(2), None).unwrap_err(),
        checkpoint.part(2).unwrap_err(),
        checkpoint.freeze(&types()[..1]).unwrap_err(),
    ];
    assert!(defects.iter().all(|error| error.kind() == Kind::Internal), "{defects:?}");
    assert_eq!(done(&checkpoint), [0]);
    for tasks in [&["a", "a"][..], &["../a"], &["a/b"], &[""], &[".a"], &["_a"]] {
        let tasks: Vec<_> = tasks.iter().map(|task| (*task).to_owned()).collect();
        let error = Checkpoint::open(&folder.file("other"), &fingerprint(), &tasks).unwrap_err();
        assert_eq!(error.kind(), Kind::Internal, "{tasks:?}");
    }
}

/// The fields of a scan, and one of them changed.
fn fields(changed: Option<&str>) -> Fingerprint {
    let long = "a,".repeat(100);
    let mut fields = Fingerprint::default();
    for (field, text) in [("host", "a"), ("item type", "b"), ("attrs", &long), ("schema", "{}"), ("tasks", "90")] {
        let text = if changed == Some(field) { format!("{text}!") } else { text.to_owned() };
        fields = fields.with(field, &text);
    }
    fields.with_hidden("filters", if changed == Some("filters") { "customer 18" } else { "customer 17" })
}

#[test]
fn another_scan_is_described_by_what_differs_and_never_by_what_names_customers() {
    let folder = Folder::new();
    let begin = |fields: &Fingerprint| Checkpoint::open(folder.path(), fields, &tasks(1));
    begin(&fields(None)).unwrap();
    let before = names(folder.path());
    for field in ["host", "item type", "attrs", "schema", "tasks", "filters"] {
        let error = begin(&fields(Some(field))).unwrap_err();
        assert_eq!(error.kind(), Kind::CheckpointMismatch);
        assert_eq!(error.details().field.as_deref(), Some(field));
        assert_eq!(error.details().path.as_deref(), Some(folder.path().to_str().unwrap()));
        assert!(!error.summary().contains("customer") && error.summary().len() < 400, "{}", error.summary());
    }
    let line = begin(&fields(Some("host"))).unwrap_err().summary();
    let expected = "holds another scan: its host was `a` and is now `a!`; name another folder, or delete this one";
    assert!(line.ends_with(expected), "{line}");
    let error = begin(&fields(None).with("limit", "5")).unwrap_err();
    assert_eq!(error.details().field.as_deref(), Some("limit"));
    let error = begin(&Fingerprint::default().with("host", "a")).unwrap_err();
    assert_eq!(error.details().field.as_deref(), Some("item type"));
    assert_eq!(names(folder.path()), before);
    assert!(!fs::read_to_string(folder.file(JOURNAL)).unwrap().contains("customer"));
    begin(&fields(None)).unwrap();
}

#[test]
fn a_folder_of_somebody_else_is_left_as_it_is() {
    let folder = Folder::new();
    fs::write(folder.file("notes.txt"), "mine").unwrap();
    let error = refusal(folder.path());
    assert_eq!(error.kind(), Kind::Checkpoint);
    assert!(error.message().ends_with("holds `notes.txt` and is no checkpoint"), "{}", error.message());
    assert_eq!(names(folder.path()), ["notes.txt"]);
    fs::rename(folder.file("notes.txt"), folder.file(".notes.txt")).unwrap();
    open(folder.path(), 3).unwrap();
    let error = refusal(&folder.file(".notes.txt"));
    assert!(error.kind() == Kind::Checkpoint && error.details().errno.is_some(), "{error:?}");
}

#[test]
fn what_would_be_read_as_a_part_is_refused_by_name() {
    let folder = Folder::new();
    work(&mut open(folder.path(), 3).unwrap(), 1);
    for name in ["foreign.parquet", "00001-00c0ffee.csv", "00003-00c0ffee.parquet", "folder"] {
        let path = folder.file(name);
        if name == "folder" { fs::create_dir(&path) } else { fs::write(&path, "mine") }.unwrap();
        let error = refusal(folder.path());
        assert_eq!(error.kind(), Kind::Checkpoint);
        assert_eq!(error.details().path.as_deref(), Some(path.to_str().unwrap()));
        fs::rename(&path, folder.file(&format!("_{name}"))).unwrap();
    }
    assert_eq!(done(&open(folder.path(), 3).unwrap()), [1]);
}

#[test]
fn a_draft_of_a_run_that_died_is_removed() {
    let folder = Folder::new();
    let mut checkpoint = open(folder.path(), 3).unwrap();
    work(&mut checkpoint, 1);
    let mut file = checkpoint.part(0).unwrap();
    file.write_all(b"half").unwrap();
    std::mem::forget(file);
    drop(checkpoint);
    assert_eq!(names(folder.path()).len(), 4);
    let checkpoint = open(folder.path(), 3).unwrap();
    assert_eq!(done(&checkpoint), [1]);
    assert_eq!(names(folder.path()).len(), 3);
}

#[test]
fn a_part_that_the_journal_does_not_know_is_removed() {
    let folder = Folder::new();
    let mut checkpoint = open(folder.path(), 3).unwrap();
    work(&mut checkpoint, 1);
    put(&checkpoint, 0);
    drop(checkpoint);
    let mut checkpoint = open(folder.path(), 3).unwrap();
    assert_eq!(done(&checkpoint), [1]);
    assert_eq!(checkpoint.open_tasks().collect::<Vec<_>>(), [0, 2]);
    // And so is one whose task turns out to have no rows.
    put(&checkpoint, 0);
    checkpoint.commit(0, entry(0), None).unwrap();
    assert_eq!(done(&checkpoint), [1, 0]);
}

#[test]
fn a_task_whose_part_is_missing_is_open_again() {
    let folder = Folder::new();
    let mut checkpoint = open(folder.path(), 3).unwrap();
    checkpoint.freeze(&types()).unwrap();
    (0..3).for_each(|task| work(&mut checkpoint, task));
    fs::remove_file(checkpoint.place(1).unwrap()).unwrap();
    drop(checkpoint);
    for _ in 0..2 {
        let checkpoint = open(folder.path(), 3).unwrap();
        assert_eq!((checkpoint.frozen(), done(&checkpoint)), (Some(&types()[..]), vec![0, 2]));
    }
    let mut checkpoint = open(folder.path(), 3).unwrap();
    work(&mut checkpoint, 1);
    drop(checkpoint);
    assert_eq!(done(&open(folder.path(), 3).unwrap()), [0, 2, 1]);
}

#[test]
fn a_part_that_changed_is_reported_with_the_way_out() {
    let folder = Folder::new();
    let mut checkpoint = open(folder.path(), 3).unwrap();
    (0..3).for_each(|task| work(&mut checkpoint, task));
    let path = checkpoint.place(1).unwrap();
    drop(checkpoint);
    let shorter = content(1).len() - 1;
    for changed in [content(2), content(1)[..shorter].to_owned(), String::new()] {
        fs::write(&path, changed).unwrap();
        let error = refusal(folder.path());
        assert_eq!(error.kind(), Kind::CheckpointCorrupt);
        assert_eq!(error.details().path.as_deref(), Some(path.to_str().unwrap()));
        assert!(error.hint().unwrap().starts_with("delete this file and run again"), "{error:?}");
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(done(&open(folder.path(), 3).unwrap()), [0, 2]);
}

#[test]
fn a_journal_of_a_later_format_is_not_guessed_at() {
    let folder = Folder::new();
    open(folder.path(), 3).unwrap();
    let line = fs::read_to_string(folder.file(JOURNAL)).unwrap();
    let json = line[9..].trim_end().replace("\"version\":2", "\"version\":3");
    let mut crc = flate2::Crc::new();
    crc.update(json.as_bytes());
    fs::write(folder.file(JOURNAL), format!("{:08x} {json}\n", crc.sum())).unwrap();
    let error = refusal(folder.path());
    assert_eq!((error.kind(), error.details().line), (Kind::CheckpointCorrupt, Some(1)));
    assert!(error.message().ends_with("is of format 3, and this package reads format 2"), "{}", error.message());
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_refused() {
    let folder = Folder::new();
    let path = folder.file("run");
    let mut checkpoint = open(&path, 3).unwrap();
    work(&mut checkpoint, 0);
    let part = checkpoint.place(0).unwrap();
    let next = checkpoint.place(1).unwrap();
    drop(checkpoint);
    for ours in [path.join(JOURNAL), path.join(LOCK), part, next.clone()] {
        let target = folder.file("target");
        if ours == next {
            fs::write(&target, "somebody else's").unwrap();
        } else {
            fs::rename(&ours, &target).unwrap();
        }
        let before = fs::read(&target).unwrap();
        std::os::unix::fs::symlink(&target, &ours).unwrap();
        let error = refusal(&path);
        assert_eq!(error.kind(), Kind::Checkpoint);
        let message = format!("`{}` is a symbolic link, which is not followed", ours.display());
        assert_eq!(error.message(), message);
        assert_eq!(fs::read(&target).unwrap(), before);
        fs::remove_file(&ours).unwrap();
        if ours != next {
            fs::rename(&target, &ours).unwrap();
        }
    }
    assert_eq!(done(&open(&path, 3).unwrap()), [0]);
}

#[cfg(unix)]
#[test]
fn all_of_it_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let path = folder.file("runs").join("2024q1");
    let mut checkpoint = open(&path, 3).unwrap();
    work(&mut checkpoint, 0);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o700, 0o700));
    for name in names(&path) {
        assert_eq!(mode(&path.join(&name)), 0o600, "{name}");
    }
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

#[cfg(unix)]
#[track_caller]
fn is_refused(folder: &Path, path: &Path, problem: &str, hint: &str) {
    let error = refusal(folder);
    assert_eq!(error.kind(), Kind::Checkpoint);
    assert_eq!(error.details().path.as_deref(), Some(path.to_str().unwrap()));
    assert_eq!(error.message(), format!("`{}` {problem}", path.display()));
    assert_eq!(error.hint(), Some(hint));
}

#[cfg(unix)]
#[test]
fn a_folder_that_others_may_write_to_is_refused_with_the_fix() {
    let folder = Folder::new();
    let chmod = format!("run chmod go-w {}", folder.path().display());
    for mode in [0o770, 0o702, 0o777, 0o1777] {
        set_mode(folder.path(), mode);
        is_refused(
            folder.path(),
            folder.path(),
            &format!("can be written by other users: its mode is {mode:04o}"),
            &chmod,
        );
        assert_eq!(names(folder.path()), [""; 0]);
    }
    // To read is another matter.
    set_mode(folder.path(), 0o755);
    work(&mut open(folder.path(), 3).unwrap(), 1);
    set_mode(folder.path(), 0o775);
    is_refused(folder.path(), folder.path(), "can be written by other users: its mode is 0775", &chmod);
}

#[cfg(unix)]
#[test]
fn a_file_that_others_may_write_to_is_refused_with_the_fix() {
    let folder = Folder::new();
    let mut checkpoint = open(folder.path(), 3).unwrap();
    work(&mut checkpoint, 1);
    let part = checkpoint.place(1).unwrap();
    drop(checkpoint);
    for path in [folder.file(JOURNAL), folder.file(LOCK), part] {
        let before = fs::read(&path).unwrap();
        set_mode(&path, 0o662);
        let chmod = format!("run chmod go-w {}", path.display());
        is_refused(folder.path(), &path, "can be written by other users: its mode is 0662", &chmod);
        assert_eq!(fs::read(&path).unwrap(), before);
        set_mode(&path, 0o644);
    }
    assert_eq!(done(&open(folder.path(), 3).unwrap()), [1]);
}

#[cfg(unix)]
#[test]
fn what_belongs_to_another_user_is_refused_with_the_fix() {
    use std::os::unix::fs::{MetadataExt, chown};
    let folder = Folder::new();
    let mut checkpoint = open(folder.path(), 3).unwrap();
    work(&mut checkpoint, 1);
    let part = checkpoint.place(1).unwrap();
    drop(checkpoint);
    let own = folder.path().metadata().unwrap().uid();
    let other = own + 1_000;
    for path in [folder.path().to_owned(), folder.file(JOURNAL), folder.file(LOCK), part] {
        if chown(&path, Some(other), None).is_err() {
            // Only root may give files away.
            return;
        }
        let problem = format!("belongs to user {other}, and this process makes files of user {own}");
        let hint = format!("name another folder, or run chown {own} {}", path.display());
        is_refused(folder.path(), &path, &problem, &hint);
        chown(&path, Some(own), None).unwrap();
    }
    assert_eq!(done(&open(folder.path(), 3).unwrap()), [1]);
}
