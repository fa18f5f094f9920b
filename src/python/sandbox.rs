//! The embedded service for Python: started, given tokens, stopped. Whatever may block does so without the interpreter.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyList;

use super::raise::raise;
use crate::error::{Error, Kind, Result};
use crate::sandbox::demo::Demo;
use crate::sandbox::{Options, Sandbox};

/// A running service. It stops when it is dropped, but never in a forked child.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawSandbox(Sandbox);

#[pymethods]
impl RawSandbox {
    /// Starts a service, with demo data or empty.
    #[new]
    fn new(py: Python<'_>, demo: bool, port: u16, export_seconds: Option<f64>) -> PyResult<Self> {
        let mut options = Options { port, ..Options::default() };
        if demo {
            let mut data = Demo::default();
            if let Some(ends) = export_seconds {
                data.export_takes = duration("export_seconds", ends).map_err(|error| raise(py, error))?;
            }
            options.demo = Some(data);
        }
        py.detach(|| Sandbox::start(options)).map(Self).map_err(|error| raise(py, error))
    }

    /// The address of the service.
    #[getter]
    fn base_url(&self) -> &str {
        self.0.base_url()
    }

    /// A new token.
    fn issue_token(&self, py: Python<'_>, scopes: &Bound<'_, PyList>, expires_in: Option<f64>) -> PyResult<String> {
        let scopes: Vec<String> = scopes.extract()?;
        expires_in
            .map(|seconds| duration("expires_in", seconds))
            .transpose()
            .and_then(|expires_in| self.0.issue_token(&scopes, expires_in))
            .map_err(|error| raise(py, error))
    }

    /// Makes a token invalid.
    fn revoke(&self, py: Python<'_>, token: &str) -> PyResult<()> {
        self.0.revoke(token).map(drop).map_err(|error| raise(py, error))
    }

    /// Ends the service. Twice is once.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.0.stop());
    }
}

fn duration(name: &str, seconds: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| Error::new(Kind::Config, format!("{name}= must be a number of seconds from 0 on, not {seconds}")))
}
