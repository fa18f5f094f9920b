//! Decodes responses in memory, beside `serde_json`: `cargo bench --profile dist --bench decode`.
//!
//! Each run counts its cells that are not null and panics at a wrong number.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a failed check stops the bench")]

#[path = "decode/counted.rs"]
mod counted;

use arrow_array::{Array as _, RecordBatch};
use counted::bodies::{COLUMNS, SHAPES, Shape};
use dataaccess::cells::{Block, Cells};
use divan::Bencher;
use divan::counter::BytesCount;
use serde::Deserialize;
use serde_json::Value;

/// 26 MB in the first shape.
const RECORDS: usize = 100_000;

fn main() {
    divan::main();
}

/// The decoder into columns, in batches as the client has them.
#[divan::bench(args = SHAPES, sample_count = 20, sample_size = 1)]
fn decoder_to_columns(bencher: Bencher, shape: Shape) {
    let cells = |batch: &RecordBatch| batch.columns().iter().map(|column| column.len() - column.null_count()).sum();
    compare(bencher, shape, cells_in_json, |body| counted::decode(body, counted::columns(), cells));
}

/// The decoder into rows.
#[divan::bench(args = SHAPES, sample_count = 20, sample_size = 1)]
fn decoder_to_rows(bencher: Bencher, shape: Shape) {
    compare(bencher, shape, |_| RECORDS, |body| counted::decode(body, Cells::new(COLUMNS.len()), Block::rows));
}

/// `serde_json` into structs.
#[divan::bench(args = SHAPES, sample_count = 8, sample_size = 1)]
fn serde_structs(bencher: Bencher, shape: Shape) {
    compare(bencher, shape, cells_in_json, |body| {
        let response: Response = serde_json::from_slice(body).expect("valid JSON");
        response.data.data.iter().map(Record::cells).sum()
    });
}

fn compare(bencher: Bencher, shape: Shape, expected: impl Fn(&[u8]) -> usize, read: impl Fn(&[u8]) -> usize + Sync) {
    let body = shape.body(RECORDS);
    let expected = expected(&body);
    bencher.counter(BytesCount::of_slice(&body)).bench(|| assert_eq!(read(&body), expected));
}

/// How many requested values are not null.
fn cells_in_json(body: &[u8]) -> usize {
    let response: Value = serde_json::from_slice(body).expect("valid JSON");
    let records = response["data"]["data"].as_array().expect("records");
    let cells = |record: &Value| COLUMNS.iter().filter(|name| !record[**name].is_null()).count();
    records.iter().map(cells).sum()
}

#[derive(Deserialize)]
struct Response {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    data: Vec<Record>,
}

#[derive(Deserialize)]
struct Record {
    id: Option<String>,
    code: Option<String>,
    pool_id: Option<i64>,
    audience_type: Option<i64>,
    allocated_audience: Option<String>,
    code_status: Option<i64>,
    date_created: Option<String>,
    allocated_time: Option<String>,
    last_used_source: Option<String>,
    last_used_time: Option<String>,
}

impl Record {
    fn cells(&self) -> usize {
        let texts = [&self.id, &self.code, &self.allocated_audience, &self.date_created, &self.allocated_time];
        let used = [&self.last_used_source, &self.last_used_time];
        let numbers = [self.pool_id, self.audience_type, self.code_status];
        texts.iter().chain(&used).filter(|text| text.is_some()).count() + numbers.iter().flatten().count()
    }
}
