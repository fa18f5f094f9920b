//! The callback of a scan: `progress`.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pythonize::pythonize;
use tokio::sync::mpsc;

use super::asyncio::spawn_call;
use super::runtime::{block_with, with_gil};
use crate::error::Result;
use crate::scan::{Progress, Scan};

/// The progress of a call that reports it.
pub(super) type Events = Option<mpsc::Receiver<Progress>>;

/// The scan, reporting its progress if there is a callback for it.
pub(super) fn reporting(scan: Scan, callback: Option<&Py<PyAny>>) -> (Scan, Events) {
    if callback.is_none() {
        return (scan, None);
    }
    let (scan, events) = scan.reporting();
    (scan, Some(events))
}

/// As [`call`](super::runtime::call), with a callback for updates.
///
/// A waiting thread calls back itself. Otherwise another thread does: `dataaccess._core.updates` passes on to the loop.
pub(super) fn call<'py, T: Send + 'static, R: for<'a> IntoPyObject<'a>>(
    py: Python<'py>,
    wait: bool,
    future: impl Future<Output = Result<T>> + Send + 'static,
    events: Events,
    callback: Option<Py<PyAny>>,
    finish: impl FnOnce(Python<'_>, T) -> PyResult<R> + Send + 'static,
) -> PyResult<Bound<'py, PyAny>> {
    let updates = Updates(callback);
    if wait {
        let value = block_with(py, future, events, |py, update| updates.take(py, update.as_ref()))?;
        return finish(py, value)?.into_bound_py_any(py);
    }
    spawn_call(py, future, updates.relay(events), |py, value, _| finish(py, value))
}

pub(super) struct Updates(pub(super) Option<Py<PyAny>>);

impl Updates {
    /// Calls back with an update, if there is one.
    pub(super) fn take(&self, py: Python<'_>, update: Option<&Progress>) -> PyResult<()> {
        let (Some(callback), Some(update)) = (&self.0, update) else { return Ok(()) };
        let returned = callback.bind(py).call1((pythonize(py, update)?,))?;
        if returned.hasattr("__await__")? {
            returned.call_method0("close")?;
            return Err(PyTypeError::new_err("progress is a coroutine function, which only AsyncClient can await"));
        }
        Ok(())
    }

    /// Calls back with the updates so far.
    pub(super) fn take_all(&self, py: Python<'_>, events: &mut Events) -> PyResult<()> {
        while let Some(update) = events.as_mut().and_then(|events| events.try_recv().ok()) {
            self.take(py, Some(&update))?;
        }
        Ok(())
    }

    /// Calls back with each update, until there are no more.
    pub(super) async fn relay(mut self, events: Events) -> PyResult<Self> {
        let Some(mut events) = events else { return Ok(self) };
        while let Some(update) = events.recv().await {
            self = with_gil(move |py| self.take(py, Some(&update)).map(|()| self)).await?;
        }
        Ok(self)
    }
}
