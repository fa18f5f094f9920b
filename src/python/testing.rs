//! Functions for tests (feature `testing`, not in the wheel): a faster clock for time-outs and back-off,
//! another today, short lists, and a panic.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use pyo3::prelude::*;

use super::runtime::call;
use crate::config::Arguments;
use crate::error::Result;
use crate::filter::VALUES_PER_REQUEST;
use crate::time::{Moment, SPEED};

/// Bytes that scans of new clients buffer; 0 is the usual number.
static BUFFERED_BYTES: AtomicUsize = AtomicUsize::new(0);
/// The time that new searches and scans take for now, in Unix milliseconds; the least integer is the real one.
static NOW: AtomicI64 = AtomicI64::new(i64::MIN);
/// The most values of a list in one request of new scans.
static VALUES: AtomicUsize = AtomicUsize::new(VALUES_PER_REQUEST);

/// The settings of a new client, changed as a test said.
pub(super) fn changed(arguments: Arguments) -> Arguments {
    let buffered_bytes = match BUFFERED_BYTES.load(Ordering::Relaxed) {
        0 => arguments.buffered_bytes,
        bytes => bytes,
    };
    Arguments { buffered_bytes, ..arguments }
}

/// The time that a test set.
pub(super) fn now() -> Option<Moment> {
    Some(NOW.load(Ordering::Relaxed)).filter(|now| *now != i64::MIN).map(Moment::at)
}

/// The most values of a list in one request.
pub(super) fn values_per_request() -> usize {
    VALUES.load(Ordering::Relaxed)
}

/// Adds the functions of this file to the extension module.
pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(set_time_scale, module)?)?;
    module.add_function(wrap_pyfunction!(set_buffered_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(set_now, module)?)?;
    module.add_function(wrap_pyfunction!(set_values_per_request, module)?)?;
    module.add_function(wrap_pyfunction!(panic_for_test, module)?)
}

/// Sets how many times faster the time-outs and back-off of new clients run.
#[pyfunction]
fn set_time_scale(times: u32) {
    SPEED.store(times, Ordering::Relaxed);
}

/// Sets how many bytes the scans of new clients buffer; 0 is the usual number.
#[pyfunction]
fn set_buffered_bytes(bytes: usize) {
    BUFFERED_BYTES.store(bytes, Ordering::Relaxed);
}

/// Sets the time that new searches and scans take for now, in Unix milliseconds; None is the real one.
#[pyfunction]
fn set_now(milliseconds: Option<i64>) {
    NOW.store(milliseconds.unwrap_or(i64::MIN), Ordering::Relaxed);
}

/// Sets the most values of a list in one request of new scans; None is the usual number.
#[pyfunction]
fn set_values_per_request(values: Option<usize>) {
    VALUES.store(values.unwrap_or(VALUES_PER_REQUEST), Ordering::Relaxed);
}

/// Panics inside a call, for the test that no panic reaches the interpreter.
#[pyfunction]
fn panic_for_test<'py>(py: Python<'py>, runs: &str) -> PyResult<Bound<'py, PyAny>> {
    #[expect(clippy::panic, reason = "the test needs a panic")]
    fn panicking<T>() -> impl Future<Output = T> {
        std::future::poll_fn(|_| panic!("asked for by a test"))
    }
    call(py, runs != "awaited", panicking::<Result<()>>(), |_, ()| Ok(()))
}
