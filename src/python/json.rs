//! JSON as Python values, exactly: integers of any size, floats to the last bit. Python values as the body of a request.

use bytes::Bytes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyString, PyTuple};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::raise::raise;
use crate::decode::{self, BorrowedString, Member, Members};
use crate::error::{Error, Problem};

/// A value of valid JSON.
pub(super) fn value<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    match json.as_bytes().first() {
        Some(b'n') => Ok(py.None().into_bound(py)),
        Some(b't') => Ok(true.into_pyobject(py)?.to_owned().into_any()),
        Some(b'f') => Ok(false.into_pyobject(py)?.to_owned().into_any()),
        Some(b'"') => {
            if let Some(text) = json.get(1..json.len() - 1).filter(|text| !text.contains('\\')) {
                return Ok(PyString::new(py, text).into_any());
            }
            let BorrowedString(text) = parse(json)?;
            Ok(PyString::new(py, &text).into_any())
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = parse(json)?;
            let items = items.iter().map(|item| value(py, item.get())).collect::<PyResult<Vec<_>>>()?;
            Ok(PyList::new(py, items)?.into_any())
        }
        Some(b'{') => {
            let Members(members) = parse(json)?;
            let dict = PyDict::new(py);
            for (name, member) in members {
                dict.set_item(name.as_ref(), value(py, member.get())?)?;
            }
            Ok(dict.into_any())
        }
        _ => number(py, json),
    }
}

/// A number of valid JSON: an `int` unless it has a fraction or an exponent.
pub(super) fn number<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        let float: f64 = text.parse().map_err(|_| PyValueError::new_err("invalid number in JSON"))?;
        return Ok(float.into_pyobject(py)?.into_any());
    }
    integer(py, text)
}

pub(super) fn integer<'py>(py: Python<'py>, digits: &str) -> PyResult<Bound<'py, PyAny>> {
    match decode::integer(digits) {
        Some(small) => Ok(small.into_pyobject(py)?.into_any()),
        None => py.get_type::<PyInt>().call1((digits,)),
    }
}

/// Members of a response as a dict, in the order of the wire.
pub(super) fn members<'py>(py: Python<'py>, members: &[(String, Member)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, member) in members {
        match member {
            Member::Json(json) => dict.set_item(name, value(py, json)?)?,
            Member::Object(inner) => dict.set_item(name, self::members(py, inner)?)?,
            Member::Records => {}
        }
    }
    Ok(dict)
}

fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

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
