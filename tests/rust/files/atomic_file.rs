//! Drafts: nothing in their place until they are whole, nothing left of them if they never are.

use std::fs;
use std::io::Write;
use std::path::Path;

use dataaccess::error::{Error, Kind};
use dataaccess::files::{AtomicFile, Written, remove_stale};

use tokio_util::sync::CancellationToken;

use super::folder::{Folder, names};

fn file(path: &Path) -> AtomicFile {
    AtomicFile::create(path, Kind::File).unwrap()
}

fn refusal(path: &Path) -> Error {
    let error = AtomicFile::create(path, Kind::File).unwrap_err();
    assert_eq!(error.kind(), Kind::File);
    assert!(error.details().path.as_deref().is_some_and(|shown| Path::new(shown) == path), "{error:?}");
    error
}

#[test]
fn a_file_appears_only_when_complete() {
    let folder = Folder::new();
    let path = folder.file("a.csv");
    fs::write(&path, "before").unwrap();
    let mut file = file(&path);
    file.write_all(b"ab").unwrap();
    file.write_all(b"c").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"before");
    assert_eq!(names(folder.path()).len(), 2);
    let written = file.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"abc");
    assert_eq!(names(folder.path()), ["a.csv"]);
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned();
    assert_eq!(written, Written { bytes: 3, sha256 });
    assert_eq!(Written::of(&path).unwrap(), written);
}

#[test]
fn a_draft_that_is_given_up_leaves_nothing() {
    let folder = Folder::new();
    let path = folder.file("a.csv");
    fs::write(&path, "before").unwrap();
    let mut given_up = file(&path);
    given_up.write_all(b"abc").unwrap();
    drop(given_up);
    assert_eq!(names(folder.path()), ["a.csv"]);
    assert_eq!(fs::read(&path).unwrap(), b"before");
}

#[test]
fn a_file_whose_caller_has_gone_is_not_committed_late() {
    let folder = Folder::new();
    let path = folder.file("a.csv");
    let gone = CancellationToken::new();
    let mut given_up = file(&path).unless(&gone);
    given_up.write_all(b"abc").unwrap();
    gone.cancel();
    assert_eq!(given_up.finish().unwrap_err().kind(), Kind::Internal);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn two_writers_of_one_path_do_not_collide() {
    let folder = Folder::new();
    let path = folder.file("a.csv");
    let (mut first, mut second) = (file(&path), file(&path));
    first.write_all(b"first").unwrap();
    second.write_all(b"second").unwrap();
    first.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"first");
    second.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"second");
}

#[test]
fn a_place_that_is_no_file_is_refused_before_any_work() {
    let folder = Folder::new();
    let error = refusal(folder.path());
    assert_eq!(error.summary(), format!("`{}` is a folder; name a file", folder.path().display()));
    let missing = folder.file("missing").join("a.csv");
    let error = refusal(&missing);
    assert!(matches!(error.details().errno, Some(2 | 3)), "{error:?}");
    assert!(
        error.summary().starts_with(&format!("`{}` cannot be written: ", missing.display())),
        "{}",
        error.summary()
    );
    assert!(error.summary().ends_with("make its folder and try again: nothing was left behind"), "{}", error.summary());
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn a_folder_created_at_its_path_is_left_alone() {
    let folder = Folder::new();
    let path = folder.file("a.csv");
    let file = file(&path);
    fs::create_dir(&path).unwrap();
    let error = file.finish().unwrap_err();
    assert!(error.message().contains("cannot be put in its place"), "{}", error.message());
    assert_eq!(names(folder.path()), ["a.csv"]);
    assert!(path.is_dir());
}

#[test]
fn a_name_may_be_as_long_as_names_may_be() {
    let folder = Folder::new();
    let path = folder.file(&"é".repeat(127));
    file(&path).finish().unwrap();
    assert!(path.is_file());
}

#[test]
fn only_drafts_are_stale() {
    let folder = Folder::new();
    let kept = [".a.csv.tmp", ".a.0123456789abcde.tmp", ".0123456789abcdef.tmp", "a.0123456789abcdef.tmp", ".a.csv"];
    for name in kept {
        fs::write(folder.file(name), "").unwrap();
    }
    std::mem::forget(file(&folder.file("a.csv")));
    assert_eq!(names(folder.path()).len(), kept.len() + 1);
    remove_stale(folder.path(), Kind::File).unwrap();
    let mut kept = kept.map(ToOwned::to_owned).to_vec();
    kept.sort();
    assert_eq!(names(folder.path()), kept);
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_at_its_path_is_replaced_and_not_followed() {
    let folder = Folder::new();
    let (link, target) = (folder.file("link"), folder.file("target"));
    fs::write(&target, "before").unwrap();
    for target in [&target, &folder.file("missing")] {
        std::os::unix::fs::symlink(target, &link).unwrap();
        let mut file = file(&link);
        file.write_all(b"abc").unwrap();
        file.finish().unwrap();
        assert!(link.symlink_metadata().unwrap().is_file());
        fs::remove_file(&link).unwrap();
    }
    assert_eq!(fs::read(&target).unwrap(), b"before");
    assert_eq!(names(folder.path()), ["target"]);
}

#[cfg(unix)]
#[test]
fn a_device_is_never_replaced() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let folder = Folder::new();
    let link = folder.file("link");
    symlink("/dev/null", &link).unwrap();
    for path in [Path::new("/dev/null"), &link] {
        assert!(refusal(path).message().ends_with("is no regular file"));
    }
    assert!(Path::new("/dev/null").metadata().unwrap().file_type().is_char_device());
}

#[cfg(unix)]
#[test]
fn part_files_are_private_to_their_owner_and_other_files_follow_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let usual = folder.file("usual");
    fs::write(&usual, "").unwrap();
    for (kind, expected) in [(Kind::Checkpoint, 0o600), (Kind::File, mode(&usual))] {
        let path = folder.file("a.csv");
        fs::write(&path, "before").unwrap();
        let file = AtomicFile::create(&path, kind).unwrap();
        let name = names(folder.path()).into_iter().find(|name| name.starts_with('.')).unwrap();
        assert_eq!(mode(&folder.file(&name)), expected);
        file.finish().unwrap();
        assert_eq!(mode(&path), expected);
    }
}
