//! The way of our own threads into the interpreter, and its end: none enters once the interpreter is exiting.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use super::process::PerProcess;

/// How long the exit waits for threads that are inside.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Gate {
    closed: AtomicBool,
    inside: AtomicUsize,
}

static GATE: PerProcess<Gate> = PerProcess::empty();

/// Counts a thread in for as long as it lives.
struct Inside<'a>(&'a Gate);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Runs what needs the interpreter, on a thread of ours; nothing when the interpreter is exiting.
pub(super) fn enter<T>(work: impl for<'py> FnOnce(Python<'py>) -> T) -> Option<T> {
    while_open(|| Python::try_attach(work)).flatten()
}

/// Runs what enters the interpreter by itself; nothing when the interpreter is exiting.
pub(super) fn while_open<T>(work: impl FnOnce() -> T) -> Option<T> {
    let gate = GATE.get_or_make(Gate::default);
    gate.inside.fetch_add(1, Ordering::SeqCst);
    let _inside = Inside(&gate);
    (!gate.closed.load(Ordering::SeqCst)).then(work)
}

/// Closes the gate and waits for those inside: registered to run before the interpreter goes.
#[pyfunction]
pub(super) fn close_gate(py: Python<'_>) {
    let gate = GATE.get_or_make(Gate::default);
    gate.closed.store(true, Ordering::SeqCst);
    py.detach(|| {
        let end = Instant::now() + PATIENCE;
        while gate.inside.load(Ordering::SeqCst) > 0 && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
    });
}
