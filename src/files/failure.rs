//! What the system says of a file, as an error: what, where, what to do.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::error::{Error, Kind};

/// The error for a file that could not be `done`, as `written`.
#[must_use]
pub fn failure(kind: Kind, path: &Path, done: &str, cause: io::Error) -> Error {
    let mut error = Error::new(kind, format!("`{}` cannot be {done}: {cause}", path.display()))
        .with_path(path)
        .with(|details| details.errno = cause.raw_os_error());
    if let Some(advice) = advice(kind, cause.kind()) {
        error = error.with_hint(advice);
    }
    error.with_source(cause)
}

fn advice(kind: Kind, cause: ErrorKind) -> Option<String> {
    let remedy = match cause {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space",
        ErrorKind::FileTooLarge => "allow larger files there",
        ErrorKind::NotFound => "make its folder",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "name a folder that may be written",
        _ => return None,
    };
    let kept = if kind == Kind::File { "nothing was left behind" } else { "tasks that are finished are kept" };
    Some(format!("{remedy} and try again: {kept}"))
}
