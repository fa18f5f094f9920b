//! `on_update` of a wait and `on_progress` of a run: called with what comes, in the thread that may call it.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::pythonize;
use tokio::sync::{mpsc, oneshot};

use super::raise::raise;
use super::{bridge, json};
use crate::client::Waited;
use crate::decode::Envelope;
use crate::error::Error;
use crate::scan::Progress;

/// What a callback can be called with.
pub(super) trait Update: Send + 'static {
    /// The argument that is the callback.
    const ARGUMENT: &'static str;

    /// As a dict.
    fn told<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>>;
}

impl Update for Envelope {
    const ARGUMENT: &'static str = "on_update";

    fn told<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        json::envelope(py, self)
    }
}

impl Update for Progress {
    const ARGUMENT: &'static str = "on_progress";

    fn told<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        Ok(pythonize(py, self)?.cast_into()?)
    }
}

/// The callback, and the last answer for whoever waits in vain.
pub(super) struct Updates {
    callback: Option<Py<PyAny>>,
    event_loop: Option<Py<PyAny>>,
    last: Option<Py<PyDict>>,
}

impl Updates {
    /// For a synchronous call: called by the waiting thread itself.
    pub(super) fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, event_loop: None, last: None }
    }

    /// For an asynchronous call: called by the running loop, and awaited if it is a coroutine.
    pub(super) fn in_running_loop(py: Python<'_>, callback: Option<Py<PyAny>>) -> PyResult<Self> {
        let event_loop = py.import("asyncio")?.call_method0("get_running_loop")?.unbind();
        Ok(Self { callback, event_loop: Some(event_loop), last: None })
    }

    /// Takes what comes and calls back.
    pub(super) fn take<U: Update>(&mut self, py: Python<'_>, update: &U) -> PyResult<()> {
        let answer = update.told(py)?;
        self.last = Some(answer.clone().unbind());
        let Some(callback) = &self.callback else { return Ok(()) };
        let input = callback.bind(py).call1((answer,))?;
        if input.hasattr("__await__")? {
            input.call_method0("close")?;
            let message = format!("{} is a coroutine function, which only AsyncClient can await", U::ARGUMENT);
            return Err(PyTypeError::new_err(message));
        }
        Ok(())
    }

    /// Takes what comes of an asynchronous call until there is no more.
    pub(super) async fn relay<U: Update>(mut self, mut events: mpsc::Receiver<U>) -> PyResult<Self> {
        while let Some(update) = events.recv().await {
            let (this, done) = bridge::with_gil(move |py| self.schedule(py, &update)).await?;
            self = this;
            if let Some(done) = done {
                // A loop that has stopped calls nobody: then nobody waits either.
                done.await.unwrap_or(Ok(()))?;
            }
        }
        Ok(self)
    }

    fn schedule<U: Update>(mut self, py: Python<'_>, update: &U) -> PyResult<(Self, Option<Done>)> {
        let answer = update.told(py)?.unbind();
        self.last = Some(answer.clone_ref(py));
        let (Some(callback), Some(event_loop)) = (&self.callback, &self.event_loop) else { return Ok((self, None)) };
        let (sender, receiver) = oneshot::channel();
        let relay = Relay {
            callback: callback.clone_ref(py),
            event_loop: event_loop.clone_ref(py),
            answer,
            done: Mutex::new(Some(sender)),
        };
        event_loop.call_method1(py, "call_soon_threadsafe", (relay,))?;
        Ok((self, Some(receiver)))
    }

    /// How the wait ended, with the last answer; a wait that only failed raises its failure.
    pub(super) fn outcome(self, py: Python<'_>, waited: Waited) -> PyResult<(bool, Option<Py<PyDict>>)> {
        match waited {
            Waited::Finished(envelope) => Ok((true, Some(json::envelope(py, &envelope)?.unbind()))),
            Waited::TimedOut(failure) => self.in_vain(py, failure),
        }
    }

    fn in_vain(self, py: Python<'_>, failure: Option<Error>) -> PyResult<(bool, Option<Py<PyDict>>)> {
        match failure {
            Some(failure) if self.last.is_none() => Err(raise(py, failure)),
            _ => Ok((false, self.last)),
        }
    }
}

/// What a callback gave: nothing, or what it raised.
type Done = oneshot::Receiver<PyResult<()>>;

/// Calls back in the loop's thread and tells how that went; for a coroutine it is called again at its end.
#[pyclass(frozen)]
struct Relay {
    callback: Py<PyAny>,
    event_loop: Py<PyAny>,
    answer: Py<PyDict>,
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
        // Not done yet: the end of the coroutine comes back here.
        let Some(outcome) = outcome.map(|done| done.then_some(())).transpose() else { return };
        if let Some(done) = slf.get().done.lock().unwrap_or_else(PoisonError::into_inner).take() {
            drop(done.send(outcome));
        }
    }
}

impl Relay {
    /// Calls back; whether that is all.
    fn begin(this: &Bound<'_, Self>) -> PyResult<bool> {
        let (py, relay) = (this.py(), this.get());
        let input = relay.callback.bind(py).call1((&relay.answer,))?;
        if !input.hasattr("__await__")? {
            return Ok(true);
        }
        let keywords = PyDict::new(py);
        keywords.set_item("loop", &relay.event_loop)?;
        let task = py.import("asyncio")?.call_method("ensure_future", (input,), Some(&keywords))?;
        task.call_method1("add_done_callback", (this,))?;
        Ok(false)
    }
}
