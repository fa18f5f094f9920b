//! Gives the batches of a collected scan one schema: the narrowest types that hold all their values.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{ArrayRef, RecordBatch, StringViewArray, StructArray};
use arrow_schema::{DataType, SchemaRef};

use super::assemble;
use super::builder::Builder;
use super::column::{Column, schema};
use super::column_type::ColumnType;
use super::inferred::{Inferred, ObservedTypes, replay};
use super::numbers::{any_wide, as_float};
use crate::error::{Error, Kind, Result, defect};

/// A schema, its batches, and the names of the columns that have strings and other values.
pub type Unified = (SchemaRef, Vec<RecordBatch>, Vec<String>);

/// Unifies batches that were built with [`super::Options::widen`]. Without batches there is a schema too. A column
/// without values becomes strings. Returns also the names of the columns that have strings and other values.
///
/// # Errors
/// `Internal` when the batches are not of these columns.
pub fn unify(columns: &[Column], views: bool, batches: Vec<RecordBatch>) -> Result<Unified> {
    let (mut typed, mut mixed) = (columns.to_vec(), Vec::new());
    for (index, column) in typed.iter_mut().enumerate() {
        let is_float = |batch: &RecordBatch| batch.column(index).data_type() == &DataType::Float64;
        if column.widens && batches.iter().any(is_float) {
            column.column_type = Some(ColumnType::Float64);
        }
        if column.column_type.is_none() {
            let mut observed = ObservedTypes::default();
            for batch in &batches {
                observed = observed | Inferred::observed(values(batch.column(index))?);
            }
            column.column_type = Some(observed.narrowest().unwrap_or(ColumnType::String));
            if observed.is_mixed() {
                mixed.push(column.name.clone());
            } else if column.column_type == Some(ColumnType::StringOrJson) {
                // Its strings need no copy.
                column.column_type = Some(ColumnType::String);
            }
        }
    }
    let schema = schema(&typed, views).ok_or_else(|| defect("a column has no type"))?;
    let convert = |batch: RecordBatch| {
        let columns = columns.iter().zip(&typed).zip(batch.columns());
        let arrays = columns.map(|((column, typed), array)| match column.column_type {
            None => convert(values(array)?, typed, views),
            Some(ColumnType::Int64) if typed.column_type == Some(ColumnType::Float64) => floats(array, column),
            Some(_) => Ok(Arc::clone(array)),
        });
        assemble(&schema, arrays.collect::<Result<_>>()?, batch.num_rows())
    };
    let batches = batches.into_iter().map(convert).collect::<Result<_>>()?;
    Ok((schema, batches, mixed))
}

/// Integers or floats as floats.
fn floats(array: &ArrayRef, column: &Column) -> Result<ArrayRef> {
    let Some(integers) = array.as_primitive_opt::<Int64Type>() else { return Ok(Arc::clone(array)) };
    if any_wide(integers.values()) {
        let message = format!("{} has fractions, and integers that no float of 64 bits holds", column.name);
        return Err(Error::new(Kind::Record, message).with_hint("search for it with search_codes"));
    }
    Ok(Arc::new(integers.unary::<_, Float64Type>(as_float)))
}

/// The values of an inferred column.
fn values(array: &ArrayRef) -> Result<&StructArray> {
    array.as_struct_opt().ok_or_else(|| defect("a batch already has types"))
}

/// The values as an array of the column's type.
fn convert(values: &StructArray, column: &Column, views: bool) -> Result<ArrayRef> {
    if column.column_type == Some(ColumnType::String) {
        let strings = values.column(0);
        return Ok(if views {
            Arc::new(StringViewArray::from(strings.as_string::<i32>()))
        } else {
            Arc::clone(strings)
        });
    }
    let mut builder = Builder::new(column, views);
    replay(values, &mut builder)?;
    builder.finish(true)
}
