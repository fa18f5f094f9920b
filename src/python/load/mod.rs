//! Rows for the sandbox: an iterable of dicts as lines of JSON.
//!
//! A missing key is null. An undeclared key is refused, as a misspelt one would lose its values.

mod cells;

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyMapping, PyString};
use serde::Serialize;

use self::cells::{Trouble, cell, shown, type_of};
use super::raise::raise;
use super::sandbox::RawSandbox;
use crate::error::{Result, defect, excerpt};
use crate::sandbox::{Attribute, AttributeKind, BusinessObject, Cell, RecordZone};

/// Rows between two checks for signals and for the end of the sandbox.
const BLOCK: usize = 1_000;
/// The longest time between two checks, for rows that come slowly.
const BLOCK_TAKES: Duration = Duration::from_millis(50);

/// The rows of an iterable of dicts as lines of JSON, for an object with these attributes and kinds. Times with a zone are
/// converted to `record_zone`. The end of `sandbox`, where it is one of this process, ends the load.
#[pyfunction]
pub(super) fn row_lines<'py>(
    py: Python<'py>,
    object: String,
    attributes: Vec<(String, String)>,
    record_zone: &str,
    rows: &Bound<'py, PyAny>,
    sandbox: Option<&RawSandbox>,
) -> PyResult<Bound<'py, PyBytes>> {
    let zone = RecordZone::named(record_zone).map_err(|error| raise(py, error))?;
    let attributes = attributes.into_iter().map(|(name, kind)| {
        let problem = || defect("the sandbox listed an unknown kind of attribute");
        Ok(Attribute { name, kind: AttributeKind::from_name(&kind).ok_or_else(problem)? })
    });
    let attributes = attributes.collect::<Result<_>>().map_err(|error| raise(py, error))?;
    let mut rows = Rows::new(rows, zone, BusinessObject { id: 0, name: object, attributes })?;
    let mut lines = Vec::new();
    loop {
        py.check_signals()?;
        if let Some(sandbox) = sandbox {
            sandbox.0.check_running().map_err(|error| raise(py, error))?;
        }
        if rows.write_block(&mut lines)?.map_err(|error| raise(py, error))? {
            return Ok(PyBytes::new(py, &lines));
        }
    }
}

/// An iterable of dicts.
struct Rows<'py> {
    iterator: Bound<'py, PyIterator>,
    zone: RecordZone,
    object: BusinessObject,
    /// The names of the attributes, in their order.
    names: Vec<Bound<'py, PyString>>,
    count: usize,
}

impl<'py> Rows<'py> {
    fn new(rows: &Bound<'py, PyAny>, zone: RecordZone, object: BusinessObject) -> PyResult<Self> {
        let names = object.attributes.iter().map(|each| PyString::intern(rows.py(), &each.name)).collect();
        Ok(Self { iterator: rows.try_iter()?, zone, object, names, count: 0 })
    }

    /// Writes the next rows. True at their end. The inner error refuses a row, the outer one was raised by the iterable.
    fn write_block(&mut self, lines: &mut Vec<u8>) -> PyResult<Result<bool>> {
        let began = Instant::now();
        for _ in 0..BLOCK {
            let Some(row) = self.iterator.next() else { return Ok(Ok(true)) };
            match self.cells(&row?) {
                Ok(cells) => self.write(&cells, lines),
                Err(Trouble::Problem(problem)) => return Ok(Err(self.object.refusal(self.count, &problem))),
                Err(Trouble::Raised(raised)) => return Err(raised),
            }
            self.count += 1;
            if began.elapsed() > BLOCK_TAKES {
                break;
            }
        }
        Ok(Ok(false))
    }

    /// Writes a row; what is null is left out.
    fn write(&self, cells: &[Cell], lines: &mut Vec<u8>) {
        lines.push(b'{');
        let mut lead = "";
        for (attribute, cell) in self.object.attributes.iter().zip(cells) {
            if *cell == Cell::Null {
                continue;
            }
            lines.extend_from_slice(format!("{lead}{}:{cell}", json(&attribute.name)).as_bytes());
            lead = ",";
        }
        lines.extend_from_slice(b"}\n");
    }

    fn cells(&self, row: &Bound<'_, PyAny>) -> Result<Vec<Cell>, Trouble> {
        let row = as_dict(row)?;
        let mut cells = Vec::with_capacity(self.names.len());
        let mut found = 0;
        for (name, attribute) in self.names.iter().zip(&self.object.attributes) {
            let Some(value) = row.get_item(name)? else {
                cells.push(Cell::Null);
                continue;
            };
            found += 1;
            cells.push(cell(&value, attribute.kind, &self.zone).map_err(|trouble| match trouble {
                Trouble::Problem(problem) => Trouble::Problem(format!("attribute `{}`: {problem}", attribute.name)),
                raised @ Trouble::Raised(_) => raised,
            })?);
        }
        if found == row.len() { Ok(cells) } else { Err(Trouble::Problem(self.unknown(&row))) }
    }

    fn unknown(&self, row: &Bound<'_, PyDict>) -> String {
        let is_declared = |key: &Bound<'_, PyAny>| self.names.iter().any(|name| key.eq(name).is_ok_and(|is| is));
        let unknown = row.keys().iter().find(|key| !is_declared(key));
        let name = |key: Bound<'_, PyAny>| key.extract().unwrap_or_else(|_| shown(&key));
        // Without one, the row was changed meanwhile.
        unknown
            .map_or_else(|| "it changed".to_owned(), |key| format!("it has no attribute `{}`", excerpt(&name(key), 60)))
    }
}

fn as_dict<'py>(row: &Bound<'py, PyAny>) -> Result<Bound<'py, PyDict>, Trouble> {
    if let Ok(dict) = row.cast::<PyDict>() {
        return Ok(dict.clone());
    }
    let Ok(mapping) = row.cast::<PyMapping>() else {
        return Err(Trouble::Problem(format!("a row is a dict, not {}", type_of(row))));
    };
    let dict = PyDict::new(row.py());
    dict.update(mapping)?;
    Ok(dict)
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
