//! One run at a time: a file that is locked while a run uses the folder, with the id of the process, or an object.

use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::Path;
use std::process;
use std::time::Duration;

use super::HIDDEN;
use super::access::{Access, inspect};
use super::error::{at, failure, in_use};
use crate::error::{Error, Kind, Result, excerpt};
use crate::files::private_options;
use crate::store::{self, Holder, Object, Refusal};

/// The name of the file or object.
const NAME: &str = "lock";
/// A process id has fewer digits.
const DIGITS: u64 = 20;
/// Characters of the name of a machine that an error shows.
const HOST_CHARACTERS: usize = 200;

/// A lock that is held.
#[derive(Debug)]
pub(super) enum Lock {
    /// Of a folder of this machine.
    File(FileLock),
    /// Of a folder of an object store.
    Object(store::Lock),
}

/// The file is never removed, as two processes could then lock two files of the same name. It is empty while nobody
/// holds it: polars, which reads hidden files too, skips empty ones.
#[derive(Debug)]
pub(super) struct FileLock {
    file: File,
    /// Who may write to what is in the folder.
    pub access: Access,
    /// A forked child inherits the lock and must not release it.
    owner: u32,
}

impl Lock {
    /// Locks a folder with the file in its hidden folder.
    pub fn of_path(folder: &Path, access: Access) -> Result<Self> {
        let path = folder.join(HIDDEN).join(NAME);
        if let Some(found) = inspect(&path)? {
            access.check(&path, &found)?;
        }
        // For its owner alone: all who may read a file may lock it.
        let opened = private_options().read(true).write(true).create(true).truncate(false).open(&path);
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
        Ok(Self::File(FileLock { file, access, owner }))
    }

    /// Locks a folder of an object store with an object in its hidden folder.
    pub async fn of_object(folder: &Object) -> Result<Self> {
        let path = Path::new(folder.url());
        match store::Lock::take(of(folder)).await {
            Ok(lock) => Ok(Self::Object(lock)),
            Err(Refusal::Held { holder, left }) => Err(held(path, holder, left)),
            Err(Refusal::NoConditions) => {
                let problem =
                    "cannot be locked: its store has no conditional puts (If-None-Match), or they are disabled";
                Err(at(Kind::Folder, path, problem).with_hint("run into a folder of this machine and copy it"))
            }
            Err(Refusal::Failed(failure)) => Err(failure.into_error(Kind::FolderFile, of(folder).url(), "written")),
        }
    }

    /// Fails once another process has taken the folder over.
    pub async fn check(&self, folder: &Object) -> Result<()> {
        let Self::Object(lock) = self else { return Ok(()) };
        let is_held = lock.is_held().await;
        if is_held.map_err(|failure| failure.into_error(Kind::FolderFile, of(folder).url(), "read"))? {
            return Ok(());
        }
        let problem = "was taken over by another run, as this one could not renew its lock for two minutes";
        let error = in_use(Path::new(folder.url()), problem);
        Err(error.with_hint("wait until that run has ended, and run again"))
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if self.owner == process::id() {
            // Closing alone would leave the lock to a child that was forked meanwhile.
            _ = self.file.set_len(0);
            _ = self.file.unlock();
        }
    }
}

/// The object that is the lock of a folder.
fn of(folder: &Object) -> Object {
    folder.join(&format!("{HIDDEN}/{NAME}"))
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

fn held(folder: &Path, holder: Option<Holder>, left: Duration) -> Error {
    // Another writer to the bucket has chosen the name of the machine.
    let holder = holder.map(|holder| (holder.pid, excerpt(&holder.host, HOST_CHARACTERS)));
    let by = match &holder {
        Some((pid, host)) => format!("process {pid} on {host}"),
        None => "another process".to_owned(),
    };
    let hint = format!(
        "wait until that run has ended, or name another folder; if it was killed, its lock runs out in {} s",
        left.as_secs() + 1
    );
    in_use(folder, &format!("is in use by {by}"))
        .with_hint(hint)
        .with(|details| (details.pid, details.host) = holder.unzip())
}
