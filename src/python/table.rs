//! Batches and tables for Python: Arrow memory that other libraries take without a copy.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use pythonize::pythonize;
use tokio_util::sync::CancellationToken;

use super::raise::raise;
use super::runs::{Storage, location};
use super::scan_futures::{RawFormat, format_of};
use super::{bridge, capsule, values};
use crate::columns::{self, ColumnType};
use crate::config::default_max_result_bytes;
use crate::error::{Kind, Result};
use crate::files::{AtomicFile, Complete, Csv, JsonRows, Location, Output, Parquet, RowMemory, Writer};
use crate::scan::{self, Collected, Format, Stats};
use crate::time::Zone;

/// A batch of rows in columns.
#[pyclass(frozen, module = "dataaccess._native")]
pub(super) struct RawBatch {
    batch: RecordBatch,
    /// The zone of times without one.
    source: Arc<Zone>,
}

impl RawBatch {
    pub(super) fn new(batch: RecordBatch, source: Arc<Zone>) -> Self {
        Self { batch, source }
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

    /// The batch with its timestamps in a time zone.
    fn zoned(&self, py: Python<'_>, zone: &str) -> PyResult<Self> {
        let zoned = Zone::try_new(zone).and_then(|zone| columns::zoned(&self.batch, &zone, &self.source));
        Ok(Self::new(zoned.map_err(|error| raise(py, error))?, Arc::clone(&self.source)))
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
    /// The zone of times without one.
    source: Arc<Zone>,
}

impl RawTable {
    pub(super) fn new(collected: Collected, source: Arc<Zone>) -> Self {
        let Collected { schema, batches, stats } = collected;
        Self { schema, batches, stats, source }
    }

    fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// A table of some of its rows or columns, with the statistics of the whole.
    fn part(&self, schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches, stats: Arc::clone(&self.stats), source: Arc::clone(&self.source) }
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

    /// The table with its timestamps in a time zone.
    fn zoned(&self, py: Python<'_>, zone: &str) -> PyResult<Self> {
        let zone = Zone::try_new(zone).map_err(|error| raise(py, error))?;
        let zoned = self.batches.iter().map(|batch| columns::zoned(batch, &zone, &self.source));
        let batches = zoned.collect::<Result<_, _>>().map_err(|error| raise(py, error))?;
        Ok(self.part(columns::zoned_schema(&self.schema, &zone), batches))
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

    /// Writes it into a file, and returns its size.
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: RawFormat,
        private: bool,
        storage_options: Storage,
    ) -> PyResult<u64> {
        let (batches, schema, format) = (self.batches.clone(), SchemaRef::clone(&self.schema), format_of(format));
        let abandoned = CancellationToken::new();
        let _ends = abandoned.clone().drop_guard();
        let location = location(py, path, storage_options, None)?;
        bridge::block(py, async move {
            let complete = tokio::task::spawn_blocking(move || {
                let complete = write(location.create(Kind::File, private)?, format, &schema, &batches);
                complete.map(|complete| complete.unless(&abandoned))
            });
            let complete = complete.await.unwrap_or_else(|_| Err(scan::panicked()))?;
            complete.publish().await.map(|published| published.bytes)
        })
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

/// The rows of parts of a folder that a run wrote.
#[pyfunction]
pub(super) fn read_files(
    py: Python<'_>,
    folder: PathBuf,
    paths: Vec<PathBuf>,
    attributes: Vec<String>,
    storage_options: Storage,
    source_zone: &str,
) -> PyResult<RawTable> {
    let source = Zone::try_new(source_zone).map_err(|error| raise(py, error))?;
    let parts = location(py, folder, storage_options, None)
        .and_then(|folder| Location::all(&folder, paths).map_err(|error| raise(py, error)))?;
    let memory = RowMemory::new(default_max_result_bytes());
    bridge::block(py, async move { scan::read_files(&parts, &attributes, &memory).await })
        .map(|collected| RawTable::new(collected, Arc::new(source)))
}

fn write(file: AtomicFile, format: Format, schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Complete> {
    match format {
        Format::Parquet => {
            let writer = Parquet::new(file, schema, &columns::with_dictionaries(schema))?;
            write_all(writer, batches.iter().cloned().map(Ok))
        }
        Format::Csv { options, compression } => {
            let schema = columns::text_schema(schema);
            write_all(
                Csv::new(Output::new(file, compression)?, options, &schema)?,
                batches.iter().map(columns::with_text_times),
            )
        }
        Format::JsonLines { compression } => {
            let types = columns::types(schema)?;
            let are_json = types.iter().map(|(_, column_type)| *column_type == ColumnType::Json).collect();
            write_all(
                JsonRows::new(Output::new(file, compression)?, are_json),
                batches.iter().map(columns::with_text_times),
            )
        }
    }
}

fn write_all<W: Writer<Batch = RecordBatch>>(
    mut writer: W,
    batches: impl Iterator<Item = Result<RecordBatch>>,
) -> Result<Complete> {
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.finish()
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
