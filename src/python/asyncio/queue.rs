//! The finished calls of one loop.
//!
//! A call that finishes puts its outcome into the queue of its loop. The first one in an empty queue wakes the loop, which
//! takes all calls that are there by then: they share one wake-up, and no worker needs the interpreter.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use pyo3::intern;
use pyo3::prelude::*;
use tokio::task::{AbortHandle, yield_now};

#[cfg(unix)]
use super::sockets::{self, Sockets};
use super::{Failure, Make, for_future};
use crate::error::Result;
use crate::python::bridge::{runtime, spawn_detached, with_gil};
use crate::python::finalization::AttachedScope;
use crate::python::raise::raise;
use crate::scan::panicked;

/// How long results are made before the loop runs what else is ready.
const TURN: Duration = Duration::from_millis(5);

/// A call that has ended, and the asyncio future that waits for it.
struct Finished {
    outcome: Result<Make, Failure>,
    future: Py<PyAny>,
    abort: Py<Abort>,
}

/// The finished calls of one loop.
pub(super) struct Queue {
    /// None once the loop was closed.
    calls: Mutex<Option<VecDeque<Finished>>>,
    notifier: Notifier,
}

/// What has a loop take the calls of its queue.
pub(super) enum Notifier {
    #[cfg(unix)]
    Sockets(Sockets),
    /// A loop that watches no sockets, as the default one of Windows: a thread calls it.
    Loop(Py<PyAny>),
}

impl Queue {
    pub(super) fn new(notifier: Notifier) -> Arc<Self> {
        Arc::new(Self { calls: Mutex::new(Some(VecDeque::new())), notifier })
    }

    /// The queue of a running loop. A loop that watches no sockets has one for each call.
    pub(super) fn of(running: &Bound<'_, PyAny>) -> PyResult<Arc<Self>> {
        #[cfg(unix)]
        if let Some(queue) = sockets::queue_of(running)? {
            return Ok(queue);
        }
        Ok(Self::new(Notifier::Loop(running.clone().unbind())))
    }

    /// Starts a call whose outcome goes to the loop, and returns its asyncio future.
    pub(super) fn spawn<'py>(
        self: Arc<Self>,
        running: &Bound<'py, PyAny>,
        call: impl Future<Output = Result<Make, Failure>> + Send + 'static,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = running.py();
        let awaited = running.call_method0(intern!(py, "create_future"))?;
        let abort = Bound::new(py, Abort(OnceLock::new()))?;
        awaited.call_method1(intern!(py, "add_done_callback"), (&abort,))?;
        let (future, finished) = (awaited.clone().unbind(), abort.clone().unbind());
        let run = async move {
            let outcome = AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| Err(panicked().into()));
            if let Some(wake) = self.push(Finished { outcome, future, abort: finished }) {
                // Calls whose responses are here too end first, and share the wake-up.
                yield_now().await;
                drop(wake);
            }
        };
        let task = runtime().map_err(|error| raise(py, error))?.spawn(run);
        abort.get().0.get_or_init(|| task.abort_handle());
        Ok(awaited)
    }

    /// Adds a call. The first one in an empty queue wakes the loop when the returned value is dropped, however its task ends.
    fn push(self: Arc<Self>, call: Finished) -> Option<WakeOnDrop> {
        let mut calls = self.calls();
        let Some(waiting) = calls.as_mut() else {
            // Nothing waits for it: it is dropped where the interpreter is held.
            let dropped = with_gil(move |_| {
                drop(call);
                Ok(())
            });
            spawn_detached(dropped.map(drop));
            return None;
        };
        waiting.push_back(call);
        let is_first = waiting.len() == 1;
        drop(calls);
        is_first.then(|| WakeOnDrop(self))
    }

    fn wake(self: Arc<Self>) {
        match &self.notifier {
            #[cfg(unix)]
            Notifier::Sockets(sockets) => sockets.notify(),
            Notifier::Loop(_) => spawn_detached(with_gil(move |py| self.call_loop(py)).map(drop)),
        }
    }

    /// Fails once the loop was closed, which drops the watcher and the calls with it.
    fn call_loop(self: Arc<Self>, py: Python<'_>) -> PyResult<()> {
        let Notifier::Loop(event_loop) = &self.notifier else { return Ok(()) };
        event_loop.call_method1(py, "call_soon_threadsafe", (Watcher(Arc::clone(&self)),)).map(drop)
    }

    fn calls(&self) -> MutexGuard<'_, Option<VecDeque<Finished>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes the loop when it is dropped.
struct WakeOnDrop(Arc<Queue>);

impl Drop for WakeOnDrop {
    fn drop(&mut self) {
        Arc::clone(&self.0).wake();
    }
}

impl Finished {
    /// Makes the result, unless the future was cancelled.
    fn settle(self, py: Python<'_>) -> PyResult<()> {
        let future = self.future.bind(py);
        if future.call_method0(intern!(py, "done"))?.is_truthy()? {
            return Ok(());
        }
        // The loop need not call it.
        future.call_method1(intern!(py, "remove_done_callback"), (&self.abort,))?;
        let make = || self.outcome.map_or_else(|failure| Err(failure.raise(py)), |make| make(py));
        match catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|_| Err(raise(py, panicked()))) {
            Ok(value) => future.call_method1(intern!(py, "set_result"), (value,))?,
            Err(error) => future.call_method1(intern!(py, "set_exception"), (for_future(py, error),))?,
        };
        Ok(())
    }
}

/// What the loop calls when there are calls to take.
#[pyclass(frozen, weakref)]
pub(super) struct Watcher(pub(super) Arc<Queue>);

#[pymethods]
impl Watcher {
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        let _scope = AttachedScope::enter(py);
        // First, so that a call that comes from now on wakes the loop again.
        #[cfg(unix)]
        if let Notifier::Sockets(sockets) = &self.0.notifier {
            sockets.clear();
        }
        let began = Instant::now();
        let mut settled = Ok(());
        while let Some(call) = self.next() {
            // The calls behind one that fails wait for their results too.
            settled = settled.and(call.settle(py));
            if began.elapsed() > TURN {
                Arc::clone(&self.0).wake();
                break;
            }
        }
        settled
    }
}

impl Watcher {
    fn next(&self) -> Option<Finished> {
        self.0.calls().as_mut()?.pop_front()
    }
}

impl Drop for Watcher {
    /// The loop was closed: nothing waits for its calls.
    fn drop(&mut self) {
        let calls = self.0.calls().take();
        drop(calls);
    }
}

/// Ends the task of a call. Called when its asyncio future is cancelled.
#[pyclass(frozen)]
struct Abort(OnceLock<AbortHandle>);

#[pymethods]
impl Abort {
    fn __call__(&self, _future: &Bound<'_, PyAny>) {
        if let Some(task) = self.0.get() {
            task.abort();
        }
    }
}
