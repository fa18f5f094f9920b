//! Batches and tables for Python: Arrow memory that other libraries take without a copy.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use pythonize::pythonize;

use super::raise::raise;
use super::{capsule, values};
use crate::columns;
use crate::scan::{Collected, Stats};
use crate::time::Zone;

/// A batch of rows in columns.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawBatch {
    batch: RecordBatch,
}

impl RawBatch {
    pub(super) fn new(batch: RecordBatch) -> Self {
        Self { batch }
    }
}

#[pymethods]
impl RawBatch {
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        names(self.batch.schema_ref())
    }

    /// The names of the columns and of their types.
    #[getter]
    fn types(&self, py: Python<'_>) -> PyResult<Vec<(String, &'static str)>> {
        types(py, self.batch.schema_ref())
    }

    /// The time zone of the timestamps, if they have one.
    #[getter]
    fn time_zone(&self) -> Option<String> {
        time_zone(self.batch.schema_ref())
    }

    fn __reduce__(_slf: &Bound<'_, Self>) -> PyResult<()> {
        Err(no_pickle("a Batch"))
    }

    /// The batch with instants in UTC, of times as the service wrote them in the zone `source`.
    fn in_utc(&self, py: Python<'_>, source: &str) -> PyResult<Self> {
        let zoned = Zone::try_new(source).and_then(|source| columns::zoned(&self.batch, &Zone::default(), &source));
        zoned.map(Self::new).map_err(|error| raise(py, error))
    }

    /// The first `most` rows as dicts, or all.
    fn to_dicts<'py>(&self, py: Python<'py>, most: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        dicts(py, std::slice::from_ref(&self.batch), most)
    }

    /// Exports the schema and the arrays.
    fn array_capsules<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        capsule::of_batch(py, &self.batch)
    }

    fn schema_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::of_schema(py, self.batch.schema_ref())
    }
}

/// A complete result in columns.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    stats: Arc<Stats>,
}

impl RawTable {
    pub(super) fn new(collected: Collected) -> Self {
        let Collected { schema, batches, stats } = collected;
        Self { schema, batches, stats }
    }

    fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// A table of some of its rows or columns, with the statistics of the whole.
    fn part(&self, schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches, stats: Arc::clone(&self.stats) }
    }
}

#[pymethods]
impl RawTable {
    #[getter]
    fn num_rows(&self) -> usize {
        self.rows()
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        names(&self.schema)
    }

    /// The names of the columns and of their types.
    #[getter]
    fn types(&self, py: Python<'_>) -> PyResult<Vec<(String, &'static str)>> {
        types(py, &self.schema)
    }

    /// The time zone of the timestamps, if they have one.
    #[getter]
    fn time_zone(&self) -> Option<String> {
        time_zone(&self.schema)
    }

    fn __reduce__(_slf: &Bound<'_, Self>) -> PyResult<()> {
        Err(no_pickle("a Table"))
    }

    /// As `in_utc` of a batch.
    fn in_utc(&self, py: Python<'_>, source: &str) -> PyResult<Self> {
        let utc = Zone::default();
        let zoned = Zone::try_new(source)
            .and_then(|source| self.batches.iter().map(|batch| columns::zoned(batch, &utc, &source)).collect());
        Ok(self.part(columns::zoned_schema(&self.schema, &utc), zoned.map_err(|error| raise(py, error))?))
    }

    /// An empty table of the same columns.
    fn without_rows(&self) -> Self {
        let mut stats = Stats::clone(&self.stats);
        stats.figures.rows = 0;
        Self { stats: Arc::new(stats), ..self.part(SchemaRef::clone(&self.schema), Vec::new()) }
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
        self.stats.missing_ids.clone()
    }

    /// The figures of the scan.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, self.stats.as_ref())?)
    }

    /// The first `most` rows as dicts, or all.
    fn to_dicts<'py>(&self, py: Python<'py>, most: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        dicts(py, &self.batches, most)
    }

    /// Exports a stream of all batches.
    fn stream_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let batches = self.batches.clone().into_iter().map(Ok);
        capsule::of_stream(py, RecordBatchIterator::new(batches, SchemaRef::clone(&self.schema)))
    }

    fn schema_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::of_schema(py, &self.schema)
    }
}

fn dicts<'py>(py: Python<'py>, batches: &[RecordBatch], most: Option<usize>) -> PyResult<Bound<'py, PyList>> {
    let mut left = most.unwrap_or(usize::MAX);
    let first = batches.iter().map(|batch| {
        let rows = batch.num_rows().min(left);
        left -= rows;
        batch.slice(0, rows)
    });
    // Displays and single columns have the names.
    values::dicts(py, &first.collect::<Vec<_>>(), most.is_some())
}

fn no_pickle(what: &str) -> PyErr {
    PyTypeError::new_err(format!("{what} does not pickle: pickle what its to_arrow() or to_pylist() returns"))
}

fn types(py: Python<'_>, schema: &Schema) -> PyResult<Vec<(String, &'static str)>> {
    let types = columns::types(schema).map_err(|error| raise(py, error))?;
    Ok(types.into_iter().map(|(name, column_type)| (name, column_type.described())).collect())
}

fn time_zone(schema: &Schema) -> Option<String> {
    schema.fields().iter().find_map(|field| match field.data_type() {
        DataType::Timestamp(_, Some(zone)) => Some(zone.to_string()),
        _ => None,
    })
}

fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}
