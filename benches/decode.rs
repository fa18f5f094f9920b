//! Decodes bodies of many shapes in memory and compares with `serde_json`: `cargo bench --bench decode`.
//!
//! Each run adds up the values, and panics if two implementations disagree.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a bench that fails is to stop")]

#[path = "decode/bodies.rs"]
mod bodies;
#[path = "decode/serde.rs"]
mod serde;
#[path = "decode/sums.rs"]
mod sums;

use std::sync::Arc;

use arrow_array::RecordBatch;
use bodies::{COLUMNS, RECORDS, SHAPES, Shape};
use dataaccess::cells::{Block, Cells};
use dataaccess::columns::{Column, ColumnSink, ColumnType, Options};
use dataaccess::decode::{BatchSink, DecodePlan, Decoder, Sink};
use divan::Bencher;
use divan::counter::BytesCount;
use sums::{Adder, Sums};

fn main() {
    divan::main();
}

/// Decodes a body, `piece` bytes at a time.
fn decode<S: Sink>(body: &[u8], piece: usize, sink: &mut S, mut after: impl FnMut(&mut S)) {
    let columns = Some(Arc::from(COLUMNS.map(str::to_owned)));
    let mut decoder = Decoder::new(DecodePlan { columns, ..DecodePlan::default() });
    for mut piece in body.chunks(piece) {
        while !piece.is_empty() {
            piece = &piece[decoder.feed(piece, sink).expect("a valid response")..];
            after(sink);
        }
    }
    decoder.finish().expect("a complete response");
}

fn decoded(body: &[u8], piece: usize) -> Sums {
    let mut adder = Adder::default();
    decode(body, piece, &mut adder, |_| ());
    adder.sums
}

fn compare(bencher: Bencher, shape: Shape, read: impl Fn(&[u8]) -> Sums + Sync) {
    let body = shape.body(RECORDS);
    let expected = serde::visited(&body);
    bencher.counter(BytesCount::of_slice(&body)).bench(|| assert_eq!(read(&body), expected));
}

/// The decoder, body in memory.
#[divan::bench(args = SHAPES, sample_count = 20, sample_size = 1)]
fn decoder(bencher: Bencher, shape: Shape) {
    compare(bencher, shape, |body| decoded(body, usize::MAX));
}

/// The decoder, fed as from a socket.
#[divan::bench(args = [8 << 10, 64 << 10, 512 << 10], sample_count = 20, sample_size = 1)]
fn decoder_in_pieces(bencher: Bencher, piece: usize) {
    compare(bencher, Shape::Contract, |body| decoded(body, piece));
}

/// The decoder into columns, in batches as a stream of the client has them.
#[divan::bench(args = SHAPES, sample_count = 20, sample_size = 1)]
fn decoder_to_columns(bencher: Bencher, shape: Shape) {
    let number = if shape == Shape::Floats { ColumnType::Float64 } else { ColumnType::Int64 };
    let source = if shape == Shape::Nested { ColumnType::Json } else { ColumnType::String };
    let (text, time) = (ColumnType::String, ColumnType::Timestamp);
    let types = [text, text, number, number, text, number, time, time, source, time];
    let types: Vec<_> =
        COLUMNS.into_iter().zip(types).map(|(name, column_type)| Column::new(name, column_type)).collect();
    let options = Options { views: false, max_rows: 8_192, max_bytes: 2 << 20, widen: false };
    batches(bencher, shape, || ColumnSink::new(&types, options), RecordBatch::num_rows);
}

/// The decoder into rows.
#[divan::bench(args = [Shape::Contract, Shape::Escapes], sample_count = 20, sample_size = 1)]
fn decoder_to_cells(bencher: Bencher, shape: Shape) {
    batches(bencher, shape, || Cells::new(COLUMNS.len()), Block::rows);
}

fn batches<G: BatchSink>(bencher: Bencher, shape: Shape, sink: impl Fn() -> G + Sync, rows: fn(&G::Batch) -> usize) {
    let body = shape.body(RECORDS);
    let expected = serde::visited(&body).records;
    bencher.counter(BytesCount::of_slice(&body)).bench(|| {
        let (mut sink, mut found) = (sink(), 0);
        decode(&body, 64 << 10, &mut sink, |sink| {
            while let Some(batch) = sink.take_full().expect("a batch") {
                found += rows(&batch);
            }
        });
        while let Some(batch) = sink.take().expect("a batch") {
            found += rows(&batch);
        }
        assert_eq!(found as u64, expected);
    });
}

/// `serde_json` with a visitor that adds up values and builds nothing.
#[divan::bench(args = SHAPES, sample_count = 8, sample_size = 1)]
fn serde_visitor(bencher: Bencher, shape: Shape) {
    compare(bencher, shape, serde::visited);
}

/// `serde_json` to a `Value`.
#[divan::bench(args = SHAPES, sample_count = 4, sample_size = 1)]
fn serde_value(bencher: Bencher, shape: Shape) {
    compare(bencher, shape, serde::valued);
}
