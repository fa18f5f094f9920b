//! Faults of the embedded service for Python. Their options were checked there, where the user wrote them.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::depythonize;
use serde::Deserialize;

use crate::sandbox::{FaultKind, Injected};

/// A fault in force. It ends when it is told to or dropped, but never by a forked child.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawFault(Injected);

impl RawFault {
    /// Holds a fault in force.
    pub(super) fn new(injected: Injected) -> Self {
        Self(injected)
    }
}

#[pymethods]
impl RawFault {
    /// How many requests it has met.
    #[getter]
    fn hits(&self) -> u64 {
        self.0.hits()
    }

    /// Ends the fault. Twice is once.
    fn end(&self, py: Python<'_>) {
        py.detach(|| self.0.end());
    }
}

/// A kind of fault with its options, as Python names them.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Options {
    Reset { after_bytes: Option<usize> },
    Cut { after_bytes: Option<usize> },
    Stall { after_bytes: Option<usize> },
    Status { status: u16, retry_after: Option<u64>, body: Option<String> },
    Delay { seconds: f64 },
    Drip { chunk_bytes: usize, seconds: f64 },
    LateCode { code: i64 },
}

/// The kind of fault that options describe.
pub(super) fn kind(options: &Bound<'_, PyDict>) -> PyResult<FaultKind> {
    // What is longer than a duration can be does not end.
    let duration = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    Ok(match depythonize(options)? {
        Options::Reset { after_bytes } => FaultKind::Reset { after_bytes },
        Options::Cut { after_bytes } => FaultKind::Cut { after_bytes },
        Options::Stall { after_bytes } => FaultKind::Stall { after_bytes },
        Options::Status { status, retry_after, body } => FaultKind::Status { status, retry_after, body },
        Options::Delay { seconds } => FaultKind::Delay(duration(seconds)),
        Options::Drip { chunk_bytes, seconds } => FaultKind::Drip { chunk_bytes, pause: duration(seconds) },
        Options::LateCode { code } => FaultKind::LateCode(code),
    })
}
