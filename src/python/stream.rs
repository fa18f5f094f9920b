//! A stream of batches as Python has it: taken by threads and tasks, or pulled by another library.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ArrowError;
use arrow_schema::SchemaRef;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pythonize::pythonize;

use super::bridge::{self, Logged};
use super::process::PerProcess;
use super::raise::raise;
use super::table::RawBatch;
use crate::error::{Error, Kind, Result};
use crate::scan::{Next, Stream};

/// A stream, and what its tasks log.
pub(super) struct Open {
    pub(super) stream: Stream,
    logged: Logged,
}

/// An open stream, for the process that opened it.
#[derive(Clone)]
pub(super) struct Opened(Arc<PerProcess<Open>>);

impl Opened {
    pub(super) fn new(stream: Stream, logged: Logged) -> Self {
        Self(Arc::new(PerProcess::holding(Open { stream, logged })))
    }

    /// The stream, unless it was opened before a fork.
    pub(super) fn get(&self) -> Result<Arc<Open>> {
        self.0.get().ok_or_else(|| {
            Error::new(Kind::ForkedHandle, "a stream that was opened before a fork cannot be read after it")
                .with_hint("open a new one in the child")
        })
    }

    /// Ends the request and its connection. Whoever reads on is told that it is not the answer's end.
    pub(super) fn abort(&self) {
        if let Ok(open) = self.get() {
            open.stream.abort();
        }
    }

    /// Waits, hearing Ctrl-C, until there is something to take.
    pub(super) fn wait(&self, py: Python<'_>) -> PyResult<()> {
        let open = self.get().map_err(|error| raise(py, error))?;
        let waiting = Arc::clone(&open);
        open.logged.wait(py, async move { waiting.stream.wait().await })
    }
}

/// The batches of a scan.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawStream(Opened);

impl RawStream {
    pub(super) fn new(opened: Opened) -> Self {
        Self(opened)
    }

    fn open(&self, py: Python<'_>) -> PyResult<Arc<Open>> {
        self.0.get().map_err(|error| raise(py, error))
    }
}

#[pymethods]
impl RawStream {
    /// The next batch; nothing at the end.
    fn next(&self, py: Python<'_>) -> PyResult<Option<RawBatch>> {
        loop {
            let open = self.open(py)?;
            open.logged.tell(py)?;
            match open.stream.take().map_err(|error| raise(py, error))? {
                Next::Batch(batch) => return Ok(Some(RawBatch::new(batch))),
                Next::End => return Ok(None),
                Next::NotYet => self.0.wait(py)?,
            }
        }
    }

    /// The next batch if it is there; nothing when it is not, or at the end.
    fn take(&self, py: Python<'_>) -> PyResult<Option<RawBatch>> {
        let open = self.open(py)?;
        open.logged.tell(py)?;
        match open.stream.take().map_err(|error| raise(py, error))? {
            Next::Batch(batch) => Ok(Some(RawBatch::new(batch))),
            Next::End | Next::NotYet => Ok(None),
        }
    }

    /// Awaits that there is something to take, or the end. Whoever is cancelled meanwhile has taken nothing.
    fn wait_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let open = self.open(py)?;
        bridge::spawn(py, async move {
            open.stream.wait().await;
            Ok(())
        })
    }

    /// Whether there is nothing more: all was taken, or the stream was closed.
    #[getter]
    fn ended(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.open(py)?.stream.has_ended())
    }

    /// The figures, once the answer has ended well.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.open(py)?.stream.stats().map(|stats| pythonize(py, stats.as_ref())).transpose()?)
    }

    fn __reduce__(_slf: &Bound<'_, Self>) -> PyResult<()> {
        Err(PyTypeError::new_err("batches on their way do not pickle: pickle the scan, which asks again"))
    }

    /// Ends the request and its connection. Twice is once; a forked child has nothing to close.
    fn close(&self) {
        if let Ok(open) = self.0.get() {
            open.stream.close();
        }
    }
}

/// A stream as another library pulls it: without the interpreter, whether or not somebody holds it.
pub(super) struct Pulled {
    opened: Opened,
    schema: SchemaRef,
}

impl Pulled {
    pub(super) fn new(opened: Opened, schema: SchemaRef) -> Self {
        Self { opened, schema }
    }

    fn pull(&self) -> Result<Option<RecordBatch>> {
        loop {
            let open = self.opened.get()?;
            match open.stream.take()? {
                Next::Batch(batch) => return Ok(Some(batch)),
                Next::End => return Ok(None),
                Next::NotYet => bridge::block_without_gil(open.stream.wait())?,
            }
        }
    }
}

impl Iterator for Pulled {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // A panic must not go on into a library of another language.
        let pulled = catch_unwind(AssertUnwindSafe(|| self.pull())).unwrap_or_else(|_| Err(bridge::defect()));
        // The library shows the text alone, so all is in it; most raise an OSError of it.
        pulled.map_err(|error| ArrowError::IoError(error.summary(), io::Error::other(error))).transpose()
    }
}

impl RecordBatchReader for Pulled {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}
