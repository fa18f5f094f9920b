//! A token: a string, or a callable, which runs on a thread of its own, so that no future of the core needs the
//! interpreter.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pyo3::exceptions::{
    PyArithmeticError, PyAssertionError, PyAttributeError, PyImportError, PyLookupError, PyNameError, PyRuntimeError,
    PyTypeError,
};
use pyo3::prelude::*;
use pyo3::types::{PyDateTime, PyString, PyTuple};

use super::raise::{no_unicode, raise};
use super::runtime::{no_thread, try_attach};
use crate::client::{Grant, TakeGrant, TokenSource};
use crate::error::{Error, Kind, Result, excerpt};
use crate::secret::Secret;

/// In 2001: an `expires_at` before it is a duration by mistake.
const LEAST_UNIX_SECONDS: f64 = 1e9;

/// Characters of the text of an exception that an error shows.
const SHOWN: usize = 200;

thread_local! {
    /// The callable that this thread runs, identified by its address.
    static RUNNING: Cell<usize> = const { Cell::new(0) };
}

/// A token, or the callable that gives one. Its repr has no secret, and it does not pickle.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawToken {
    token: Arc<dyn TokenSource>,
    callable: Option<Py<PyAny>>,
}

#[pymethods]
impl RawToken {
    #[new]
    fn new(token: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = token.py();
        if let Ok(text) = token.cast::<PyString>() {
            let text = text.to_str().map_err(|_| no_unicode(py, "token"))?;
            let token = Secret::try_new(text.to_owned()).map_err(|error| raise(py, error))?;
            return Ok(Self { token: Arc::new(token), callable: None });
        }
        if token.is_callable() {
            let callable = token.clone().unbind();
            let token = Arc::new(Callable(Arc::new(callable.clone_ref(py))));
            return Ok(Self { token, callable: Some(callable) });
        }
        let class = token.get_type().name()?;
        let message = format!("token must be a string or a callable that returns one, not of type {class}");
        Err(raise(py, Error::new(Kind::Config, message)))
    }

    #[getter]
    fn callable(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.callable.as_ref().map(|callable| callable.clone_ref(py))
    }

    fn __repr__(&self) -> String {
        format!("RawToken({})", if self.callable.is_some() { "callable" } else { "text" })
    }
}

impl RawToken {
    /// Whether this thread runs the callable of this token, which would then wait for itself.
    pub(super) fn is_running(&self) -> bool {
        self.callable.as_ref().is_some_and(|callable| RUNNING.get() == callable.as_ptr() as usize)
    }

    pub(super) fn token(&self) -> Arc<dyn TokenSource> {
        self.token.clone()
    }
}

/// A callable that returns a string or `(string, expires_at)`. Shared, so that it gets to its thread without the
/// interpreter.
#[derive(Debug)]
struct Callable(Arc<Py<PyAny>>);

impl TokenSource for Callable {
    fn fetch(&self, take: TakeGrant) -> Result<()> {
        let callable = Arc::clone(&self.0);
        let started = std::thread::Builder::new().name("dataaccess-token".to_owned()).spawn(move || {
            RUNNING.set(callable.as_ptr() as usize);
            take(try_attach(|py| call(py, callable.bind(py))).unwrap_or_else(|| Err(shutting_down())));
        });
        started.map(drop).map_err(|error| no_thread(error).retryable())
    }
}

fn shutting_down() -> Error {
    Error::new(Kind::Internal, "cannot call the token callable: the interpreter is shutting down")
}

fn call(py: Python<'_>, callable: &Bound<'_, PyAny>) -> Result<Grant> {
    let returned = callable.call0().and_then(|returned| awaited(py, returned)).map_err(|raised| {
        let class = raised.get_type(py).name().map(|name| name.to_string()).unwrap_or_default();
        let is_retryable = is_retryable(py, &raised);
        let error = Error::new(Kind::Config, format!("the token callable raised {class}{}", reason_of(py, &raised)));
        let error = error.with_source(raised);
        if is_retryable { error.retryable() } else { error }
    })?;
    if let Ok(text) = returned.cast::<PyString>() {
        return grant(text, None);
    }
    if let Ok(pair) = returned.cast::<PyTuple>()
        && let Ok((text, end)) = pair.extract::<(Bound<'_, PyString>, Bound<'_, PyAny>)>()
    {
        return grant(&text, Some(expiry(&end)?));
    }
    let class = returned.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    Err(Error::new(
        Kind::Config,
        format!("the token callable returned a value of type {class}, not a string or (string, expires_at)"),
    ))
}

/// What the callable says of its failure.
fn reason_of(py: Python<'_>, raised: &PyErr) -> String {
    let reason = raised.value(py).str().map(|text| text.to_string()).unwrap_or_default();
    if reason.is_empty() { String::new() } else { format!(": {}", excerpt(&reason, SHOWN)) }
}

/// Whether the next call of the callable may succeed: not after an exception that shows a mistake in it, nor after one
/// of this package that says so.
fn is_retryable(py: Python<'_>, raised: &PyErr) -> bool {
    if let Ok(retryable) = raised.value(py).getattr("retryable") {
        return retryable.is_truthy().unwrap_or(true);
    }
    !(raised.is_instance_of::<PyTypeError>(py)
        || raised.is_instance_of::<PyArithmeticError>(py)
        || raised.is_instance_of::<PyAssertionError>(py)
        || raised.is_instance_of::<PyNameError>(py)
        || raised.is_instance_of::<PyAttributeError>(py)
        || raised.is_instance_of::<PyLookupError>(py)
        || raised.is_instance_of::<PyImportError>(py)
        || raised.is_instance_of::<PyRuntimeError>(py))
}

/// What a coroutine function returns in the end: its coroutine runs in an event loop of this thread, which is its own.
fn awaited<'py>(py: Python<'py>, returned: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if returned.hasattr("__await__")? { py.import("asyncio")?.call_method1("run", (returned,)) } else { Ok(returned) }
}

fn grant(text: &Bound<'_, PyString>, expires_at: Option<SystemTime>) -> Result<Grant> {
    // Without its cause: Python's UnicodeEncodeError holds the token.
    let text = text.to_str().map_err(|_| {
        Error::new(Kind::Config, "the token callable returned a string that cannot be encoded as UTF-8")
    })?;
    Ok(Grant { token: Secret::try_new(text.to_owned())?, expires_at })
}

/// A datetime with a time zone, or Unix seconds.
fn expiry(end: &Bound<'_, PyAny>) -> Result<SystemTime> {
    let wrong = |what: &str| Error::new(Kind::Config, format!("the token callable returned an expires_at that {what}"));
    if let Ok(moment) = end.cast::<PyDateTime>() {
        if moment.getattr("tzinfo").is_ok_and(|zone| zone.is_none()) {
            return Err(wrong("has no time zone; write datetime.now(timezone.utc) + …"));
        }
        let seconds = moment.call_method0("timestamp").and_then(|seconds| seconds.extract::<f64>());
        return unix(seconds.map_err(|raised| wrong("is out of range").with_source(raised))?)
            .ok_or_else(|| wrong("is out of range"));
    }
    if end.extract::<f64>().is_ok_and(|seconds| seconds < LEAST_UNIX_SECONDS) {
        return Err(wrong("looks like a duration; write time.time() + 3600"));
    }
    end.extract::<f64>().ok().and_then(unix).ok_or_else(|| wrong("is neither a datetime nor Unix seconds"))
}

fn unix(seconds: f64) -> Option<SystemTime> {
    Duration::try_from_secs_f64(seconds).ok().and_then(|after| SystemTime::UNIX_EPOCH.checked_add(after))
}
