//! The sandbox for Python. What may block does so without the interpreter.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::depythonize;

use super::raise::raise;
use crate::error::{Error, Kind, Result};
use crate::sandbox::demo::Demo;
use crate::sandbox::{Access, Clock, Fault, Options, RecordZone, Sandbox};

/// Address, whether others may reach it, a token, an admin token, and names for it.
type RawAccess = (IpAddr, bool, Option<String>, Option<String>, Vec<String>);

/// Of demo data: the seconds until the export that runs at the start ends, and the last day.
type RawDemo = (Option<f64>, Option<String>);

/// A running sandbox. It stops when it is dropped, but never in a forked child.
#[pyclass(frozen, weakref, module = "dataaccess._native")]
pub(super) struct RawSandbox(Sandbox);

#[pymethods]
impl RawSandbox {
    /// Starts a sandbox: with demo data, with the responses of a recording, or empty.
    #[new]
    fn new(
        py: Python<'_>,
        demo: Option<RawDemo>,
        port: u16,
        now: Option<f64>,
        replay: Option<PathBuf>,
        switches: &Bound<'_, PyDict>,
        access: Option<RawAccess>,
    ) -> PyResult<Self> {
        let mut options = Options { port, replay, ..Options::default() };
        let switches = depythonize(switches)
            .map_err(|cause| Error::new(Kind::Config, format!("switches: {cause}")))
            .and_then(|switches| options.switches.with(&switches));
        options.switches = switches.map_err(|error| raise(py, error))?;
        if let Some((address, allow_remote, token, admin_token, host_names)) = access {
            options.access = Access { address, allow_remote, token, admin_token, host_names };
        }
        if let Some(now) = now.and_then(|now| Duration::try_from_secs_f64(now).ok()) {
            options.clock = Clock::starting_at(UNIX_EPOCH + now);
        }
        options.demo = demo.map(demo_data).transpose().map_err(|error| raise(py, error))?;
        py.detach(|| Sandbox::start(options)).map(Self).map_err(|error| raise(py, error))
    }

    #[getter]
    fn base_url(&self) -> &str {
        self.0.base_url()
    }

    /// The token of the control routes.
    #[getter]
    fn admin_token(&self) -> &str {
        self.0.admin_token()
    }

    /// Raises in a forked child, and once it was stopped.
    fn check_running(&self, py: Python<'_>) -> PyResult<()> {
        self.0.check_running().map_err(|error| raise(py, error))
    }

    /// What a call of control returns once it was stopped, as JSON; none if it needs the service.
    fn after_end(&self, py: Python<'_>, method: &str, path: &str) -> Option<String> {
        py.detach(|| self.0.after_end(method, path))
    }

    /// Stops the sandbox. Idempotent. False in a forked child, which cannot stop it.
    fn stop(&self, py: Python<'_>) -> bool {
        py.detach(|| self.0.stop())
    }
}

/// Checks the JSON form of a fault or preset.
#[pyfunction]
pub(super) fn check_fault(form: &Bound<'_, PyDict>) -> PyResult<()> {
    let read = depythonize(form).map_err(|cause| Error::new(Kind::Config, format!("fault: {cause}")));
    read.and_then(Fault::from_form).map(drop).map_err(|error| raise(form.py(), error))
}

/// A UTC time `YYYY-MM-DD HH:MM:SS` as records of a time zone have it. Any other string stays as it is.
#[pyfunction]
pub(super) fn record_time(py: Python<'_>, timezone: &str, utc: &str) -> PyResult<String> {
    let zone = RecordZone::named(timezone).map_err(|error| raise(py, error))?;
    Ok(zone.record_time(utc))
}

fn demo_data((export_seconds, until): RawDemo) -> Result<Demo> {
    let mut data = until.map_or_else(|| Ok(Demo::default()), |day| Demo::until(&day))?;
    if let Some(seconds) = export_seconds {
        let wrong = || format!("export_seconds must be a number of seconds from 0 on, not {seconds}");
        data.export_takes = Duration::try_from_secs_f64(seconds).map_err(|_| Error::new(Kind::Config, wrong()))?;
    }
    Ok(data)
}
