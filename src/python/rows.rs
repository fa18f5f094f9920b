//! Blocks of cells as dicts: a template copied for each record, its keys shared by all.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::json;
use crate::cells::{Block, Tag};
use crate::client::Event;

/// The rows of a search, as far as they have come.
pub(super) struct Rows {
    names: Vec<Py<PyString>>,
    template: Py<PyDict>,
    list: Py<PyList>,
}

impl Rows {
    /// No rows yet; each will have these keys in this order.
    pub(super) fn new(py: Python<'_>, attributes: &[String]) -> PyResult<Self> {
        let names: Vec<_> = attributes.iter().map(|name| PyString::intern(py, name).unbind()).collect();
        let template = PyDict::new(py);
        for name in &names {
            template.set_item(name, py.None())?;
        }
        Ok(Self { names, template: template.unbind(), list: PyList::empty(py).unbind() })
    }

    /// Takes what a search tells.
    pub(super) fn take(&mut self, py: Python<'_>, event: Event<Block>) -> PyResult<()> {
        match event {
            Event::Batch(block) => self.append(py, &block),
            Event::Restart => {
                self.list = PyList::empty(py).unbind();
                Ok(())
            }
        }
    }

    fn append(&self, py: Python<'_>, block: &Block) -> PyResult<()> {
        let list = self.list.bind(py);
        let template = self.template.bind(py);
        let mut extras = 0;
        for row in 0..block.rows() {
            let record = template.copy()?;
            for ((tag, text), name) in block.row(row).zip(&self.names) {
                if tag != Tag::Null {
                    record.set_item(name, cell(py, tag, text)?)?;
                }
            }
            for (name, nested) in block.extras(row, &mut extras) {
                record.set_item(name, json::value(py, nested)?)?;
            }
            list.append(record)?;
        }
        Ok(())
    }

    /// The finished list.
    pub(super) fn into_list(self) -> Py<PyList> {
        self.list
    }
}

fn cell<'py>(py: Python<'py>, tag: Tag, text: &str) -> PyResult<Bound<'py, PyAny>> {
    match tag {
        Tag::Null => Ok(py.None().into_bound(py)),
        Tag::False | Tag::True => Ok((tag == Tag::True).into_pyobject(py)?.to_owned().into_any()),
        Tag::Integer => json::integer(py, text),
        Tag::Number => json::number(py, text),
        Tag::Text => Ok(PyString::new(py, text).into_any()),
        Tag::Nested => json::value(py, text),
    }
}
