//! The stream that was opened to infer a schema, kept until its rows are exported.
//!
//! A schema that is not known beforehand comes from the first batch. Exporting it opens the stream, and the export of
//! the stream that follows takes it: one request for both.

use std::time::{Duration, Instant};

use arrow_schema::SchemaRef;
use pyo3::prelude::*;

use super::bridge::{AbortOnDrop, spawn_work};
use super::process::PerProcess;
use super::raise::raise;
use super::stream::Opened;

/// How long the stream is kept; a service does not hold a response for ever.
const PATIENCE: Duration = Duration::from_secs(20);

/// A schema that was exported, and the stream that has it.
pub(super) struct SchemaPreview {
    pub(super) schema: SchemaRef,
    pending: PerProcess<PendingStream>,
}

struct PendingStream {
    opened: Opened,
    since: Instant,
    _close: AbortOnDrop<()>,
}

impl SchemaPreview {
    pub(super) fn new(py: Python<'_>, schema: SchemaRef, opened: Opened) -> PyResult<Self> {
        let unused = opened.clone();
        // Some time after it can still be taken, so that it is never closed just after that.
        let close = spawn_work(async move {
            tokio::time::sleep(PATIENCE + PATIENCE / 4).await;
            unused.close();
        });
        let close = close.map_err(|error| raise(py, error))?;
        let pending = PendingStream { opened, since: Instant::now(), _close: close };
        Ok(Self { schema, pending: PerProcess::holding(pending) })
    }

    /// The stream, unless it was kept for too long or belongs to another process.
    pub(super) fn stream(&self) -> Option<Opened> {
        let pending = self.pending.get()?;
        (pending.since.elapsed() < PATIENCE).then(|| pending.opened.clone())
    }
}
