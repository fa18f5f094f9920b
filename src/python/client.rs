//! The native client: arguments in, one call of the core, plain Python values out.
//!
//! A method with `wait` is a call: it waits for its result, or returns an asyncio future.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use pythonize::{depythonize, pythonize};

use super::input::input;
use super::raise::{no_unicode, raise};
use super::runtime::{PerProcess, call};
use super::scan::RawScan;
use super::token::RawToken;
use super::{json, request, rows};
use crate::client::Client;
use crate::config::{self, Arguments, Origin, Settings, environment};
use crate::decode::Envelope;
use crate::error::{Error, Kind, defect};
use crate::filter::export;
use crate::scan::{Scan, Stats};
use crate::time::{Calendar, Moment};
use crate::transport::{self, Transport};

/// A client of one service. It can be shared by threads and used after a fork.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawClient {
    settings: Settings,
    token: Py<RawToken>,
    core: PerProcess<Client>,
    closed: AtomicBool,
}

#[pymethods]
impl RawClient {
    /// Checks the settings, and raises `problems`, which Python found, with its own. `like` is a client whose connections
    /// are shared where the settings allow it.
    #[new]
    fn new(
        py: Python<'_>,
        token: Option<Py<RawToken>>,
        settings: &Bound<'_, PyDict>,
        problems: Vec<String>,
        like: Option<&Self>,
    ) -> PyResult<Self> {
        let given = arguments(settings)?;
        let (settings, token) = match (Settings::resolve(given.clone(), environment::read), token) {
            (Ok(settings), Some(token)) if problems.is_empty() => (settings, token),
            (checked, _) => {
                let error = refused(&given, checked.err(), problems);
                return Err(raise(py, error.unwrap_or_else(|| defect("a client without a token"))));
            }
        };
        let like = like.map(|like| like.core(py)).transpose()?;
        let core = Client::try_new(settings.clone(), token.get().token(), like.as_deref());
        let core = core.map_err(|error| raise(py, refused(&given, None, Vec::new()).unwrap_or(error)))?;
        Ok(Self { settings, token, core: PerProcess::holding(core), closed: AtomicBool::new(false) })
    }

    #[getter]
    fn base_url(&self) -> &str {
        self.settings.connection.base_url.as_str().trim_end_matches('/')
    }

    /// The proxy and the CA certificates that are used: setting, value, and the variable that names it, if one does.
    #[getter]
    fn origins(&self) -> Vec<(&'static str, String, Option<&'static str>)> {
        let variable = |origin| if let Origin::Environment(name) = origin { Some(name) } else { None };
        let origins = self.settings.connection.origins().into_iter();
        origins.map(|(name, value, origin)| (name, value, variable(origin))).collect()
    }

    /// Unix milliseconds as the clocks of `timezone=` show them.
    fn wall_clock(&self, milliseconds: i64) -> String {
        self.settings.zone.wall_clock(Moment::at(milliseconds))
    }

    /// Sends a search: `search_codes` or `search_items`. Returns the rows and their warnings.
    fn search<'py>(&self, call: &str, arguments: &Bound<'py, PyDict>, wait: bool) -> PyResult<Bound<'py, PyAny>> {
        let (py, calendar) = (arguments.py(), self.calendar(None));
        let (name, plan) = request::plan(call, arguments, &calendar)?;
        let timeout = arguments.get_item("timeout")?.map_or(Ok(None), |given| given.extract())?;
        let scan = self.timed(Scan::of_rows(name, plan, &calendar)).within(within(py, timeout)?).bounded();
        // Nobody sees the other figures of a search.
        let warnings = |py: Python<'_>, stats: Stats| Ok(pythonize(py, &stats.warnings)?.unbind());
        rows::call(py, wait, self.core(py)?, scan, None, warnings)
    }

    /// The checked body of a search, as a dict. Sends nothing.
    fn validate<'py>(&self, call: &str, arguments: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
        let search = request::search(call, arguments, &self.calendar(None))?;
        Ok(pythonize(arguments.py(), &search.body)?)
    }

    /// A scan, or a task of one from the arguments of its request. Sends nothing. `now` is the time of an equal scan that
    /// was made before.
    #[pyo3(signature = (call, arguments, schema, splits, now=None, *, is_task=false))]
    fn scan(
        slf: Bound<'_, Self>,
        call: &str,
        arguments: &Bound<'_, PyDict>,
        schema: &Bound<'_, PyAny>,
        splits: bool,
        now: Option<i64>,
        is_task: bool,
    ) -> PyResult<RawScan> {
        let calendar = slf.get().calendar(now);
        let scan = request::scan(call, arguments, schema, &calendar, is_task)?;
        let scan = slf.get().timed(scan.splitting(splits));
        Ok(RawScan::new(slf.unbind(), scan))
    }

    /// The status of an export: the complete response. With `polls`, for a wait.
    #[pyo3(signature = (export_id, timeout, *, polls=false, wait))]
    fn download_segment<'py>(
        &self,
        export_id: &Bound<'py, PyAny>,
        timeout: Option<f64>,
        polls: bool,
        wait: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = export_id.py();
        let core = self.core(py)?;
        let export = export::check(&input(export_id)?).map_err(|error| raise(py, error))?;
        let timeout = within(py, timeout)?;
        call(py, wait, async move { core.download(export, timeout, polls).await }, dict)
    }

    /// Waits between two requests of a wait, until the client is closed.
    fn pause<'py>(&self, py: Python<'py>, seconds: f64, wait: bool) -> PyResult<Bound<'py, PyAny>> {
        let (core, pause) = (self.core(py)?, Duration::try_from_secs_f64(seconds).unwrap_or_default());
        call(py, wait, async move { core.pause(pause).await }, |py, ()| Ok(py.None()))
    }

    /// Sends any body. Returns the complete response.
    fn post<'py>(
        &self,
        path: &Bound<'py, PyString>,
        body: &Bound<'py, PyAny>,
        idempotent: bool,
        timeout: Option<f64>,
        wait: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = path.py();
        let path = path.to_str().map_err(|_| no_unicode(py, "path"))?.to_owned();
        let (core, body) = (self.core(py)?, json::body(py, body)?);
        let timeout = within(py, timeout)?;
        call(py, wait, async move { core.post(&path, body, idempotent, timeout).await }, dict)
    }

    /// The figures of all calls so far in this process.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, &self.client(py)?.stats())?)
    }

    /// Whether any response has begun over the same connections.
    fn was_reached(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.client(py)?.was_reached())
    }

    /// Whether a response over the same connections came from the sandbox.
    fn has_met_sandbox(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.client(py)?.has_met_sandbox())
    }

    #[getter]
    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Cancels the calls in flight and refuses later ones. Idempotent.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.closed.load(Ordering::SeqCst) {
            self.core(py)?.close();
            self.closed.store(true, Ordering::SeqCst);
        }
        Ok(())
    }
}

impl RawClient {
    /// The days of this client, as of now or of a time in Unix milliseconds.
    fn calendar(&self, time: Option<i64>) -> Calendar {
        let Settings { zone, day_comparison, code_value_type, .. } = &self.settings;
        Calendar {
            zone: zone.clone(),
            comparison: *day_comparison,
            now: time.map_or_else(request::now, Moment::at),
            code_value_type: code_value_type.clone(),
        }
    }

    pub(super) fn max_result_bytes(&self) -> u64 {
        self.settings.max_result_bytes
    }

    /// The client of this process, unless it is closed.
    pub(super) fn core(&self, py: Python<'_>) -> PyResult<Arc<Client>> {
        if self.closed.load(Ordering::SeqCst) {
            return Err(raise(py, Client::closed_error()));
        }
        if self.token.get().is_running() {
            return Err(PyRuntimeError::new_err(
                "the token callable uses the client that is calling it: give it a client with another token",
            ));
        }
        self.client(py)
    }

    /// The client of this process. A forked child makes a new one, with its own connections.
    fn client(&self, py: Python<'_>) -> PyResult<Arc<Client>> {
        self.core
            .get_or_try_make(|| Client::try_new(self.settings.clone(), self.token.get().token(), None))
            .map_err(|error| raise(py, error))
    }

    /// The scan with the zones of records and results.
    fn timed(&self, scan: Scan) -> Scan {
        scan.with_times(&self.settings.source_zone, self.settings.result_zone.as_ref())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the end of a call owns its result")]
fn dict(py: Python<'_>, envelope: Envelope) -> PyResult<Py<PyDict>> {
    json::members(py, &envelope.members).map(Bound::unbind)
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
    crate::contract::recording::is_secret_header(name)
}

/// The settings by name. The Python package passes all of them, with the right types.
fn arguments(settings: &Bound<'_, PyDict>) -> PyResult<Arguments> {
    let arguments = depythonize(settings)?;
    #[cfg(feature = "testing")]
    let arguments = super::testing::changed(arguments);
    Ok(arguments)
}

/// The error with all that is wrong: what the core found, what only a client that is made would refuse, and what Python
/// found. None if that is nothing.
fn refused(arguments: &Arguments, of_core: Option<Error>, of_python: Vec<String>) -> Option<Error> {
    let of_transport = Transport::refused(&arguments.trust(environment::read), &arguments.headers);
    let of_transport = of_transport.into_iter().map(|(name, error)| arguments.with_source(name, error));
    let of_python = of_python.into_iter().map(|line| Error::new(Kind::Config, line));
    Error::settings(of_core.into_iter().chain(of_transport).chain(of_python).collect())
}

/// The `timeout` of a call, if it has one.
fn within(py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<Duration>> {
    let Some(given) = timeout else { return Ok(None) };
    let timeout = Duration::try_from_secs_f64(given).ok().filter(|timeout| !timeout.is_zero());
    let wrong = || format!("timeout must be a positive, finite number of seconds, not {given}");
    timeout.map(Some).ok_or_else(|| raise(py, Error::new(Kind::Config, wrong())))
}
