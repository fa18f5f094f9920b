//! The embedded service for Python: started, given tokens, stopped. Whatever may block does so without the interpreter.

use std::net::IpAddr;
use std::time::{Duration, UNIX_EPOCH};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use super::fault::{self, RawFault};
use super::raise::raise;
use crate::error::{Error, Kind, Result};
use crate::sandbox::demo::Demo;
use crate::sandbox::{Access, ExportPlan, Fault, Options, Received, Sandbox};

/// Address, whether others may reach it, a token, and names for it.
type RawAccess = (IpAddr, bool, Option<String>, Vec<String>);

/// Time in seconds, method, path, headers, body and status of a request.
type RawReceived<'py> = (f64, String, String, Vec<(String, String)>, Option<Bound<'py, PyBytes>>, Option<u16>);

/// A running service. It stops when it is dropped, but never in a forked child.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawSandbox(Sandbox);

#[pymethods]
impl RawSandbox {
    /// Starts a service, with demo data or empty.
    #[new]
    fn new(
        py: Python<'_>,
        demo: bool,
        port: u16,
        export_seconds: Option<f64>,
        access: Option<RawAccess>,
    ) -> PyResult<Self> {
        let mut options = Options { port, ..Options::default() };
        if let Some((address, allow_remote, token, host_names)) = access {
            options.access = Access { address, allow_remote, token, host_names };
        }
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

    /// Starts an export and gives its id; `course` is the seconds until it is listed, and from then until it ends.
    fn start_export(
        &self,
        py: Python<'_>,
        export_id: Option<i64>,
        rows: u64,
        entries: u32,
        succeeds: bool,
        course: (f64, f64),
    ) -> PyResult<i64> {
        let plan = || {
            let (delay, takes) = (duration("delay", course.0)?, duration("seconds", course.1)?);
            Ok(ExportPlan { delay, takes, entries, rows, succeeds })
        };
        plan().and_then(|plan| self.0.start_export(export_id, &plan)).map_err(|error| raise(py, error))
    }

    /// Brings a fault into force.
    fn begin_fault(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        path: Option<String>,
        after: u64,
        times: Option<u64>,
    ) -> PyResult<RawFault> {
        let fault = Fault { kind: fault::kind(options)?, path, after, times };
        py.detach(|| self.0.inject(fault)).map(RawFault::new).map_err(|error| raise(py, error))
    }

    /// The latest requests, oldest first.
    fn requests<'py>(&self, py: Python<'py>) -> PyResult<Vec<RawReceived<'py>>> {
        let requests = py.detach(|| self.0.requests()).map_err(|error| raise(py, error))?;
        let raw = |request: Received| {
            let time = request.time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
            let body = request.body.map(|body| PyBytes::new(py, &body));
            (time, request.method, request.path, request.headers, body, request.status)
        };
        Ok(requests.into_iter().map(raw).collect())
    }

    /// Forgets the requests.
    fn clear_requests(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.clear_requests()).map_err(|error| raise(py, error))
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
