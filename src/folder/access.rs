//! Who may write to the files that this process makes on this machine.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::error::{failure, refused};
use crate::error::Result;
use crate::files::metadata_of_new_file;

/// Who may write to new files.
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
    pub fn of_new_files(folder: &Path) -> Result<Self> {
        let found = metadata_of_new_file(folder).map_err(|cause| failure(folder, "written to", cause))?;
        #[cfg(unix)]
        return Ok(Self { owner: found.uid(), writers: found.mode() & 0o022 });
        #[cfg(not(unix))]
        return Ok(Self {});
    }

    /// Refuses files of other users, and files that are more widely writable than the umask allows: others could plant
    /// rows in them.
    pub fn check(&self, path: &Path, found: &Metadata) -> Result<()> {
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
}

/// What is at a path that may not exist. Refuses a symbolic link.
pub(super) fn inspect(path: &Path) -> Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(failure(path, "inspected", cause)),
        Ok(found) if found.is_symlink() => {
            Err(refused(path, "is a symbolic link, which is not followed").with_hint("remove it and run again"))
        }
        Ok(found) => Ok(Some(found)),
    }
}

/// Refuses what is no file: a pipe would wait for another process, and a device may have no end.
pub(super) fn check_regular(path: &Path) -> Result<()> {
    match inspect(path)? {
        Some(found) if !found.is_file() => Err(refused(path, "is not a regular file").with_hint("move it elsewhere")),
        _ => Ok(()),
    }
}
