//! Settings from Python, with all that is wrong with them.

use std::time::Duration;

use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::raise::{no_unicode, raise};
use crate::config::{self, Arguments, Settings, Trust, environment};
use crate::error::{Error, Kind};
use crate::transport::{self, Transport};

/// Checks settings without a token, and without making a client.
#[pyfunction]
pub(super) fn check_settings(settings: &Bound<'_, PyDict>) -> PyResult<()> {
    resolve(settings)?;
    Error::settings(refused(&arguments(settings)?)).map_or(Ok(()), |error| Err(raise(settings.py(), error)))
}

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
    config::is_secret_header(name)
}

/// The checked settings, or all their problems.
pub(super) fn resolve(settings: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let arguments = arguments(settings)?;
    Settings::resolve(arguments.clone(), environment::read).map_err(|error| {
        let all = std::iter::once(error.clone()).chain(refused(&arguments)).collect();
        raise(settings.py(), Error::settings(all).unwrap_or(error))
    })
}

/// What only a client that is made would refuse.
pub(super) fn refused(arguments: &Arguments) -> Vec<Error> {
    let lookup =
        |name: &str| environment::read(name).filter(|_| !arguments.ignored_variables.iter().any(|one| one == name));
    Transport::refused(&Trust::resolve(arguments.ca_bundle.clone(), lookup), &arguments.headers)
}

/// The settings by name. The Python package passes all of them, with the right types.
pub(super) fn arguments(settings: &Bound<'_, PyDict>) -> PyResult<Arguments> {
    fn take<'py, T>(settings: &Bound<'py, PyDict>, name: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let value = settings.as_any().get_item(name)?;
        value.extract::<T>().map_err(|error| {
            let error: PyErr = error.into();
            // A path may hold what the file system cannot.
            let is_of_text = error.is_instance_of::<PyUnicodeEncodeError>(settings.py());
            if is_of_text { no_unicode(settings.py(), name) } else { error }
        })
    }
    Ok(Arguments {
        base_url: take(settings, "base_url")?,
        timezone: take(settings, "timezone")?,
        source_timezone: take(settings, "source_timezone")?,
        day_comparison: take(settings, "day_comparison")?,
        code_value_type: take(settings, "code_value_type")?,
        timeout: take(settings, "timeout")?,
        retries: take(settings, "retries")?,
        retry_for: take(settings, "retry_for")?,
        concurrency: take(settings, "concurrency")?,
        requests_per_second: take(settings, "requests_per_second")?,
        max_response_bytes: take(settings, "max_response_bytes")?,
        max_result_bytes: take(settings, "max_result_bytes")?,
        max_buffered_bytes: take(settings, "max_buffered_bytes")?,
        ca_bundle: take(settings, "ca_bundle")?,
        proxy: take(settings, "proxy")?,
        allow_http: take(settings, "allow_http")?,
        headers: headers(settings)?,
        strict_empty: take(settings, "strict_empty")?,
        record: take(settings, "record")?,
        ignored_variables: names(settings, "ignored_variables")?,
        given: names(settings, "given")?,
        #[cfg(feature = "testing")]
        time_scale: super::testing::time_scale(),
        #[cfg(not(feature = "testing"))]
        time_scale: 1,
    })
}

/// A list of names, which only a client of Python has.
fn names(settings: &Bound<'_, PyDict>, key: &str) -> PyResult<Vec<String>> {
    settings.get_item(key)?.map_or_else(|| Ok(Vec::new()), |value| value.extract())
}

/// The pairs of `headers=`, which Python hides in an object.
fn headers(settings: &Bound<'_, PyDict>) -> PyResult<Vec<(String, String)>> {
    let headers = settings.as_any().get_item("headers")?;
    if headers.is_none() { Ok(Vec::new()) } else { headers.call_method0("pairs")?.extract() }
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
