//! Columns without any value, whose type is not known yet.

use std::sync::Arc;

use arrow_array::{Array as _, RecordBatch, new_null_array};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use super::column::{self, Types, type_of};
use super::column_type::ColumnType;
use super::with_arrays;
use crate::decode::{Cell, integer};
use crate::error::Result;

/// Whether the column of a field has no type yet.
pub(super) fn is_untyped(field: &Field) -> bool {
    *field.data_type() == DataType::Null
}

/// The batch with the types of a schema. A column without any value takes any type.
///
/// # Errors
/// `Internal` when a column has values of another type.
pub fn retyped(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    with_arrays(batch, schema, |field, array| {
        let is_other = array.logical_null_count() == array.len() && array.data_type() != field.data_type();
        Ok(is_other.then(|| new_null_array(field.data_type(), array.len())))
    })
}

/// The schema with these types for columns that have them, and with its own for the others.
///
/// # Errors
/// `Internal` when it is no schema of this package.
pub fn with_types(schema: &SchemaRef, types: &Types) -> Result<SchemaRef> {
    let known = column::types(schema)?;
    let field = |field: &FieldRef| match (type_of(&known, field.name()), type_of(types, field.name())) {
        (Some(before), Some(now)) if before != now => Arc::new(now.field(field.name(), false)),
        _ => Arc::clone(field),
    };
    Ok(Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Fields>())))
}

/// The type for a value of a column that had none before.
pub(super) fn suggested(cell: Cell) -> ColumnType {
    match cell {
        Cell::Integer(digits) if integer(digits).is_some() => ColumnType::Int64,
        Cell::Number(_) => ColumnType::Float64,
        Cell::Bool(_) => ColumnType::Bool,
        Cell::Nested(_) => ColumnType::Json,
        Cell::Integer(_) | Cell::String(_) | Cell::Null => ColumnType::String,
    }
}
