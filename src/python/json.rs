//! JSON as Python values, exactly: integers of any size, floats to the last bit.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::decode::{self, BorrowedString, Envelope, Member, Members};

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

/// An integer of any size.
pub(super) fn integer<'py>(py: Python<'py>, digits: &str) -> PyResult<Bound<'py, PyAny>> {
    match decode::integer(digits) {
        Some(small) => Ok(small.into_pyobject(py)?.into_any()),
        None => py.get_type::<PyInt>().call1((digits,)),
    }
}

/// A complete response as a dict, in the order of the wire.
pub(super) fn envelope<'py>(py: Python<'py>, envelope: &Envelope) -> PyResult<Bound<'py, PyDict>> {
    members(py, &envelope.members)
}

fn members<'py>(py: Python<'py>, members: &[(String, Member)]) -> PyResult<Bound<'py, PyDict>> {
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
