//! The folder of a checkpoint, which holds its part files and no others.
//!
//! Readers of datasets (pyarrow, pandas, Spark) skip names that begin with `_` or `.` and read every other file as rows;
//! this module does the same. Polars and `DuckDB` skip nothing: they need the pattern `*.parquet`.

use std::fs::{self, DirBuilder, Metadata};
use std::io::{self, ErrorKind};
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::fault::{failure, refused};
use crate::error::Result;
#[cfg(unix)]
use crate::{error::Kind, files::AtomicFile};

/// The name of a part file ends with this.
const ENDING: &str = ".parquet";

/// The part file of a task.
pub(super) fn part(folder: &Path, task: &str) -> PathBuf {
    folder.join(format!("{task}{ENDING}"))
}

/// The task of a part file.
pub(super) fn task(part: &str) -> Option<&str> {
    part.strip_suffix(ENDING)
}

/// Creates the folder, for its owner alone, unless it exists.
pub(super) fn make(folder: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|cause| failure(folder, "made", cause))
}

/// Refuses a folder in which other users could create or change files, as these would be read as rows.
#[cfg(unix)]
pub(super) fn check(folder: &Path) -> Result<()> {
    let found = fs::metadata(folder).map_err(|cause| failure(folder, "inspected", cause))?;
    check_mode(folder, &found)?;
    // Compares with the owner of a new file: on a network disk, files of root may belong to another user.
    let probe = AtomicFile::create(&folder.join("_dataaccess.owner"), Kind::Checkpoint)?;
    check_owner(folder, &found, probe.owner()?)
}

#[cfg(unix)]
fn check_mode(path: &Path, found: &Metadata) -> Result<()> {
    let mode = found.mode() & 0o7777;
    if mode & 0o022 == 0 {
        return Ok(());
    }
    let problem = format!("can be written by other users: its mode is {mode:04o}");
    Err(refused(path, &problem).with_hint(format!("run chmod go-w {}", path.display())))
}

#[cfg(unix)]
fn check_owner(path: &Path, found: &Metadata, owner: u32) -> Result<()> {
    let other = found.uid();
    if other == owner {
        return Ok(());
    }
    let problem = format!("belongs to user {other}, but new files of this process belong to user {owner}");
    Err(refused(path, &problem).with_hint(format!("name another folder, or run chown {owner} {}", path.display())))
}

/// The names of the files that a reader would read as rows.
pub(super) fn visible(folder: &Path) -> Result<Vec<String>> {
    let names = fs::read_dir(folder).and_then(|entries| {
        let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
        entries.map(name).collect::<io::Result<Vec<_>>>()
    });
    let mut names = names.map_err(|cause| failure(folder, "read", cause))?;
    names.retain(|name| !name.starts_with(['_', '.']));
    names.sort();
    Ok(names)
}

/// The metadata of a file, if it exists. Refuses a symbolic link, and a file that other users may write to.
pub(super) fn file(path: &Path) -> Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => {
            #[cfg(unix)]
            {
                check_mode(path, &found)?;
                // The folder was checked.
                let folder = path.parent().unwrap_or(path);
                let owner = fs::metadata(folder).map_err(|cause| failure(folder, "inspected", cause))?.uid();
                check_owner(path, &found, owner)?;
            }
            Ok(Some(found))
        }
        Ok(found) if found.is_symlink() => {
            Err(refused(path, "is a symbolic link, which is not followed").with_hint("remove it and run again"))
        }
        Ok(_) => Err(refused(path, "is not a file").with_hint("remove it and run again")),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(failure(path, "inspected", cause)),
    }
}

/// Removes a part file, if it exists.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(failure(path, "removed", cause)),
        _ => Ok(()),
    }
}
