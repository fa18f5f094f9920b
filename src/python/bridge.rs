//! The bridge between Python and the core: all blocking, spawning, attaching and detaching happens here.
//!
//! There is one runtime per process, made on first use and again after a fork. A synchronous call is one task of it: its
//! thread waits without the interpreter in short slices, so that signals are seen. Asynchronous calls start in `asyncio`.

use std::future::Future;
use std::mem;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::process;
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::mpsc;

pub(super) use super::asyncio::{running_loop, spawn, spawn_call};
use super::finalization::{self, AttachedScope};
use super::log::{self, Records};
use super::process::PerProcess;
use super::raise::raise;
pub(super) use super::waiting::AbortOnDrop;
use super::waiting::poll_for;
use crate::error::{Error, Kind, Result};
use crate::observe::{observed, observed_sync};
use crate::scan::panicked;

/// How long a waiting thread does not look for signals.
const SLICE: Duration = Duration::from_millis(50);
/// One receives while the other decodes, where there are processors for both.
const MAX_WORKERS: usize = 2;

static RUNTIME: PerProcess<Runtime> = PerProcess::empty();

pub(super) fn runtime() -> Result<Arc<Runtime>> {
    RUNTIME.get_or_try_make(|| {
        // Two workers on one processor would only take it from each other. A quota of a container is rounded down.
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        Builder::new_multi_thread()
            .worker_threads(processors.min(MAX_WORKERS))
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

/// Why a waiting thread wakes up.
enum Wake<E, T> {
    Event(E),
    Done(Result<T>),
    Slice,
}

/// Runs a future to its end from a synchronous call. Ctrl-C drops the future and so closes its connection.
pub(super) fn block<T: Send + 'static>(
    py: Python<'_>,
    future: impl Future<Output = Result<T>> + Send + 'static,
) -> PyResult<T> {
    block_with(py, future, None::<mpsc::Receiver<()>>, |_, _| Ok(()))
}

/// As [`block`], passing the events of the future to `handle` with the interpreter held, and `None` about once in a
/// slice without an event. An error of `handle` drops the future too.
pub(super) fn block_with<E: Send + 'static, T: Send + 'static>(
    py: Python<'_>,
    future: impl Future<Output = Result<T>> + Send + 'static,
    events: impl Into<Option<mpsc::Receiver<E>>>,
    handle: impl FnMut(Python<'_>, Option<E>) -> PyResult<()>,
) -> PyResult<T> {
    refuse_inside_runtime()?;
    let scope = AttachedScope::enter(py);
    let runtime = runtime().map_err(|error| raise(py, error))?;
    let (observer, records) = log::listen(py)?;
    // Boxed first: each layer around it would move its kilobytes.
    let future = observed(observer, Box::pin(future));
    Waiting { scope: &scope, records: &records, events: events.into(), handle }.until_end(py, &runtime, future)
}

/// Makes something whose tasks are observed, and returns their log records. To be waited for with [`wait_for`].
pub(super) fn start<T>(py: Python<'_>, make: impl FnOnce() -> T) -> PyResult<(T, Records)> {
    let runtime = runtime().map_err(|error| raise(py, error))?;
    let (observer, records) = log::listen(py)?;
    let _inside = runtime.enter();
    Ok((observed_sync(observer, make), records))
}

/// Waits for a future. Its log records belong to tasks that were started earlier.
pub(super) fn wait_for(
    py: Python<'_>,
    future: impl Future<Output = ()> + Send + 'static,
    records: &Records,
) -> PyResult<()> {
    refuse_inside_runtime()?;
    let future = async move {
        future.await;
        Ok(())
    };
    let runtime = runtime().map_err(|error| raise(py, error))?;
    let (scope, events) = (&AttachedScope::enter(py), None::<mpsc::Receiver<()>>);
    Waiting { scope, records, events, handle: |_: Python<'_>, _| Ok(()) }.until_end(py, &runtime, future)
}

fn refuse_inside_runtime() -> PyResult<()> {
    if Handle::try_current().is_ok() {
        return Err(PyRuntimeError::new_err("a synchronous call of dataaccess was made from inside its own runtime"));
    }
    Ok(())
}

/// A thread that waits for a call and handles its events.
struct Waiting<'a, E, H> {
    scope: &'a AttachedScope,
    records: &'a Records,
    events: Option<mpsc::Receiver<E>>,
    handle: H,
}

impl<E: Send + 'static, H: FnMut(Python<'_>, Option<E>) -> PyResult<()>> Waiting<'_, E, H> {
    /// Runs a future as a task and waits for it in short slices, so that signals are seen.
    fn until_end<T: Send + 'static>(
        mut self,
        py: Python<'_>,
        runtime: &Runtime,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> PyResult<T> {
        let (process, scope) = (process::id(), self.scope);
        let (mut task, mut wake) = scope.detach(py, || {
            // Without the GIL, as the worker that this wakes may take the processor of this thread.
            let mut task = AbortOnDrop(runtime.spawn(future));
            let wake = next(&mut self.events, &mut task);
            (task, wake)
        });
        loop {
            let handled = match wake {
                Wake::Event(event) => (self.handle)(py, Some(event)).and_then(|()| py.check_signals()),
                Wake::Slice => {
                    py.check_signals().and_then(|()| self.records.emit(py)).and_then(|()| (self.handle)(py, None))
                }
                Wake::Done(done) => return self.ended(py, done),
            };
            if process::id() != process {
                // A callback forked and has returned in the child too, where no thread runs the call.
                mem::forget(task);
                let error = Error::new(Kind::ClientClosed, "a call that began before a fork cannot continue after it")
                    .with_hint("repeat the call in the child, and do not call os.fork in a callback");
                return Err(handled.err().unwrap_or_else(|| raise(py, error)));
            }
            if let Err(raised) = handled {
                task.0.abort();
                // The task ends before the call does; one that blocks at this moment has the time of a slice.
                scope.detach(py, || drop(poll_for(SLICE, |context| Pin::new(&mut task.0).poll(context))));
                return Err(raised);
            }
            wake = scope.detach(py, || next(&mut self.events, &mut task));
        }
    }

    /// Handles the last events.
    fn ended<T>(&mut self, py: Python<'_>, done: Result<T>) -> PyResult<T> {
        while let Some(event) = self.events.as_mut().and_then(|events| events.try_recv().ok()) {
            (self.handle)(py, Some(event))?;
            py.check_signals()?;
        }
        self.records.emit(py)?;
        done.map_err(|error| raise(py, error))
    }
}

/// Waits for an event or the end of a task, for a slice at most.
fn next<E, T>(events: &mut Option<mpsc::Receiver<E>>, task: &mut AbortOnDrop<Result<T>>) -> Wake<E, T> {
    let wake = poll_for(SLICE, |context| match events.as_mut().map(|events| events.poll_recv(context)) {
        Some(Poll::Ready(Some(event))) => Poll::Ready(Wake::Event(event)),
        _ => Pin::new(&mut task.0).poll(context).map(|done| Wake::Done(done.unwrap_or_else(|_| Err(panicked())))),
    });
    wake.unwrap_or(Wake::Slice)
}

/// Starts a task that is aborted when the returned value is dropped.
pub(super) fn spawn_work(work: impl Future<Output = ()> + Send + 'static) -> Result<AbortOnDrop<()>> {
    runtime().map(|runtime| AbortOnDrop(runtime.spawn(work)))
}

/// Starts a task that ends by itself.
pub(super) fn spawn_detached(work: impl Future<Output = ()> + Send + 'static) {
    match runtime() {
        Ok(runtime) => drop(runtime.spawn(work)),
        // Dropped, it might come here again.
        Err(_) => mem::forget(work),
    }
}

/// Waits for a future on a thread of another library, which may or may not hold the interpreter. No signal is seen,
/// so the future must end by itself. Must not be called on a worker of the runtime.
pub(super) fn block_without_gil<T>(future: impl Future<Output = T>) -> Result<T> {
    Ok(runtime()?.block_on(future))
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
