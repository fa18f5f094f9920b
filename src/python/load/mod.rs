//! Rows for the sandbox: from an iterable of dicts, or from an Arrow stream.
//!
//! It converts values into cells. The sandbox checks whether a cell is valid for its attribute.

mod batches;
mod dicts;
mod readers;

use std::time::Duration;

use pyo3::prelude::*;

use self::batches::Batches;
use self::dicts::Dicts;
use super::finalization::attach;
use super::raise::raise;
use super::{bridge, capsule, sandbox::RawSandbox};
use crate::error::Result;
use crate::sandbox::{Cell, Load};

/// Rows between two checks for signals and for the end of the sandbox.
const BLOCK: usize = 1_000;
/// The longest time between two checks, for rows that come slowly.
const BLOCK_TAKES: Duration = Duration::from_millis(50);

/// Loads rows into an object, all or none.
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
        py.detach(|| load_all(&mut load, batches))?;
    } else {
        let dicts = Dicts::new(rows, declared)?;
        py.detach(|| load_all(&mut load, dicts))?;
    }
    // A signal ends this function, and dropping the load cancels it.
    let _interrupted = load.cancel_on_drop();
    bridge::wait(py, move || load.finish(replaces))
}

/// Gives rows block by block. Called without the interpreter.
trait Source: Send {
    /// The next rows, at most [`BLOCK`], empty at the end. The inner error is that of a row, the outer one Python's.
    fn next_block(&mut self) -> PyResult<Result<Vec<Vec<Cell>>>>;
}

/// Takes all rows of a source. Nothing is locked, as the source may use the sandbox itself.
fn load_all(load: &mut Load, mut source: impl Source) -> PyResult<()> {
    loop {
        #[expect(clippy::redundant_closure_for_method_calls, reason = "the method's own path fits one lifetime only")]
        attach(|py| py.check_signals())?;
        let block = source.next_block()?;
        let is_last = block.as_ref().is_ok_and(Vec::is_empty);
        if let Err(error) = block.and_then(|rows| load.add(rows)) {
            return attach(|py| Err(raise(py, error)));
        }
        if is_last {
            return Ok(());
        }
    }
}
