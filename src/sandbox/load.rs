//! A load of rows in several parts. Searches go on meanwhile, and dropping it discards the rows.

use std::fmt;
use std::sync::Arc;

use tokio_util::sync::DropGuard;

use super::objects::{BusinessObject, Cell};
use super::service::Service;
use super::store::StagedRows;
use crate::error::Result;

/// Rows to be added to an object of a [`Sandbox`](super::Sandbox): all by `finish`, or none.
pub struct Load {
    service: Arc<Service>,
    staged: StagedRows,
}

impl Load {
    pub(super) fn new(service: Arc<Service>, staged: StagedRows) -> Self {
        Self { service, staged }
    }

    /// The object as it is declared.
    #[must_use]
    pub fn object(&self) -> &BusinessObject {
        &self.staged.table().object
    }

    /// Adds rows, each with one cell for each declared attribute.
    ///
    /// # Errors
    /// `Sandbox` that names the row which does not fit, or when the sandbox was stopped.
    pub fn add(&mut self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Result<()> {
        self.staged.add(rows)
    }

    /// Writes the rows to the object and returns their number. With `replaces` a row replaces an earlier one with
    /// the same identifier.
    ///
    /// # Errors
    /// `Sandbox` that names the row whose identifier is taken, or when the sandbox was stopped.
    pub fn finish(self, replaces: bool) -> Result<usize> {
        self.service.store.write(&self.staged, replaces)
    }

    /// A guard that cancels the load when dropped; rows already committed stay.
    #[must_use]
    pub fn cancel_on_drop(&self) -> DropGuard {
        self.staged.ended().clone().drop_guard()
    }
}

impl fmt::Debug for Load {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Load").field("object", &self.object().name).finish_non_exhaustive()
    }
}
