//! Asynchronous calls: a future of the core becomes an asyncio future of the running loop, by pyo3-async-runtimes.
//!
//! The library gets our own runtime, as its own one does not survive a fork, and an event loop that may be closed at any
//! time. A call runs without the interpreter. Its Python values are made on a thread that may wait for the interpreter,
//! so rows do not hold the loop: it gets the interpreter after each block of them.

use std::any::Any;
use std::future::{Future, ready};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use pyo3_async_runtimes::TaskLocals;
use pyo3_async_runtimes::generic::{self, ContextExt};
use tokio::task::yield_now;
use tokio::time::sleep;

use super::log;
use super::raise::raise;
use super::runtime::{AttachedScope, PerProcess, is_exiting, runtime, shutting_down, spawn_detached, with_gil};
use crate::error::{Error, Result};
use crate::scan::panicked;

/// Why a call failed: an error of the core, or an exception of a callback.
enum Failure {
    Core(Error),
    Raised(PyErr),
}

/// What ends a call: makes its result, with the interpreter held.
type Finish = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

/// A call that has ended. The library makes its value on a thread that may wait for the interpreter.
struct Ended(Finish);

impl<'py> IntoPyObject<'py> for Ended {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let ended = catch_unwind(AssertUnwindSafe(|| self.0(py))).unwrap_or_else(|_| Err(raise(py, panicked())));
        ended.map(|value| value.into_bound(py))
    }
}

/// Returns an asyncio future of the running loop. Cancelling it drops `call` and so closes its connection. `finish` makes
/// the result.
pub(super) fn spawn<T: Send + 'static, R: for<'py> IntoPyObject<'py>>(
    py: Python<'_>,
    call: impl Future<Output = Result<T>> + Send + 'static,
    finish: impl FnOnce(Python<'_>, T) -> PyResult<R> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    spawn_call(py, call, ready(Ok(())), |py, value, ()| finish(py, value))
}

/// As [`spawn`]; `handler` takes the events of the call meanwhile.
pub(super) fn spawn_call<T: Send + 'static, H: Send + 'static, R: for<'py> IntoPyObject<'py>>(
    py: Python<'_>,
    call: impl Future<Output = Result<T>> + Send + 'static,
    handler: impl Future<Output = PyResult<H>> + Send + 'static,
    finish: impl FnOnce(Python<'_>, T, H) -> PyResult<R> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    static RUNNING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let _scope = AttachedScope::enter(py);
    if is_exiting() {
        // The thread that makes results is not let in any more.
        return Err(shutting_down());
    }
    // The library would drop the call, and nobody would know.
    runtime().map_err(|error| raise(py, error))?;
    let running = RUNNING.import(py, "asyncio", "get_running_loop")?.call0()?;
    let event_loop = Bound::new(py, Loop(running.unbind()))?.into_any();
    // Boxed first: each layer around it would move its kilobytes.
    let (call, handler) = (Box::pin(call), Box::pin(handler));
    let both = async move {
        tokio::try_join!(async { call.await.map_err(Failure::Core) }, async { handler.await.map_err(Failure::Raised) })
    };
    let both = log::in_running_loop(py, both)?;
    generic::future_into_py_with_locals::<CoreRuntime, _, _>(py, TaskLocals::new(event_loop), async move {
        let outcome = AssertUnwindSafe(both).catch_unwind().await;
        let outcome = outcome.unwrap_or_else(|_| Err(Failure::Core(panicked())));
        Ok(Ended(Box::new(move |py| match outcome {
            Ok((value, taken)) => finish(py, value, taken)?.into_py_any(py),
            Err(Failure::Core(error)) => Err(raise(py, error)),
            Err(Failure::Raised(raised)) => Err(raised),
        })))
    })
}

/// An asyncio loop. Once it is closed, nobody waits for a result.
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

/// Our runtime, as pyo3-async-runtimes uses it.
///
/// All that the library does with the interpreter, which is to make the results of calls that have ended, one thread does
/// in turn: it takes the interpreter once for all that have ended by then.
struct CoreRuntime;

/// How long results are made before the interpreter is given away.
const TURN: Duration = Duration::from_millis(5);
/// How long to wait until a thread may start again.
const NO_THREAD: Duration = Duration::from_millis(100);

/// Makes the result of a call that has ended.
type Work = Box<dyn FnOnce() + Send>;

/// The calls that have ended. The first one in an empty list starts the thread.
static ENDING: PerProcess<Mutex<Vec<Work>>> = PerProcess::empty();

/// A task that panicked, or could not be started.
struct TaskError(Option<Box<dyn Any + Send + 'static>>);

impl generic::JoinError for TaskError {
    fn is_panic(&self) -> bool {
        self.0.is_some()
    }

    fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        self.0.unwrap_or_else(|| Box::new("no task was started"))
    }
}

type Joined = Pin<Box<dyn Future<Output = Result<(), TaskError>> + Send>>;

impl generic::Runtime for CoreRuntime {
    type JoinError = TaskError;
    type JoinHandle = Joined;

    fn spawn<F: Future<Output = ()> + Send + 'static>(future: F) -> Joined {
        let run = AssertUnwindSafe(future).catch_unwind().map(|ran| ran.map_err(|panic| TaskError(Some(panic))));
        let task = runtime().map(|runtime| runtime.spawn(run));
        Box::pin(async move { task.map_err(|_| TaskError(None))?.await.unwrap_or(Err(TaskError(None))) })
    }

    fn spawn_blocking<F: FnOnce() + Send + 'static>(work: F) -> Joined {
        let ending = ENDING.get_or_make(Mutex::default);
        let mut works = ending.lock().unwrap_or_else(PoisonError::into_inner);
        works.push(Box::new(work));
        if works.len() > 1 {
            return Box::pin(ready(Ok(())));
        }
        drop(works);
        spawn_detached(async move {
            // Calls whose responses are here too end first, and share the thread.
            yield_now().await;
            // Without a thread it panics, and calls that wait would wait for ever.
            while AssertUnwindSafe(make_results(&ending)).catch_unwind().await.is_err() {
                sleep(NO_THREAD).await;
            }
        });
        Box::pin(ready(Ok(())))
    }
}

/// Makes the results of all calls that have ended, on a thread that may wait for the interpreter.
async fn make_results(ending: &Arc<Mutex<Vec<Work>>>) {
    let ending = Arc::clone(ending);
    let made = with_gil(move |py| {
        let mut began = Instant::now();
        loop {
            let works = mem::take(&mut *ending.lock().unwrap_or_else(PoisonError::into_inner));
            if works.is_empty() {
                return Ok(());
            }
            for work in works {
                // The calls behind one that fails wait for their results too.
                drop(catch_unwind(AssertUnwindSafe(work)));
                if began.elapsed() > TURN {
                    py.detach(thread::yield_now);
                    began = Instant::now();
                }
            }
        }
    });
    // Nobody waits for a result once the interpreter exits.
    drop(made.await);
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
