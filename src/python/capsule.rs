//! The Arrow `PyCapsule` interface: imports streams of other libraries, exports our schemas, batches and streams.
//!
//! The one file that may hold `unsafe`.
#![expect(unsafe_code, reason = "a capsule holds a raw pointer, which only its producer can guarantee to be valid")]

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array as _, RecordBatch, RecordBatchReader, StructArray};
use arrow_schema::ArrowError;
use arrow_schema::Schema;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::raise::raise;
use crate::error::{Error, Kind};

/// The stream of an object that has `__arrow_c_stream__`.
///
/// # Errors
/// What the method raises, a `TypeError` when it returns anything but such a capsule, or `SandboxError` when the stream
/// has no columns.
pub(super) fn stream(object: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: by the interface a capsule of this name holds a pointer to a valid stream, which may be moved out
    // once; what is left is marked as released, so that the capsule's destructor finds nothing to do.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) };
    reader.map_err(|cause| {
        let problem = format!("the rows are an Arrow stream without columns: {cause}");
        raise(object.py(), Error::new(Kind::Sandbox, problem))
    })
}

/// Exports a schema.
pub(super) fn of_schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(|cause| defect(py, &cause))?;
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

fn defect(py: Python<'_>, cause: &ArrowError) -> PyErr {
    raise(py, Error::new(Kind::Internal, format!("Arrow export failed: {cause}; please report this")))
}
