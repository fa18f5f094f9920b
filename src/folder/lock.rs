//! One process at a time: a file that is locked while a run uses the folder, with the id of the process.

use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::Path;
use std::process;

use super::error::{failure, in_use};
use super::local::Access;
use crate::error::{Error, Result};
use crate::files::options;

/// The name of the file.
const NAME: &str = "lock";
/// A process id has fewer digits.
const DIGITS: u64 = 20;

/// A lock that is held. The file is never removed, as two processes could then lock two files of the same name. It is
/// empty while nobody holds it: polars, which reads hidden files too, skips empty ones.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    /// A forked child inherits the lock and must not release it.
    owner: u32,
}

impl Lock {
    /// Locks a folder with the file in its hidden folder.
    pub(super) fn take(folder: &Path, hidden: &Path, access: &Access) -> Result<Self> {
        let path = hidden.join(NAME);
        access.check_path(&path)?;
        // For its owner alone: all who may read a file may lock it.
        let opened = options(true).read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(|cause| failure(&path, "opened", cause))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(locked(folder, file)),
            Err(TryLockError::Error(cause)) => return Err(failure(&path, "locked", cause)),
        }
        #[cfg(unix)]
        {
            use std::fs::Permissions;
            use std::os::unix::fs::PermissionsExt;
            // One that an earlier version made. Some file systems have no modes.
            _ = file.set_permissions(Permissions::from_mode(0o600));
        }
        let owner = process::id();
        let written = file.set_len(0).and_then(|()| file.write_all(format!("{owner}\n").as_bytes()));
        written.map_err(|cause| failure(&path, "written", cause))?;
        Ok(Self { file, owner })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.owner == process::id() {
            // Closing alone would leave the lock to a child that was forked meanwhile.
            _ = self.file.set_len(0);
            _ = self.file.unlock();
        }
    }
}

fn locked(folder: &Path, file: File) -> Error {
    let mut digits = String::new();
    let read = file.take(DIGITS).read_to_string(&mut digits);
    let owner = read.ok().and_then(|_| digits.trim().parse::<u32>().ok());
    let by = owner.map_or_else(|| "another process".to_owned(), |owner| format!("process {owner}"));
    in_use(folder, &format!("is in use by {by}"))
        .with_hint("wait until that run has ended, or name another folder")
        .with(|details| details.pid = owner)
}
