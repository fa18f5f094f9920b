//! Columns as plain Python values: numbers, strings, JSON; a time as the service writes it.

use arrow_array::cast::AsArray as _;
use arrow_array::temporal_conversions::timestamp_us_to_datetime;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use super::json;
use super::raise::raise;
use crate::columns::ColumnType;
use crate::error::defect;
use crate::time::Zone;

/// The rows of batches as dicts. A column of names has its numbers again, unless `has_names`.
pub(super) fn dicts<'py>(py: Python<'py>, batches: &[RecordBatch], has_names: bool) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for batch in batches {
        let schema = batch.schema_ref();
        let names: Vec<_> = schema.fields().iter().map(|field| PyString::intern(py, field.name())).collect();
        let columns = schema.fields().iter().zip(batch.columns());
        let columns =
            columns.map(|(field, array)| values(py, field, array, has_names)).collect::<PyResult<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            let record = PyDict::new(py);
            for (name, column) in names.iter().zip(&columns) {
                record.set_item(name, column.get(row))?;
            }
            list.append(record)?;
        }
    }
    Ok(list)
}

/// All values of a column.
fn values<'py>(py: Python<'py>, field: &Field, array: &ArrayRef, has_names: bool) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let text = |text: &str| Ok(PyString::new(py, text).into_any());
    let json = |text: &str| json::value(py, text);
    let texts = |read: &dyn Fn(&str) -> PyResult<Bound<'py, PyAny>>| match array.data_type() {
        DataType::Utf8View => each(py, array.as_string_view().iter(), read),
        _ => each(py, array.as_string::<i32>().iter(), read),
    };
    match ColumnType::of(field).map_err(|error| raise(py, error))? {
        ColumnType::Name(names) if !has_names => texts(&|name| {
            let number = names.iter().find(|(known, _)| *known == name).map(|(_, number)| *number);
            let number = number.or_else(|| name.parse().ok());
            number.map_or_else(|| text(name), |number| Ok(PyInt::new(py, number).into_any()))
        }),
        ColumnType::String | ColumnType::StringOrJson | ColumnType::Name(_) => texts(&text),
        ColumnType::Json => texts(&json),
        ColumnType::Int64 => {
            each(py, array.as_primitive::<Int64Type>().iter(), &|value| Ok(PyInt::new(py, value).into_any()))
        }
        ColumnType::Float64 => {
            each(py, array.as_primitive::<Float64Type>().iter(), &|value| Ok(PyFloat::new(py, value).into_any()))
        }
        ColumnType::Bool => {
            each(py, array.as_boolean().iter(), &|value| Ok(PyBool::new(py, value).to_owned().into_any()))
        }
        ColumnType::Timestamp => {
            let zone = match array.data_type() {
                DataType::Timestamp(_, Some(zone)) => Some(Zone::try_new(zone).map_err(|error| raise(py, error))?),
                _ => None,
            };
            each(py, array.as_primitive::<TimestampMicrosecondType>().iter(), &|value| {
                let written = match &zone {
                    Some(zone) => zone.text_of_microseconds(value),
                    None => timestamp_us_to_datetime(value).map(|time| time.to_string()),
                };
                text(&written.ok_or_else(|| raise(py, defect("a time is out of range")))?)
            })
        }
    }
}

fn each<'py, T>(
    py: Python<'py>,
    cells: impl Iterator<Item = Option<T>>,
    read: &dyn Fn(T) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    cells.map(|cell| cell.map_or_else(|| Ok(py.None().into_bound(py)), read)).collect()
}
