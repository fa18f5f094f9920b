//! The events of a call as records of Python's `logging`.
//!
//! A synchronous call emits them in its own thread, an asynchronous one in the thread of its loop, so a handler sees
//! the thread and the context that made the call.

use std::cell::Cell;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyCFunction;
use pythonize::pythonize;
use tokio::sync::mpsc;

use super::runtime::{self, AttachedScope};
use crate::observe::{Event, Observer, observed};

static INTEREST: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

thread_local! {
    /// Whether this thread is inside a handler. The calls of a handler are not logged, or logging would never end.
    static IN_HANDLER: Cell<bool> = const { Cell::new(false) };
}

/// The observer of a call, if logging is enabled, and the records that it will have.
pub(super) fn listen(py: Python<'_>) -> PyResult<(Option<Observer>, Records)> {
    let (begins, ends, retries) = if IN_HANDLER.get() {
        (false, false, false)
    } else {
        INTEREST.import(py, "dataaccess._core.log", "interest")?.call0()?.extract()?
    };
    let (observer, arrivals) = (begins || ends || retries).then(|| Observer::new(begins, ends)).unzip();
    Ok((observer, Records { arrivals: Mutex::new(arrivals), schedule: None }))
}

/// Runs an asynchronous call whose records the running loop emits.
pub(super) fn in_running_loop<F: Future>(
    py: Python<'_>,
    future: F,
) -> PyResult<impl Future<Output = F::Output> + use<F>> {
    let (observer, mut records) = listen(py)?;
    if observer.is_some() {
        let schedule = py.import("dataaccess._core.log")?.call_method0("scheduler")?;
        records.schedule = Some(Arc::new(schedule.unbind()));
    }
    // The call ends before its records do: all are emitted, or scheduled, before its result is set.
    Ok(async move { tokio::join!(observed(observer, future), records.relay()).0 })
}

/// The records of one call that were not emitted yet.
pub(super) struct Records {
    /// None if nothing is logged, and once this was dropped.
    arrivals: Mutex<Option<mpsc::Receiver<Box<Event>>>>,
    /// Has the loop call something. Without it, the thread that comes by emits the records.
    schedule: Option<Arc<Py<PyAny>>>,
}

impl Records {
    /// Emits the records so far in this thread. Raises what no handler may swallow, as `KeyboardInterrupt`.
    pub(super) fn emit(&self, py: Python<'_>) -> PyResult<()> {
        // While it is locked, another thread emits them, or a handler further up in this one.
        let Ok(mut arrivals) = self.arrivals.try_lock() else { return Ok(()) };
        while let Some(event) = arrivals.as_mut().and_then(|arrivals| arrivals.try_recv().ok()) {
            emit(py, &event)?;
        }
        Ok(())
    }

    /// Emits each record as it comes, until the call is over.
    async fn relay(mut self) {
        let mut events = Vec::new();
        while let Some(arrivals) = self.arrivals.get_mut().unwrap_or_else(PoisonError::into_inner)
            && arrivals.recv_many(&mut events, usize::MAX).await > 0
        {
            let (events, schedule) = (mem::take(&mut events), self.schedule.clone());
            let emit_all = move |py: Python<'_>| events.iter().try_for_each(|event| emit(py, event));
            let emitted = runtime::with_gil(move |py| {
                let Some(schedule) = schedule else { return emit_all(py) };
                let emit_all = PyCFunction::new_closure(py, None, None, move |call, _| emit_all(call.py()))?;
                schedule.call1(py, (emit_all,)).map(drop)
            });
            // Records are lost once the loop is closed or the interpreter exits.
            drop(emitted.await);
        }
    }
}

impl Drop for Records {
    /// Later records, as the end of an attempt that was cancelled, are emitted when they come.
    fn drop(&mut self) {
        let arrivals = self.arrivals.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(arrivals) = arrivals.filter(|arrivals| !arrivals.is_closed() || !arrivals.is_empty()) {
            let rest = Self { arrivals: Mutex::new(Some(arrivals)), schedule: self.schedule.take() };
            runtime::spawn_detached(rest.relay());
        }
    }
}

/// Emits one record. The exception of a handler is reported and does not end the call.
fn emit(py: Python<'_>, event: &Event) -> PyResult<()> {
    let _scope = AttachedScope::enter(py);
    let emitter = py.import("dataaccess._core.log")?.getattr("emit")?;
    let fields = pythonize(py, event)?;
    let outer = IN_HANDLER.replace(true);
    let outcome = emitter.call1((fields,));
    IN_HANDLER.set(outer);
    match outcome {
        Err(raised) if raised.is_instance_of::<PyException>(py) => raised.write_unraisable(py, Some(&emitter)),
        Err(raised) => return Err(raised),
        Ok(_) => {}
    }
    Ok(())
}
