//! Calls of a loop that watches no sockets, as the default one of Windows, through pyo3-async-runtimes.
//!
//! The library gets our own runtime, as its own one does not survive a fork, and an event loop that may be closed at any
//! time.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures_util::FutureExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3_async_runtimes::TaskLocals;
use pyo3_async_runtimes::generic::{self, ContextExt};
use tokio::task::{JoinError, JoinHandle};

use super::{Failure, Make, for_future};
use crate::error::Result;
use crate::python::bridge::{self, with_gil};
use crate::python::finalization;
use crate::scan::panicked;

/// Returns an asyncio future of this loop, as [`super::spawn`] does.
pub(super) fn spawn<'py>(
    running: &Bound<'py, PyAny>,
    call: impl Future<Output = Result<Make, Failure>> + Send + 'static,
) -> PyResult<Bound<'py, PyAny>> {
    let py = running.py();
    let event_loop = Bound::new(py, Loop(running.clone().unbind()))?.into_any();
    generic::future_into_py_with_locals::<CoreRuntime, _, _>(py, TaskLocals::new(event_loop), async move {
        let outcome = AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| Err(panicked().into()));
        with_gil(move |py| {
            outcome
                .map_or_else(|failure| Err(failure.raise(py)), |make| make(py))
                .map_err(|error| for_future(py, error))
        })
        .await
    })
}

/// An asyncio loop for pyo3-async-runtimes. Once it is closed, nobody waits for a result.
#[pyclass(frozen)]
struct Loop(Py<PyAny>);

#[pymethods]
impl Loop {
    fn create_future<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.bind(py).call_method0("create_future")
    }

    #[pyo3(signature = (*arguments, **keywords))]
    fn call_soon_threadsafe(
        &self,
        py: Python<'_>,
        arguments: &Bound<'_, PyTuple>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let running = self.0.bind(py);
        match running.call_method("call_soon_threadsafe", arguments, keywords) {
            Err(error) if !running.call_method0("is_closed")?.is_truthy()? => Err(error),
            _ => Ok(()),
        }
    }
}

/// Our runtime for pyo3-async-runtimes.
struct CoreRuntime;

/// A task that panicked, was cancelled, or could not be started.
struct TaskError(Option<JoinError>);

impl generic::JoinError for TaskError {
    fn is_panic(&self) -> bool {
        self.0.as_ref().is_some_and(JoinError::is_panic)
    }

    fn into_panic(self) -> Box<dyn std::any::Any + Send + 'static> {
        match self.0.map(JoinError::try_into_panic) {
            Some(Ok(panic)) => panic,
            _ => Box::new("the task was cancelled"),
        }
    }
}

type Joined = Pin<Box<dyn Future<Output = Result<(), TaskError>> + Send>>;

fn joined(handle: Result<JoinHandle<()>>) -> Joined {
    Box::pin(async move { handle.map_err(|_| TaskError(None))?.await.map_err(|error| TaskError(Some(error))) })
}

impl generic::Runtime for CoreRuntime {
    type JoinError = TaskError;
    type JoinHandle = Joined;

    fn spawn<F: Future<Output = ()> + Send + 'static>(future: F) -> Joined {
        joined(bridge::runtime().map(|runtime| runtime.spawn(future)))
    }

    fn spawn_blocking<F: FnOnce() + Send + 'static>(work: F) -> Joined {
        // The work attaches to the interpreter, which panics once that has exited.
        joined(bridge::runtime().map(|runtime| {
            runtime.spawn_blocking(|| {
                finalization::unless_exiting(work);
            })
        }))
    }
}

impl ContextExt for CoreRuntime {
    fn scope<F, R>(_locals: TaskLocals, future: F) -> Pin<Box<dyn Future<Output = R> + Send>>
    where
        F: Future<Output = R> + Send + 'static,
    {
        // No future of ours calls back into asyncio, so none needs to know its loop.
        Box::pin(future)
    }

    fn get_task_locals() -> Option<TaskLocals> {
        None
    }
}
