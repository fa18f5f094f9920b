//! Values that come again: equal ones of a column become one object, which takes less time and memory than many.

use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

/// How many integers are remembered.
const INTEGERS: usize = 256;
/// How many strings are remembered, of all columns.
const STRINGS: usize = 4_096;
/// Longer strings seldom come again.
const LONGEST: usize = 64;
/// Integers of a result, and strings of a column, that are not remembered at first: small results are not worth it.
const FEW: u64 = 64;
/// Strings after which a column is judged by how often its strings came again: at least one of four is worth it.
const ENOUGH: u64 = 1_024;

/// Direct-mapped cache of `int` objects, indexed by the value modulo 256.
#[derive(Default)]
pub(super) struct Integers {
    slots: Vec<Option<(i32, Py<PyInt>)>>,
    /// How many integers were not remembered.
    passed: u64,
}

impl Integers {
    /// The object of an integer.
    pub(super) fn object<'py>(&mut self, py: Python<'py>, integer: i32) -> PyResult<Bound<'py, PyInt>> {
        if self.slots.is_empty() {
            self.passed += 1;
            if self.passed <= FEW {
                return Ok(integer.into_pyobject(py)?);
            }
            self.slots.resize_with(INTEGERS, || None);
        }
        let slot = self.slots.get_mut(integer.cast_unsigned() as usize % INTEGERS);
        if let Some(Some((known, object))) = &slot
            && *known == integer
        {
            return Ok(object.bind(py).clone());
        }
        let object = integer.into_pyobject(py)?;
        if let Some(slot) = slot {
            *slot = Some((integer, object.clone().unbind()));
        }
        Ok(object)
    }
}

/// Objects of strings: for each remainder of a hash the last string with it.
pub(super) struct Strings {
    slots: Vec<Option<(Box<str>, Py<PyString>)>>,
    columns: Vec<Column>,
}

/// The strings of a column.
#[derive(Clone, Default)]
struct Column {
    strings: u64,
    /// How many of them were remembered.
    repeated: u64,
}

impl Strings {
    pub(super) fn new(columns: usize) -> Self {
        Self { slots: Vec::new(), columns: vec![Column::default(); columns] }
    }

    /// The object of a string of this column.
    pub(super) fn object<'py>(&mut self, py: Python<'py>, column: usize, text: &str) -> Bound<'py, PyString> {
        let Some(column) = self.columns.get_mut(column).filter(|_| text.len() <= LONGEST) else {
            return PyString::new(py, text);
        };
        if column.count() { remembered(py, &mut self.slots, column, text) } else { PyString::new(py, text) }
    }
}

impl Column {
    /// Counts a string. Returns whether to remember it.
    #[inline]
    fn count(&mut self) -> bool {
        if self.strings >= ENOUGH && self.repeated * 4 < self.strings {
            return false;
        }
        self.strings += 1;
        self.strings > FEW
    }
}

fn remembered<'py>(
    py: Python<'py>,
    slots: &mut Vec<Option<(Box<str>, Py<PyString>)>>,
    column: &mut Column,
    text: &str,
) -> Bound<'py, PyString> {
    if slots.is_empty() {
        slots.resize_with(STRINGS, || None);
    }
    let [low, high, ..] = FixedState::default().hash_one(text).to_le_bytes();
    let slot = slots.get_mut(usize::from(u16::from_le_bytes([low, high])) % STRINGS);
    if let Some(Some((known, object))) = &slot
        && **known == *text
    {
        column.repeated += 1;
        return object.bind(py).clone();
    }
    let object = PyString::new(py, text);
    if let Some(slot) = slot {
        *slot = Some((text.into(), object.clone().unbind()));
    }
    object
}
