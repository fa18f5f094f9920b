//! The sink that builds Arrow batches: typed columns, the schema of promotion codes, inference and widening.
#![expect(clippy::indexing_slicing, reason = "a wrong index is a defect: the caller turns the panic into an error")]

mod builder;
mod column;
mod column_type;
mod dictionary;
mod inferred;
mod numbers;
mod primitives;
mod sink;
mod strings;
mod unify;
mod untyped;
mod values;
mod zoned;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

pub use column::{Column, Types, codes, customers, frozen, items, known_types, schema, types};
pub use column_type::{ColumnType, NAME};
pub use dictionary::{to_dictionaries, with_dictionaries};
pub use sink::{ColumnSink, Options};
pub use unify::{Unified, unify};
pub use untyped::{retyped, with_types};
pub use values::{Texts, Values};
pub use zoned::{text_schema, with_text_times, zone_of, zoned, zoned_schema};

use crate::error::{Result, defect};

/// A batch of these arrays.
fn assemble(schema: &SchemaRef, arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(SchemaRef::clone(schema), arrays, &options)
        .map_err(|error| defect("cannot build the record batch").with_source(error))
}

/// The schema with another type for some of its columns.
fn with_data_types(schema: &Schema, other: impl Fn(&Field) -> Option<DataType>) -> SchemaRef {
    let field = |field: &FieldRef| match other(field) {
        Some(data_type) => Arc::new(field.as_ref().clone().with_data_type(data_type)),
        None => Arc::clone(field),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Fields>()))
}

/// The batch with another schema, and with another array for some of its columns.
fn with_arrays(
    batch: &RecordBatch,
    schema: &SchemaRef,
    other: impl Fn(&Field, &ArrayRef) -> Result<Option<ArrayRef>>,
) -> Result<RecordBatch> {
    let columns = schema.fields().iter().zip(batch.columns());
    let arrays = columns.map(|(field, array)| Ok(other(field, array)?.unwrap_or_else(|| Arc::clone(array))));
    assemble(schema, arrays.collect::<Result<_>>()?, batch.num_rows())
}

#[cfg(test)]
mod tests;
