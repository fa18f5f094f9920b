//! Atomic files: nothing at their path until they are complete, nothing left of them if they never are.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Barrier;

use dataaccess::error::{Error, Kind};
use dataaccess::files::{AtomicFile, metadata_of_new_file, remove_stale};

use tokio_util::sync::CancellationToken;

use super::folder::{Folder, Published, names};

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
    let written = file.finish().unwrap().published().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"abc");
    assert_eq!(names(folder.path()), ["a.csv"]);
    assert_eq!(written, 3);
}

#[cfg(target_os = "linux")]
#[test]
fn a_link_to_an_open_file_such_as_dev_stdout_is_refused_and_stays() {
    use std::os::fd::AsRawFd;
    let folder = Folder::new();
    let log = fs::File::create(folder.file("log")).unwrap();
    let open = format!("/proc/self/fd/{}", log.as_raw_fd());
    for (link, target) in [("stdout", open.as_str()), ("link", "stdout")] {
        std::os::unix::fs::symlink(target, folder.file(link)).unwrap();
        assert!(refusal(&folder.file(link)).message().contains(" link "));
        assert!(fs::symlink_metadata(folder.file(link)).unwrap().is_symlink());
    }
    // Any other link is replaced.
    std::os::unix::fs::symlink("log", folder.file("latest")).unwrap();
    file(&folder.file("latest")).finish().unwrap().published().unwrap();
    assert!(fs::symlink_metadata(folder.file("latest")).unwrap().is_file());
}

#[test]
fn a_file_whose_call_was_cancelled_is_not_renamed() {
    let folder = Folder::new();
    let path = folder.file("a.csv");
    let gone = CancellationToken::new();
    let mut file = file(&path);
    file.write_all(b"abc").unwrap();
    let complete = file.finish().unwrap().unless(&gone);
    gone.cancel();
    assert_eq!(complete.published().unwrap_err().kind(), Kind::Internal);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_path_that_is_no_file_is_refused_at_once() {
    let folder = Folder::new();
    let error = refusal(folder.path());
    assert!(error.message().ends_with(" folder"), "{}", error.message());
    let error = refusal(&folder.file("missing").join("a.csv"));
    assert!(matches!(error.details().errno, Some(2 | 3)), "{error:?}");
    assert!(error.hint().is_some_and(|hint| hint.contains(" folder ")), "{error:?}");
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn a_folder_created_at_its_path_is_left_alone() {
    let folder = Folder::new();
    let path = folder.file("a.csv");
    let mut file = file(&path);
    fs::create_dir(&path).unwrap();
    let error = file.finish().unwrap().published().unwrap_err();
    assert_eq!(error.kind(), Kind::File);
    assert!(error.message().contains("renamed"), "{}", error.message());
    assert_eq!(names(folder.path()), ["a.csv"]);
    assert!(path.is_dir());
}

#[test]
fn a_name_may_have_the_maximal_length() {
    let folder = Folder::new();
    let path = folder.file(&"é".repeat(127));
    file(&path).finish().unwrap().published().unwrap();
    assert!(path.is_file());
}

#[test]
fn only_temporary_files_are_stale() {
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

#[test]
fn a_stale_file_may_vanish_while_it_is_removed() {
    let folder = Folder::new();
    let probes = || (0..5_000).for_each(|_| assert!(metadata_of_new_file(folder.path()).unwrap().is_file()));
    std::thread::scope(|scope| {
        let probing = scope.spawn(probes);
        while !probing.is_finished() {
            remove_stale(folder.path(), Kind::File).unwrap();
        }
    });
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
        file.finish().unwrap().published().unwrap();
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
        assert!(refusal(path).message().contains(" regular "));
    }
    assert!(Path::new("/dev/null").metadata().unwrap().file_type().is_char_device());
}

#[test]
fn staged_files_that_are_complete_at_the_same_moment_make_their_folder_once() {
    let folder = Folder::new();
    for round in 0..200 {
        let path = |number: usize| folder.file(&round.to_string()).join(number.to_string());
        let file = |number| AtomicFile::staged(&path(number), folder.path(), Kind::File).unwrap();
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            for mut file in [file(0), file(1)] {
                let barrier = &barrier;
                scope.spawn(move || {
                    let complete = file.finish().unwrap();
                    barrier.wait();
                    complete.published().unwrap();
                });
            }
        });
        assert!(path(0).is_file() && path(1).is_file());
    }
}

#[cfg(unix)]
#[test]
fn a_file_has_the_mode_of_the_file_that_it_replaces_or_follows_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let usual = folder.file("usual");
    fs::write(&usual, "").unwrap();
    for (replaced, expected) in [(None, mode(&usual)), (Some(0o640), 0o640)] {
        let path = folder.file(&format!("{replaced:?}.csv"));
        if let Some(replaced) = replaced {
            fs::write(&path, "before").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(replaced)).unwrap();
        }
        let mut file = AtomicFile::create(&path, Kind::File).unwrap();
        let name = names(folder.path()).into_iter().find(|name| name.starts_with('.')).unwrap();
        assert_eq!(mode(&folder.file(&name)), expected);
        file.finish().unwrap().published().unwrap();
        assert_eq!(mode(&path), expected);
    }
}
