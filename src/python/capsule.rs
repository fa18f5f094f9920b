//! Arrow streams of other libraries, taken out of the capsule they come in (the Arrow `PyCapsule` interface).
//!
//! The one file of the bindings that may hold `unsafe`; it reads no row.
#![expect(unsafe_code, reason = "a capsule holds a plain pointer, which nobody but its producer can vouch for")]

use arrow::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::raise::raise;
use crate::error::{Error, Kind};

/// The stream of an object that has `__arrow_c_stream__`.
///
/// # Errors
/// What the method raises, a `TypeError` when it gives anything but such a capsule, or `SandboxError` when what
/// comes is no table.
pub(super) fn stream(object: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: by the interface a capsule of this name holds a pointer to a valid stream, which may be moved out
    // once; what is left is marked as released, so that the capsule's destructor finds nothing to do.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) };
    reader.map_err(|cause| {
        let problem = format!("the rows come as an Arrow stream that is no table: {cause}");
        raise(object.py(), Error::new(Kind::Sandbox, problem))
    })
}
