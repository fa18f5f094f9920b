//! The bridge between Python and the core: all blocking, spawning, attaching and detaching happens here.
//!
//! There is one runtime per process, made on first use and again after a fork. A synchronous call waits without the
//! interpreter in short slices, so that signals are seen. Asynchronous calls start in `asyncio`.

use std::future::Future;
use std::mem;
use std::panic::resume_unwind;
use std::process;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};

pub(super) use super::asyncio::{LARGE, make, spawn, spawn_call, spawn_envelope};
use super::finalization::{self, AttachedScope};
use super::log::{self, Records};
use super::process::PerProcess;
use super::raise::raise;
use crate::error::{Error, Kind, Result};
use crate::observe::{observed, observed_sync};
use crate::scan::panicked;

/// How long a waiting thread does not look for signals.
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
            .map_err(no_thread)
    })
}

/// The error for a thread that the system does not start.
pub(super) fn no_thread(cause: std::io::Error) -> Error {
    Error::new(Kind::Internal, format!("cannot start a thread: {cause}"))
        .with_hint("raise the limit on threads or processes (ulimit -u, or the pids limit of the container)")
        .with_source(cause)
}

/// A task that is aborted when this is dropped.
#[derive(Debug)]
pub(super) struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Why a waiting thread wakes up.
enum Wake<E, T> {
    Event(E),
    Done(Result<T, JoinError>),
    Slice,
}

/// Runs a future to its end from a synchronous call. Ctrl-C drops the future and so closes its connection.
pub(super) fn block<T: Send + 'static>(
    py: Python<'_>,
    future: impl Future<Output = Result<T>> + Send + 'static,
) -> PyResult<T> {
    block_with(py, future, mpsc::channel::<()>(1).1, |_, ()| Ok(()))
}

/// As [`block`], passing the events of the future to `handle` with the interpreter held. An error of `handle` drops
/// the future too.
pub(super) fn block_with<E, T>(
    py: Python<'_>,
    future: impl Future<Output = Result<T>> + Send + 'static,
    events: mpsc::Receiver<E>,
    handle: impl FnMut(Python<'_>, E) -> PyResult<()>,
) -> PyResult<T>
where
    E: Send + 'static,
    T: Send + 'static,
{
    let scope = AttachedScope::enter(py);
    let (observer, records) = log::listen(py)?;
    park(py, &scope, observed(observer, future), events, handle, &records)
}

/// Makes something whose tasks are observed, and returns their log records. To be waited for with [`wait_for`].
pub(super) fn start<T>(py: Python<'_>, make: impl FnOnce() -> T) -> PyResult<(T, Records)> {
    let (observer, records) = log::listen(py)?;
    let runtime = runtime().map_err(|error| raise(py, error))?;
    let _inside = runtime.enter();
    Ok((observed_sync(observer, make), records))
}

/// Waits for a future whose log records are those of tasks that were started earlier.
pub(super) fn wait_for(
    py: Python<'_>,
    future: impl Future<Output = ()> + Send + 'static,
    records: &Records,
) -> PyResult<()> {
    let future = async move {
        future.await;
        Ok(())
    };
    park(py, &AttachedScope::enter(py), future, mpsc::channel::<()>(1).1, |_, ()| Ok(()), records)
}

fn park<E, T>(
    py: Python<'_>,
    scope: &AttachedScope,
    future: impl Future<Output = Result<T>> + Send + 'static,
    mut events: mpsc::Receiver<E>,
    mut handle: impl FnMut(Python<'_>, E) -> PyResult<()>,
    records: &Records,
) -> PyResult<T>
where
    E: Send + 'static,
    T: Send + 'static,
{
    if Handle::try_current().is_ok() {
        return Err(PyRuntimeError::new_err("a synchronous call of dataaccess was made from inside its own runtime"));
    }
    let runtime = runtime().map_err(|error| raise(py, error))?;
    let mut task = AbortOnDrop(runtime.spawn(future));
    let process = process::id();
    loop {
        if process::id() != process {
            // A callback forked and has returned in the child too, where no thread runs the call.
            mem::forget(task);
            let error = Error::new(Kind::ForkedHandle, "a call that began before a fork cannot continue after it");
            return Err(raise(
                py,
                error.with_hint("repeat the call in the child, and do not call os.fork in a callback"),
            ));
        }
        let (arrivals, working) = (&mut events, &mut task.0);
        let wake = scope.detach(py, || {
            runtime.block_on(async {
                tokio::select! {
                    biased;
                    Some(event) = arrivals.recv() => Wake::Event(event),
                    done = working => Wake::Done(done),
                    () = tokio::time::sleep(SLICE) => Wake::Slice,
                }
            })
        });
        let handled = match wake {
            Wake::Event(event) => handle(py, event).and_then(|()| py.check_signals()),
            Wake::Slice => py.check_signals().and_then(|()| records.emit(py)),
            Wake::Done(done) => {
                while let Ok(event) = events.try_recv() {
                    handle(py, event)?;
                    py.check_signals()?;
                }
                records.emit(py)?;
                return done.unwrap_or_else(|_| Err(panicked())).map_err(|error| raise(py, error));
            }
        };
        if let Err(raised) = handled {
            if process::id() == process {
                task.0.abort();
                // The task ends before the call does; one that blocks at this moment has the time of a slice.
                scope.detach(py, || drop(runtime.block_on(async { tokio::time::timeout(SLICE, &mut task.0).await })));
            }
            return Err(raised);
        }
    }
}

/// Starts a task that is aborted when the returned value is dropped.
pub(super) fn spawn_work(work: impl Future<Output = ()> + Send + 'static) -> Result<AbortOnDrop<()>> {
    runtime().map(|runtime| AbortOnDrop(runtime.spawn(work)))
}

/// Starts a task that ends by itself.
pub(super) fn spawn_detached(work: impl Future<Output = ()> + Send + 'static) {
    // Without a runtime nothing is in flight.
    drop(runtime().map(|runtime| runtime.spawn(work)));
}

/// Waits for a future on a thread of another library, which may or may not hold the interpreter. No signal is seen,
/// so the future must end by itself. Must not be called on a worker of the runtime.
pub(super) fn block_without_gil<T>(future: impl Future<Output = T>) -> Result<T> {
    Ok(runtime()?.block_on(future))
}

/// Runs blocking work on a thread of its own and waits for it. Ctrl-C ends the waiting alone.
pub(super) fn wait<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> PyResult<T> {
    block(py, async { tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(panicked())) })
}

/// Runs work that needs the interpreter on a thread that may wait for it, never on a worker of the runtime.
pub(super) async fn with_gil<T: Send + 'static>(
    work: impl FnOnce(Python<'_>) -> PyResult<T> + Send + 'static,
) -> PyResult<T> {
    match tokio::task::spawn_blocking(move || finalization::attach(work)).await {
        Ok(result) => result,
        // `spawn` reports the panic.
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(finalization::shutting_down()),
        },
    }
}
