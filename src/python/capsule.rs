//! The Arrow `PyCapsule` interface: exports schemas, batches and streams. Names of values are dictionaries there.

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array as _, RecordBatch, RecordBatchIterator, StructArray};
use arrow_schema::{ArrowError, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::raise::raise;
use crate::columns::{to_dictionaries, with_dictionaries};
use crate::error::defect;

pub(super) fn of_schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(with_dictionaries(schema).as_ref())
        .map_err(|cause| raise(py, defect("Arrow cannot export the schema").with_source(cause)))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// Exports a batch as the pair of its schema and its arrays. The memory is shared.
pub(super) fn of_batch<'py>(
    py: Python<'py>,
    batch: &RecordBatch,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let schema = of_schema(py, batch.schema_ref())?;
    let batch = to_dictionaries(batch).map_err(|error| raise(py, error))?;
    let array = FFI_ArrowArray::new(&StructArray::from(batch).to_data());
    Ok((schema, PyCapsule::new_with_value(py, array, c"arrow_array")?))
}

/// Exports a stream of batches of a schema, which the other library pulls with or without holding the interpreter.
pub(super) fn of_stream<'py>(
    py: Python<'py>,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    let convert = |batch| to_dictionaries(&batch).map_err(|error| ArrowError::ExternalError(Box::new(error)));
    let batches = batches.map(move |batch| batch.and_then(convert));
    let reader = Box::new(RecordBatchIterator::new(batches, with_dictionaries(schema)));
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
}
