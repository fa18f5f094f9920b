//! A schema that was told before anybody asked for the rows, and the stream that keeps it.
//!
//! A schema that is not known beforehand is that of the first batch. So asking for it opens the stream, which then
//! waits for whoever asks for the rows: one request for both. What was told binds this one answer and no later one.

use std::time::{Duration, Instant};

use arrow_schema::SchemaRef;
use pyo3::prelude::*;

use super::bridge::Work;
use super::process::PerProcess;
use super::stream::Opened;

/// How long a stream waits for whoever asked for its schema: a service would not hold an answer for ever.
const PATIENCE: Duration = Duration::from_secs(20);

/// A stream that was opened for its schema.
struct PendingStream {
    opened: Opened,
    since: Instant,
    _end: Work,
}

impl PendingStream {
    /// Whoever wants it has to come in time; somewhat later its request is ended.
    fn new(py: Python<'_>, opened: Opened) -> PyResult<Self> {
        let waiting = opened.clone();
        let end = Work::start(py, async move {
            tokio::time::sleep(PATIENCE + PATIENCE / 4).await;
            waiting.abort();
        })?;
        Ok(Self { opened, since: Instant::now(), _end: end })
    }
}

/// A schema that was told, and the stream that keeps the promise.
pub(super) struct SchemaPreview {
    pub(super) schema: SchemaRef,
    parked: PerProcess<PendingStream>,
}

impl SchemaPreview {
    /// The promise of a stream that has begun well.
    pub(super) fn new(py: Python<'_>, schema: SchemaRef, opened: Opened) -> PyResult<Self> {
        Ok(Self { schema, parked: PerProcess::holding(PendingStream::new(py, opened)?) })
    }

    /// The stream, unless it waited for too long or belongs to another process.
    pub(super) fn stream(&self) -> Option<Opened> {
        let parked = self.parked.get()?;
        (parked.since.elapsed() < PATIENCE).then(|| parked.opened.clone())
    }
}
