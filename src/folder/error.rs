//! The errors of folders.

use std::io;
use std::path::Path;

use crate::error::{Error, Kind};
use crate::files;
use crate::store::Failure;

/// The error for a file that the system could not have `done`, for example `written`.
pub(super) fn failure(path: &Path, done: &str, cause: io::Error) -> Error {
    files::failure(Kind::FolderFile, path, done, cause)
}

/// The error for a file or object that could not be read.
pub(super) fn unread(path: &Path, cause: Failure) -> Error {
    match cause.errno() {
        Some(errno) => failure(path, "read", io::Error::from_raw_os_error(errno)),
        None => cause.into_error(Kind::FolderFile, &path.to_string_lossy(), "read"),
    }
}

/// The error for a path that cannot be used as it is.
pub(super) fn refused(path: &Path, problem: &str) -> Error {
    at(Kind::Folder, path, problem)
}

/// The error for a folder that is to be read and has nothing in it.
pub(super) fn missing(path: &Path, problem: &str) -> Error {
    at(Kind::FolderFile, path, problem).with_hint("check its name, or run the scan into it first")
}

/// An error of any kind about a path.
pub(super) fn at(kind: Kind, path: &Path, problem: &str) -> Error {
    Error::new(kind, format!("`{}` {problem}", path.display())).with_path(path)
}

/// The error for a folder that another process uses, which may end.
pub(super) fn in_use(path: &Path, problem: &str) -> Error {
    at(Kind::FolderLocked, path, problem).retryable()
}

/// The error for files whose rows take more memory than `max_result_bytes`. `path` is the first of them that is too
/// much.
pub(super) fn too_large(path: &Path, limit: u64) -> Error {
    let problem = format!("takes too much memory: with the files read before it, it exceeds {limit} bytes");
    at(Kind::ResponseTooLarge, path, &problem)
        .with(|details| (details.field, details.limit) = (Some("result".to_owned()), Some(limit)))
        .with_hint("raise max_result_bytes, or read the files in pieces, for example with polars or DuckDB")
}
