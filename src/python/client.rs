//! The native client: arguments in, one call of the core, plain Python values out.
//!
//! Each operation is a pair of methods, a synchronous and an asynchronous one, around one future.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use pythonize::pythonize;
use tokio::sync::mpsc;

use super::clock::now;
use super::process::PerProcess;
use super::raise::raise;
use super::rows::{self, RowsAndStats};
use super::scan::RawScan;
use super::settings::{arguments, refused, timeout};
use super::token::RawToken;
use super::updates::Updates;
use super::{bridge, json, request};
use crate::client::Client;
use crate::config::{Origin, Settings, environment};
use crate::decode::Envelope;
use crate::error::{Error, Kind, defect};
use crate::filter::Plan;
use crate::scan::Scan;
use crate::time::{Calendar, Moment};

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

    /// The address of the service, normalized.
    #[getter]
    fn base_url(&self) -> &str {
        self.settings.base_url.as_str().trim_end_matches('/')
    }

    /// The proxy and the CA certificates that are used: setting, value, and the variable that names it, if one does.
    #[getter]
    fn origins(&self) -> Vec<(&'static str, String, Option<&'static str>)> {
        let variable = |origin| match origin {
            Origin::Setting(_) => None,
            Origin::Environment(name) => Some(name),
        };
        self.settings.origins().into_iter().map(|(name, value, origin)| (name, value, variable(origin))).collect()
    }

    /// Unix milliseconds as the clocks of `timezone=` show them.
    fn wall_clock(&self, milliseconds: i64) -> String {
        self.settings.zone.wall_clock(Moment::at(milliseconds))
    }

    /// Searches promotion codes. Returns the rows and their warnings.
    #[pyo3(signature = (arguments, on_progress=None))]
    fn search_codes(
        &self,
        py: Python<'_>,
        arguments: &Bound<'_, PyDict>,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<RowsAndStats> {
        let calendar = self.calendar(None);
        let plan = request::search_of_codes(arguments, &calendar)?;
        self.search(py, "search_codes", arguments, plan, &calendar, on_progress)
    }

    /// As `search_codes`, awaited.
    #[pyo3(signature = (arguments, on_progress=None))]
    fn search_codes_async<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyDict>,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let calendar = self.calendar(None);
        let plan = request::search_of_codes(arguments, &calendar)?;
        self.search_async(py, "search_codes", arguments, plan, &calendar, on_progress)
    }

    /// Searches any business object. Returns the rows and their warnings.
    fn search_items(&self, py: Python<'_>, arguments: &Bound<'_, PyDict>) -> PyResult<RowsAndStats> {
        let calendar = self.calendar(None);
        let plan = request::items(arguments, &calendar)?.into();
        self.search(py, "search_items", arguments, plan, &calendar, None)
    }

    /// As `search_items`, awaited.
    fn search_items_async<'py>(&self, py: Python<'py>, arguments: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
        let calendar = self.calendar(None);
        let plan = request::items(arguments, &calendar)?.into();
        self.search_async(py, "search_items", arguments, plan, &calendar, None)
    }

    /// The checked body of a promotion code search, as a dict. Sends nothing.
    fn validate_codes<'py>(&self, arguments: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
        request::body(arguments.py(), &request::codes(arguments, &self.calendar(None))?)
    }

    /// The checked body of an item search, as a dict. Sends nothing.
    fn validate_items<'py>(&self, arguments: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
        request::body(arguments.py(), &request::items(arguments, &self.calendar(None))?)
    }

    /// A scan of promotion codes. Sends nothing. `now` is the time of an equal scan that was made before.
    fn scan_codes(
        slf: Bound<'_, Self>,
        arguments: &Bound<'_, PyDict>,
        schema: &Bound<'_, PyAny>,
        splits: bool,
        now: Option<i64>,
    ) -> PyResult<RawScan> {
        let calendar = &slf.get().calendar(now);
        let scan = request::scan("scan_codes", request::plan_of_codes(arguments, calendar)?, schema, calendar)?;
        let scan = slf.get().timed(scan.splitting(splits));
        Ok(RawScan::new(slf.unbind(), scan))
    }

    /// A scan of any business object. Sends nothing. `now` is as in `scan_codes`.
    fn scan_items(
        slf: Bound<'_, Self>,
        arguments: &Bound<'_, PyDict>,
        schema: &Bound<'_, PyAny>,
        splits: bool,
        now: Option<i64>,
    ) -> PyResult<RawScan> {
        let calendar = &slf.get().calendar(now);
        let scan = request::scan("scan_items", request::plan_of_items(arguments, calendar)?, schema, calendar)?;
        let scan = slf.get().timed(scan.splitting(splits));
        Ok(RawScan::new(slf.unbind(), scan))
    }

    /// A task of a scan, from the arguments of its request. Sends nothing.
    fn scan_task(
        slf: Bound<'_, Self>,
        call: &str,
        arguments: &Bound<'_, PyDict>,
        schema: &Bound<'_, PyAny>,
        splits: bool,
    ) -> PyResult<RawScan> {
        let calendar = &slf.get().calendar(None);
        let call = if call == "scan_codes" { "scan_codes" } else { "scan_items" };
        let scan = request::scan(call, request::plan_of_task(arguments, calendar)?, schema, calendar)?;
        let scan = slf.get().timed(scan.as_task().splitting(splits));
        Ok(RawScan::new(slf.unbind(), scan))
    }

    /// The status of an export: the complete response.
    fn download_segment(
        &self,
        py: Python<'_>,
        export_id: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Py<PyDict>> {
        dict(py, &bridge::block(py, self.download(py, export_id, timeout)?)?)
    }

    /// As `download_segment`, awaited.
    fn download_segment_async<'py>(
        &self,
        py: Python<'py>,
        export_id: &Bound<'py, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let download = self.download(py, export_id, timeout)?;
        bridge::spawn(py, download, |py, envelope| dict(py, &envelope))
    }

    /// Waits for an export: with codes of success no longer than until an entry has another code. Returns whether the
    /// export has ended, and the last response.
    fn wait_for_segment(
        &self,
        py: Python<'_>,
        export_id: &Bound<'_, PyAny>,
        timeout: f64,
        poll: Option<f64>,
        success: Option<Vec<String>>,
        on_update: Option<Py<PyAny>>,
    ) -> PyResult<(bool, Option<Py<PyDict>>)> {
        let (sender, events) = mpsc::channel(1);
        let wait = self.wait(py, export_id, timeout, poll, success, sender)?;
        let mut updates = Updates::new(on_update);
        let waited = bridge::block_with(py, wait, events, |py, envelope| updates.take(py, envelope.as_ref()))?;
        updates.outcome(py, waited)
    }

    /// As `wait_for_segment`, awaited. `on_update` is called in the loop's thread.
    fn wait_for_segment_async<'py>(
        &self,
        py: Python<'py>,
        export_id: &Bound<'py, PyAny>,
        timeout: f64,
        poll: Option<f64>,
        success: Option<Vec<String>>,
        on_update: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (sender, events) = mpsc::channel(1);
        let wait = self.wait(py, export_id, timeout, poll, success, sender)?;
        let updates = Updates::in_running_loop(py, on_update)?;
        bridge::spawn_call(py, wait, updates.relay(events), |py, waited, updates| updates.outcome(py, waited))
    }

    /// Sends any body. Returns the complete response.
    fn post(
        &self,
        py: Python<'_>,
        path: &Bound<'_, PyString>,
        body: &Bound<'_, PyAny>,
        idempotent: bool,
        timeout: Option<f64>,
    ) -> PyResult<Py<PyDict>> {
        dict(py, &bridge::block(py, self.posting(py, path, body, idempotent, timeout)?)?)
    }

    /// As `post`, awaited.
    fn post_async<'py>(
        &self,
        py: Python<'py>,
        path: &Bound<'py, PyString>,
        body: &Bound<'py, PyAny>,
        idempotent: bool,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.posting(py, path, body, idempotent, timeout)?;
        bridge::spawn(py, call, |py, envelope| dict(py, &envelope))
    }

    /// The figures of all calls so far in this process.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, &self.client(py)?.stats())?)
    }

    /// Whether a response over the same connections came from the sandbox.
    fn has_met_sandbox(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.client(py)?.has_met_sandbox())
    }

    /// Whether `close` was called.
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
            now: time.map_or_else(now, Moment::at),
            code_value_type: code_value_type.clone(),
        }
    }

    /// Bytes of memory that a result may take.
    pub(super) fn max_result_bytes(&self) -> u64 {
        self.settings.max_result_bytes
    }

    /// The client of this process, unless it is closed.
    pub(super) fn core(&self, py: Python<'_>) -> PyResult<Arc<Client>> {
        if self.closed.load(Ordering::SeqCst) {
            return Err(raise(
                py,
                Error::new(Kind::ClientClosed, "the client is closed").with_hint("create a new client"),
            ));
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

    fn search(
        &self,
        py: Python<'_>,
        name: &'static str,
        arguments: &Bound<'_, PyDict>,
        search: Plan,
        calendar: &Calendar,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<RowsAndStats> {
        let scan = self.timed(Scan::of_rows(name, search, calendar)).within(timeout(arguments)?).bounded();
        rows::search(py, self.core(py)?, scan, on_progress)
    }

    fn search_async<'py>(
        &self,
        py: Python<'py>,
        name: &'static str,
        arguments: &Bound<'_, PyDict>,
        search: Plan,
        calendar: &Calendar,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let scan = self.timed(Scan::of_rows(name, search, calendar)).within(timeout(arguments)?).bounded();
        let on_progress = on_progress.filter(|_| scan.requests() > 1);
        rows::spawn(py, self.core(py)?, scan, on_progress, |py, stats| rows::warnings(py, &stats))
    }
}

fn dict(py: Python<'_>, envelope: &Envelope) -> PyResult<Py<PyDict>> {
    json::envelope(py, envelope).map(Bound::unbind)
}
