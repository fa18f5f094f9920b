//! The folder of a checkpoint: its parts, and nobody else's files.
//!
//! Readers of datasets (pyarrow, pandas, Spark) skip names that begin with `_` or `.`, and take every other file for
//! rows. So does this room. Polars and `DuckDB` skip nothing: they are to be asked for `*.parquet`.

use std::fs::{self, DirBuilder, Metadata};
use std::io::{self, ErrorKind};
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::fault::{failure, refused};
use crate::error::Result;
#[cfg(unix)]
use crate::{error::Kind, files::AtomicFile};

/// What the name of a part ends with.
const ENDING: &str = ".parquet";

/// The part of a task.
pub(super) fn part(folder: &Path, task: &str) -> PathBuf {
    folder.join(format!("{task}{ENDING}"))
}

/// The task of a part.
pub(super) fn task(part: &str) -> Option<&str> {
    part.strip_suffix(ENDING)
}

/// Makes the folder, for its owner alone, unless it is there.
pub(super) fn make(folder: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|cause| failure(folder, "made", cause))
}

/// Refuses a folder in which other users could put or change files: what is in it would be taken for rows.
#[cfg(unix)]
pub(super) fn check(folder: &Path) -> Result<()> {
    let found = fs::metadata(folder).map_err(|cause| failure(folder, "looked at", cause))?;
    not_writable_by_others(folder, &found)?;
    // The owner of a file made here is ours: on a network disk root's files may belong to another user.
    let probe = AtomicFile::create(&folder.join("_dataaccess.owner"), Kind::Checkpoint)?;
    own(folder, &found, probe.owner()?)
}

#[cfg(unix)]
fn not_writable_by_others(path: &Path, found: &Metadata) -> Result<()> {
    let mode = found.mode() & 0o7777;
    if mode & 0o022 == 0 {
        return Ok(());
    }
    let problem = format!("can be written by other users: its mode is {mode:04o}");
    Err(refused(path, &problem).with_hint(format!("run chmod go-w {}", path.display())))
}

#[cfg(unix)]
fn own(path: &Path, found: &Metadata, owner: u32) -> Result<()> {
    let other = found.uid();
    if other == owner {
        return Ok(());
    }
    let problem = format!("belongs to user {other}, and this process makes files of user {owner}");
    Err(refused(path, &problem).with_hint(format!("name another folder, or run chown {owner} {}", path.display())))
}

/// The names of all that a reader would take for rows.
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

/// What is known of a file of ours, if it is there: never a link to one, nor one that others may write to.
pub(super) fn file(path: &Path) -> Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => {
            #[cfg(unix)]
            {
                not_writable_by_others(path, &found)?;
                // The folder was checked.
                let folder = path.parent().unwrap_or(path);
                let owner = fs::metadata(folder).map_err(|cause| failure(folder, "looked at", cause))?.uid();
                own(path, &found, owner)?;
            }
            Ok(Some(found))
        }
        Ok(found) if found.is_symlink() => {
            Err(refused(path, "is a symbolic link, which is not followed").with_hint("remove it and run again"))
        }
        Ok(_) => Err(refused(path, "is no file").with_hint("remove it and run again")),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(failure(path, "looked at", cause)),
    }
}

/// Removes a part, if it is there.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(failure(path, "removed", cause)),
        _ => Ok(()),
    }
}
