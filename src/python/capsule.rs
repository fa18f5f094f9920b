//! The Arrow `PyCapsule` interface: exports schemas, batches and streams.

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array as _, RecordBatch, RecordBatchReader, StructArray};
use arrow_schema::Schema;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::raise::raise;
use crate::error::defect;

/// Exports a schema.
pub(super) fn of_schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema)
        .map_err(|cause| raise(py, defect("Arrow cannot export the schema").with_source(cause)))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// Exports a batch as the pair of its schema and its arrays. The memory is shared.
pub(super) fn of_batch<'py>(
    py: Python<'py>,
    batch: &RecordBatch,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let schema = of_schema(py, batch.schema_ref())?;
    let array = FFI_ArrowArray::new(&StructArray::from(batch.clone()).to_data());
    Ok((schema, PyCapsule::new_with_value(py, array, c"arrow_array")?))
}

/// Exports a stream of batches, which the other library pulls with or without holding the interpreter.
pub(super) fn of_stream(
    py: Python<'_>,
    reader: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
}
