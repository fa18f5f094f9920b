//! The errors of this room.

use std::io;
use std::path::Path;

use crate::error::{Error, Kind};
use crate::files;

/// What the system says of a file.
pub(super) fn failure(path: &Path, done: &str, cause: io::Error) -> Error {
    files::failure(Kind::Checkpoint, path, done, cause)
}

/// What cannot be used as it is.
pub(super) fn refused(path: &Path, problem: &str) -> Error {
    at(Kind::Checkpoint, path, problem)
}

/// What is not as it was written.
pub(super) fn corrupt(path: &Path, problem: &str) -> Error {
    at(Kind::CheckpointCorrupt, path, problem)
}

/// An error of any kind that is about a path.
pub(super) fn at(kind: Kind, path: &Path, problem: &str) -> Error {
    Error::new(kind, format!("`{}` {problem}", path.display())).with_path(path)
}

/// What only a mistake of this package can bring about.
pub(super) fn defect(what: &str) -> Error {
    Error::new(Kind::Internal, format!("{what}: please report this"))
}
