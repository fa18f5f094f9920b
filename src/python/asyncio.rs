//! The door of asynchronous calls: a future of the core becomes one of the running loop.
//!
//! It uses our own runtime, as that of the bridge would not survive a fork, and a loop that may close at any time.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures_util::FutureExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3_async_runtimes::TaskLocals;
use pyo3_async_runtimes::generic::{self, ContextExt};
use tokio::task::{JoinError, JoinHandle};

use super::raise::raise;
use super::{bridge, finalization, log};
use crate::error::Result;

/// Makes an asyncio future of the running loop. Cancelling it drops ours, and so its connection.
pub(super) fn spawn<T>(
    py: Python<'_>,
    future: impl Future<Output = PyResult<T>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>>
where
    T: for<'py> IntoPyObject<'py> + Send + 'static,
{
    let _stay = finalization::AttachedScope::begin(py);
    bridge::runtime().map_err(|error| raise(py, error))?;
    let running = py.import("asyncio")?.call_method0("get_running_loop")?;
    let future = log::in_running_loop(py, future)?;
    let event_loop = Bound::new(py, Loop(running.unbind()))?.into_any();
    generic::future_into_py_with_locals::<Door, _, T>(py, TaskLocals::new(event_loop), async move {
        match AssertUnwindSafe(future).catch_unwind().await {
            Ok(result) => result,
            Err(_) => bridge::raise_in_python(Err(bridge::defect())).await,
        }
    })
}

/// A loop of asyncio, as the bridge uses it. Once it is closed, nobody is left to be told anything.
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

/// Our runtime, as the bridge to asyncio wants to see it.
struct Door;

/// A task that is gone, or a panic in it.
struct Lost(Option<JoinError>);

impl generic::JoinError for Lost {
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

type Joined = Pin<Box<dyn Future<Output = Result<(), Lost>> + Send>>;

fn joined(handle: Result<JoinHandle<()>>) -> Joined {
    Box::pin(async move {
        match handle {
            Ok(handle) => handle.await.map_err(|error| Lost(Some(error))),
            Err(_) => Err(Lost(None)),
        }
    })
}

impl generic::Runtime for Door {
    type JoinError = Lost;
    type JoinHandle = Joined;

    fn spawn<F: Future<Output = ()> + Send + 'static>(future: F) -> Joined {
        joined(bridge::runtime().map(|runtime| runtime.spawn(future)))
    }

    fn spawn_blocking<F: FnOnce() + Send + 'static>(work: F) -> Joined {
        // The bridge attaches inside this work, and would panic in an interpreter that is gone.
        joined(bridge::runtime().map(|runtime| {
            runtime.spawn_blocking(|| {
                finalization::while_open(work);
            })
        }))
    }
}

impl ContextExt for Door {
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
