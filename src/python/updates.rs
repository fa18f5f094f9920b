//! `on_update` of a wait: called with each answer, in the thread that may call it.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tokio::sync::{mpsc, oneshot};

use super::{doors, json};
use crate::client::Waited;
use crate::decode::Envelope;

/// The callback, and the last answer for whoever waits in vain.
pub(super) struct Updates {
    callback: Option<Py<PyAny>>,
    event_loop: Option<Py<PyAny>>,
    last: Option<Py<PyDict>>,
}

impl Updates {
    /// For a synchronous wait: called by the waiting thread itself.
    pub(super) fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, event_loop: None, last: None }
    }

    /// For an asynchronous wait: called by the running loop.
    pub(super) fn in_running_loop(py: Python<'_>, callback: Option<Py<PyAny>>) -> PyResult<Self> {
        let event_loop = py.import("asyncio")?.call_method0("get_running_loop")?.unbind();
        Ok(Self { callback, event_loop: Some(event_loop), last: None })
    }

    /// Takes an answer and calls back.
    pub(super) fn take(&mut self, py: Python<'_>, envelope: &Envelope) -> PyResult<()> {
        let answer = json::envelope(py, envelope)?;
        self.last = Some(answer.clone().unbind());
        if let Some(callback) = &self.callback {
            callback.call1(py, (answer,))?;
        }
        Ok(())
    }

    /// Takes the answers of an asynchronous wait until there are no more.
    pub(super) async fn relay(mut self, mut events: mpsc::Receiver<Envelope>) -> PyResult<Self> {
        while let Some(envelope) = events.recv().await {
            let (this, done) = doors::attached(move |py| self.schedule(py, &envelope)).await?;
            self = this;
            if let Some(done) = done {
                // A loop that has stopped calls nobody: then nobody waits either.
                done.await.unwrap_or(Ok(()))?;
            }
        }
        Ok(self)
    }

    fn schedule(mut self, py: Python<'_>, envelope: &Envelope) -> PyResult<(Self, Option<Done>)> {
        let answer = json::envelope(py, envelope)?.unbind();
        self.last = Some(answer.clone_ref(py));
        let (Some(callback), Some(event_loop)) = (&self.callback, &self.event_loop) else { return Ok((self, None)) };
        let (sender, receiver) = oneshot::channel();
        let relay = Relay { callback: callback.clone_ref(py), answer, done: Some(sender) };
        event_loop.call_method1(py, "call_soon_threadsafe", (relay,))?;
        Ok((self, Some(receiver)))
    }

    /// How the wait ended, with the last answer.
    pub(super) fn outcome(self, py: Python<'_>, waited: Waited) -> PyResult<(bool, Option<Py<PyDict>>)> {
        match waited {
            Waited::Finished(envelope) => Ok((true, Some(json::envelope(py, &envelope)?.unbind()))),
            Waited::TimedOut => Ok((false, self.last)),
        }
    }
}

/// What a callback gave: nothing, or what it raised.
type Done = oneshot::Receiver<PyResult<()>>;

/// Calls back in the loop's thread and tells how that went.
#[pyclass]
struct Relay {
    callback: Py<PyAny>,
    answer: Py<PyDict>,
    done: Option<oneshot::Sender<PyResult<()>>>,
}

#[pymethods]
impl Relay {
    fn __call__(&mut self, py: Python<'_>) {
        let outcome = self.callback.call1(py, (&self.answer,)).map(drop);
        if let Some(done) = self.done.take() {
            drop(done.send(outcome));
        }
    }
}
