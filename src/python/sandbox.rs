//! The sandbox for Python. What may block does so without the interpreter.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict};
use pythonize::depythonize;
use serde::Deserialize;

use super::bridge;
use super::load::load;
use super::raise::raise;
use crate::error::{Error, Kind, Result};
use crate::sandbox::demo::Demo;
use crate::sandbox::switches::Setting;
use crate::sandbox::{
    Access, Attribute, BusinessObject, Clock, ExportPlan, Fault, FaultKind, Injected, LoggedRequest, Options, Sandbox,
};

/// Address, whether others may reach it, a token, and names for it.
type RawAccess = (IpAddr, bool, Option<String>, Vec<String>);

/// Seconds until the export that runs at the start ends, and the Unix time at which the clock starts.
type RawTimes = (Option<f64>, Option<f64>);

/// The file of objects and rows, and a recording to replay.
type RawFiles = (Option<PathBuf>, Option<PathBuf>);

/// Time in seconds, method, path, headers, body and status of a request.
type RawLoggedRequest<'py> = (f64, String, String, Vec<(String, String)>, Option<Bound<'py, PyBytes>>, Option<u16>);

/// A running sandbox. It stops when it is dropped, but never in a forked child.
#[pyclass(frozen, weakref, module = "dataaccess._native")]
pub(super) struct RawSandbox(pub(super) Arc<Sandbox>);

#[pymethods]
impl RawSandbox {
    /// Starts a sandbox: with demo data, with the data of a file, with the responses of a recording, or
    /// empty.
    #[new]
    fn new(
        py: Python<'_>,
        demo: bool,
        port: u16,
        times: RawTimes,
        files: RawFiles,
        switches: &Bound<'_, PyDict>,
        access: Option<RawAccess>,
    ) -> PyResult<Self> {
        let ((export_seconds, now), (db, replay)) = (times, files);
        let mut options = Options { db, port, replay, ..Options::default() };
        for (name, value) in switches {
            let (name, value): (String, _) = (name.extract()?, setting(&value)?);
            options.switches.set(&name, &value).map_err(|error| raise(py, error))?;
        }
        if let Some((address, allow_remote, token, host_names)) = access {
            options.access = Access { address, allow_remote, token, host_names };
        }
        if let Some(now) = now.and_then(|now| Duration::try_from_secs_f64(now).ok()) {
            options.clock = Clock::starting_at(UNIX_EPOCH + now);
        }
        if demo {
            let mut data = Demo::default();
            if let Some(ends) = export_seconds {
                data.export_takes = duration("export_seconds", ends).map_err(|error| raise(py, error))?;
            }
            options.demo = Some(data);
        }
        py.detach(|| Sandbox::start(options)).map(|sandbox| Self(Arc::new(sandbox))).map_err(|error| raise(py, error))
    }

    /// The URL of the sandbox.
    #[getter]
    fn base_url(&self) -> &str {
        self.0.base_url()
    }

    /// The IANA name of the zone of times in records.
    #[getter]
    fn record_zone(&self) -> &str {
        self.0.record_zone()
    }

    /// All scopes of the API specification.
    #[getter]
    fn scopes(&self) -> Vec<String> {
        self.0.scopes()
    }

    /// Issues a token. Without `scopes` it has all of them.
    fn issue_token(&self, py: Python<'_>, scopes: Option<Vec<String>>, expires_in: Option<f64>) -> PyResult<String> {
        let scopes = scopes.unwrap_or_else(|| self.0.scopes());
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

    /// Adds a business object of attributes given with their kinds.
    fn declare(
        &self,
        py: Python<'_>,
        name: String,
        item_type_id: i64,
        attributes: Vec<(String, String)>,
    ) -> PyResult<()> {
        let attributes = attributes.into_iter().map(|(attribute, kind)| {
            let kind = serde_json::from_value(kind.as_str().into()).map_err(|_| {
                let problem = format!("object `{name}`: attribute `{attribute}` cannot be `{kind}`");
                Error::new(Kind::Sandbox, problem).with_hint(
                    "it is string, int64, float64, timestamp, bool or list, or as the service says number or datetime",
                )
            })?;
            Ok(Attribute { name: attribute, kind })
        });
        let attributes = attributes.collect::<Result<_>>().map_err(|error| raise(py, error))?;
        let object = BusinessObject { id: item_type_id, name, attributes };
        let sandbox = Arc::clone(&self.0);
        bridge::wait(py, move || sandbox.declare(&object))
    }

    /// Adds rows to an object, all or none.
    fn load(&self, py: Python<'_>, name: &str, rows: &Bound<'_, PyAny>, replace: bool) -> PyResult<usize> {
        load(py, self, name, rows, replace)
    }

    /// Deletes all rows of an object.
    fn clear(&self, py: Python<'_>, name: String) -> PyResult<usize> {
        let sandbox = Arc::clone(&self.0);
        bridge::wait(py, move || sandbox.clear(&name))
    }

    /// Starts an export and returns its id. `course`: the seconds until it is listed, and from then until it ends.
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

    /// Moves the clock forward.
    fn advance(&self, py: Python<'_>, seconds: f64) -> PyResult<()> {
        duration("seconds", seconds).and_then(|by| self.0.advance(by)).map_err(|error| raise(py, error))
    }

    /// Injects a fault.
    fn begin_fault(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        path: Option<String>,
        after: u64,
        times: Option<u64>,
    ) -> PyResult<RawFault> {
        let fault = Fault { kind: fault_kind(options)?, path, after, times };
        py.detach(|| self.0.inject(fault)).map(RawFault).map_err(|error| raise(py, error))
    }

    /// The logged requests, oldest first.
    fn requests<'py>(&self, py: Python<'py>) -> PyResult<Vec<RawLoggedRequest<'py>>> {
        let requests = py.detach(|| self.0.requests()).map_err(|error| raise(py, error))?;
        let raw = |request: LoggedRequest| {
            let time = request.time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
            let body = request.body.map(|body| PyBytes::new(py, &body));
            (time, request.method, request.path, request.headers, body, request.status)
        };
        Ok(requests.into_iter().map(raw).collect())
    }

    /// Clears the request log.
    fn clear_requests(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.clear_requests()).map_err(|error| raise(py, error))
    }

    /// Stops the sandbox. Idempotent. False in a forked child, which cannot stop it.
    fn stop(&self, py: Python<'_>) -> bool {
        py.detach(|| self.0.stop())
    }
}

/// A fault in force, until it is ended or dropped. A forked child never ends it.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawFault(Injected);

#[pymethods]
impl RawFault {
    /// The number of requests it has affected.
    #[getter]
    fn hits(&self) -> u64 {
        self.0.hits()
    }

    /// Ends the fault. Idempotent.
    fn end(&self, py: Python<'_>) {
        py.detach(|| self.0.end());
    }
}

/// A kind of fault with the names that its options have in Python, which has checked them.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum FaultOptions {
    Reset { after_bytes: Option<usize> },
    Cut { after_bytes: Option<usize> },
    Stall { after_bytes: Option<usize> },
    Status { status: u16, retry_after: Option<u64>, body: Option<String> },
    Delay { seconds: f64 },
    Drip { chunk_bytes: usize, seconds: f64 },
    LateCode { code: i64 },
}

fn fault_kind(options: &Bound<'_, PyDict>) -> PyResult<FaultKind> {
    // A delay that no duration can hold never ends.
    let duration = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    Ok(match depythonize(options)? {
        FaultOptions::Reset { after_bytes } => FaultKind::Reset { after_bytes },
        FaultOptions::Cut { after_bytes } => FaultKind::Cut { after_bytes },
        FaultOptions::Stall { after_bytes } => FaultKind::Stall { after_bytes },
        FaultOptions::Status { status, retry_after, body } => FaultKind::Status { status, retry_after, body },
        FaultOptions::Delay { seconds } => FaultKind::Delay(duration(seconds)),
        FaultOptions::Drip { chunk_bytes, seconds } => FaultKind::Drip { chunk_bytes, pause: duration(seconds) },
        FaultOptions::LateCode { code } => FaultKind::LateCode(code),
    })
}

/// The value of a switch; one of a kind that no switch takes is shown in its refusal.
fn setting(value: &Bound<'_, PyAny>) -> PyResult<Setting> {
    if value.is_none() {
        return Ok(Setting::None);
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Setting::Boolean(value.is_true()));
    }
    let read = value.extract().map(Setting::Text).or_else(|_| value.extract().map(Setting::Integer));
    match read.or_else(|_| value.extract().map(Setting::Number)) {
        Ok(setting) => Ok(setting),
        Err(_) => Ok(Setting::Other(value.repr()?.to_string_lossy().into_owned())),
    }
}

fn duration(name: &str, seconds: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| Error::new(Kind::Config, format!("{name}= must be a number of seconds from 0 on, not {seconds}")))
}
