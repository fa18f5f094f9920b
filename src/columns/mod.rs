//! The sink that builds Arrow batches: typed columns, the schema of promotion codes, inference and widening.

mod builder;
mod inferred;
mod json;
mod lent;
mod nulls;
mod numbers;
mod primitive_builder;
mod sink;
mod string_builder;
mod times;
mod types;
mod unify;
mod zoned;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;

pub use sink::{ColumnSink, Options};
pub use times::{collected, parse_times, streamed};
pub use types::{Column, NAME, Type, codes, frozen, items, known_types, schema, type_names};
pub use unify::unify;
pub use zoned::{zoned, zoned_schema};

use crate::error::{Error, Kind, Result};

/// A batch of these arrays.
fn assemble(schema: &SchemaRef, arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(SchemaRef::clone(schema), arrays, &options)
        .map_err(|error| defect("cannot build the record batch").with_source(error))
}

/// An error that only a bug in this package causes.
fn defect(what: &str) -> Error {
    Error::new(Kind::Internal, format!("{what}: please report this"))
}

#[cfg(test)]
mod tests;
