//! The doors between Python and the core: all blocking, spawning, attaching and detaching happens here.
//!
//! There is one runtime a process, made on first use and again after a fork. A synchronous call parks without
//! the interpreter in short slices, so that signals are seen. `asyncio` has the door of asynchronous ones.

use std::future::Future;
use std::mem;
use std::panic::resume_unwind;
use std::process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};

pub(super) use super::asyncio::spawn;
use super::finalization::{self, AttachedScope};
use super::log::{self, Records};
use super::process::PerProcess;
use super::raise::raise;
use crate::error::{Error, Kind, Result};
use crate::observe::{observed, observed_sync};

/// How long a parked thread does not look for signals.
const SLICE: Duration = Duration::from_millis(50);
const WORKERS: usize = 2;

static RUNTIME: PerProcess<Runtime> = PerProcess::empty();

pub(super) fn runtime() -> Result<Arc<Runtime>> {
    RUNTIME.get_or_try_make(|| {
        Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .thread_name("dataaccess")
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| {
                Error::new(Kind::Internal, format!("no thread could be started: {error}")).with_source(error)
            })
    })
}

/// Ends a task whose caller has gone.
#[derive(Debug)]
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Looks for signals once a slice, however often it is asked.
struct Signals(Instant);

impl Default for Signals {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Signals {
    fn check(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.0.elapsed() < SLICE {
            return Ok(());
        }
        self.0 = Instant::now();
        py.check_signals()
    }
}

/// What a parked thread wakes up for.
enum Wake<E, T> {
    Event(E),
    Done(Result<T, JoinError>),
    Slice,
}

/// Runs a future to its end from a synchronous call, handing its events to `handle` with the interpreter held.
///
/// Ctrl-C, or an error of `handle`, drops the future and so its connection.
pub(super) fn block<E, T>(
    py: Python<'_>,
    future: impl Future<Output = Result<T>> + Send + 'static,
    events: mpsc::Receiver<E>,
    handle: impl FnMut(Python<'_>, E) -> PyResult<()>,
) -> PyResult<T>
where
    E: Send + 'static,
    T: Send + 'static,
{
    let stay = AttachedScope::begin(py);
    let (observer, records) = log::listen(py)?;
    park(py, &stay, observed(observer, future), events, handle, records.as_ref())
}

/// As [`block`], for a future whose records are told by somebody else's.
fn park<E, T>(
    py: Python<'_>,
    stay: &AttachedScope,
    future: impl Future<Output = Result<T>> + Send + 'static,
    mut events: mpsc::Receiver<E>,
    mut handle: impl FnMut(Python<'_>, E) -> PyResult<()>,
    records: Option<&Records>,
) -> PyResult<T>
where
    E: Send + 'static,
    T: Send + 'static,
{
    let tell = || records.map_or(Ok(()), |records| records.tell(py));
    if Handle::try_current().is_ok() {
        return Err(PyRuntimeError::new_err("a synchronous call of dataaccess was made from inside its own runtime"));
    }
    let runtime = runtime().map_err(|error| raise(py, error))?;
    let mut task = AbortOnDrop(runtime.spawn(future));
    let mut signals = Signals::default();
    let process = process::id();
    loop {
        if process::id() != process {
            // A callback has forked, and returns in the child too: nobody works at the call there.
            mem::forget(task);
            return Err(raise(py, forked()));
        }
        let (arrivals, working) = (&mut events, &mut task.0);
        let wake = stay.detach(py, || {
            runtime.block_on(async {
                tokio::select! {
                    biased;
                    Some(event) = arrivals.recv() => Wake::Event(event),
                    done = working => Wake::Done(done),
                    () = tokio::time::sleep(SLICE) => Wake::Slice,
                }
            })
        });
        let heard = match wake {
            Wake::Event(event) => handle(py, event).and_then(|()| signals.check(py)),
            Wake::Slice => signals.check(py).and_then(|()| tell()),
            Wake::Done(done) => {
                while let Ok(event) = events.try_recv() {
                    handle(py, event)?;
                    signals.check(py)?;
                }
                tell()?;
                return done.unwrap_or_else(|_| Err(defect())).map_err(|error| raise(py, error));
            }
        };
        if let Err(raise_in_python) = heard {
            if process::id() == process {
                task.0.abort();
                // Nothing works on for a call that has ended; what blocks at this moment has the time of a slice.
                stay.detach(py, || drop(runtime.block_on(async { tokio::time::timeout(SLICE, &mut task.0).await })));
            }
            return Err(raise_in_python);
        }
    }
}

/// For a future that tells nothing on its way.
pub(super) fn no_events() -> mpsc::Receiver<()> {
    mpsc::channel(1).1
}

/// Work that nobody waits for. It ends when this is dropped.
pub(super) struct Work {
    _task: AbortOnDrop<()>,
}

impl Work {
    /// Starts it.
    pub(super) fn start(py: Python<'_>, work: impl Future<Output = ()> + Send + 'static) -> PyResult<Self> {
        let task = runtime().map(|runtime| AbortOnDrop(runtime.spawn(work)));
        Ok(Self { _task: task.map_err(|error| raise(py, error))? })
    }
}

/// What the tasks of a stream log, for the threads that wait for it.
pub(super) struct Logged {
    records: Option<Records>,
}

impl Logged {
    /// Makes a stream whose tasks are listened to.
    pub(super) fn around<T>(py: Python<'_>, make: impl FnOnce() -> T) -> PyResult<(T, Self)> {
        let (observer, records) = log::listen(py)?;
        let runtime = runtime().map_err(|error| raise(py, error))?;
        let _inside = runtime.enter();
        Ok((observed_sync(observer, make), Self { records }))
    }

    /// Logs what has happened so far.
    pub(super) fn tell(&self, py: Python<'_>) -> PyResult<()> {
        self.records.as_ref().map_or(Ok(()), |records| records.tell(py))
    }

    /// Waits for something that the stream brings about.
    pub(super) fn wait(&self, py: Python<'_>, future: impl Future<Output = ()> + Send + 'static) -> PyResult<()> {
        let future = async move {
            future.await;
            Ok(())
        };
        park(py, &AttachedScope::begin(py), future, no_events(), |_, ()| Ok(()), self.records.as_ref())
    }
}

/// Sets work going that ends by itself, and that nobody waits for.
pub(super) fn spawn_detached(work: impl Future<Output = ()> + Send + 'static) {
    // Without a runtime nothing can be under way.
    drop(runtime().map(|runtime| runtime.spawn(work)));
}

/// Waits for a future on a thread of another library, which may or may not hold the interpreter: it is not touched,
/// so no signal is seen, and the future must end by itself. Never called on a worker of the runtime.
pub(super) fn block_without_gil<T>(future: impl Future<Output = T>) -> Result<T> {
    Ok(runtime()?.block_on(future))
}

/// Runs something that may block on a thread of its own, and waits for it; Ctrl-C ends the waiting alone.
pub(super) fn wait<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let done = async { tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(defect())) };
    block(py, done, no_events(), |_, ()| Ok(()))
}

/// Runs something that needs the interpreter on a thread that may wait for it, never on a worker of the runtime.
pub(super) async fn with_gil<T: Send + 'static>(
    work: impl FnOnce(Python<'_>) -> PyResult<T> + Send + 'static,
) -> PyResult<T> {
    let done = tokio::task::spawn_blocking(move || {
        finalization::enter(work).unwrap_or_else(|| Err(PyRuntimeError::new_err("the interpreter is shutting down")))
    });
    match done.await {
        Ok(result) => result,
        // The panic goes on to the door, which tells it.
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(PyRuntimeError::new_err("the interpreter is shutting down")),
        },
    }
}

/// Turns an error of the core into an exception from inside a future.
pub(super) async fn raise_in_python<T>(result: Result<T>) -> PyResult<T> {
    match result {
        Ok(value) => Ok(value),
        Err(error) => Err(with_gil(move |py| Ok(raise(py, error))).await.unwrap_or_else(|failure| failure)),
    }
}

fn forked() -> Error {
    Error::new(Kind::ForkedHandle, "a call that was begun before a fork cannot be waited for after it")
        .with_hint("make it again in the child")
}

/// A panic, which has told its story on standard error. Its text may hold anything, so none of it is repeated.
pub(super) fn defect() -> Error {
    Error::new(Kind::Internal, "a defect of dataaccess ended the call")
        .with_hint("please report it with the steps that led here; the client stays usable")
}
