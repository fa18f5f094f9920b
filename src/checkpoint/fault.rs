//! The errors of checkpoints.

use std::io;
use std::path::Path;

use crate::error::{Error, Kind};
use crate::files;

/// The error for a file that could not be `done`, for example `written`.
pub(super) fn failure(path: &Path, done: &str, cause: io::Error) -> Error {
    files::failure(Kind::Checkpoint, path, done, cause)
}

/// The error for a path that cannot be used as it is.
pub(super) fn refused(path: &Path, problem: &str) -> Error {
    at(Kind::Checkpoint, path, problem)
}

/// The error for a file whose content changed since it was written.
pub(super) fn corrupt(path: &Path, problem: &str) -> Error {
    at(Kind::CheckpointCorrupt, path, problem)
}

/// An error of any kind about a path.
pub(super) fn at(kind: Kind, path: &Path, problem: &str) -> Error {
    Error::new(kind, format!("`{}` {problem}", path.display())).with_path(path)
}

/// The error for what only a bug of this package can cause.
pub(super) fn defect(what: &str) -> Error {
    Error::new(Kind::Internal, format!("{what}: please report this"))
}
