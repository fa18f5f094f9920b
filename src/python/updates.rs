//! The callbacks of a call: `on_update` of a wait and `progress` of a scan.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::pythonize;
use tokio::sync::mpsc;

use super::asyncio::spawn_call;
use super::json;
use super::runtime::{block_with, with_gil};
use crate::decode::Envelope;
use crate::error::Result;
use crate::scan::{Progress, Scan};

/// The argument of a callback.
pub(super) trait Update: Send + 'static {
    /// The name of the callback.
    const ARGUMENT: &'static str;

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>>;
}

impl Update for Envelope {
    const ARGUMENT: &'static str = "on_update";

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        json::envelope(py, self)
    }
}

impl Update for Progress {
    const ARGUMENT: &'static str = "progress";

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        Ok(pythonize(py, self)?.cast_into()?)
    }
}

/// The updates of a call, None if there are none.
pub(super) type Events<U> = Option<mpsc::Receiver<U>>;

/// The scan, reporting its progress if there is a callback for it.
pub(super) fn reporting(scan: Scan, callback: Option<&Py<PyAny>>) -> (Scan, Events<Progress>) {
    if callback.is_none() {
        return (scan, None);
    }
    let (scan, events) = scan.reporting();
    (scan, Some(events))
}

/// As [`call`](super::runtime::call), with a callback for updates. `finish` gets the last update too.
///
/// A waiting thread calls back itself. Otherwise another thread does: `dataaccess._core.updates` passes on to the loop.
pub(super) fn call<'py, T: Send + 'static, U: Update, R: for<'a> IntoPyObject<'a>>(
    py: Python<'py>,
    wait: bool,
    future: impl Future<Output = Result<T>> + Send + 'static,
    events: Events<U>,
    callback: Option<Py<PyAny>>,
    finish: impl FnOnce(Python<'_>, T, Option<Py<PyDict>>) -> PyResult<R> + Send + 'static,
) -> PyResult<Bound<'py, PyAny>> {
    let mut updates = Updates::new(callback);
    if wait {
        let value = block_with(py, future, events, |py, update| updates.take(py, update.as_ref()))?;
        return finish(py, value, updates.last)?.into_bound_py_any(py);
    }
    spawn_call(py, future, updates.relay(events), |py, value, updates| finish(py, value, updates.last))
}

/// The callback, and the last update.
pub(super) struct Updates {
    callback: Option<Py<PyAny>>,
    last: Option<Py<PyDict>>,
}

impl Updates {
    pub(super) const fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, last: None }
    }

    /// Calls back with an update, if there is one.
    pub(super) fn take<U: Update>(&mut self, py: Python<'_>, update: Option<&U>) -> PyResult<()> {
        let Some(update) = update else { return Ok(()) };
        let update = update.to_dict(py)?;
        self.last = Some(update.clone().unbind());
        let Some(callback) = &self.callback else { return Ok(()) };
        let returned = callback.bind(py).call1((update,))?;
        if returned.hasattr("__await__")? {
            returned.call_method0("close")?;
            let message = format!("{} is a coroutine function, which only AsyncClient can await", U::ARGUMENT);
            return Err(PyTypeError::new_err(message));
        }
        Ok(())
    }

    /// Calls back with the updates so far.
    pub(super) fn take_all<U: Update>(&mut self, py: Python<'_>, events: &mut Events<U>) -> PyResult<()> {
        while let Some(update) = events.as_mut().and_then(|events| events.try_recv().ok()) {
            self.take(py, Some(&update))?;
        }
        Ok(())
    }

    /// Calls back with each update, until there are no more.
    pub(super) async fn relay<U: Update>(mut self, events: Events<U>) -> PyResult<Self> {
        let Some(mut events) = events else { return Ok(self) };
        while let Some(update) = events.recv().await {
            self = with_gil(move |py| self.take(py, Some(&update)).map(|()| self)).await?;
        }
        Ok(self)
    }
}
