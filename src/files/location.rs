//! Where a file or folder is: on this machine, or in an object store.

use std::fmt;
use std::path::{Path, PathBuf};

use super::AtomicFile;
use crate::error::{Error, Kind, Result};
use crate::store::{self, Object, Replaces, StorageOptions};

/// A path or a URL.
#[derive(Clone, Debug)]
pub enum Location {
    /// A path of this machine.
    Path(PathBuf),
    /// An object, or a folder of objects.
    Object(Object),
}

impl Location {
    /// The location with this path or URL. Sends nothing.
    ///
    /// # Errors
    /// `Config` for a URL or an option that cannot be used.
    pub fn new(path: PathBuf, options: &StorageOptions) -> Result<Self> {
        match path.to_str().filter(|text| store::is_url(text)) {
            Some(url) => Object::new(url, options).map(Self::Object),
            None => Ok(Self::Path(path)),
        }
    }

    /// Several locations. The objects of one folder share their connections.
    ///
    /// # Errors
    /// As [`Location::new`].
    pub fn all(folder: &Self, paths: Vec<PathBuf>) -> Result<Vec<Self>> {
        let location = |path: PathBuf| match (folder, path.to_str()) {
            (Self::Object(folder), Some(url)) => folder.other(url).map(Self::Object),
            _ => Ok(Self::Path(path)),
        };
        paths.into_iter().map(location).collect()
    }

    /// A file that appears there when it is complete.
    ///
    /// # Errors
    /// No file can be created.
    pub fn create(&self, kind: Kind) -> Result<AtomicFile> {
        match self {
            Self::Path(path) => AtomicFile::create(path, kind),
            Self::Object(object) if object.has_name() => Ok(AtomicFile::of_object(object, Replaces::Anything, kind)),
            Self::Object(object) => {
                let message = format!("`{object}` names no file");
                Err(Error::new(kind, message).with_path(Path::new(object.url())).with_hint("name a file"))
            }
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => path.display().fmt(formatter),
            Self::Object(object) => object.fmt(formatter),
        }
    }
}
