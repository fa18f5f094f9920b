//! A load whose rows come part by part, from whoever has them: nothing waits for it, and it can be dropped.
//!
//! How rows are kept until then is the store's matter.

use std::fmt;
use std::sync::Arc;

use tokio_util::sync::DropGuard;

use super::objects::{BusinessObject, Cell};
use super::service::Service;
use super::store::Gathered;
use crate::error::Result;

/// Rows on their way into an object of a [`Sandbox`](super::Sandbox). They get there all, by `finish`, or none.
pub struct Load {
    service: Arc<Service>,
    gathered: Gathered,
}

impl Load {
    pub(super) fn new(service: Arc<Service>, gathered: Gathered) -> Self {
        Self { service, gathered }
    }

    /// The object as it is declared.
    #[must_use]
    pub fn object(&self) -> &BusinessObject {
        &self.gathered.table().object
    }

    /// Adds rows, each with one cell for each declared attribute.
    ///
    /// # Errors
    /// `Sandbox` that names the row which does not fit, or when the sandbox was stopped.
    pub fn add(&mut self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Result<()> {
        self.gathered.add(rows)
    }

    /// Writes the rows to the object; their number is the answer. With `replaces` a row takes the place of an earlier
    /// one with the same identifier.
    ///
    /// # Errors
    /// `Sandbox` that names the row whose identifier is taken, or when the sandbox was stopped.
    pub fn finish(self, replaces: bool) -> Result<usize> {
        self.service.store.write(&self.gathered, replaces)
    }

    /// What ends the load on its drop, wherever it has got to; rows that were written stay.
    #[must_use]
    pub fn end_on_drop(&self) -> DropGuard {
        self.gathered.ended().clone().drop_guard()
    }
}

impl fmt::Debug for Load {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Load").field("object", &self.object().name).finish_non_exhaustive()
    }
}
