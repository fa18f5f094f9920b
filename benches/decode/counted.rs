//! Runs the decoder as often as the last argument says: `counted columns|rows contract|escapes TIMES`.
//!
//! `benches/instructions.py` counts its instructions. It ends with an error if a record is missing.

#![expect(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a failed check stops the program")]
#![expect(dead_code, reason = "the bench `decode` uses the other shapes")]

pub(crate) mod bodies;

use std::sync::Arc;

use arrow_array::RecordBatch;
use bodies::{COLUMNS, Shape};
use dataaccess::cells::{Block, Cells};
use dataaccess::columns::{Column, ColumnSink, ColumnType, Options};
use dataaccess::decode::{BatchSink, DecodePlan, Decoder};

const RECORDS: usize = 20_000;
/// About what a read from a socket gives.
const PIECE: usize = 256 << 10;

fn main() {
    // Cargo adds an option of its own.
    let arguments: Vec<_> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [sink, shape, times] = arguments.as_slice() else { panic!("counted columns|rows contract|escapes TIMES") };
    let shape = match shape.as_str() {
        "contract" => Shape::Contract,
        "escapes" => Shape::Escapes,
        other => panic!("no shape {other}"),
    };
    let body = shape.body(RECORDS);
    for _ in 0..times.parse().expect("a number") {
        let found = match sink.as_str() {
            "columns" => decode(&body, columns(), RecordBatch::num_rows),
            "rows" => decode(&body, Cells::new(COLUMNS.len()), Block::rows),
            other => panic!("no sink {other}"),
        };
        assert_eq!(found, RECORDS);
    }
}

/// Columns in batches, as the client has them.
pub(crate) fn columns() -> ColumnSink {
    let (text, number, time) = (ColumnType::String, ColumnType::Int64, ColumnType::Timestamp);
    let types = [text, text, number, number, text, number, time, time, text, time];
    let columns: Vec<_> =
        COLUMNS.into_iter().zip(types).map(|(name, column_type)| Column::new(name, column_type)).collect();
    ColumnSink::new(&columns, Options { views: false, max_rows: 8_192, max_bytes: 2 << 20, widen: false })
}

/// How many records are in all batches.
pub(crate) fn decode<S: BatchSink>(body: &[u8], mut sink: S, rows: fn(&S::Batch) -> usize) -> usize {
    let columns = Some(Arc::from(COLUMNS.map(str::to_owned)));
    let mut decoder = Decoder::new(DecodePlan { columns, ..DecodePlan::default() });
    let mut found = 0;
    for mut piece in body.chunks(PIECE) {
        while !piece.is_empty() {
            piece = &piece[decoder.feed(piece, &mut sink).expect("a valid response")..];
            while let Some(batch) = sink.take_full().expect("a batch") {
                found += rows(&batch);
            }
        }
    }
    decoder.finish().expect("a complete response");
    found + sink.take().expect("a batch").map_or(0, |batch| rows(&batch))
}
