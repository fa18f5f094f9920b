//! Asynchronous calls: a future of the core becomes an asyncio future of the running loop.
//!
//! The call runs on the runtime without the interpreter. Its Python values are made in the loop's thread: `queue` takes
//! finished calls there, and `sockets` wakes a loop that watches sockets.

mod queue;
#[cfg(unix)]
mod sockets;

use std::future::Future;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use super::bridge::with_gil;
use super::finalization::AttachedScope;
use super::raise::raise;
use super::{json, log};
use crate::decode::Envelope;
use crate::error::{Error, Result};

/// A loop makes values of more bytes than this only off its thread, as it would be held for milliseconds.
pub(super) const LARGE: usize = 1 << 18;

/// Why a call failed: an error of the core, or an exception of a callback.
pub(super) enum Failure {
    Core(Error),
    Raised(PyErr),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl From<PyErr> for Failure {
    fn from(raised: PyErr) -> Self {
        Self::Raised(raised)
    }
}

impl Failure {
    fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Core(error) => raise(py, error),
            Self::Raised(raised) => raised,
        }
    }
}

/// The exception, as a future takes it: not `StopIteration`, which a generator would take for its end.
fn for_future(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyStopIteration>(py) {
        return error;
    }
    let replaced = PyRuntimeError::new_err("a callback raised StopIteration");
    replaced.set_cause(py, Some(error));
    replaced
}

/// Makes the result of a call, with the interpreter held.
pub(super) type Make = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

/// Returns an asyncio future of the running loop. Cancelling it drops `call` and so closes its connection.
pub(super) fn spawn(
    py: Python<'_>,
    call: impl Future<Output = Result<Make, Failure>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    let _scope = AttachedScope::enter(py);
    let running = running_loop(py)?;
    // Boxed first: each layer around it would move its kilobytes.
    let call = log::in_running_loop(py, Box::pin(call))?;
    queue::Queue::of(&running)?.spawn(&running, call)
}

/// The loop that runs in this thread.
pub(super) fn running_loop(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static RUNNING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    RUNNING.import(py, "asyncio", "get_running_loop")?.call0()
}

/// As [`spawn`], for a future of the core. `handler` takes its events meanwhile; when both have ended, `finish` makes
/// the result in the loop's thread.
pub(super) fn spawn_call<T, H, R>(
    py: Python<'_>,
    future: impl Future<Output = Result<T>> + Send + 'static,
    handler: impl Future<Output = PyResult<H>> + Send + 'static,
    finish: impl FnOnce(Python<'_>, T, H) -> PyResult<R> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>>
where
    T: Send + 'static,
    H: Send + 'static,
    R: for<'py> IntoPyObject<'py>,
{
    let (future, handler) = (Box::pin(future), Box::pin(handler));
    spawn(py, async move {
        let (value, taken) = tokio::try_join!(async { Ok::<_, Failure>(future.await?) }, async { Ok(handler.await?) })?;
        Ok(make(move |py| finish(py, value, taken)))
    })
}

/// As [`spawn`], for a call whose result is a complete response, as a dict.
pub(super) fn spawn_envelope(
    py: Python<'_>,
    call: impl Future<Output = Result<Envelope>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    let dict = |py: Python<'_>, envelope: &Envelope| -> PyResult<Py<PyDict>> {
        json::envelope(py, envelope).map(Bound::unbind)
    };
    spawn(py, async move {
        let envelope = call.await?;
        if envelope.bytes <= LARGE as u64 {
            return Ok(make(move |py| dict(py, &envelope)));
        }
        let dict = with_gil(move |py| dict(py, &envelope)).await?;
        Ok(make(move |_| Ok(dict)))
    })
}

/// Boxes what makes a result.
pub(super) fn make<R>(finish: impl FnOnce(Python<'_>) -> PyResult<R> + Send + 'static) -> Make
where
    R: for<'py> IntoPyObject<'py>,
{
    Box::new(move |py| finish(py)?.into_py_any(py))
}
