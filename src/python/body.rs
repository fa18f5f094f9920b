//! The body of a request from a Python value: JSON, as Python's `json` writes it.

use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyString, PyTuple};

use super::raise::raise;
use crate::error::{Error, Problem};

/// Levels of lists and dicts that are written here. Python finds lists that contain themselves.
const DEPTH: usize = 32;
/// Enough for most bodies.
const BYTES: usize = 1_024;

/// A Python value as JSON. NaN and infinity are refused.
pub(super) fn body(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    let mut text = Vec::with_capacity(BYTES);
    match write(&mut text, object, DEPTH) {
        Some(()) => Ok(text.into()),
        None => by_python(py, object),
    }
}

/// Writes a value of the usual types. Python's encoder writes all others, or says what is wrong with them.
fn write(text: &mut Vec<u8>, object: &Bound<'_, PyAny>, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    if let Ok(string) = object.cast_exact::<PyString>() {
        return write_string(text, string);
    }
    if let Ok(dict) = object.cast_exact::<PyDict>() {
        let members = dict.iter().map(|(name, value)| {
            move |text: &mut Vec<u8>| {
                write_string(text, name.cast_exact().ok()?)?;
                text.push(b':');
                write(text, &value, depth)
            }
        });
        return write_all(text, *b"{}", members);
    }
    let element = |value| move |text: &mut Vec<u8>| write(text, &value, depth);
    if let Ok(list) = object.cast_exact::<PyList>() {
        return write_all(text, *b"[]", list.iter().map(element));
    }
    if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        return write_all(text, *b"[]", tuple.iter().map(element));
    }
    if object.is_none() {
        text.extend_from_slice(b"null");
    } else if let Ok(value) = object.cast_exact::<PyBool>() {
        text.extend_from_slice(if value.is_true() { b"true" } else { b"false" });
    } else {
        let number: i64 = object.cast_exact::<PyInt>().ok()?.extract().ok()?;
        serde_json::to_writer(text, &number).ok()?;
    }
    Some(())
}

fn write_all(
    text: &mut Vec<u8>,
    [open, close]: [u8; 2],
    parts: impl Iterator<Item = impl FnOnce(&mut Vec<u8>) -> Option<()>>,
) -> Option<()> {
    text.push(open);
    for (index, write) in parts.enumerate() {
        if index > 0 {
            text.push(b',');
        }
        write(text)?;
    }
    text.push(close);
    Some(())
}

/// Writes a string, unless it holds a lone surrogate.
fn write_string(text: &mut Vec<u8>, string: &Bound<'_, PyString>) -> Option<()> {
    serde_json::to_writer(text, string.to_str().ok()?).ok()
}

fn by_python(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    static ENCODE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let encode = ENCODE.get_or_try_init(py, || {
        let keywords = PyDict::new(py);
        keywords.set_item("allow_nan", false)?;
        keywords.set_item("ensure_ascii", false)?;
        keywords.set_item("separators", (",", ":"))?;
        let encoder = py.import("json")?.getattr("JSONEncoder")?.call((), Some(&keywords))?;
        encoder.getattr("encode").map(Bound::unbind)
    })?;
    let text = encode.bind(py).call1((object,))?.cast_into::<PyString>()?;
    text.to_str().map(|text| Bytes::copy_from_slice(text.as_bytes())).map_err(|_| no_unicode(py))
}

/// Python's encoder does not refuse a lone surrogate.
fn no_unicode(py: Python<'_>) -> PyErr {
    let message = "a string in it holds a lone surrogate, which JSON cannot hold".to_owned();
    let problem = Problem { argument: "body".to_owned(), path: String::new(), message, value: String::new() };
    raise(py, Error::validation(vec![problem]))
}
