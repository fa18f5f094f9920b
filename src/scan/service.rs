//! The service whose rows a folder has: rows of another platform are not mixed with them.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};

/// A service, as the record of a part names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// Its address, or the name of the sandbox.
    pub address: String,
    /// Whether it is known to be a sandbox.
    pub is_synthetic: bool,
}

impl Service {
    /// Whether both are one service, as far as their addresses tell. A process does not know the sandboxes of others.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.address == other.address
    }

    /// Refuses to add rows of another service to a folder with rows of this one.
    pub(super) fn check(&self, other: &Self, is_expected: bool, folder: &Path) -> Result<()> {
        let folder = folder.display();
        let message = format!("`{folder}` has rows of {}, and this run asks {}", self.address, other.address);
        let refuse = |hint: String| Err(Error::new(Kind::FolderMismatch, message).with_hint(hint));
        if self.is_synthetic != other.is_synthetic {
            return refuse("synthetic rows are not mixed with those of a platform: name another folder".to_owned());
        }
        if is_expected {
            return Ok(());
        }
        refuse("name another folder, or set same_service if both are one service".to_owned())
    }
}
