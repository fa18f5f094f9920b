//! Errors of the core as exceptions: one table from kind to class, the details as keywords.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::pythonize;

use crate::error::{Error, Kind};

/// The exception for an error. The classes are Python's own, so that they pickle and hold their fields.
#[expect(clippy::needless_pass_by_value, reason = "an error is raised once, and map_err hands it over")]
pub(super) fn raise(py: Python<'_>, error: Error) -> PyErr {
    if let Some(theirs) = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<PyErr>())
        && speaks_for_itself(py, theirs).unwrap_or_default()
    {
        return theirs.clone_ref(py);
    }
    build(py, &error).unwrap_or_else(|failure| failure)
}

/// Our own exceptions say all there is to say, and those that are no errors (Ctrl-C, exit) are for the caller.
fn speaks_for_itself(py: Python<'_>, raised: &PyErr) -> PyResult<bool> {
    let ours = py.import("dataaccess.errors")?.getattr("DataAccessError")?;
    Ok(raised.matches(py, ours)? || !raised.is_instance_of::<PyException>(py))
}

/// The exception for a setting that is a text to Python alone.
pub(super) fn no_unicode(py: Python<'_>, name: &str) -> PyErr {
    raise(py, Error::new(Kind::Config, format!("{name} holds a lone surrogate, so it is no Unicode text")))
}

fn build(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let errors = py.import("dataaccess.errors")?;
    let class = errors.getattr(error.kind().class_name())?;
    let keywords = pythonize(py, error.context())?.cast_into::<PyDict>()?;
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
            .map(|told| problem.call((), Some(&pythonize(py, told)?.cast_into::<PyDict>()?)))
            .collect::<PyResult<Vec<_>>>()?;
        keywords.set_item("problems", problems)?;
    }
    keywords.set_item("hint", error.hint())?;
    keywords.set_item("retryable", error.is_retryable())?;
    let raised = PyErr::from_value(class.call((error.summary(),), Some(&keywords))?);
    if let Some(cause) = std::error::Error::source(error) {
        let cause = if let Some(theirs) = cause.downcast_ref::<PyErr>() {
            // What a callable of the user raised.
            theirs.clone_ref(py)
        } else if let Some(ours) = cause.downcast_ref::<Error>() {
            build(py, ours)?
        } else {
            PyException::new_err(chain(cause))
        };
        raised.set_cause(py, Some(cause));
    }
    Ok(raised)
}

/// All causes in one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut texts = vec![error.to_string()];
    let mut next = error.source();
    while let Some(error) = next {
        texts.push(error.to_string());
        next = error.source();
    }
    crate::error::sanitize(&texts.join(": "))
}
