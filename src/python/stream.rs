//! A stream of batches for Python: read by threads and tasks, or pulled by another library.

use std::io;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tokio::time::timeout;

use super::asyncio::spawn;
use super::capsule;
use super::interrupt::Interrupt;
use super::log::Records;
use super::raise::raise;
use super::runtime::{PerProcess, runtime, wait_for};
use super::scan::figures;
use super::table::RawTable;
use crate::error::{Error, Kind, Result};
use crate::scan::{Next, Stream, panicked};
use crate::time::Moment;

/// Time-out of a token callable while another library pulls the rows, as it may hold the GIL that the callable needs.
const TOKEN_WAIT: Duration = Duration::from_secs(5);
const TOKEN_HINT: &str = "another library pulls the rows and may hold the GIL, which the token callable needs; \
    use to_arrow() instead, or a token that lives longer";

/// A stream, with the log records of its tasks.
struct Open {
    stream: Stream,
    records: Records,
}

impl Open {
    /// Waits until there is something to take, or for Ctrl-C.
    async fn ready_or(&self, interrupt: &Interrupt) {
        tokio::select! {
            () = self.stream.wait() => {}
            () = interrupt.come() => {}
        }
    }
}

/// The batches of a scan. Clones share them.
#[pyclass(frozen, skip_from_py_object, module = "dataaccess._native")]
#[derive(Clone)]
pub(super) struct RawStream {
    open: Arc<PerProcess<Open>>,
    /// Ctrl-C, if it ends the stream also where another thread reads it.
    interrupt: Interrupt,
}

impl RawStream {
    pub(super) fn new(stream: Stream, records: Records, interrupt: Interrupt) -> Self {
        Self { open: Arc::new(PerProcess::holding(Open { stream, records })), interrupt }
    }

    /// The same stream, which ends at another interrupt.
    pub(super) fn ending_at(&self, interrupt: Interrupt) -> Self {
        Self { interrupt, ..self.clone() }
    }

    /// Whether this process opened it.
    pub(super) fn is_of_this_process(&self) -> bool {
        self.open.get().is_some()
    }

    /// The stream, unless it was opened before a fork.
    fn get(&self) -> Result<Arc<Open>> {
        self.open.get().ok_or_else(|| {
            Error::new(Kind::ClientClosed, "a stream that was opened before a fork cannot be read after it")
                .with_hint("open a new one in the child")
        })
    }

    fn open(&self, py: Python<'_>) -> PyResult<Arc<Open>> {
        self.get().map_err(|error| raise(py, error))
    }

    /// Closes the stream and raises if Ctrl-C has come.
    fn check(&self, py: Python<'_>, open: &Open) -> PyResult<()> {
        if !self.interrupt.has_come() {
            return Ok(());
        }
        open.stream.close();
        // Otherwise the handler of Python would raise it once more in the main thread.
        py.check_signals()?;
        Err(PyKeyboardInterrupt::new_err(()))
    }

    fn try_next(&self, py: Python<'_>) -> PyResult<Next> {
        let open = self.open(py)?;
        open.records.emit(py)?;
        self.check(py, &open)?;
        open.stream.take().map_err(|error| raise(py, error))
    }

    /// Waits until there is something to take, for so long at most. Ctrl-C ends the waiting.
    fn wait(&self, py: Python<'_>, limit: Duration) -> PyResult<()> {
        let open = self.open(py)?;
        let (waiting, interrupt) = (Arc::clone(&open), self.interrupt.clone());
        let wait = async move { drop(timeout(limit, waiting.ready_or(&interrupt)).await) };
        wait_for(py, wait, &open.records)?;
        self.check(py, &open)
    }

    /// The schema of all batches. Types that are inferred wait for the first.
    pub(super) fn schema(&self, py: Python<'_>) -> PyResult<SchemaRef> {
        self.wait(py, Duration::MAX)?;
        self.open(py)?.stream.schema().map_err(|error| raise(py, error))
    }

    /// Exports the batches to another library, which pulls them with or without holding the interpreter.
    pub(super) fn capsule<'py>(self, py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
        self.open(py)?.stream.limit_token_wait(TOKEN_WAIT, TOKEN_HINT);
        let batches = iter::from_fn(move || {
            // A panic must not unwind into a library of another language.
            let pulled = catch_unwind(AssertUnwindSafe(|| self.pull())).unwrap_or_else(|_| Err(panicked()));
            // Most libraries raise an OSError with the text alone, so everything is in the text.
            pulled.map_err(|error| ArrowError::IoError(error.summary(), io::Error::other(error))).transpose()
        });
        capsule::of_stream(py, schema, batches)
    }

    fn pull(&self) -> Result<Option<RecordBatch>> {
        let open = self.get()?;
        loop {
            if self.interrupt.has_come() {
                open.stream.close();
                return Err(Error::new(Kind::StreamInterrupted, "Ctrl-C ended the scan"));
            }
            match open.stream.take()? {
                Next::Batch(batch) => return Ok(Some(batch)),
                Next::End => return Ok(None),
                // On a thread of that library, so no signal is seen.
                Next::NotYet => runtime()?.block_on(open.ready_or(&self.interrupt)),
            }
        }
    }
}

#[pymethods]
impl RawStream {
    /// The next batch; None at the end, or if it is not ready within `seconds`.
    #[pyo3(signature = (seconds=None))]
    fn next(&self, py: Python<'_>, seconds: Option<f64>) -> PyResult<Option<RawTable>> {
        let mut limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        loop {
            match self.try_next(py)? {
                Next::Batch(batch) => return Ok(Some(RawTable::of_batch(batch))),
                Next::End => return Ok(None),
                Next::NotYet if limit == Some(Duration::ZERO) => return Ok(None),
                Next::NotYet => self.wait(py, limit.unwrap_or(Duration::MAX))?,
            }
            limit = limit.map(|_| Duration::ZERO);
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

    fn __reduce__(_slf: &Bound<'_, Self>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a stream of batches does not pickle: pickle the scan, which sends its requests again",
        ))
    }

    /// Cancels the requests in flight. Idempotent. A forked child has nothing to close.
    pub(super) fn close(&self) {
        if let Some(open) = self.open.get() {
            open.stream.close();
        }
    }
}
