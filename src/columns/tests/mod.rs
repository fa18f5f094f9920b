//! Columns written by the decoder, and their cells read back as strings.

mod batches;
mod hints;
mod inference;
mod random;
mod table;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;

use super::{Column, ColumnSink, Options};
use crate::decode::{BatchSink as _, DecodePlan, Decoder, Sink};
use crate::error::Result;

/// One batch for all records.
const ONE_BATCH: Options = Options { views: false, max_rows: usize::MAX, max_bytes: usize::MAX, widen: false };

/// A record of one column for each value.
fn records(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| format!(r#"{{"a":{value}}}"#)).collect()
}

fn body(records: &[String]) -> String {
    format!(r#"{{"code":200,"data":{{"status":true,"data":[{}]}}}}"#, records.join(","))
}

/// Decodes a body into a sink, `step` bytes at a time.
fn decode(columns: &[Column], body: &str, step: usize, sink: &mut impl Sink) -> Result<()> {
    let names = columns.iter().map(|column| column.name.clone()).collect();
    let mut decoder = Decoder::new(DecodePlan { columns: Some(names), ..DecodePlan::default() });
    for mut piece in body.as_bytes().chunks(step) {
        while !piece.is_empty() {
            piece = &piece[decoder.feed(piece, sink)?..];
        }
    }
    decoder.finish().map(|_| ())
}

/// Takes all batches of a sink.
fn drain(sink: &mut ColumnSink) -> Result<Vec<RecordBatch>> {
    let mut batches = Vec::new();
    while let Some(batch) = sink.take_full()? {
        batches.push(batch);
    }
    while let Some(batch) = sink.take()? {
        batches.push(batch);
    }
    Ok(batches)
}

/// The batches of some records.
fn read(columns: &[Column], options: Options, records: &[String]) -> Result<Vec<RecordBatch>> {
    let mut sink = ColumnSink::new(columns, options);
    decode(columns, &body(records), 1 << 16, &mut sink)?;
    drain(&mut sink)
}

/// Cells as strings: `null`, digits, the shortest form of a float, microseconds of a time.
fn cells(array: &ArrayRef) -> Vec<String> {
    (0..array.len())
        .map(|row| match array.data_type() {
            _ if array.is_null(row) => "null".to_owned(),
            DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
            DataType::Float64 => format!("{:?}", array.as_primitive::<Float64Type>().value(row)),
            DataType::Boolean => array.as_boolean().value(row).to_string(),
            DataType::Utf8View => array.as_string_view().value(row).to_owned(),
            DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
            DataType::Timestamp(..) => format!("{} us", array.as_primitive::<TimestampMicrosecondType>().value(row)),
            other => panic!("no column is of type {other}"),
        })
        .collect()
}

/// Cells of a column in all batches.
fn cells_of(batches: &[RecordBatch], column: usize) -> Vec<String> {
    batches.iter().flat_map(|batch| cells(batch.column(column))).collect()
}
