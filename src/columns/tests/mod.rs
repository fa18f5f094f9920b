//! Columns fed by the decoder, and read back as JSON.

mod batches;
mod hints;
mod inference;
mod random;
mod table;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::{Column, ColumnSink, Kind, Options};
use crate::decode::{BatchSink as _, DecodePlan, Decoder, Sink};
use crate::error::Result;

/// One batch for each request, unless the test says other.
const WIDE: Options = Options { views: false, max_rows: usize::MAX, max_bytes: usize::MAX, widen: false };

fn column(name: &str, kind: Kind) -> Column {
    Column { name: name.to_owned(), kind }
}

fn body(records: &[String]) -> String {
    format!(r#"{{"code":200,"data":{{"status":true,"data":[{}]}}}}"#, records.join(","))
}

/// Decodes a body into a sink, so many bytes at a time.
fn decode(columns: &[Column], body: &str, step: usize, sink: &mut impl Sink) -> Result<()> {
    let names = columns.iter().map(|column| column.name.clone()).collect();
    let mut decoder = Decoder::new(DecodePlan { columns: Some(names), ..DecodePlan::default() });
    for piece in body.as_bytes().chunks(step) {
        decoder.feed(piece, sink)?;
    }
    decoder.finish().map(|_| ())
}

/// All batches that a sink has.
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

/// Cells as the test writes them: null, digits, a float in its shortest form, a time, a text as it is.
fn cells(array: &ArrayRef) -> Vec<String> {
    let array = if *array.data_type() == DataType::Utf8View { &cast(array, &DataType::Utf8).unwrap() } else { array };
    (0..array.len())
        .map(|row| match array.data_type() {
            _ if array.is_null(row) => "null".to_owned(),
            DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
            DataType::Float64 => format!("{:?}", array.as_primitive::<Float64Type>().value(row)),
            DataType::Boolean => array.as_boolean().value(row).to_string(),
            DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
            DataType::Timestamp(..) => format!("{} us", array.as_primitive::<TimestampMicrosecondType>().value(row)),
            other => panic!("no column is of type {other}"),
        })
        .collect()
}

/// Cells of a column in all batches.
fn cells_of(batches: &[RecordBatch], place: usize) -> Vec<String> {
    batches.iter().flat_map(|batch| cells(batch.column(place))).collect()
}
