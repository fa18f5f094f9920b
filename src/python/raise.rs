//! Errors of the core as exceptions: the kind names the class, the details are its attributes.

use std::iter::successors;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::pythonize;

use crate::error::{Error, Kind, sanitize};

/// The exception for an error. Its class is defined in Python, so that it pickles and has attributes.
#[expect(clippy::needless_pass_by_value, reason = "an error is raised once, and map_err passes it by value")]
pub(super) fn raise(py: Python<'_>, error: Error) -> PyErr {
    if let Some(original) = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<PyErr>())
        && passes_through(py, original).unwrap_or_default()
    {
        return original.clone_ref(py);
    }
    build(py, &error).unwrap_or_else(|failure| failure)
}

/// Whether an exception is raised as it is: our own ones, and those that are no errors, as `KeyboardInterrupt`.
fn passes_through(py: Python<'_>, raised: &PyErr) -> PyResult<bool> {
    let ours = py.import("dataaccess.errors")?.getattr("DataAccessError")?;
    Ok(raised.matches(py, ours)? || !raised.is_instance_of::<PyException>(py))
}

/// The exception for a string setting that is not valid Unicode.
pub(super) fn no_unicode(py: Python<'_>, setting: &str) -> PyErr {
    raise(py, Error::new(Kind::Config, format!("{setting} holds a lone surrogate, so it is not valid Unicode")))
}

fn build(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let errors = py.import("dataaccess.errors")?;
    let class = errors.getattr(error.kind().class_name())?;
    let keywords = pythonize(py, error.context())?.cast_into::<PyDict>()?;
    if let Some(reason) = error.kind().reason() {
        keywords.set_item("reason", reason)?;
    }
    for (name, value) in pythonize(py, error.details())?.cast_into::<PyDict>()? {
        if !value.is_none() {
            keywords.set_item(name, value)?;
        }
    }
    if !error.problems().is_empty() {
        let problem = errors.getattr("Problem")?;
        let problems = error
            .problems()
            .iter()
            .map(|fields| problem.call((), Some(&pythonize(py, fields)?.cast_into::<PyDict>()?)))
            .collect::<PyResult<Vec<_>>>()?;
        keywords.set_item("problems", problems)?;
    }
    keywords.set_item("hint", error.hint())?;
    keywords.set_item("retryable", error.is_retryable())?;
    // The class writes the message of its problems.
    let message = if error.problems().is_empty() { error.summary() } else { String::new() };
    let raised = PyErr::from_value(class.call((message,), Some(&keywords))?);
    if let Some(cause) = std::error::Error::source(error) {
        let cause = if let Some(original) = cause.downcast_ref::<PyErr>() {
            // Raised by a callable of the user.
            original.clone_ref(py)
        } else if let Some(cause) = cause.downcast_ref::<Error>() {
            build(py, cause)?
        } else {
            // Its text would stand above the user's line in every traceback.
            let cause = PyException::new_err(chain(cause));
            raised.set_context(py, Some(cause));
            raised.value(py).setattr("__suppress_context__", true)?;
            return Ok(raised);
        };
        raised.set_cause(py, Some(cause));
    }
    Ok(raised)
}

/// All causes in one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let texts = successors(Some(error), |error| error.source()).map(ToString::to_string);
    sanitize(&texts.collect::<Vec<_>>().join(": "))
}
