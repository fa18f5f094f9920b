//! The template of rows as dicts, kept from one search to the next.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Of the last rows. Most searches of a program ask for the same attributes.
static LAST: ArcSwapOption<RowTemplate> = ArcSwapOption::const_empty();

/// What all rows of the same attributes share.
pub(super) struct RowTemplate {
    attributes: Vec<String>,
    pub(super) names: Vec<Py<PyString>>,
    /// A row without values. It is copied, never changed.
    pub(super) row: Py<PyDict>,
}

impl RowTemplate {
    /// The one of these attributes, in this order.
    pub(super) fn of(py: Python<'_>, attributes: &[String]) -> PyResult<Arc<Self>> {
        if let Some(last) = LAST.load_full().filter(|last| last.attributes == attributes) {
            return Ok(last);
        }
        let names: Vec<_> = attributes.iter().map(|name| PyString::intern(py, name).unbind()).collect();
        let row = PyDict::new(py);
        for name in &names {
            row.set_item(name, py.None())?;
        }
        let template = Arc::new(Self { attributes: attributes.to_vec(), names, row: row.unbind() });
        LAST.store(Some(Arc::clone(&template)));
        Ok(template)
    }
}
