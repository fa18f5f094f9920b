//! What a watched call tells, as records of Python's `logging`.
//!
//! A synchronous call hands them over in its own thread, where it holds the interpreter anyway; one of asyncio in the
//! thread of its loop. So a handler sees the thread and the context that made the call.

use std::cell::Cell;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pythonize::pythonize;
use tokio::sync::mpsc;

use super::bridge;
use super::finalization::AttachedScope;
use crate::observe::{Event, Observer, observed};

thread_local! {
    /// Whether this thread is inside a handler. What a handler does is not told, or it would never end.
    static TELLING: Cell<bool> = const { Cell::new(false) };
}

/// The observer of a call and what it will tell, if anybody wants to know.
pub(super) fn listen(py: Python<'_>) -> PyResult<(Option<Observer>, Option<Records>)> {
    if TELLING.get() {
        return Ok((None, None));
    }
    let (attempts, retries): (bool, bool) = py.import("dataaccess._logging")?.call_method0("interest")?.extract()?;
    if !attempts && !retries {
        return Ok((None, None));
    }
    let (observer, arrivals) = Observer::new(attempts);
    Ok((Some(observer), Some(Records { arrivals: Mutex::new(Some(arrivals)), schedule: None })))
}

/// Runs a call of asyncio; what it tells is told by the loop that runs now.
pub(super) fn in_running_loop<F: Future>(
    py: Python<'_>,
    future: F,
) -> PyResult<impl Future<Output = F::Output> + use<F>> {
    let (observer, mut records) = listen(py)?;
    if let Some(records) = &mut records {
        let schedule = py.import("dataaccess._logging")?.call_method0("scheduler")?;
        records.schedule = Some(Arc::new(schedule.unbind()));
    }
    Ok(async move {
        match records {
            None => future.await,
            // The call ends before its records: they are all told, or scheduled, before its outcome is.
            Some(records) => tokio::join!(observed(observer, future), records.relay()).0,
        }
    })
}

/// What one call has told and nobody has heard yet.
pub(super) struct Records {
    /// Taken when this is dropped.
    arrivals: Mutex<Option<mpsc::Receiver<Event>>>,
    /// Has the loop call something; without it a record is told by whoever comes by.
    schedule: Option<Arc<Py<PyAny>>>,
}

impl Records {
    /// Tells what has come so far, in this thread.
    ///
    /// # Errors
    /// What no handler may keep to itself, as Ctrl-C.
    pub(super) fn tell(&self, py: Python<'_>) -> PyResult<()> {
        // Whoever holds it is telling: another thread, or a handler further up in this one.
        let Ok(mut arrivals) = self.arrivals.try_lock() else { return Ok(()) };
        while let Some(event) = arrivals.as_mut().and_then(|arrivals| arrivals.try_recv().ok()) {
            tell(py, &event)?;
        }
        Ok(())
    }

    /// Has everything told as it comes, until the call is over.
    async fn relay(mut self) {
        let mut events = Vec::new();
        while let Some(arrivals) = self.arrivals.get_mut().unwrap_or_else(PoisonError::into_inner)
            && arrivals.recv_many(&mut events, usize::MAX).await > 0
        {
            let (telling, schedule) = (Telling(mem::take(&mut events)), self.schedule.clone());
            let passed = bridge::with_gil(move |py| match schedule {
                Some(schedule) => schedule.call1(py, (telling,)).map(drop),
                None => telling.__call__(py),
            });
            // A loop that is closed, or an interpreter that is going, tells nobody.
            drop(passed.await);
        }
    }
}

impl Drop for Records {
    /// What is still to come, as the end of an attempt that was cancelled, is told when it comes.
    fn drop(&mut self) {
        let arrivals = self.arrivals.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(arrivals) = arrivals.filter(|arrivals| !arrivals.is_closed() || !arrivals.is_empty()) {
            let rest = Self { arrivals: Mutex::new(Some(arrivals)), schedule: self.schedule.take() };
            bridge::spawn_detached(rest.relay());
        }
    }
}

/// Events on their way to the thread that tells them.
#[pyclass(frozen)]
struct Telling(Vec<Event>);

#[pymethods]
impl Telling {
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        self.0.iter().try_for_each(|event| tell(py, event))
    }
}

/// One record. A handler that fails harms nobody but itself.
fn tell(py: Python<'_>, event: &Event) -> PyResult<()> {
    let _stay = AttachedScope::begin(py);
    let told = py.import("dataaccess._logging")?.getattr("tell")?;
    let fields = pythonize(py, event)?;
    let outer = TELLING.replace(true);
    let outcome = told.call1((fields,));
    TELLING.set(outer);
    match outcome {
        Err(raised) if raised.is_instance_of::<PyException>(py) => raised.write_unraisable(py, Some(&told)),
        Err(raised) => return Err(raised),
        Ok(_) => {}
    }
    Ok(())
}
