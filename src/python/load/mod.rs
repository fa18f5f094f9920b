//! Rows for the embedded service, out of whatever Python holds them in: dicts, or columns that come as Arrow.
//!
//! It turns values into cells; whether a cell may stand where it is, the service says.

mod batches;
mod dicts;

use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use self::batches::Batches;
use self::dicts::Dicts;
use super::raise::raise;
use super::{bridge, capsule, finalization, sandbox::RawSandbox};
use crate::error::Result;
use crate::sandbox::{Cell, Load};

/// Rows that are taken between two looks at whether a signal came or the service was stopped.
const BLOCK: usize = 1_000;
/// Rows that come slowly are taken for so long.
const BLOCK_TAKES: Duration = Duration::from_millis(50);

/// Loads rows into an object of the service, all or none.
pub(super) fn load(
    py: Python<'_>,
    sandbox: &RawSandbox,
    object: &str,
    rows: &Bound<'_, PyAny>,
    replaces: bool,
) -> PyResult<usize> {
    let mut load = py.detach(|| sandbox.0.begin_load(object)).map_err(|error| raise(py, error))?;
    let declared = load.object().clone();
    if rows.hasattr("__arrow_c_stream__")? {
        let batches = Batches::new(capsule::stream(rows)?, declared).map_err(|error| raise(py, error))?;
        py.detach(|| gather(&mut load, batches))?;
    } else {
        let dicts = Dicts::new(rows, declared)?;
        py.detach(|| gather(&mut load, dicts))?;
    }
    // A signal ends this function, and with it the load.
    let _interrupted = load.cancel_on_drop();
    bridge::wait(py, move || load.finish(replaces))
}

/// What gives rows block by block; the interpreter is not held.
trait Source: Send {
    /// The next rows, at most [`BLOCK`], empty at the end. The inner error is of a row, the outer one Python's.
    fn next_block(&mut self) -> PyResult<Result<Vec<Vec<Cell>>>>;
}

/// Takes all rows of a source. Nothing is locked, as what gives them may use the service itself.
fn gather(load: &mut Load, mut source: impl Source) -> PyResult<()> {
    loop {
        #[expect(clippy::redundant_closure_for_method_calls, reason = "the method's own path fits one lifetime only")]
        with_gil(|py| py.check_signals())?;
        let block = source.next_block()?;
        let is_last = block.as_ref().is_ok_and(Vec::is_empty);
        if let Err(error) = block.and_then(|rows| load.add(rows)) {
            return with_gil(|py| Err(raise(py, error)));
        }
        if is_last {
            return Ok(());
        }
    }
}

/// Does something with the interpreter held.
fn with_gil<T>(work: impl for<'py> FnOnce(Python<'py>) -> PyResult<T>) -> PyResult<T> {
    let exiting = || Err(PyRuntimeError::new_err("the interpreter is shutting down"));
    finalization::enter(work).unwrap_or_else(exiting)
}
