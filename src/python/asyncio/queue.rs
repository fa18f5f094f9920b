//! The finished calls of one loop, and the socket that wakes it.
//!
//! A call that finishes puts its outcome into the queue of its loop. The first one in an empty queue wakes the loop, which
//! takes all that are there by then: so many calls share one wake-up, and no thread of the runtime needs the interpreter.

use std::collections::VecDeque;
use std::future::Future;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::intern;
use pyo3::prelude::*;
use tokio::task::AbortHandle;

use super::{Failure, Make, RunsOn, for_future};
use crate::error::Result;
use crate::python::bridge::{self, runtime};
use crate::python::driver::Driver;
use crate::python::finalization::AttachedScope;
use crate::python::process::PerProcess;
use crate::python::raise::raise;
use crate::scan::panicked;

/// How long results are made before the loop runs what else is ready.
const TURN: Duration = Duration::from_millis(5);

/// The watchers of this process by the ids of their loops: a `WeakValueDictionary`, as a loop that is closed drops its
/// watcher.
static QUEUES: PerProcess<Py<PyAny>> = PerProcess::empty();

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
    /// A byte that is written here wakes the loop, which watches the other end.
    waker: UnixStream,
    watched: UnixStream,
}

impl Queue {
    /// The queue of a running loop; `None` for a loop that cannot watch a socket.
    pub(super) fn of(running: &Bound<'_, PyAny>) -> PyResult<Option<Arc<Self>>> {
        let py = running.py();
        let queues = QUEUES.get_or_try_make(|| {
            PyResult::Ok(py.import("weakref")?.getattr("WeakValueDictionary")?.call0()?.unbind())
        })?;
        let queues = queues.bind(py);
        let id = running.as_ptr() as usize;
        if let Ok(known) = queues.call_method1(intern!(py, "get"), (id,))?.cast_into::<Watcher>() {
            return Ok(Some(Arc::clone(&known.get().0)));
        }
        match Self::watched(running) {
            Ok(watcher) => {
                let queue = Arc::clone(&watcher.get().0);
                queues.set_item(id, watcher)?;
                Ok(Some(queue))
            }
            Err(error) if error.is_instance_of::<PyNotImplementedError>(py) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Starts a call whose outcome goes to the loop, and returns its asyncio future.
    pub(super) fn spawn<'py>(
        self: Arc<Self>,
        running: &Bound<'py, PyAny>,
        runs_on: RunsOn,
        call: impl Future<Output = Result<Make, Failure>> + Send + 'static,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = running.py();
        let awaited = running.call_method0(intern!(py, "create_future"))?;
        let abort = Bound::new(py, Abort(OnceLock::new()))?;
        awaited.call_method1(intern!(py, "add_done_callback"), (&abort,))?;
        let (future, finished) = (awaited.clone().unbind(), abort.clone().unbind());
        let run = async move {
            let outcome = AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| Err(panicked().into()));
            self.push(Finished { outcome, future, abort: finished });
        };
        let task = match runs_on {
            RunsOn::Workers => runtime().map(|runtime| runtime.spawn(run)),
            RunsOn::Watcher => Driver::of_process().map(|driver| driver.spawn(run)),
        };
        let task = task.map_err(|error| raise(py, error))?;
        abort.get().0.get_or_init(|| task.abort_handle());
        Ok(awaited)
    }

    /// A new queue, whose socket the loop watches.
    fn watched<'py>(running: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Watcher>> {
        let py = running.py();
        let (waker, socket) = UnixStream::pair()?;
        waker.set_nonblocking(true)?;
        socket.set_nonblocking(true)?;
        let (file, calls) = (socket.as_raw_fd(), Mutex::new(Some(VecDeque::new())));
        let watcher = Bound::new(py, Watcher(Arc::new(Self { calls, waker, watched: socket })))?;
        // Otherwise the loop would keep the context of the first call.
        let context = py.import("contextvars")?.getattr("Context")?.call0()?;
        context.call_method1("run", (running.getattr("add_reader")?, file, &watcher))?;
        Ok(watcher)
    }

    fn push(&self, call: Finished) {
        let mut calls = self.calls();
        let Some(waiting) = calls.as_mut() else {
            // Nothing waits for it: it is dropped where the interpreter is held.
            return bridge::spawn_detached(
                bridge::with_gil(move |_| {
                    drop(call);
                    Ok(())
                })
                .map(drop),
            );
        };
        waiting.push_back(call);
        if waiting.len() == 1 {
            self.wake();
        }
    }

    fn wake(&self) {
        // A full socket wakes the loop as well.
        drop((&self.waker).write(&[0]));
    }

    fn calls(&self) -> MutexGuard<'_, Option<VecDeque<Finished>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
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
struct Watcher(Arc<Queue>);

#[pymethods]
impl Watcher {
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        let _scope = AttachedScope::enter(py);
        // First, so that a call that comes from now on wakes the loop again.
        drop((&self.0.watched).read(&mut [0; 64]));
        let began = Instant::now();
        let mut settled = Ok(());
        while let Some(call) = self.next() {
            // The calls behind one that fails wait for their results too.
            settled = settled.and(call.settle(py));
            if began.elapsed() > TURN {
                self.0.wake();
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
