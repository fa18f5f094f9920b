//! Columns that are timestamps if every value is a time: known only once all values were read.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, RecordBatch, TimestampMicrosecondArray};
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef};

use super::assemble;
use super::column::Column;
use super::column_type::ColumnType;
use crate::error::Result;
use crate::time::wall_clock_microseconds;

/// The columns as they are collected: strings where only all values show whether they are times.
#[must_use]
pub fn collected(columns: &[Column]) -> Vec<Column> {
    let as_string = |column: &Column| match column.column_type {
        Some(ColumnType::TimeOrString) => Column::new(&column.name, ColumnType::StringOrJson),
        _ => column.clone(),
    };
    columns.iter().map(as_string).collect()
}

/// The columns as they are streamed: a value that is no time is an error where other files may have times.
#[must_use]
pub fn streamed(columns: &[Column]) -> Vec<Column> {
    let as_time = |column: &Column| match column.column_type {
        Some(ColumnType::TimeOrString) => Column::new(&column.name, ColumnType::Timestamp),
        _ => column.clone(),
    };
    columns.iter().map(as_time).collect()
}

/// Turns these columns of a collected result into timestamps where every value is one. Returns the names of the others
/// too: they stay strings.
///
/// # Errors
/// `Internal` when no batch can be built.
pub fn parse_times(
    columns: &[Column],
    schema: &SchemaRef,
    batches: &[RecordBatch],
) -> Result<(SchemaRef, Vec<RecordBatch>, Vec<String>)> {
    let mut fields: Vec<FieldRef> = schema.fields().iter().cloned().collect();
    let mut arrays: Vec<Vec<ArrayRef>> = batches.iter().map(|batch| batch.columns().to_vec()).collect();
    let mut strings = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        if column.column_type != Some(ColumnType::TimeOrString) {
            continue;
        }
        let parsed: Option<Vec<_>> = arrays.iter().map(|batch| times(&batch[index])).collect();
        let (Some(parsed), Some(field)) = (parsed, column.field(false)) else {
            strings.push(column.name.clone());
            continue;
        };
        fields[index] = Arc::new(field);
        for (batch, times) in arrays.iter_mut().zip(parsed) {
            batch[index] = times;
        }
    }
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let rebuilt = arrays.into_iter().zip(batches);
    let batches = rebuilt.map(|(arrays, batch)| assemble(&schema, arrays, batch.num_rows())).collect::<Result<_>>()?;
    Ok((schema, batches, strings))
}

/// The values as timestamps; `None` if one of them is no time.
fn times(array: &ArrayRef) -> Option<ArrayRef> {
    let read = |text: Option<&str>| text.map_or(Some(None), |text| wall_clock_microseconds(text).map(Some));
    let times: TimestampMicrosecondArray = match array.data_type() {
        DataType::Utf8View => array.as_string_view().iter().map(read).collect::<Option<_>>()?,
        DataType::Utf8 => array.as_string::<i32>().iter().map(read).collect::<Option<_>>()?,
        _ => return None,
    };
    Some(Arc::new(times))
}
