//! Columns without any value, whose type is not known yet.

use std::sync::Arc;

use arrow_array::{Array as _, RecordBatch, new_null_array};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use super::assemble;
use super::column::{self, Column, Types};
use super::column_type::ColumnType;
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
    let typed = batch.columns().iter().zip(schema.fields()).map(|(array, field)| {
        if array.logical_null_count() == array.len() && array.data_type() != field.data_type() {
            new_null_array(field.data_type(), array.len())
        } else {
            Arc::clone(array)
        }
    });
    assemble(schema, typed.collect(), batch.num_rows())
}

/// The schema with these types for columns that have them, and with its own for the others.
///
/// # Errors
/// `Internal` when it is no schema of this package.
pub fn with_types(schema: &SchemaRef, types: &Types) -> Result<SchemaRef> {
    let known = column::types(schema)?;
    let field = |field: &FieldRef| {
        let of = |types: &Types| types.iter().find(|(name, _)| name == field.name()).map(|(_, found)| *found);
        match (of(&known), of(types)) {
            (Some(before), Some(now)) if before != now => Column::new(field.name(), now).field(false).map(Arc::new),
            _ => Some(Arc::clone(field)),
        }
    };
    let fields: Option<Fields> = schema.fields().iter().map(field).collect();
    Ok(fields.map_or_else(|| Arc::clone(schema), |fields| Arc::new(Schema::new(fields))))
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
