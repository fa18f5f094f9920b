//! The runtime of a process: all blocking, spawning, attaching and detaching happens here.
//!
//! There is one runtime per process, made on first use and again after a fork. A synchronous call is one task of it: its
//! thread waits without the interpreter in short slices, so that signals are seen. Asynchronous calls start in `asyncio`.
//! Threads are kept out of an interpreter that is exiting.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::Future;
use std::marker::PhantomData;
use std::mem;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread, ThreadId};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::asyncio::spawn;
use super::log::{self, Records};
use super::raise::raise;
use crate::error::{Error, Kind, Result};
use crate::observe::{observed, observed_sync};
use crate::scan::panicked;
use crate::{files, store};

/// How long a waiting thread does not look for signals.
const SLICE: Duration = Duration::from_millis(50);
/// One receives while the other decodes, where there are processors for both.
const MAX_WORKERS: usize = 2;
/// How long the exit waits for attached threads and temporary files,
const PATIENCE: Duration = Duration::from_secs(1);
/// and for locks in object stores to be removed.
const PATIENCE_WITH_STORES: Duration = Duration::from_secs(3);

/// Holds one value per process.
///
/// A forked child must neither wait for a lock that a thread of its parent held, nor drop a value of its parent, which
/// would close shared sockets. So there is no lock, and an inherited value is leaked.
#[derive(Debug)]
pub(super) struct PerProcess<T> {
    slot: ArcSwapOption<Stamped<T>>,
}

/// A value with the id of the process that made it.
#[derive(Debug)]
struct Stamped<T> {
    process: u32,
    value: Arc<T>,
}

impl<T> PerProcess<T> {
    pub(super) const fn empty() -> Self {
        Self { slot: ArcSwapOption::const_empty() }
    }

    /// With a value of this process.
    pub(super) fn holding(value: T) -> Self {
        let this = Self::empty();
        this.get_or_make(|| value);
        this
    }

    /// The value of this process, if it has one.
    pub(super) fn get(&self) -> Option<Arc<T>> {
        self.get_or_try_make(|| Err(())).ok()
    }

    /// The value of this process, made now if it has none.
    pub(super) fn get_or_make(&self, produce: impl FnOnce() -> T) -> Arc<T> {
        let made: Result<_, Infallible> = self.get_or_try_make(|| Ok(produce()));
        let Ok(value) = made;
        value
    }

    /// As [`PerProcess::get_or_make`], for a value whose making may fail.
    pub(super) fn get_or_try_make<E>(&self, produce: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let current = self.slot.load_full();
        if let Some(stamped) = current.as_ref().filter(|stamped| stamped.process == process::id()) {
            return Ok(Arc::clone(&stamped.value));
        }
        let made = Arc::new(Stamped { process: process::id(), value: Arc::new(produce()?) });
        let previous = self.slot.compare_and_swap(&current, Some(Arc::clone(&made)));
        mem::forget(current);
        match previous.as_ref().filter(|stamped| stamped.process == process::id()) {
            // Another thread was quicker.
            Some(stamped) => Ok(Arc::clone(&stamped.value)),
            None => Ok(Arc::clone(&made.value)),
        }
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        if let Some(inherited) = self.slot.swap(None).filter(|stamped| stamped.process != process::id()) {
            mem::forget(inherited);
        }
    }
}

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

/// Runs a call of the core and makes its result. With `wait`, this thread waits for it; Ctrl-C drops the future and so
/// closes its connection. Without, an asyncio future of the running loop is returned; cancelling it does the same.
pub(super) fn call<'py, T: Send + 'static, R: for<'a> IntoPyObject<'a>>(
    py: Python<'py>,
    wait: bool,
    future: impl Future<Output = Result<T>> + Send + 'static,
    finish: impl FnOnce(Python<'_>, T) -> PyResult<R> + Send + 'static,
) -> PyResult<Bound<'py, PyAny>> {
    if !wait {
        return spawn(py, future, finish);
    }
    let value = block_with(py, future, None::<mpsc::Receiver<()>>, |_, _| Ok(()))?;
    finish(py, value)?.into_bound_py_any(py)
}

/// Runs a future to its end from a synchronous call, passing its events to `handle` with the interpreter held, and `None`
/// about once in a slice without an event. An error of `handle` drops the future too.
pub(super) fn block_with<E: Send + 'static, T: Send + 'static>(
    py: Python<'_>,
    future: impl Future<Output = Result<T>> + Send + 'static,
    events: impl Into<Option<mpsc::Receiver<E>>>,
    handle: impl FnMut(Python<'_>, Option<E>) -> PyResult<()>,
) -> PyResult<T> {
    let scope = AttachedScope::enter(py);
    let (observer, records) = log::listen(py)?;
    // Boxed first: each layer around it would move its kilobytes.
    let future = observed(observer, Box::pin(future));
    until_end(py, &scope, future, &records, events.into(), handle)
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
    let future = async move {
        future.await;
        Ok(())
    };
    until_end(py, &AttachedScope::enter(py), future, records, None::<mpsc::Receiver<()>>, |_, _| Ok(()))
}

/// Why a waiting thread wakes up.
enum Woken<E, T> {
    Event(E),
    Done(Result<T>),
    Slice,
}

/// Runs a future as a task and waits for it in short slices, so that signals are seen.
fn until_end<E: Send + 'static, T: Send + 'static>(
    py: Python<'_>,
    scope: &AttachedScope,
    future: impl Future<Output = Result<T>> + Send + 'static,
    records: &Records,
    mut events: Option<mpsc::Receiver<E>>,
    mut handle: impl FnMut(Python<'_>, Option<E>) -> PyResult<()>,
) -> PyResult<T> {
    if Handle::try_current().is_ok() {
        return Err(PyRuntimeError::new_err("a synchronous call of dataaccess was made from inside its own runtime"));
    }
    let (runtime, process) = (runtime().map_err(|error| raise(py, error))?, process::id());
    let (mut task, mut woken) = scope.detach(py, || {
        // Without the GIL, as the worker that this wakes may take the processor of this thread.
        let mut task = AbortOnDrop(runtime.spawn(future));
        let woken = next(&mut events, &mut task);
        (task, woken)
    });
    loop {
        let handled = match woken {
            Woken::Event(event) => handle(py, Some(event)).and_then(|()| py.check_signals()),
            Woken::Slice => py.check_signals().and_then(|()| records.emit(py)).and_then(|()| handle(py, None)),
            Woken::Done(done) => {
                while let Some(event) = events.as_mut().and_then(|events| events.try_recv().ok()) {
                    handle(py, Some(event))?;
                    py.check_signals()?;
                }
                records.emit(py)?;
                return done.map_err(|error| raise(py, error));
            }
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
        woken = scope.detach(py, || next(&mut events, &mut task));
    }
}

/// Waits for an event or the end of a task, for a slice at most.
fn next<E, T>(events: &mut Option<mpsc::Receiver<E>>, task: &mut AbortOnDrop<Result<T>>) -> Woken<E, T> {
    let woken = poll_for(SLICE, |context| match events.as_mut().map(|events| events.poll_recv(context)) {
        Some(Poll::Ready(Some(event))) => Poll::Ready(Woken::Event(event)),
        _ => Pin::new(&mut task.0).poll(context).map(|done| Woken::Done(done.unwrap_or_else(|_| Err(panicked())))),
    });
    woken.unwrap_or(Woken::Slice)
}

thread_local! {
    static WAKER: Waker = Waker::from(Arc::new(Unpark(thread::current())));
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls until something is ready, for so long at most. This thread sleeps in between.
fn poll_for<T>(limit: Duration, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Option<T> {
    let waker = WAKER.with(Waker::clone);
    let end = Instant::now() + limit;
    loop {
        if let Poll::Ready(ready) = poll(&mut Context::from_waker(&waker)) {
            return Some(ready);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        thread::park_timeout(left);
    }
}

/// A task that is aborted when this is dropped.
#[derive(Debug)]
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts a task that ends by itself.
pub(super) fn spawn_detached(work: impl Future<Output = ()> + Send + 'static) {
    match runtime() {
        Ok(runtime) => drop(runtime.spawn(work)),
        // Dropped, it might come here again.
        Err(_) => mem::forget(work),
    }
}

/// Runs work that needs the interpreter on a thread that may wait for it, never on a worker of the runtime.
pub(super) async fn with_gil<T: Send + 'static>(
    work: impl FnOnce(Python<'_>) -> PyResult<T> + Send + 'static,
) -> PyResult<T> {
    let attached = tokio::task::spawn_blocking(move || try_attach(work).unwrap_or_else(|| Err(shutting_down())));
    match attached.await {
        Ok(result) => result,
        // `spawn` reports the panic.
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(shutting_down()),
        },
    }
}

/// The end of the interpreter, which waits for the threads that are attached and lets no later ones in.
///
/// Python ends a thread that gets the interpreter too late by unwinding its stack. pyo3 stops that where a thread of ours
/// attaches, but not in Python code that our frames call, and they do not survive it.
#[derive(Debug)]
struct Exit {
    begun_by: OnceLock<ThreadId>,
    attached: AtomicUsize,
    /// Temporary files and locks of the parent, which a forked child counts and nobody removes there.
    inherited: (usize, usize),
}

static EXIT: PerProcess<Exit> = PerProcess::empty();

thread_local! {
    /// Whether this thread has an [`AttachedScope`].
    static IN_SCOPE: Cell<bool> = const { Cell::new(false) };
}

impl Exit {
    fn of_process() -> Arc<Self> {
        EXIT.get_or_make(|| Self {
            begun_by: OnceLock::new(),
            attached: AtomicUsize::new(0),
            inherited: (files::temporary_files(), store::locks()),
        })
    }

    /// Counts this thread in, unless another one is exiting the interpreter.
    fn enter(&self) -> bool {
        self.attached.fetch_add(1, Ordering::SeqCst);
        let may_enter = self.begun_by.get().is_none_or(|thread| *thread == thread::current().id());
        if !may_enter {
            self.leave();
        }
        may_enter
    }

    fn leave(&self) {
        self.attached.fetch_sub(1, Ordering::SeqCst);
    }

    /// Counts this thread in, or parks it for ever. Must be called without the interpreter.
    fn enter_or_park(&self) {
        while !self.enter() {
            thread::park();
        }
    }
}

/// A thread inside a call of ours, from which Python may be called.
pub(super) struct AttachedScope {
    /// None in a scope inside another one of the same thread.
    exit: Option<Arc<Exit>>,
    _of_one_thread: PhantomData<*const ()>,
}

impl AttachedScope {
    /// Enters a scope. Once another thread is exiting the interpreter, this one is parked for ever.
    pub(super) fn enter(py: Python<'_>) -> Self {
        let exit = (!IN_SCOPE.get()).then(Exit::of_process);
        if let Some(exit) = &exit {
            if !exit.enter() {
                py.detach(|| exit.enter_or_park());
            }
            IN_SCOPE.set(true);
        }
        Self { exit, _of_one_thread: PhantomData }
    }

    /// Waits for something without the interpreter, which may exit meanwhile.
    fn detach<T: Send>(&self, py: Python<'_>, wait: impl FnOnce() -> T + Send) -> T {
        let Some(exit) = self.exit.as_deref() else { return py.detach(wait) };
        py.detach(|| {
            exit.leave();
            let waited = wait();
            exit.enter_or_park();
            waited
        })
    }
}

impl Drop for AttachedScope {
    fn drop(&mut self) {
        if let Some(exit) = &self.exit {
            IN_SCOPE.set(false);
            exit.leave();
        }
    }
}

/// Runs work that needs the interpreter on a thread of ours; `None` when the interpreter is exiting.
pub(super) fn try_attach<T>(work: impl for<'py> FnOnce(Python<'py>) -> T) -> Option<T> {
    let exit = Exit::of_process();
    if !exit.enter() {
        return None;
    }
    IN_SCOPE.set(true);
    let _scope = AttachedScope { exit: Some(exit), _of_one_thread: PhantomData };
    Python::try_attach(work)
}

/// Whether the interpreter is exiting.
pub(super) fn is_exiting() -> bool {
    Exit::of_process().begun_by.get().is_some()
}

pub(super) fn shutting_down() -> PyErr {
    PyRuntimeError::new_err("the interpreter is shutting down")
}

/// Keeps other threads out and waits for those that are attached, and for the temporary files and locks of interrupted
/// calls to be removed. Registered with `atexit`.
#[pyfunction]
pub(super) fn begin_exit(py: Python<'_>) {
    let exit = Exit::of_process();
    exit.begun_by.get_or_init(|| thread::current().id());
    py.detach(|| {
        let began = Instant::now();
        let (temporary_files, locks) = exit.inherited;
        let is_busy = || exit.attached.load(Ordering::SeqCst) > 0 || files::temporary_files() > temporary_files;
        while (is_busy() && began.elapsed() < PATIENCE)
            || (store::locks() > locks && began.elapsed() < PATIENCE_WITH_STORES)
        {
            thread::sleep(Duration::from_millis(1));
        }
    });
}
