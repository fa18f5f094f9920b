//! What the operating system does for files: how they are opened, made durable, and why they could not be written.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::error::{Error, Kind};

/// Options that open a file without following a symbolic link, and without waiting for a pipe. A new file is for its
/// owner alone.
#[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has links and modes like these"))]
pub fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).mode(0o600);
    }
    options
}

/// Makes the names in a folder durable. The content of a file becomes durable when the file itself is synced.
///
/// # Errors
/// The folder cannot be synced.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    let opened = match File::open(folder) {
        // A folder that is writable but not readable: its names become durable with the file system's next sync.
        Err(cause) if cause.kind() == ErrorKind::PermissionDenied => return Ok(()),
        opened => opened?,
    };
    match opened.sync_all() {
        // Some file systems cannot sync a folder.
        Err(cause) if matches!(cause.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

/// The error for a file that could not be `done`, for example `written`.
pub fn failure(kind: Kind, path: &Path, done: &str, cause: io::Error) -> Error {
    let error = Error::new(kind, format!("`{}` cannot be {done}: {cause}", path.display()))
        .with_path(path)
        .with(|details| details.errno = cause.raw_os_error());
    let remedy = match cause.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space",
        ErrorKind::FileTooLarge => "raise the file size limit",
        // Also of a folder of the system that takes no files, as `/proc`.
        ErrorKind::NotFound if !path.parent().is_some_and(Path::is_dir) => "make its folder",
        ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "name a folder that you may write to"
        }
        _ => return error.with_source(cause),
    };
    // A run says itself which tasks it keeps.
    let left = if kind == Kind::File { ": nothing was left behind" } else { "" };
    error.with_hint(format!("{remedy} and try again{left}")).with_source(cause)
}
