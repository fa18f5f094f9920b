//! Rows for the embedded service, out of whatever Python holds them in: dicts, or columns that come as Arrow.
//!
//! It turns values into cells; whether a cell may stand where it is, the service says.

mod batches;
mod dicts;

use pyo3::prelude::*;

use self::batches::Batches;
use self::dicts::Dicts;
use super::gate;
use super::raise::raise;
use super::{capsule, sandbox::RawSandbox};
use crate::error::{Error, Kind, Result};
use crate::sandbox::Cell;

/// Rows that are taken between two looks at whether a signal came.
const BLOCK: usize = 1_000;

/// Loads rows into an object of the service, all or none.
pub(super) fn load(py: Python<'_>, sandbox: &RawSandbox, object: &str, rows: &Bound<'_, PyAny>) -> PyResult<usize> {
    let declared = py.detach(|| sandbox.0.object(object)).map_err(|error| raise(py, error))?;
    if rows.hasattr("__arrow_c_stream__")? {
        let batches = Batches::new(capsule::stream(rows)?, declared).map_err(|error| raise(py, error))?;
        return add(py, sandbox, object, batches);
    }
    add(py, sandbox, object, Dicts::new(rows, declared)?)
}

fn add(py: Python<'_>, sandbox: &RawSandbox, object: &str, source: impl Source) -> PyResult<usize> {
    let mut rows = Rows { source, block: Vec::new().into_iter(), raised: None };
    let loaded = py.detach(|| sandbox.0.try_load(object, &mut rows));
    match rows.raised {
        Some(raised) => Err(raised),
        None => loaded.map_err(|error| raise(py, error)),
    }
}

/// What gives rows block by block; the interpreter is not held.
trait Source: Send {
    /// The next rows, at most [`BLOCK`], empty at the end. The inner error is of a row, the outer one Python's.
    fn next_block(&mut self) -> PyResult<Result<Vec<Vec<Cell>>>>;
}

/// The rows of a source one by one, as the service takes them.
struct Rows<S> {
    source: S,
    block: std::vec::IntoIter<Vec<Cell>>,
    /// What Python raised on the way.
    raised: Option<PyErr>,
}

impl<S: Source> Iterator for Rows<S> {
    type Item = Result<Vec<Cell>>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(row) = self.block.next() {
            return Some(Ok(row));
        }
        match self.next_block() {
            Ok(Ok(block)) => {
                self.block = block.into_iter();
                self.block.next().map(Ok)
            }
            Ok(Err(error)) => Some(Err(error)),
            Err(raised) => {
                self.raised = Some(raised);
                Some(Err(Error::new(Kind::Sandbox, "the rows could not be read")))
            }
        }
    }
}

impl<S: Source> Rows<S> {
    fn next_block(&mut self) -> PyResult<Result<Vec<Vec<Cell>>>> {
        #[expect(clippy::redundant_closure_for_method_calls, reason = "the method's own path fits one lifetime only")]
        attached(|py| py.check_signals())?;
        self.source.next_block()
    }
}

/// Does something with the interpreter held.
fn attached<T>(work: impl for<'py> FnOnce(Python<'py>) -> PyResult<T>) -> PyResult<T> {
    let exiting = || Err(pyo3::exceptions::PyRuntimeError::new_err("the interpreter is shutting down"));
    gate::enter(work).unwrap_or_else(exiting)
}
