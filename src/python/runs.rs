//! The arguments and the report of a run, and where it writes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pythonize::pythonize;

use super::input::input;
use super::raise::raise;
use super::runtime::{call, with_gil};
use crate::files::Location;
use crate::scan::{self, FileReport, FolderReport, OnDoubt, RunOptions, Service};
use crate::store::StorageOptions;

/// `storage_options=`, for a URL.
pub(super) type Storage = Option<HiddenOptions>;

/// Options of a store, as an object of Python that shows no value.
#[derive(FromPyObject)]
pub(super) struct HiddenOptions {
    options: BTreeMap<String, String>,
}

/// The report of a run as a dict, how many tasks are done, those that failed, each with its id, day and exception, and the
/// exception that ended the run.
pub(super) type RawReport = (Py<PyAny>, usize, Vec<(String, Option<String>, Py<PyAny>)>, Option<Py<PyAny>>);

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct RunArguments<'py> {
    folder: PathBuf,
    storage_options: Storage,
    service: (String, bool),
    refresh: Bound<'py, PyAny>,
    accept: Bound<'py, PyAny>,
    settle: f64,
    on_doubt: Bound<'py, PyAny>,
    requested_at: bool,
    same_service: bool,
}

impl RunArguments<'_> {
    pub(super) fn options(self, py: Python<'_>, retry_for: Option<Duration>) -> PyResult<RunOptions> {
        let folder = location(py, self.folder, self.storage_options, retry_for)?;
        let (address, is_synthetic) = self.service;
        Ok(RunOptions {
            folder,
            service: Service { address, is_synthetic, same_service: self.same_service },
            refresh: input(&self.refresh)?,
            accept: input(&self.accept)?,
            settle: Duration::try_from_secs_f64(self.settle).unwrap_or(Duration::MAX),
            on_doubt: on_doubt(&self.on_doubt)?,
            requested_at: self.requested_at,
        })
    }
}

/// What happens to a doubtful response: `error`, a function, or the names of the warnings that are errors.
fn on_doubt(given: &Bound<'_, PyAny>) -> PyResult<OnDoubt> {
    if given.is_callable() {
        let callable = Arc::new(given.clone().unbind());
        return Ok(OnDoubt::Ask(Arc::new(move |file: FileReport| {
            let callable = Arc::clone(&callable);
            Box::pin(async move {
                let asked = with_gil(move |py| callable.call1(py, (pythonize(py, &file)?,))?.extract::<bool>(py));
                // The function keeps its exception.
                asked.await.unwrap_or(false)
            })
        })));
    }
    if given.extract::<&str>().is_ok() {
        return Ok(OnDoubt::Error);
    }
    let names: Vec<String> = given.extract()?;
    let kinds = names.iter().map(|name| serde_json::from_value(name.as_str().into()));
    Ok(OnDoubt::Warn(kinds.collect::<Result<_, _>>().map_err(|_| PyValueError::new_err("no class of warnings"))?))
}

/// The location with a path or URL. Its store is retried for as long as a client's service, if there is a client.
pub(super) fn location(
    py: Python<'_>,
    path: PathBuf,
    storage_options: Storage,
    retry_for: Option<Duration>,
) -> PyResult<Location> {
    let options = StorageOptions { given: storage_options.map(|hidden| hidden.options).unwrap_or_default(), retry_for };
    Location::new(path, &options).map_err(|error| raise(py, error))
}

/// What a folder holds, by the records of its parts. Sends nothing to a service.
#[pyfunction]
pub(super) fn folder_status(
    py: Python<'_>,
    folder: PathBuf,
    settle: f64,
    known_row_cap: Option<u64>,
    until: Option<String>,
    storage_options: Storage,
) -> PyResult<Bound<'_, PyAny>> {
    let location = location(py, folder, storage_options, None)?;
    let settle = Duration::try_from_secs_f64(settle).unwrap_or(Duration::MAX);
    let status =
        async move { scan::folder_status(&location, settle, known_row_cap, until.as_deref(), SystemTime::now()).await };
    call(py, true, status, |py, status| Ok(pythonize(py, &status)?.unbind()))
}

/// What Python gets of a report.
pub(super) fn raw_report(py: Python<'_>, mut report: FolderReport) -> PyResult<RawReport> {
    let exception = |error| raise(py, error).into_value(py).into_any();
    let failed = std::mem::take(&mut report.failed);
    let failed = failed.into_iter().map(|task| (task.id, task.day, exception(task.error))).collect();
    let ended = report.ended.take().map(exception);
    Ok((pythonize(py, &report)?.unbind(), report.done, failed, ended))
}
