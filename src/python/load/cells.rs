//! The cells of Python values, by the kind of their attribute. The sandbox checks whether a cell is valid for it.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDate, PyDateTime, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::error::excerpt;
use crate::sandbox::{AttributeKind, Cell, RecordZone};

/// Why a value or a row is refused, or what Python raised.
pub(super) enum Trouble {
    Problem(String),
    Raised(PyErr),
}

impl From<PyErr> for Trouble {
    fn from(raised: PyErr) -> Self {
        Self::Raised(raised)
    }
}

/// The cell of a value.
pub(super) fn cell(value: &Bound<'_, PyAny>, kind: AttributeKind, zone: &RecordZone) -> Result<Cell, Trouble> {
    if value.is_none() {
        return Ok(Cell::Null);
    }
    if let Some(name) = unset(value) {
        return Err(Trouble::Problem(format!("is {name}; write None for what is unset")));
    }
    let read = match kind {
        AttributeKind::Text => text(value),
        AttributeKind::Number => number(value)?,
        AttributeKind::Datetime => time(value, zone)?.or_else(|| text(value)),
        AttributeKind::Bool => value.cast::<PyBool>().ok().map(|value| value.is_true().into()),
        AttributeKind::List => list(value, zone)?,
    };
    match read {
        Some(cell) => Ok(cell),
        // A numpy scalar holds a plain Python value.
        None if value.hasattr("dtype")? && value.hasattr("item")? => {
            let inner = inner(value)?;
            if inner.get_type().is(value.get_type()) { Err(unfit(value, kind)) } else { cell(&inner, kind, zone) }
        }
        None => Err(unfit(value, kind)),
    }
}

/// The name of a value that means "missing" in pandas or numpy.
fn unset(value: &Bound<'_, PyAny>) -> Option<&'static str> {
    if value.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan()) {
        return Some("nan");
    }
    match value.get_type().name().ok()?.to_str().ok()? {
        "NaTType" => Some("NaT"),
        "NAType" => Some("NA"),
        _ => None,
    }
}

/// The value of a numpy scalar. A time in units below microseconds would give a bare integer, so it becomes seconds.
fn inner<'py>(value: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Trouble> {
    let is_time = value.getattr("dtype")?.getattr("kind")?.eq("M")?;
    if !is_time || value.ne(value)? {
        return Ok(value.call_method0("item")?);
    }
    let seconds = value.call_method1("astype", ("datetime64[s]",))?;
    if seconds.ne(value)? {
        return Err(Trouble::Problem(format!("{} is not a time in whole seconds", shown(value))));
    }
    Ok(seconds.call_method0("item")?)
}

fn text(value: &Bound<'_, PyAny>) -> Option<Cell> {
    // JSON cannot hold a lone surrogate.
    value.cast::<PyString>().ok()?.to_str().ok().map(Cell::from)
}

fn number(value: &Bound<'_, PyAny>) -> Result<Option<Cell>, Trouble> {
    if value.is_instance_of::<PyBool>() {
        return Ok(None);
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        // JSON has no infinity.
        let cell = number.value().is_finite().then(|| number.value().into());
        return cell.map(Some).ok_or_else(|| Trouble::Problem(format!("{} is not a finite number", shown(value))));
    }
    if let Ok(number) = value.cast::<PyInt>() {
        let beyond = |_| Trouble::Problem(format!("{} is beyond 64 bits", shown(value)));
        return number.extract().map(|number: i64| Some(number.into())).map_err(beyond);
    }
    Ok(None)
}

/// A list or tuple, or an array of numpy, of strings and numbers.
fn list(value: &Bound<'_, PyAny>, zone: &RecordZone) -> Result<Option<Cell>, Trouble> {
    if !value.is_instance_of::<PyList>() && !value.is_instance_of::<PyTuple>() {
        let is_array = value.hasattr("tolist")? && value.hasattr("dtype")?;
        let plain = is_array.then(|| value.call_method0("tolist")).transpose()?;
        return plain.filter(PyAnyMethods::is_instance_of::<PyList>).map_or(Ok(None), |plain| list(&plain, zone));
    }
    let mut elements = Vec::new();
    for element in value.try_iter()? {
        let element = element?;
        let kind = if element.is_instance_of::<PyString>() { AttributeKind::Text } else { AttributeKind::Number };
        elements.push(match cell(&element, kind, zone) {
            Ok(Cell::Null) => return Err(misplaced(&element)),
            Err(Trouble::Problem(_)) if kind == AttributeKind::Number && !is_number(&element) => {
                return Err(misplaced(&element));
            }
            read => read?,
        });
    }
    Ok(Some(Cell::Array(elements)))
}

fn is_number(value: &Bound<'_, PyAny>) -> bool {
    !value.is_instance_of::<PyBool>() && (value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>())
}

fn misplaced(element: &Bound<'_, PyAny>) -> Trouble {
    let (shown, found) = (shown(element), type_of(element));
    Trouble::Problem(format!("{shown} in a list is {found}, not a string or number"))
}

/// A date or datetime. One with a zone is converted to the zone of records.
fn time(value: &Bound<'_, PyAny>, zone: &RecordZone) -> Result<Option<Cell>, Trouble> {
    if !value.is_instance_of::<PyDate>() {
        return Ok(None);
    }
    if !value.is_instance_of::<PyDateTime>() {
        let day: String = value.call_method0("isoformat")?.extract()?;
        return Ok(Some(format!("{day} 00:00:00").into()));
    }
    if value.getattr("tzinfo")?.is_none() {
        return Ok(Some(Cell::String(value.call_method1("isoformat", (" ",))?.extract()?)));
    }
    let utc = value.py().import("datetime")?.getattr("timezone")?.getattr("utc")?;
    let moved = value.call_method1("astimezone", (utc,)).map_err(|raised| {
        if raised.is_instance_of::<PyOverflowError>(value.py()) {
            return Trouble::Problem(format!("{} is outside the years 1 to 9999 in UTC", shown(value)));
        }
        Trouble::Raised(raised)
    })?;
    let text: String = moved.call_method1("isoformat", (" ",))?.extract()?;
    Ok(Some(zone.record_time(text.trim_end_matches("+00:00")).into()))
}

fn unfit(value: &Bound<'_, PyAny>, kind: AttributeKind) -> Trouble {
    if value.is_instance_of::<PyString>() && matches!(kind, AttributeKind::Text | AttributeKind::Datetime) {
        return Trouble::Problem(format!("{} holds a lone surrogate, so it is not valid Unicode", shown(value)));
    }
    Trouble::Problem(format!("{} is {}, not a {}", shown(value), type_of(value), kind.data_type()))
}

pub(super) fn type_of(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "an object".to_owned(), |name| format!("of type {name}"))
}

pub(super) fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "a value".to_owned(), |text| excerpt(&text.to_string_lossy(), 60))
}
