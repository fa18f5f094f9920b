//! A token on its way from Python to the core. No frame of Python needs to hold the text after this.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::raise::{no_unicode, raise};
use super::token::Callable;
use crate::client::TokenSource;
use crate::config::environment;
use crate::error::{Error, Kind};
use crate::secret::Secret;

/// Where the token comes from.
#[derive(Debug)]
enum Source {
    Text,
    Environment,
    Callable(Py<PyAny>),
}

/// A token, or the callable that gives one. It shows nothing of itself and does not pickle.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawToken {
    token: Arc<dyn TokenSource>,
    source: Source,
}

#[pymethods]
impl RawToken {
    #[new]
    fn new(token: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = token.py();
        let fixed = |text: String| Secret::try_new(text).map(Arc::new).map_err(|error| raise(py, error));
        if token.is_none() {
            let text = environment::read(environment::TOKEN).ok_or_else(|| raise(py, missing()))?;
            return Ok(Self { token: fixed(text)?, source: Source::Environment });
        }
        if let Ok(text) = token.cast::<PyString>() {
            return Ok(Self {
                token: fixed(text.to_str().map_err(|_| no_unicode(py, "token="))?.to_owned())?,
                source: Source::Text,
            });
        }
        if token.is_callable() {
            let callable = token.clone().unbind();
            let source = Arc::new(Callable::new(callable.clone_ref(py)));
            return Ok(Self { token: source, source: Source::Callable(callable) });
        }
        let class = token.get_type().name()?;
        Err(PyTypeError::new_err(format!("token= must be a text or a callable that gives one, not {class}")))
    }

    /// `text`, `environment` or `callable`.
    #[getter]
    fn source(&self) -> &'static str {
        match self.source {
            Source::Text => "text",
            Source::Environment => "environment",
            Source::Callable(_) => "callable",
        }
    }

    /// The callable, if it is one.
    #[getter]
    fn callable(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        match &self.source {
            Source::Callable(callable) => Some(callable.clone_ref(py)),
            _ => None,
        }
    }

    fn __repr__(&self) -> String {
        format!("RawToken({})", self.source())
    }
}

impl RawToken {
    /// Whether this is the token of a callable that is asking for it right now, on this thread.
    pub(super) fn is_asking(&self) -> bool {
        matches!(&self.source, Source::Callable(callable) if Callable::is_asking(callable))
    }

    pub(super) fn token(&self) -> Arc<dyn TokenSource> {
        self.token.clone()
    }
}

fn missing() -> Error {
    Error::new(Kind::Config, "no token")
        .with_hint(format!("give token= or set {}; Client(\"sandbox:demo\") brings its own", environment::TOKEN))
}
