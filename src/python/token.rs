//! `token=` as a callable: called on a thread of its own, so that no future of the core needs the interpreter.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pyo3::prelude::*;
use pyo3::types::{PyDateTime, PyString, PyTuple};
use tokio::sync::oneshot;

use super::finalization;
use crate::client::{Grant, TokenFuture, TokenSource};
use crate::error::{Error, Kind, Result};
use crate::secret::Secret;

/// In 2001: an `expires_at` before it is a duration by mistake.
const LEAST_UNIX_SECONDS: f64 = 1e9;

thread_local! {
    /// The callable that this thread runs, told by its address.
    static RUNNING: Cell<usize> = const { Cell::new(0) };
}

/// A Python callable that gives a text or `(text, expires_at)`.
///
/// It is shared, so that a future can hand it to a thread without the interpreter.
pub(super) struct Callable(Arc<Py<PyAny>>);

impl Callable {
    pub(super) fn new(callable: Py<PyAny>) -> Self {
        Self(Arc::new(callable))
    }

    /// Whether it is this callable that asks: then it would wait for itself.
    pub(super) fn is_asking(callable: &Py<PyAny>) -> bool {
        RUNNING.get() == callable.as_ptr() as usize
    }
}

impl fmt::Debug for Callable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Callable(…)")
    }
}

impl TokenSource for Callable {
    fn fetch(&self) -> TokenFuture {
        let (sender, receiver) = oneshot::channel();
        let callable = Arc::clone(&self.0);
        Box::pin(async move {
            let started = std::thread::Builder::new().name("dataaccess-token".to_owned()).spawn(move || {
                RUNNING.set(callable.as_ptr() as usize);
                let grant = finalization::enter(|py| ask(py, callable.bind(py)));
                // Nobody waits any more when the call was cancelled.
                drop(sender.send(grant.unwrap_or_else(|| Err(shutting_down()))));
            });
            started.map_err(|error| {
                Error::new(Kind::Internal, format!("no thread could be started: {error}")).retryable()
            })?;
            receiver.await.unwrap_or_else(|_| Err(shutting_down()))
        })
    }
}

fn shutting_down() -> Error {
    Error::new(Kind::Internal, "no token: the interpreter is shutting down")
}

fn ask(py: Python<'_>, callable: &Bound<'_, PyAny>) -> Result<Grant> {
    let answer = callable.call0().and_then(|returned| awaited(py, returned)).map_err(|raised| {
        let class = raised.get_type(py).name().map(|name| name.to_string()).unwrap_or_default();
        Error::new(Kind::Config, format!("the token callable raised {class}")).with_source(raised).retryable()
    })?;
    if let Ok(text) = answer.cast::<PyString>() {
        return grant(text, None);
    }
    if let Ok(pair) = answer.cast::<PyTuple>()
        && let Ok((text, end)) = pair.extract::<(Bound<'_, PyString>, Bound<'_, PyAny>)>()
    {
        return grant(&text, Some(expiry(&end)?));
    }
    let class = answer.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    Err(Error::new(
        Kind::Config,
        format!("the token callable returned a {class}, not a string or (string, expires_at)"),
    ))
}

/// What a coroutine function returns in the end: its coroutine runs in an event loop of this thread, which is its own.
fn awaited<'py>(py: Python<'py>, returned: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if returned.hasattr("__await__")? { py.import("asyncio")?.call_method1("run", (returned,)) } else { Ok(returned) }
}

fn grant(text: &Bound<'_, PyString>, expires_at: Option<SystemTime>) -> Result<Grant> {
    // Without its cause: Python's UnicodeEncodeError holds the whole text.
    let text = text
        .to_str()
        .map_err(|_| Error::new(Kind::Config, "the token callable gave a text that cannot be written as UTF-8"))?;
    Ok(Grant { token: Secret::try_new(text.to_owned())?, expires_at })
}

/// A time with a zone, or Unix seconds.
fn expiry(end: &Bound<'_, PyAny>) -> Result<SystemTime> {
    let wrong = |what: &str| Error::new(Kind::Config, format!("the token callable gave an expires_at that {what}"));
    if let Ok(moment) = end.cast::<PyDateTime>() {
        if moment.getattr("tzinfo").is_ok_and(|zone| zone.is_none()) {
            return Err(wrong("has no zone; write datetime.now(timezone.utc) + …"));
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
