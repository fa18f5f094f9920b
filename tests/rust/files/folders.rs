//! Folders of runs: listed, refused, and cleaned of what dead runs left.

use std::fs;
use std::io::Write;
use std::path::Path;

use dataaccess::error::{Error, Kind};
use dataaccess::folder::{Query, digest, mismatch};

use super::folder::{Folder, HIDDEN, found, names, of_day, open, part, put, read, read_only, wait};

fn refusal(folder: &Path) -> Error {
    open(folder).unwrap_err()
}

#[test]
fn a_folder_has_the_parts_that_were_put_into_it() {
    let folder = Folder::new();
    let path = folder.file("runs").join("2024q1");
    let (opened, listed) = open(&path).unwrap();
    assert_eq!((listed.parts.len(), listed.days.len()), (0, 0));
    put(&opened, &part(1));
    put(&opened, &part(10));
    put(&opened, &of_day("2024-01-15", 0));
    drop(opened);
    for opened in [open(&path), read_only(&path)] {
        let (opened, listed) = opened.unwrap();
        assert_eq!(found(&opened, &listed), [1, 10]);
        assert_eq!(listed.days.iter().collect::<Vec<_>>(), ["2024-01-15"]);
        assert_eq!(
            opened.parts_of_day("2024-01-15").unwrap().into_iter().collect::<Vec<_>>(),
            [of_day("2024-01-15", 0)]
        );
        assert!(opened.parts_of_day("2024-01-16").unwrap().is_empty());
    }
    assert_eq!(names(&path), [HIDDEN, "day=2024-01-15", "part-00001.parquet", "part-00010.parquet"]);
    assert_eq!(fs::read(path.join(HIDDEN).join("lock")).unwrap(), b"");
}

#[test]
fn a_folder_that_does_not_exist_is_no_empty_one() {
    let folder = Folder::new();
    let error = read_only(&folder.file("none")).unwrap_err();
    assert_eq!(error.kind(), Kind::FolderFile);
    assert!(error.message().contains("/none` ") && error.message().ends_with(" exist"), "{error}");
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn another_query_is_described_by_what_differs_and_never_by_what_names_customers() {
    let query = |fields: &[(&str, &str)]| {
        let mut query = Query::default();
        for (field, value) in fields {
            query.add(field, value);
        }
        query
    };
    let hidden = digest("customer 17");
    let begun = query(&[("attrs", "[\"id\"]"), ("name", &format!("1 value ({hidden})")), ("name", "after 2024")]);
    assert!(begun.differences(&begun).is_empty());
    let now = query(&[("attrs", &"x,".repeat(100)), ("timezone", "UTC"), ("name", "after 2024")]);
    let error = mismatch(Path::new("codes"), &now.differences(&begun));
    assert_eq!(error.kind(), Kind::FolderMismatch);
    assert_eq!(error.details().field.as_deref(), Some("attrs"));
    let message = error.message();
    let attrs = format!("[\"id\"], now {}…", "x,".repeat(40));
    for datum in ["`codes`", &attrs, "timezone: ", "UTC", "name: ", &hidden, "after 2024"] {
        assert!(message.contains(datum), "{message}");
    }
    assert!(!message.contains("customer 17"));
}

#[test]
fn a_folder_of_somebody_else_is_left_as_it_is() {
    let folder = Folder::new();
    fs::write(folder.file("notes.txt"), "mine").unwrap();
    let error = refusal(folder.path());
    assert_eq!(error.kind(), Kind::Folder);
    assert!(error.message().contains("`notes.txt`"), "{error}");
    assert_eq!(names(folder.path()), ["notes.txt"]);
    fs::rename(folder.file("notes.txt"), folder.file(".notes.txt")).unwrap();
    open(folder.path()).unwrap();
    let error = refusal(&folder.file(".notes.txt"));
    assert!(error.kind() == Kind::FolderFile && error.details().errno.is_some(), "{error:?}");
}

#[test]
fn what_would_be_read_as_a_part_is_refused_by_name() {
    let folder = Folder::new();
    put(&open(folder.path()).unwrap().0, &part(1));
    for name in ["foreign.parquet", "part-1.parquet", "part-00001.csv", "day=today"] {
        let path = folder.file(name);
        fs::write(&path, "mine").unwrap();
        let error = refusal(folder.path());
        assert_eq!(error.kind(), Kind::Folder);
        assert_eq!(error.details().path.as_deref(), Some(path.to_str().unwrap()));
        fs::rename(&path, folder.file(&format!("_{name}"))).unwrap();
    }
    let (opened, listed) = open(folder.path()).unwrap();
    assert_eq!(found(&opened, &listed), [1]);
    put(&opened, &of_day("2024-01-15", 0));
    let path = folder.file("day=2024-01-15").join("mine.parquet");
    fs::write(&path, "mine").unwrap();
    let error = opened.parts_of_day("2024-01-15").unwrap_err();
    assert_eq!((error.kind(), error.details().path.as_deref()), (Kind::Folder, path.to_str()));
}

#[test]
fn what_a_run_that_died_left_is_removed() {
    let folder = Folder::new();
    let (opened, _) = open(folder.path()).unwrap();
    put(&opened, &part(1));
    let mut file = opened.create(&of_day("2024-01-15", 0)).unwrap();
    file.write_all(b"half").unwrap();
    std::mem::forget(file);
    drop(opened);
    assert_eq!(names(&folder.file(HIDDEN)).len(), 2);
    let (opened, listed) = open(folder.path()).unwrap();
    assert_eq!(found(&opened, &listed), [1]);
    assert_eq!(names(&folder.file(HIDDEN)), ["lock"]);
    assert_eq!(names(folder.path()), [HIDDEN, "part-00001.parquet"]);
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_refused() {
    let folder = Folder::new();
    let path = folder.file("run");
    let (opened, _) = open(&path).unwrap();
    put(&opened, &part(0));
    put(&opened, &of_day("2024-01-15", 0));
    let ours =
        [path.join(HIDDEN), path.join(HIDDEN).join("lock"), path.join("day=2024-01-15"), opened.path_of(&part(0))];
    drop(opened);
    for ours in ours {
        let target = folder.file("target");
        fs::rename(&ours, &target).unwrap();
        std::os::unix::fs::symlink(&target, &ours).unwrap();
        let opened = open(&path).and_then(|(opened, _)| {
            wait(opened.part(&part(0)))?;
            opened.parts_of_day("2024-01-15")
        });
        let error = opened.unwrap_err();
        assert_eq!((error.kind(), error.details().path.as_deref()), (Kind::Folder, ours.to_str()));
        assert!(error.message().contains("symbolic"), "{error}");
        fs::remove_file(&ours).unwrap();
        fs::rename(&target, &ours).unwrap();
    }
    assert_eq!(open(&path).unwrap().0.parts_of_day("2024-01-15").unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn a_pipe_or_a_link_in_place_of_a_part_is_refused_and_not_opened() {
    let folder = Folder::new();
    put(&open(folder.path()).unwrap().0, &part(0));
    let (opened, _) = read_only(folder.path()).unwrap();
    let path = opened.path_of(&part(0));
    for make in ["mkfifo", "ln -s /dev/zero"] {
        fs::remove_file(&path).unwrap();
        let command = format!("{make} '{}'", path.display());
        assert!(std::process::Command::new("sh").args(["-c", &command]).status().unwrap().success());
        for error in [wait(opened.part(&part(0))).unwrap_err(), read(&path).unwrap_err()] {
            assert_eq!((error.kind(), error.details().path.as_deref()), (Kind::Folder, path.to_str()));
        }
    }
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

#[cfg(unix)]
#[track_caller]
fn is_refused(folder: &Path, path: &Path, datum: &str, command: &str) {
    let error = open(folder).and_then(|(opened, _)| wait(opened.part(&part(1)))).unwrap_err();
    assert_eq!(error.kind(), Kind::Folder);
    assert_eq!(error.details().path.as_deref(), Some(path.to_str().unwrap()));
    assert!(error.message().contains(datum), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.ends_with(&format!(" {command} {}", path.display()))), "{error:?}");
}

#[cfg(unix)]
#[test]
fn the_lock_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let lock = folder.file(HIDDEN).join("lock");
    drop(open(folder.path()).unwrap());
    assert_eq!(lock.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    // That of an earlier version.
    set_mode(&lock, 0o644);
    drop(open(folder.path()).unwrap());
    assert_eq!(lock.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn what_others_may_write_to_is_refused_with_the_fix() {
    let folder = Folder::new();
    for mode in [0o770, 0o702, 0o777, 0o1777] {
        set_mode(folder.path(), mode);
        is_refused(folder.path(), folder.path(), &format!("{mode:04o}"), "chmod go-w");
        assert_eq!(names(folder.path()), [""; 0]);
    }
    // To read is another matter.
    set_mode(folder.path(), 0o755);
    let (opened, _) = open(folder.path()).unwrap();
    put(&opened, &part(1));
    let ours = opened.path_of(&part(1));
    drop(opened);
    for path in [folder.file(HIDDEN).join("lock"), ours] {
        set_mode(&path, 0o662);
        is_refused(folder.path(), &path, "0662", "chmod go-w");
        set_mode(&path, 0o644);
    }
    let (opened, listed) = open(folder.path()).unwrap();
    assert_eq!(found(&opened, &listed), [1]);
}

#[cfg(unix)]
#[test]
fn what_belongs_to_another_user_is_refused_with_the_fix() {
    use std::os::unix::fs::{MetadataExt, chown};
    let folder = Folder::new();
    let (opened, _) = open(folder.path()).unwrap();
    put(&opened, &part(1));
    let ours = opened.path_of(&part(1));
    drop(opened);
    let own = folder.path().metadata().unwrap().uid();
    let other = own + 1_000;
    for path in [folder.path().to_owned(), folder.file(HIDDEN).join("lock"), ours] {
        if chown(&path, Some(other), None).is_err() {
            // Only root may give files away.
            return;
        }
        is_refused(folder.path(), &path, &format!("user {other}"), &format!("chown {own}"));
        chown(&path, Some(own), None).unwrap();
    }
    let (opened, listed) = open(folder.path()).unwrap();
    assert_eq!(found(&opened, &listed), [1]);
}
