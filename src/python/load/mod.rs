//! Rows for the sandbox, from an iterable of dicts.
//!
//! A missing key is null. An undeclared key is refused, as a misspelt one would lose its values.

mod cells;

use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyMapping, PyString};

use self::cells::{Trouble, cell, shown, type_of};
use super::raise::raise;
use super::{bridge, sandbox::RawSandbox};
use crate::error::{Result, excerpt};
use crate::sandbox::{BusinessObject, Cell, Sandbox};

/// Rows between two checks for signals and for the end of the sandbox.
const BLOCK: usize = 1_000;
/// The longest time between two checks, for rows that come slowly.
const BLOCK_TAKES: Duration = Duration::from_millis(50);

/// Loads rows into an object, all or none. Nothing is locked meanwhile, as the iterable may use the sandbox itself.
pub(super) fn load(
    py: Python<'_>,
    sandbox: &RawSandbox,
    object: &str,
    rows: &Bound<'_, PyAny>,
    replaces: bool,
) -> PyResult<usize> {
    let mut load = py.detach(|| sandbox.0.begin_load(object)).map_err(|error| raise(py, error))?;
    let mut rows = Rows::new(rows, &sandbox.0, load.object().clone())?;
    loop {
        py.check_signals()?;
        let block = rows.next_block()?;
        let is_last = block.as_ref().is_ok_and(Vec::is_empty);
        py.detach(|| load.add(block?)).map_err(|error| raise(py, error))?;
        if is_last {
            break;
        }
    }
    // A signal ends this function, and dropping the load cancels it.
    let _interrupted = load.cancel_on_drop();
    bridge::wait(py, move || load.finish(replaces))
}

/// An iterable of dicts.
struct Rows<'py> {
    iterator: Bound<'py, PyIterator>,
    sandbox: Arc<Sandbox>,
    object: BusinessObject,
    /// The names of the attributes, in their order.
    names: Vec<Bound<'py, PyString>>,
    count: usize,
}

impl<'py> Rows<'py> {
    fn new(rows: &Bound<'py, PyAny>, sandbox: &Arc<Sandbox>, object: BusinessObject) -> PyResult<Self> {
        let names = object.attributes.iter().map(|each| PyString::intern(rows.py(), &each.name)).collect();
        Ok(Self { iterator: rows.try_iter()?, sandbox: Arc::clone(sandbox), object, names, count: 0 })
    }

    /// The next rows, none at the end. The inner error refuses a row, the outer one was raised by the iterable.
    fn next_block(&mut self) -> PyResult<Result<Vec<Vec<Cell>>>> {
        let mut block = Vec::with_capacity(BLOCK);
        let began = Instant::now();
        for row in self.iterator.clone().take(BLOCK) {
            match self.cells(&row?) {
                Ok(cells) => block.push(cells),
                Err(Trouble::Problem(problem)) => return Ok(Err(self.object.refusal(self.count, &problem))),
                Err(Trouble::Raised(raised)) => return Err(raised),
            }
            self.count += 1;
            if began.elapsed() > BLOCK_TAKES {
                break;
            }
        }
        Ok(Ok(block))
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
            cells.push(cell(&value, attribute.kind, &self.sandbox).map_err(|trouble| match trouble {
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
