//! `on_update` of a wait and `progress` of a scan: callbacks, called in the thread of the caller or of its loop.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::pythonize;
use tokio::sync::{mpsc, oneshot};

use super::raise::raise;
use super::{bridge, json};
use crate::client::WaitOutcome;
use crate::decode::Envelope;
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

/// The scan, reporting its progress if there is a callback for it.
pub(super) fn reporting(scan: Scan, has_callback: bool) -> (Scan, mpsc::Receiver<Progress>) {
    if has_callback { scan.reporting() } else { (scan, mpsc::channel(1).1) }
}

/// The callback, and the last update, which is the result of a wait.
pub(super) struct Updates {
    callback: Option<Py<PyAny>>,
    event_loop: Option<Py<PyAny>>,
    last: Option<Py<PyDict>>,
}

impl Updates {
    /// For a synchronous call: the waiting thread calls back.
    pub(super) const fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, event_loop: None, last: None }
    }

    /// For an asynchronous call: the running loop calls back, and awaits a coroutine.
    pub(super) fn in_running_loop(py: Python<'_>, callback: Option<Py<PyAny>>) -> PyResult<Self> {
        let event_loop = callback.as_ref().map(|_| bridge::running_loop(py)).transpose()?.map(Bound::unbind);
        Ok(Self { callback, event_loop, last: None })
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

    /// Calls back with the updates that wait.
    pub(super) fn take_all<U: Update>(&mut self, py: Python<'_>, events: &mut mpsc::Receiver<U>) -> PyResult<()> {
        while let Ok(update) = events.try_recv() {
            self.take(py, Some(&update))?;
        }
        Ok(())
    }

    /// Calls back with each update of an asynchronous call, until there are no more.
    pub(super) async fn relay<U: Update>(mut self, mut events: mpsc::Receiver<U>) -> PyResult<Self> {
        while let Some(update) = events.recv().await {
            let (this, done) = bridge::with_gil(move |py| self.schedule(py, &update)).await?;
            self = this;
            if let Some(done) = done {
                // A loop that has stopped calls nothing back.
                done.await.unwrap_or(Ok(()))?;
            }
        }
        Ok(self)
    }

    fn schedule<U: Update>(mut self, py: Python<'_>, update: &U) -> PyResult<(Self, Option<Done>)> {
        let update = update.to_dict(py)?.unbind();
        self.last = Some(update.clone_ref(py));
        let (Some(callback), Some(event_loop)) = (&self.callback, &self.event_loop) else { return Ok((self, None)) };
        let (sender, receiver) = oneshot::channel();
        let relay = Relay {
            callback: callback.clone_ref(py),
            event_loop: event_loop.clone_ref(py),
            update,
            done: Mutex::new(Some(sender)),
        };
        event_loop.call_method1(py, "call_soon_threadsafe", (relay,))?;
        Ok((self, Some(receiver)))
    }

    /// Whether the export has ended, with the last response. Raises the failure of a wait that got no response.
    pub(super) fn outcome(self, py: Python<'_>, waited: WaitOutcome) -> PyResult<(bool, Option<Py<PyDict>>)> {
        match waited {
            WaitOutcome::Finished => Ok((true, self.last)),
            WaitOutcome::TimedOut(Some(failure)) if self.last.is_none() => Err(raise(py, failure)),
            WaitOutcome::TimedOut(_) => Ok((false, self.last)),
        }
    }
}

/// The end of a callback: nothing, or what it raised.
type Done = oneshot::Receiver<PyResult<()>>;

/// Calls back in the loop's thread and reports the outcome. For a coroutine, it is called again at the end of its task.
#[pyclass(frozen)]
struct Relay {
    callback: Py<PyAny>,
    event_loop: Py<PyAny>,
    update: Py<PyDict>,
    done: Mutex<Option<oneshot::Sender<PyResult<()>>>>,
}

#[pymethods]
impl Relay {
    #[pyo3(signature = (task = None))]
    fn __call__(slf: &Bound<'_, Self>, task: Option<&Bound<'_, PyAny>>) {
        let outcome = match task {
            None => Self::begin(slf),
            Some(task) => task.call_method0("result").map(|_| true),
        };
        // None: a coroutine has begun, whose end comes back here.
        let Some(outcome) = outcome.map(|done| done.then_some(())).transpose() else { return };
        if let Some(done) = slf.get().done.lock().unwrap_or_else(PoisonError::into_inner).take() {
            drop(done.send(outcome));
        }
    }
}

impl Relay {
    /// Calls back. Returns whether that is done, or a coroutine has begun.
    fn begin(this: &Bound<'_, Self>) -> PyResult<bool> {
        let (py, relay) = (this.py(), this.get());
        let returned = relay.callback.bind(py).call1((&relay.update,))?;
        if !returned.hasattr("__await__")? {
            return Ok(true);
        }
        let keywords = PyDict::new(py);
        keywords.set_item("loop", &relay.event_loop)?;
        let task = py.import("asyncio")?.call_method("ensure_future", (returned,), Some(&keywords))?;
        task.call_method1("add_done_callback", (this,))?;
        Ok(false)
    }
}
