//! Asynchronous calls: a future of the core becomes an asyncio future of the running loop.
//!
//! pyo3-async-runtimes gets our own runtime, as its own one does not survive a fork, and an event loop that may be
//! closed at any time.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures_util::FutureExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3_async_runtimes::TaskLocals;
use pyo3_async_runtimes::generic::{self, ContextExt};
use tokio::task::{JoinError, JoinHandle};

use super::bridge::{raise_in_python, with_gil};
use super::raise::raise;
use super::{bridge, finalization, log};
use crate::error::Result;
use crate::scan::panicked;

/// Returns an asyncio future of the running loop. Cancelling it drops `future` and so closes its connection.
pub(super) fn spawn<T>(
    py: Python<'_>,
    future: impl Future<Output = PyResult<T>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>>
where
    T: for<'py> IntoPyObject<'py> + Send + 'static,
{
    let _scope = finalization::AttachedScope::enter(py);
    bridge::runtime().map_err(|error| raise(py, error))?;
    let running = py.import("asyncio")?.call_method0("get_running_loop")?;
    let future = log::in_running_loop(py, future)?;
    let event_loop = Bound::new(py, Loop(running.unbind()))?.into_any();
    generic::future_into_py_with_locals::<CoreRuntime, _, T>(py, TaskLocals::new(event_loop), async move {
        match AssertUnwindSafe(future).catch_unwind().await {
            Ok(result) => result,
            Err(_) => raise_in_python(Err(panicked())).await,
        }
    })
}

/// As [`spawn`], for a future of the core. `handler` takes its events meanwhile; when both have ended, `finish` makes
/// the result with the interpreter held.
pub(super) fn spawn_call<T, H, R>(
    py: Python<'_>,
    future: impl Future<Output = Result<T>> + Send + 'static,
    handler: impl Future<Output = PyResult<H>> + Send + 'static,
    finish: impl FnOnce(Python<'_>, T, H) -> PyResult<R> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>>
where
    T: Send + 'static,
    H: Send + 'static,
    R: for<'py> IntoPyObject<'py> + Send + 'static,
{
    spawn(py, async move {
        let future = async { raise_in_python(future.await).await };
        let (value, taken) = tokio::try_join!(future, handler)?;
        with_gil(move |py| finish(py, value, taken)).await
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
