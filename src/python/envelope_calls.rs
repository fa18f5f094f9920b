//! The calls that return a whole response, as futures: their arguments from Python are checked, and nothing is sent yet.

use std::future::Future;

use pyo3::prelude::*;
use pyo3::types::PyString;
use tokio::sync::mpsc;

use super::body::body;
use super::client::RawClient;
use super::input::input;
use super::raise::{no_unicode, raise};
use super::settings::seconds;
use crate::client::WaitOutcome;
use crate::contract::export::DownloadBody;
use crate::decode::Envelope;
use crate::error::Result;
use crate::filter::export;

impl RawClient {
    /// The status of an export.
    pub(super) fn download(
        &self,
        py: Python<'_>,
        export_id: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<impl Future<Output = Result<Envelope>> + Send + use<>> {
        let (core, export) = (self.core(py)?, export_body(export_id)?);
        let timeout = timeout.map(|timeout| seconds(py, "timeout", timeout)).transpose()?;
        Ok(async move { core.download(export, timeout).await })
    }

    /// Waits for an export. `updates` gets each response.
    pub(super) fn wait(
        &self,
        py: Python<'_>,
        export_id: &Bound<'_, PyAny>,
        timeout: f64,
        poll: Option<f64>,
        success: Option<Vec<String>>,
        updates: mpsc::Sender<Envelope>,
    ) -> PyResult<impl Future<Output = Result<WaitOutcome>> + Send + use<>> {
        let (core, export) = (self.core(py)?, export_body(export_id)?);
        let timeout = seconds(py, "timeout", timeout)?;
        let poll = poll.map(|poll| seconds(py, "poll", poll)).transpose()?;
        Ok(async move { core.wait(export, success, timeout, poll, updates).await })
    }

    /// Sends any body.
    pub(super) fn posting(
        &self,
        py: Python<'_>,
        path: &Bound<'_, PyString>,
        value: &Bound<'_, PyAny>,
        idempotent: bool,
        timeout: Option<f64>,
    ) -> PyResult<impl Future<Output = Result<Envelope>> + Send + use<>> {
        let path = path.to_str().map_err(|_| no_unicode(py, "path"))?.to_owned();
        let (core, body) = (self.core(py)?, body(py, value)?);
        let timeout = timeout.map(|timeout| seconds(py, "timeout", timeout)).transpose()?;
        Ok(async move { core.post(&path, body, idempotent, timeout).await })
    }
}

fn export_body(export_id: &Bound<'_, PyAny>) -> PyResult<DownloadBody> {
    export::check(&input(export_id)?).map_err(|error| raise(export_id.py(), error))
}
