//! A stream of batches for Python: read by threads and tasks, or pulled by another library.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ArrowError;
use arrow_schema::SchemaRef;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tokio::time::timeout;

use super::asyncio::spawn;
use super::capsule;
use super::interrupt::Interrupt;
use super::log::Records;
use super::raise::raise;
use super::runtime::{self, PerProcess};
use super::scan::figures;
use super::table::RawTable;
use crate::error::{Error, Kind, Result};
use crate::scan::{Next, Stream, panicked};
use crate::time::Moment;

/// A stream, with the log records of its tasks.
pub(super) struct Open {
    pub(super) stream: Stream,
    records: Records,
}

impl Open {
    /// Closes the stream and raises if Ctrl-C has come.
    fn check(&self, py: Python<'_>, interrupt: &Interrupt) -> PyResult<()> {
        if !interrupt.has_come() {
            return Ok(());
        }
        self.stream.close();
        // Otherwise the handler of Python would raise it once more in the main thread.
        py.check_signals()?;
        Err(PyKeyboardInterrupt::new_err(()))
    }
}

/// An open stream, for the process that opened it.
#[derive(Clone)]
pub(super) struct Opened(Arc<PerProcess<Open>>);

impl Opened {
    pub(super) fn new(stream: Stream, records: Records) -> Self {
        Self(Arc::new(PerProcess::holding(Open { stream, records })))
    }

    /// The stream, unless it was opened before a fork.
    pub(super) fn get(&self) -> Result<Arc<Open>> {
        self.0.get().ok_or_else(|| {
            Error::new(Kind::ClientClosed, "a stream that was opened before a fork cannot be read after it")
                .with_hint("open a new one in the child")
        })
    }

    /// Closes the stream. A forked child has nothing to close.
    pub(super) fn close(&self) {
        if let Ok(open) = self.get() {
            open.stream.close();
        }
    }

    /// Waits until there is something to take. Ctrl-C ends the waiting.
    pub(super) fn wait(&self, py: Python<'_>) -> PyResult<()> {
        self.wait_for(py, Duration::MAX, &Interrupt::new(false))
    }

    /// As `wait`, for so long at most. Ctrl-C closes the stream, in every thread.
    pub(super) fn wait_for(&self, py: Python<'_>, limit: Duration, interrupt: &Interrupt) -> PyResult<()> {
        let open = self.get().map_err(|error| raise(py, error))?;
        let (waiting, interrupted) = (Arc::clone(&open), interrupt.clone());
        let wait = async move {
            tokio::select! {
                _ = timeout(limit, waiting.stream.wait()) => {}
                () = interrupted.come() => {}
            }
        };
        runtime::wait_for(py, wait, &open.records)?;
        open.check(py, interrupt)
    }
}

/// The batches of a scan.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawStream {
    opened: Opened,
    /// Ctrl-C, if it ends the stream also where another thread reads it.
    interrupt: Interrupt,
}

impl RawStream {
    pub(super) fn new(opened: Opened, interrupt: Interrupt) -> Self {
        Self { opened, interrupt }
    }

    fn open(&self, py: Python<'_>) -> PyResult<Arc<Open>> {
        self.opened.get().map_err(|error| raise(py, error))
    }

    fn try_next(&self, py: Python<'_>) -> PyResult<Next> {
        let open = self.open(py)?;
        open.records.emit(py)?;
        open.check(py, &self.interrupt)?;
        open.stream.take().map_err(|error| raise(py, error))
    }
}

#[pymethods]
impl RawStream {
    /// The next batch; None at the end.
    fn next(&self, py: Python<'_>) -> PyResult<Option<RawTable>> {
        loop {
            match self.try_next(py)? {
                Next::Batch(batch) => return Ok(Some(RawTable::of_batch(batch))),
                Next::End => return Ok(None),
                Next::NotYet => self.opened.wait_for(py, Duration::MAX, &self.interrupt)?,
            }
        }
    }

    /// The next batch if it is ready within `seconds`; None if it is not, or at the end.
    #[pyo3(signature = (seconds = 0.0))]
    fn take(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<RawTable>> {
        let mut next = self.try_next(py)?;
        if matches!(next, Next::NotYet) && seconds > 0.0 {
            let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
            self.opened.wait_for(py, limit, &self.interrupt)?;
            next = self.try_next(py)?;
        }
        match next {
            Next::Batch(batch) => Ok(Some(RawTable::of_batch(batch))),
            Next::End | Next::NotYet => Ok(None),
        }
    }

    /// Awaits that there is something to take, or the end. A task that is cancelled meanwhile has taken nothing.
    fn ready<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let open = self.open(py)?;
        let wait = async move {
            open.stream.wait().await;
            Ok(())
        };
        spawn(py, wait, |_, ()| Ok(()))
    }

    /// Whether the scan is complete and all batches were taken.
    #[getter]
    fn ended(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.open(py)?.stream.has_ended())
    }

    /// When the response of the last batch was requested, in Unix milliseconds; None before the first.
    #[getter]
    fn requested_at(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        Ok(self.open(py)?.stream.requested_at().map(Moment::milliseconds))
    }

    /// The figures, once the scan is complete.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.open(py)?.stream.stats().map(|stats| figures(py, &stats)).transpose()
    }

    /// The schema of all batches. Types that are inferred wait for the first.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.opened.wait(py)?;
        let schema = self.open(py)?.stream.schema().map_err(|error| raise(py, error))?;
        capsule::of_schema(py, &schema)
    }

    fn __reduce__(_slf: &Bound<'_, Self>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a stream of batches does not pickle: pickle the scan, which sends its requests again",
        ))
    }

    /// Cancels the requests in flight. Idempotent.
    fn close(&self) {
        self.opened.close();
    }
}

/// A stream that another library pulls, with or without holding the interpreter.
pub(super) struct Pulled {
    opened: Opened,
    schema: SchemaRef,
    interrupt: Interrupt,
}

impl Pulled {
    pub(super) fn new(opened: Opened, schema: SchemaRef, interrupt: Interrupt) -> Self {
        Self { opened, schema, interrupt }
    }

    fn pull(&self) -> Result<Option<RecordBatch>> {
        let open = self.opened.get()?;
        loop {
            if self.interrupt.has_come() {
                open.stream.close();
                return Err(Error::new(Kind::StreamInterrupted, "Ctrl-C ended the scan"));
            }
            match open.stream.take()? {
                Next::Batch(batch) => return Ok(Some(batch)),
                Next::End => return Ok(None),
                Next::NotYet => runtime::block_without_gil(async {
                    tokio::select! {
                        () = open.stream.wait() => {}
                        () = self.interrupt.come() => {}
                    }
                })?,
            }
        }
    }
}

impl Iterator for Pulled {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // A panic must not unwind into a library of another language.
        let pulled = catch_unwind(AssertUnwindSafe(|| self.pull())).unwrap_or_else(|_| Err(panicked()));
        // Most libraries raise an OSError with the text alone, so everything is in the text.
        pulled.map_err(|error| ArrowError::IoError(error.summary(), io::Error::other(error))).transpose()
    }
}

impl RecordBatchReader for Pulled {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}
