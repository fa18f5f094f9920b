//! A file that was written and is not at its path yet: what is doubtful in it is decided first.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use tokio_util::sync::CancellationToken;

use super::bridge;
use super::raise::raise;
use crate::error::defect;
use crate::files::Complete;

/// A complete file. Dropped, it leaves nothing.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawUnpublished(Mutex<Option<Complete>>);

impl RawUnpublished {
    pub(super) fn new(complete: Complete) -> Self {
        Self(Mutex::new(Some(complete)))
    }

    fn take(&self, py: Python<'_>, abandoned: &CancellationToken) -> PyResult<Complete> {
        let complete = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let complete = complete.ok_or_else(|| defect("the file was published already"));
        complete.map(|complete| complete.unless(abandoned)).map_err(|error| raise(py, error))
    }
}

#[pymethods]
impl RawUnpublished {
    /// Moves the file to its path, or uploads it, and returns its size. After Ctrl-C it does not appear.
    fn publish(&self, py: Python<'_>) -> PyResult<u64> {
        let abandoned = CancellationToken::new();
        let _ends = abandoned.clone().drop_guard();
        let complete = self.take(py, &abandoned)?;
        bridge::block(py, async move { complete.publish().await.map(|published| published.bytes) })
    }

    /// As `publish`, awaited. Once the future was cancelled, the file does not appear.
    fn publish_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let abandoned = CancellationToken::new();
        let complete = self.take(py, &abandoned)?;
        let published = async move { complete.publish().await.map(|published| published.bytes) };
        let future = bridge::spawn(py, published, |_, bytes| Ok(bytes))?;
        future.call_method1("add_done_callback", (Cancel(abandoned),))?;
        Ok(future)
    }

    /// Removes the file.
    fn discard(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// A callback that cancels a token when an asyncio future is done.
#[pyclass(frozen)]
struct Cancel(CancellationToken);

#[pymethods]
impl Cancel {
    fn __call__(&self, _future: &Bound<'_, PyAny>) {
        self.0.cancel();
    }
}
