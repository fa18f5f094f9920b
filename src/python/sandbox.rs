//! The embedded service for Python: started, filled, given tokens, stopped. Whatever may block does so without the interpreter.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList};

use super::load::load;
use super::raise::raise;
use crate::error::{Error, Kind, Result};
use crate::sandbox::demo::Demo;
use crate::sandbox::switches::Setting;
use crate::sandbox::{Attribute, AttributeKind, BusinessObject, Options, Sandbox};

/// A running service. It stops when it is dropped, but never in a forked child.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawSandbox(pub(super) Sandbox);

#[pymethods]
impl RawSandbox {
    /// Starts a service, with demo data, with what a file holds, or empty.
    #[new]
    fn new(
        py: Python<'_>,
        demo: bool,
        port: u16,
        export_seconds: Option<f64>,
        db: Option<PathBuf>,
        switches: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let mut options = Options { db, port, ..Options::default() };
        for (name, value) in switches {
            let (name, value): (String, _) = (name.extract()?, setting(&value)?);
            options.switches.set(&name, &value).map_err(|error| raise(py, error))?;
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

    /// Adds a business object of attributes given with their kinds.
    fn declare(
        &self,
        py: Python<'_>,
        name: String,
        item_type_id: i64,
        attributes: Vec<(String, String)>,
    ) -> PyResult<()> {
        let attributes = attributes.into_iter().map(|(attribute, kind)| {
            let kind = AttributeKind::from_data_type(&kind).ok_or_else(|| {
                let problem = format!("object `{name}`: attribute `{attribute}` cannot be `{kind}`");
                Error::new(Kind::Sandbox, problem).with_hint("it is string, number or datetime")
            })?;
            Ok(Attribute { name: attribute, kind })
        });
        let attributes = attributes.collect::<Result<_>>().map_err(|error| raise(py, error))?;
        let object = BusinessObject { id: item_type_id, name, attributes };
        py.detach(|| self.0.declare(&object)).map_err(|error| raise(py, error))
    }

    /// Adds rows to an object, all or none.
    fn load(&self, py: Python<'_>, name: &str, rows: &Bound<'_, PyAny>) -> PyResult<usize> {
        load(py, self, name, rows)
    }

    /// Ends the service. Twice is once.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.0.stop());
    }
}

/// The value of a switch; one of a kind that no switch takes is shown in its refusal.
fn setting(value: &Bound<'_, PyAny>) -> PyResult<Setting> {
    if value.is_none() {
        return Ok(Setting::None);
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Setting::Boolean(truth.is_true()));
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
