//! Values that hold no others, and what stands for a value that no request can hold.

use std::fmt;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDate, PyFloat, PyInt, PyString, PyTime};

use super::{DEPTH, VALUES};
use crate::error::excerpt;
use crate::filter::InputValue;

/// Characters of the repr of an unknown object.
const SHOWN: usize = 60;

/// Reads a value that holds no others.
pub(super) fn plain(object: &Bound<'_, PyAny>) -> PyResult<Option<InputValue>> {
    if object.is_none() {
        return Ok(Some(InputValue::Null));
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(Some(InputValue::Bool(value.is_true())));
    }
    if let Ok(number) = object.cast::<PyInt>() {
        return Ok(Some(integer(number)));
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        return Ok(Some(InputValue::Number(number.value())));
    }
    if let Ok(text) = object.cast::<PyString>() {
        // JSON cannot hold a lone surrogate.
        return Ok(Some(text.to_str().map_or_else(|_| shown(object), InputValue::text)));
    }
    if object.is_instance_of::<PyDate>() {
        return moment(object).map(Some);
    }
    Ok(if object.is_instance_of::<PyTime>() { Some(shown(object)) } else { None })
}

fn integer(number: &Bound<'_, PyInt>) -> InputValue {
    if let Ok(number) = number.extract() {
        return InputValue::Integer(number);
    }
    // Python itself refuses to write numbers of thousands of digits.
    let digits = number.py().get_type::<PyInt>().call_method1("__repr__", (number,));
    digits.and_then(|digits| digits.extract()).map_or_else(|_| shown(number), InputValue::BigInteger)
}

/// A date or datetime of any library: all are subclasses of `datetime.date`, as is `NaT`.
fn moment(object: &Bound<'_, PyAny>) -> PyResult<InputValue> {
    let text: String = object.call_method0("isoformat")?.extract()?;
    Ok(if text == "NaT" { shown(object) } else { InputValue::Moment(text) })
}

pub(super) fn shown(object: &Bound<'_, PyAny>) -> InputValue {
    other(object, format_args!("{}", repr(object)))
}

pub(super) fn too_deep(object: &Bound<'_, PyAny>) -> InputValue {
    other(object, format_args!("nested deeper than {DEPTH} levels"))
}

pub(super) fn too_many(object: &Bound<'_, PyAny>) -> InputValue {
    other(object, format_args!("more than {VALUES} values"))
}

fn other(object: &Bound<'_, PyAny>, shown: fmt::Arguments<'_>) -> InputValue {
    let type_name = object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    InputValue::Other { type_name, shown: shown.to_string() }
}

/// The repr of an object, shortened.
pub(super) fn repr(object: &Bound<'_, PyAny>) -> String {
    match object.repr() {
        Ok(text) => excerpt(&text.to_string_lossy(), SHOWN),
        Err(_) => "without a repr".to_owned(),
    }
}
