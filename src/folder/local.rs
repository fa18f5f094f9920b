//! A folder of the local file system: made, checked and listed.
//!
//! Readers of datasets (pyarrow, pandas, Spark) skip names that begin with `_` or `.` and read every other file as rows;
//! this module does the same.

use std::fs::{self, DirBuilder, Metadata};
use std::io::{self, ErrorKind};
#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use super::fault::{failure, refused};
use crate::error::{Kind, Result};
use crate::files::AtomicFile;

/// Creates a folder, unless it exists.
pub(super) fn make(folder: &Path, is_private: bool) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if is_private {
        builder.mode(0o700);
    }
    builder.create(folder).map_err(|cause| failure(folder, "made", cause))
}

/// The names that a reader would read, and nothing of a folder that does not exist.
pub(super) fn visible(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|cause| failure(folder, "read", cause))?,
    };
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let names: io::Result<Vec<String>> = entries.map(name).collect();
    let mut names = names.map_err(|cause| failure(folder, "read", cause))?;
    names.retain(|name| !name.starts_with(['_', '.']));
    names.sort();
    Ok(names)
}

/// Who may write to the files that this process makes.
#[derive(Debug)]
pub(super) struct Access {
    /// On a network disk, files of root may belong to another user.
    #[cfg(unix)]
    owner: u32,
    /// The umask gives these bits of a mode to new files.
    #[cfg(unix)]
    writers: u32,
}

impl Access {
    /// By a new file in a folder.
    pub(super) fn of_new_files(folder: &Path) -> Result<Self> {
        let probe = AtomicFile::create(&folder.join("dataaccess.probe"), Kind::CheckpointFile, false)?.metadata()?;
        #[cfg(unix)]
        return Ok(Self { owner: probe.uid(), writers: probe.mode() & 0o022 });
        #[cfg(not(unix))]
        return Ok(Self {});
    }

    /// Refuses a symbolic link, what belongs to another user, and what other users could write to although they could
    /// not write to a new file: it would be read as rows.
    pub(super) fn check(&self, path: &Path, found: &Metadata) -> Result<()> {
        if found.is_symlink() {
            let problem = "is a symbolic link, which is not followed";
            return Err(refused(path, problem).with_hint("remove it and run again"));
        }
        #[cfg(unix)]
        {
            let (mode, owner) = (found.mode() & 0o7777, found.uid());
            if mode & 0o022 & !self.writers != 0 {
                let problem = format!("can be written by other users: its mode is {mode:04o}");
                return Err(refused(path, &problem).with_hint(format!("run chmod go-w {}", path.display())));
            }
            if owner != self.owner {
                let problem =
                    format!("belongs to user {owner}, but new files of this process belong to user {}", self.owner);
                let remedy = format!("name another folder, or run chown {} {}", self.owner, path.display());
                return Err(refused(path, &problem).with_hint(remedy));
            }
        }
        Ok(())
    }

    /// Checks a file or folder that may not exist.
    pub(super) fn check_path(&self, path: &Path) -> Result<()> {
        match fs::symlink_metadata(path) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(()),
            Err(cause) => Err(failure(path, "inspected", cause)),
            Ok(found) => self.check(path, &found),
        }
    }
}
