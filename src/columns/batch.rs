//! Arrays put together to a batch, and what a batch that can still be widened says of its columns.

use std::collections::HashMap;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, SchemaRef};

use super::inferred::ObservedTypes;
use crate::error::{Error, Kind, Result};

/// Key of a field's metadata, there until [`super::unify`]: JSON and text are one type of Arrow.
const SEEN: &str = "dataaccess.seen";

/// The field of a column whose type may still be widened.
pub(super) fn field_with_seen(field: Field, seen: ObservedTypes) -> Field {
    field.with_metadata(HashMap::from([(SEEN.to_owned(), seen.bits().to_string())]))
}

/// What was seen of a column when the batch was made.
pub(super) fn seen_of(batch: &RecordBatch, place: usize) -> Result<ObservedTypes> {
    let field = batch.schema_ref().fields().get(place);
    let bits = field.and_then(|field| field.metadata().get(SEEN)).and_then(|bits| bits.parse().ok());
    bits.map(ObservedTypes::from_bits).ok_or_else(|| defect("a batch cannot be widened: its sink does not widen"))
}

/// A batch of these arrays.
pub(super) fn assemble(schema: &SchemaRef, arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(SchemaRef::clone(schema), arrays, &options)
        .map_err(|error| defect("columns make no batch").with_source(error))
}

/// What only a mistake of this package can bring about.
pub(super) fn defect(what: &str) -> Error {
    Error::new(Kind::Internal, format!("{what}: please report this"))
}
