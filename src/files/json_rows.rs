//! Batches as JSON Lines: one object per line, a time as `2024-01-15 10:00:00`.

use std::io::Write;

use arrow_array::cast::AsArray as _;
use arrow_array::temporal_conversions::timestamp_us_to_datetime;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::DataType;

use super::Writer;
use super::atomic::Complete;
use super::json_lines::{push_json, push_string};
use super::output::Output;
use crate::error::Result;

/// Writes the rows of batches.
#[derive(Debug)]
pub struct JsonRows {
    file: Output,
    /// For each column whether its strings are JSON.
    are_json: Vec<bool>,
    /// The lines of a batch; a buffer that is used again for each batch.
    lines: Vec<u8>,
}

impl JsonRows {
    /// Begins a file. `are_json` says for each column whether its strings are JSON.
    #[must_use]
    pub const fn new(file: Output, are_json: Vec<bool>) -> Self {
        Self { file, are_json, lines: Vec::new() }
    }

    fn push(&mut self, batch: &RecordBatch) -> serde_json::Result<()> {
        let schema = batch.schema_ref();
        for row in 0..batch.num_rows() {
            let mut separator = b'{';
            let columns = schema.fields().iter().zip(batch.columns()).zip(&self.are_json);
            for ((field, column), is_json) in columns {
                self.lines.push(std::mem::replace(&mut separator, b','));
                push_string(&mut self.lines, field.name())?;
                self.lines.push(b':');
                push_value(&mut self.lines, column, row, *is_json)?;
            }
            self.lines.extend_from_slice(if separator == b'{' { b"{}\n" } else { b"}\n" });
        }
        Ok(())
    }
}

impl Writer for JsonRows {
    type Batch = RecordBatch;

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.lines.clear();
        self.push(batch).map_err(|cause| self.file.to_error(cause))?;
        self.file.write_all(&self.lines).map_err(|cause| self.file.to_error(cause))
    }

    fn finish(mut self) -> Result<Complete> {
        self.file.finish()
    }
}

/// The value of a row. A column has one of the types of columns.
fn push_value(out: &mut Vec<u8>, column: &ArrayRef, row: usize, is_json: bool) -> serde_json::Result<()> {
    if column.is_null(row) {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    match column.data_type() {
        DataType::Int64 => serde_json::to_writer(out, &column.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => serde_json::to_writer(out, &column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => serde_json::to_writer(out, &column.as_boolean().value(row)),
        DataType::Timestamp(..) => {
            let time = timestamp_us_to_datetime(column.as_primitive::<TimestampMicrosecondType>().value(row));
            serde_json::to_writer(out, &time.map(|time| time.to_string()))
        }
        DataType::Utf8View if is_json => {
            push_json(out, column.as_string_view().value(row));
            Ok(())
        }
        DataType::Utf8View => push_string(out, column.as_string_view().value(row)),
        _ if is_json => {
            push_json(out, column.as_string::<i32>().value(row));
            Ok(())
        }
        _ => push_string(out, column.as_string::<i32>().value(row)),
    }
}
