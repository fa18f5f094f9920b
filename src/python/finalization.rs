//! The way of threads into the interpreter, and its end: none enters once the interpreter is exiting.
//!
//! Python ends a thread that comes back to it too late by unwinding its stack, which no frame of ours survives: what
//! they hold of Python would be dropped in an interpreter that is gone. So whoever is inside when the exit begins is
//! waited for, and whoever comes later comes no further.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use super::process::PerProcess;

/// How long the exit waits for threads that are inside.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Finalization {
    closed_by: OnceLock<ThreadId>,
    inside: AtomicUsize,
}

static FINALIZATION: PerProcess<Finalization> = PerProcess::empty();

thread_local! {
    /// Whether this thread has a stay.
    static SCOPES: Cell<bool> = const { Cell::new(false) };
}

impl Finalization {
    /// Counts this thread in, unless the gate is closed to it: the thread that exits may still come and go.
    fn enter(&self) -> bool {
        self.inside.fetch_add(1, Ordering::SeqCst);
        let open = self.closed_by.get().is_none_or(|by| *by == thread::current().id());
        if !open {
            self.leave();
        }
        open
    }

    fn leave(&self) {
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }

    /// Counts this thread in, or ends it here as far as Python can tell. The interpreter is not held.
    fn enter_or_end(&self) {
        while !self.enter() {
            thread::park();
        }
    }
}

/// Counts a thread in for as long as it lives.
struct Inside<'a>(&'a Finalization);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Runs what needs the interpreter, on a thread of ours; nothing when the interpreter is exiting.
pub(super) fn enter<T>(work: impl for<'py> FnOnce(Python<'py>) -> T) -> Option<T> {
    while_open(|| Python::try_attach(work)).flatten()
}

/// Runs what enters the interpreter by itself; nothing when the interpreter is exiting.
pub(super) fn while_open<T>(work: impl FnOnce() -> T) -> Option<T> {
    let gate = FINALIZATION.get_or_make(Finalization::default);
    if !gate.enter() {
        return None;
    }
    let _inside = Inside(&gate);
    Some(work())
}

/// The time that a thread of the program spends in our frames, from which Python may be called.
pub(super) struct AttachedScope {
    /// That of the outermost stay of a thread.
    gate: Option<Arc<Finalization>>,
    _of_one_thread: PhantomData<*const ()>,
}

impl AttachedScope {
    /// Begins a stay. Once the interpreter is exiting, a thread that is not the one that exits comes no further.
    pub(super) fn begin(py: Python<'_>) -> Self {
        let gate = (!SCOPES.get()).then(|| FINALIZATION.get_or_make(Finalization::default));
        if let Some(gate) = &gate {
            if !gate.enter() {
                py.detach(|| gate.enter_or_end());
            }
            SCOPES.set(true);
        }
        Self { gate, _of_one_thread: PhantomData }
    }

    /// Interrupts the stay for something that waits without the interpreter.
    pub(super) fn detach<T: Send>(&self, py: Python<'_>, wait: impl FnOnce() -> T + Send) -> T {
        let gate = self.gate.as_deref();
        py.detach(|| {
            if let Some(gate) = gate {
                gate.leave();
            }
            let waited = wait();
            if let Some(gate) = gate {
                gate.enter_or_end();
            }
            waited
        })
    }
}

impl Drop for AttachedScope {
    fn drop(&mut self) {
        if let Some(gate) = &self.gate {
            SCOPES.set(false);
            gate.leave();
        }
    }
}

/// Closes the gate and waits for those inside: registered to run before the interpreter goes.
#[pyfunction]
pub(super) fn close_gate(py: Python<'_>) {
    let gate = FINALIZATION.get_or_make(Finalization::default);
    gate.closed_by.get_or_init(|| thread::current().id());
    py.detach(|| {
        let end = Instant::now() + PATIENCE;
        while gate.inside.load(Ordering::SeqCst) > 0 && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
    });
}
