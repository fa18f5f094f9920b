//! Functions for tests (feature `testing`, not in the wheel): a faster clock for time-outs and back-off, and a panic.

use std::sync::atomic::{AtomicU32, Ordering};

use pyo3::prelude::*;

use super::bridge::{block, spawn};
use crate::error::Result;

static TIME_SCALE: AtomicU32 = AtomicU32::new(1);

/// How many times faster the time-outs and back-off of new clients run.
pub(super) fn time_scale() -> u32 {
    TIME_SCALE.load(Ordering::Relaxed)
}

/// Adds the functions of this file to the extension module.
pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(set_time_scale, module)?)?;
    module.add_function(wrap_pyfunction!(panic_for_test, module)?)
}

/// Sets how many times faster the time-outs and back-off of new clients run.
#[pyfunction]
fn set_time_scale(times: u32) {
    TIME_SCALE.store(times, Ordering::Relaxed);
}

/// Panics inside a call, for the test that no panic reaches the interpreter.
#[pyfunction]
fn panic_for_test<'py>(py: Python<'py>, runs: &str) -> PyResult<Bound<'py, PyAny>> {
    #[expect(clippy::panic, reason = "the test needs a panic")]
    fn panicking<T>() -> impl Future<Output = T> {
        std::future::poll_fn(|_| panic!("asked for by a test"))
    }
    if runs == "awaited" {
        return spawn(py, panicking());
    }
    block(py, panicking::<Result<()>>())?;
    Ok(py.None().into_bound(py))
}
