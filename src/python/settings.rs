//! Settings from Python, with all that is wrong with them.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::depythonize;

use super::raise::raise;
use crate::config::{self, Arguments, environment};
use crate::error::{Error, Kind};
use crate::transport::{self, Transport};

/// Scheme, host and port of a base URL, as a client would send to it; None for what no client accepts.
#[pyfunction]
pub(super) fn origin(address: &Bound<'_, PyAny>) -> Option<String> {
    config::origin(address.extract().ok()?)
}

/// The addresses of services that proved to be a sandbox since the last call.
#[pyfunction]
pub(super) fn sandboxes_met() -> Vec<String> {
    transport::sandboxes_met()
}

/// Whether a base URL is of this machine; False for what no client accepts.
#[pyfunction]
pub(super) fn is_of_this_machine(address: &Bound<'_, PyAny>) -> bool {
    address.extract().is_ok_and(config::is_of_this_machine)
}

/// Whether the name of a header says that its value is a secret.
#[pyfunction]
pub(super) fn is_secret_header(name: &str) -> bool {
    crate::contract::recording::is_secret_header(name)
}

/// The settings by name. The Python package passes all of them, with the right types.
pub(super) fn arguments(settings: &Bound<'_, PyDict>) -> PyResult<Arguments> {
    let arguments = depythonize(settings)?;
    #[cfg(feature = "testing")]
    let arguments = super::testing::changed(arguments);
    Ok(arguments)
}

/// The error with all that is wrong: what the core found, what only a client that is made would refuse, and what Python
/// found. None if that is nothing.
pub(super) fn refused(arguments: &Arguments, of_core: Option<Error>, of_python: Vec<String>) -> Option<Error> {
    let of_transport = Transport::refused(&arguments.trust(environment::read), &arguments.headers);
    let of_transport = of_transport.into_iter().map(|(name, error)| arguments.with_source(name, error));
    let of_python = of_python.into_iter().map(|line| Error::new(Kind::Config, line));
    Error::settings(of_core.into_iter().chain(of_transport).chain(of_python).collect())
}

/// A setting in seconds.
pub(super) fn seconds(py: Python<'_>, name: &str, value: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(value).ok().filter(|duration| !duration.is_zero()).ok_or_else(|| {
        raise(py, Error::new(Kind::Config, format!("{name} must be a positive, finite number of seconds, not {value}")))
    })
}

/// The `timeout` among the arguments of a search or scan, if it is given.
pub(super) fn timeout(arguments: &Bound<'_, PyDict>) -> PyResult<Option<Duration>> {
    let given: Option<f64> = arguments.get_item("timeout")?.map_or(Ok(None), |value| value.extract())?;
    given.map(|timeout| seconds(arguments.py(), "timeout", timeout)).transpose()
}
