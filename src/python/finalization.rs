//! Keeps threads out of an interpreter that is exiting.
//!
//! Python ends a thread that attaches too late by unwinding its stack, which our frames do not survive: the Python
//! objects they hold would be dropped in an interpreter that is gone. So the exit waits for the threads that are
//! attached, and later ones are not let in.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::process::PerProcess;
use crate::{files, store};

/// How long the exit waits for attached threads,
const PATIENCE: Duration = Duration::from_secs(1);
/// and for locks in object stores to be removed.
const PATIENCE_WITH_STORES: Duration = Duration::from_secs(3);

#[derive(Debug)]
struct Finalization {
    exiting: OnceLock<ThreadId>,
    attached: AtomicUsize,
    /// Temporary files and locks of the parent, which a forked child counts and nobody removes there.
    inherited: (usize, usize),
}

static FINALIZATION: PerProcess<Finalization> = PerProcess::empty();

thread_local! {
    /// Whether this thread has an [`AttachedScope`].
    static IN_SCOPE: Cell<bool> = const { Cell::new(false) };
}

impl Finalization {
    fn of_process() -> Arc<Self> {
        FINALIZATION.get_or_make(|| Self {
            exiting: OnceLock::new(),
            attached: AtomicUsize::new(0),
            inherited: (files::temporary_files(), store::locks()),
        })
    }

    /// Counts this thread in, unless another one is exiting the interpreter.
    fn enter(&self) -> bool {
        self.attached.fetch_add(1, Ordering::SeqCst);
        let may_enter = self.exiting.get().is_none_or(|thread| *thread == thread::current().id());
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

/// Runs work that needs the interpreter on a thread of ours; `None` when the interpreter is exiting.
pub(super) fn try_attach<T>(work: impl for<'py> FnOnce(Python<'py>) -> T) -> Option<T> {
    /// Leaves also when the work panics.
    struct Leave(Arc<Finalization>);
    impl Drop for Leave {
        fn drop(&mut self) {
            self.0.leave();
        }
    }
    let finalization = Finalization::of_process();
    if !finalization.enter() {
        return None;
    }
    let _leave = Leave(finalization);
    Python::try_attach(work)
}

/// As [`try_attach`], with an exception when the interpreter is exiting.
pub(super) fn attach<T>(work: impl for<'py> FnOnce(Python<'py>) -> PyResult<T>) -> PyResult<T> {
    try_attach(work).unwrap_or_else(|| Err(shutting_down()))
}

/// Whether the interpreter is exiting.
pub(super) fn is_exiting() -> bool {
    Finalization::of_process().exiting.get().is_some()
}

pub(super) fn shutting_down() -> PyErr {
    PyRuntimeError::new_err("the interpreter is shutting down")
}

/// A thread of the program inside a call of ours, from which Python may be called.
pub(super) struct AttachedScope {
    /// None in a scope inside another one of the same thread.
    finalization: Option<Arc<Finalization>>,
    _of_one_thread: PhantomData<*const ()>,
}

impl AttachedScope {
    /// Enters a scope. Once another thread is exiting the interpreter, this one is parked for ever.
    pub(super) fn enter(py: Python<'_>) -> Self {
        let finalization = (!IN_SCOPE.get()).then(Finalization::of_process);
        if let Some(finalization) = &finalization {
            if !finalization.enter() {
                py.detach(|| finalization.enter_or_park());
            }
            IN_SCOPE.set(true);
        }
        Self { finalization, _of_one_thread: PhantomData }
    }

    /// Waits for something without the interpreter, which may exit meanwhile.
    pub(super) fn detach<T: Send>(&self, py: Python<'_>, wait: impl FnOnce() -> T + Send) -> T {
        let Some(finalization) = self.finalization.as_deref() else { return py.detach(wait) };
        py.detach(|| {
            finalization.leave();
            let waited = wait();
            finalization.enter_or_park();
            waited
        })
    }
}

impl Drop for AttachedScope {
    fn drop(&mut self) {
        if let Some(finalization) = &self.finalization {
            IN_SCOPE.set(false);
            finalization.leave();
        }
    }
}

/// Keeps other threads out and waits for those that are attached, and for the temporary files and locks of interrupted
/// calls to be removed. Registered with `atexit`.
#[pyfunction]
pub(super) fn begin_finalization(py: Python<'_>) {
    let finalization = Finalization::of_process();
    finalization.exiting.get_or_init(|| thread::current().id());
    py.detach(|| {
        let began = Instant::now();
        let (temporary_files, locks) = finalization.inherited;
        let is_busy = || finalization.attached.load(Ordering::SeqCst) > 0 || files::temporary_files() > temporary_files;
        while (is_busy() && began.elapsed() < PATIENCE)
            || (store::locks() > locks && began.elapsed() < PATIENCE_WITH_STORES)
        {
            thread::sleep(Duration::from_millis(1));
        }
    });
}
