//! Records as dicts. Each is a copy of a template whose keys all records share, so that no key is made twice.
//!
//! Equal values of a column are one object where that is cheap to find out: see `repeated`.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::json;
use super::repeated::{Integers, Strings};
use super::row_template::RowTemplate;
use crate::cells::{Block, Cell, Value};

/// How many names of keys that were not requested are remembered, and how long one of them may be.
const MAX_NAMES: usize = 256;
const MAX_NAME_BYTES: usize = 64;

/// Makes dicts of the records of blocks.
pub(super) struct RecordDicts {
    template: Arc<RowTemplate>,
    extras: ExtraKeys,
    integers: Integers,
    strings: Strings,
}

impl RecordDicts {
    /// Each dict will have these keys first, in this order.
    pub(super) fn new(py: Python<'_>, attributes: &[String]) -> PyResult<Self> {
        let template = RowTemplate::of(py, attributes)?;
        let strings = Strings::new(attributes.len());
        Ok(Self { template, extras: ExtraKeys::default(), integers: Integers::default(), strings })
    }

    /// Appends a dict for each record of a block.
    pub(super) fn append(&mut self, block: &Block, list: &Bound<'_, PyList>) -> PyResult<()> {
        let py = list.py();
        let template = self.template.row.bind(py);
        let mut cursor = 0;
        for row in 0..block.rows() {
            let extras = block.extras(row, &mut cursor);
            let record = self.extras.template(template, extras.clone().map(|(name, _)| name))?.copy()?;
            for (column, (value, name)) in block.values(row).zip(&self.template.names).enumerate() {
                match value {
                    // As in the template.
                    Value::Cell(Cell::Null) => {}
                    Value::Integer(integer) => record.set_item(name, self.integers.object(py, integer)?)?,
                    Value::Cell(Cell::String(text)) => record.set_item(name, self.strings.object(py, column, text))?,
                    Value::Cell(cell) => record.set_item(name, object(py, cell)?)?,
                }
            }
            for ((_, nested), key) in extras.zip(&self.extras.last) {
                record.set_item(&key.object, json::value(py, nested)?)?;
            }
            list.append(record)?;
        }
        Ok(())
    }
}

fn object<'py>(py: Python<'py>, cell: Cell) -> PyResult<Bound<'py, PyAny>> {
    match cell {
        Cell::Null => Ok(py.None().into_bound(py)),
        Cell::Bool(value) => Ok(value.into_pyobject(py)?.to_owned().into_any()),
        Cell::Integer(digits) => json::integer(py, digits),
        Cell::Number(text) => json::number(py, text),
        Cell::String(text) => Ok(PyString::new(py, text).into_any()),
        Cell::Nested(json) => json::value(py, json),
    }
}

/// A key that was not requested.
struct Key {
    name: Arc<str>,
    object: Py<PyString>,
}

/// The keys that were not requested of the last record. The next one probably has the same.
#[derive(Default)]
struct ExtraKeys {
    last: Vec<Key>,
    /// The template with these keys, made for the second record that has them.
    template: Option<Py<PyDict>>,
    /// Names that were met, as Python strings.
    known: HashMap<Arc<str>, Py<PyString>>,
}

impl ExtraKeys {
    /// The template for a record with these extra keys, which are then the last.
    fn template<'a, 'py>(
        &mut self,
        requested: &Bound<'py, PyDict>,
        names: impl Iterator<Item = &'a str> + Clone,
    ) -> PyResult<Bound<'py, PyDict>> {
        let py = requested.py();
        if !names.clone().eq(self.last.iter().map(|key| &*key.name)) {
            self.last = names.map(|name| self.key(py, name)).collect();
            self.template = None;
            return Ok(requested.clone());
        }
        if let Some(template) = &self.template {
            return Ok(template.bind(py).clone());
        }
        let template = requested.copy()?;
        self.last.iter().try_for_each(|key| template.set_item(&key.object, py.None()))?;
        self.template = Some(template.clone().unbind());
        Ok(template)
    }

    fn key(&mut self, py: Python<'_>, name: &str) -> Key {
        if let Some((name, object)) = self.known.get_key_value(name) {
            return Key { name: Arc::clone(name), object: object.clone_ref(py) };
        }
        let key = Key { name: name.into(), object: PyString::new(py, name).unbind() };
        if name.len() <= MAX_NAME_BYTES {
            if self.known.len() >= MAX_NAMES {
                self.known.clear();
            }
            self.known.insert(Arc::clone(&key.name), key.object.clone_ref(py));
        }
        key
    }
}
