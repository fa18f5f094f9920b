//! Batches and tables for Python: Arrow memory that other libraries take without a copy, and plain Python values.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::temporal_conversions::timestamp_us_to_datetime;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict, PyFloat, PyInt, PyList, PyString};

use super::raise::raise;
use super::scan::figures;
use super::{capsule, json};
use crate::columns::{self, Texts, Values};
use crate::error::defect;
use crate::scan::{Collected, Stats};
use crate::time::Zone;

/// A batch, or a complete result, in columns.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// None of a batch.
    stats: Option<Arc<Stats>>,
}

impl RawTable {
    pub(super) fn new(collected: Collected) -> Self {
        let Collected { schema, batches, stats } = collected;
        Self { schema, batches, stats: Some(stats) }
    }

    pub(super) fn of_batch(batch: RecordBatch) -> Self {
        Self { schema: batch.schema(), batches: vec![batch], stats: None }
    }

    /// A table of some of its rows or columns, with the statistics of the whole.
    fn part(&self, schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches, stats: self.stats.clone() }
    }
}

#[pymethods]
impl RawTable {
    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns and of their types.
    #[getter]
    fn types(&self, py: Python<'_>) -> PyResult<Vec<(String, &'static str)>> {
        let types = columns::types(&self.schema).map_err(|error| raise(py, error))?;
        Ok(types.into_iter().map(|(name, column_type)| (name, column_type.described())).collect())
    }

    /// The time zone of the timestamps, if they have one.
    #[getter]
    fn time_zone(&self) -> Option<&str> {
        self.schema.fields().iter().find_map(|field| columns::zone_of(field.data_type()))
    }

    fn __reduce__(&self) -> PyResult<()> {
        let what = if self.stats.is_none() { "a Batch" } else { "a Table" };
        Err(PyTypeError::new_err(format!("{what} does not pickle: pickle what its to_arrow() or to_pylist() returns")))
    }

    /// The same with instants in UTC, of times as the service wrote them in the zone `source`.
    fn in_utc(&self, py: Python<'_>, source: &str) -> PyResult<Self> {
        let utc = Zone::default();
        let zoned = Zone::try_new(source)
            .and_then(|source| self.batches.iter().map(|batch| columns::zoned(batch, &utc, &source)).collect());
        Ok(self.part(columns::zoned_schema(&self.schema, &utc), zoned.map_err(|error| raise(py, error))?))
    }

    /// An empty table of the same columns.
    fn without_rows(&self) -> Self {
        let mut empty = self.part(SchemaRef::clone(&self.schema), Vec::new());
        if let Some(stats) = &mut empty.stats {
            Arc::make_mut(stats).figures.rows = 0;
        }
        empty
    }

    /// Some of its rows, without a copy.
    fn slice(&self, start: usize, rows: usize) -> Self {
        let (mut skipped, mut left) = (start, rows);
        let part = |batch: &RecordBatch| {
            let first = skipped.min(batch.num_rows());
            let taken = left.min(batch.num_rows() - first);
            (skipped, left) = (skipped - first, left - taken);
            (taken > 0).then(|| batch.slice(first, taken))
        };
        let batches: Vec<_> = self.batches.iter().filter_map(part).collect();
        self.part(SchemaRef::clone(&self.schema), batches)
    }

    /// Some of its columns, without a copy.
    #[expect(clippy::needless_pass_by_value, reason = "an argument from Python is owned")]
    fn select(&self, columns: Vec<usize>) -> PyResult<Self> {
        let wrong = |error: ArrowError| PyIndexError::new_err(error.to_string());
        let schema = Arc::new(self.schema.project(&columns).map_err(wrong)?);
        let batches = self.batches.iter().map(|batch| batch.project(&columns).map_err(wrong));
        Ok(self.part(schema, batches.collect::<PyResult<_>>()?))
    }

    /// The ids that the scan asked for and no row has; None if that is not known.
    fn missing_ids(&self) -> Option<Vec<String>> {
        self.stats.as_ref()?.missing_ids.clone()
    }

    /// The figures of the scan, of a complete result.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.stats.as_deref().map(|stats| figures(py, stats)).transpose()
    }

    /// The first `most` rows as dicts, or all.
    fn to_dicts<'py>(&self, py: Python<'py>, most: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let mut left = most.unwrap_or(usize::MAX);
        for batch in &self.batches {
            let rows = batch.num_rows().min(left);
            left -= rows;
            // Displays and single columns have the names.
            append_records(&list, &batch.slice(0, rows), most.is_some())?;
        }
        Ok(list)
    }

    /// Exports the schema and the arrays of a batch.
    fn array_capsules<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)>> {
        self.batches.first().map(|batch| capsule::of_batch(py, batch)).transpose()
    }

    fn stream_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::of_stream(py, &self.schema, self.batches.clone().into_iter().map(Ok))
    }

    fn schema_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::of_schema(py, &self.schema)
    }
}

/// Appends the rows of a batch as dicts. A column of names has its numbers again, unless `has_names`.
fn append_records(list: &Bound<'_, PyList>, batch: &RecordBatch, has_names: bool) -> PyResult<()> {
    let py = list.py();
    let names: Vec<_> = batch.schema_ref().fields().iter().map(|field| PyString::intern(py, field.name())).collect();
    let columns = (0..batch.num_columns()).map(|column| {
        let found = Values::of_column(batch, column).map_err(|error| raise(py, error))?;
        values(py, found, has_names)
    });
    let columns = columns.collect::<PyResult<Vec<_>>>()?;
    for row in 0..batch.num_rows() {
        let record = PyDict::new(py);
        for (name, column) in names.iter().zip(&columns) {
            record.set_item(name, column.get(row))?;
        }
        list.append(record)?;
    }
    Ok(())
}

fn values<'py>(py: Python<'py>, values: Values<'_>, has_names: bool) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let text = |text: &str| Ok(PyString::new(py, text).into_any());
    let json = |text: &str| json::value(py, text);
    let each_text = |texts: Texts<'_>, read: &dyn Fn(&str) -> PyResult<Bound<'py, PyAny>>| match texts {
        Texts::Plain(array) => each(py, array.iter(), read),
        Texts::Views(array) => each(py, array.iter(), read),
    };
    match values {
        Values::Names(texts, names) if !has_names => each_text(texts, &|name| {
            let number = names.iter().find(|(known, _)| *known == name).map(|(_, number)| *number);
            let number = number.or_else(|| name.parse().ok());
            number.map_or_else(|| text(name), |number| Ok(PyInt::new(py, number).into_any()))
        }),
        Values::Strings(texts) | Values::Names(texts, _) => each_text(texts, &text),
        Values::Json(texts) => each_text(texts, &json),
        Values::Int64(array) => each(py, array.iter(), &|value| Ok(PyInt::new(py, value).into_any())),
        Values::Float64(array) => each(py, array.iter(), &|value| Ok(PyFloat::new(py, value).into_any())),
        Values::Bool(array) => each(py, array.iter(), &|value| Ok(PyBool::new(py, value).to_owned().into_any())),
        Values::Nulls(count) => Ok(vec![py.None().into_bound(py); count]),
        Values::Timestamp(array, zone) => {
            let zone = zone.map(Zone::try_new).transpose().map_err(|error| raise(py, error))?;
            each(py, array.iter(), &|value| {
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
