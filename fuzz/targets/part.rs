//! Parts of any rows and any record: what was written is read back, and a changed or missing byte is reported.

#![no_main]

use std::path::PathBuf;
use std::sync::Arc;

use arbitrary::Arbitrary;
use arrow_array::{Array as _, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use dataaccess::error::Kind;
use dataaccess::files::{AtomicFile, Footer, Parquet, RowMemory, Writer as _};
use serde_json::Value;

#[derive(Arbitrary, Debug)]
struct Part {
    record: Vec<(String, Option<String>)>,
    columns: Vec<(String, Kinds)>,
    rows: Vec<Row>,
    /// The byte that is changed, and its new bits.
    place: u16,
    flip: u8,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Kinds {
    Text,
    Integer,
    Number,
    Bool,
}

#[derive(Arbitrary, Debug)]
struct Row {
    text: Option<String>,
    integer: Option<i64>,
    number: Option<f64>,
    bool: Option<bool>,
}

libfuzzer_sys::fuzz_target!(|part: Part| {
    let record: Value =
        Value::Object(part.record.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect());
    let batch = batch(&part);
    let schema = batch.schema();
    let path = path();
    let file = AtomicFile::create(&path, Kind::File, false).expect("a file");
    let mut writer = Parquet::new(file, &schema, &schema).expect("a schema of Parquet");
    writer.write(&batch).expect("rows");
    let complete = writer.finish_part(&record).expect("a part");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(complete.publish()).expect("a file at its path");
    let content = std::fs::read(&path).expect("a file");

    let (footer, batches) = Footer::read(&path, &memory()).expect("what was written");
    assert_eq!((&footer.record, footer.rows), (&record, batch.num_rows() as u64));
    let read = batches.iter().map(|read| read.columns().to_vec());
    if batch.num_rows() > 0 {
        assert_eq!(shown(read), shown([batch.columns().to_vec()].into_iter()));
    }
    assert_eq!(format!("{:?}", Footer::open(&path).expect("a footer")), format!("{footer:?}"));

    let place = usize::from(part.place) % content.len();
    let mut changed = content.clone();
    changed[place] ^= part.flip.max(1);
    Footer::in_content(changed.into(), &memory()).expect_err("a changed byte");
    Footer::in_content(content[..place].to_vec().into(), &memory()).expect_err("a missing end");
});

fn memory() -> RowMemory {
    RowMemory::new(u64::MAX)
}

/// Batches are as the reader cuts them: compared as text, as NaN equals nothing.
fn shown(batches: impl Iterator<Item = Vec<ArrayRef>>) -> String {
    format!("{:?}", batches.collect::<Vec<_>>())
}

fn batch(part: &Part) -> RecordBatch {
    let mut names: Vec<&str> = Vec::new();
    let (mut fields, mut columns) = (Vec::new(), Vec::<ArrayRef>::new());
    let rows = &part.rows;
    for (name, kind) in part.columns.iter().take(20) {
        if names.contains(&name.as_str()) {
            continue;
        }
        names.push(name);
        let column: ArrayRef = match kind {
            Kinds::Text => Arc::new(StringArray::from_iter(rows.iter().map(|row| row.text.as_deref()))),
            Kinds::Integer => Arc::new(Int64Array::from_iter(rows.iter().map(|row| row.integer))),
            Kinds::Number => Arc::new(Float64Array::from_iter(rows.iter().map(|row| row.number))),
            Kinds::Bool => Arc::new(BooleanArray::from_iter(rows.iter().map(|row| row.bool))),
        };
        fields.push(Field::new(name, column.data_type().clone(), true));
        columns.push(column);
    }
    if fields.is_empty() {
        let column = Int64Array::from_iter(rows.iter().map(|row| row.integer));
        fields.push(Field::new("a", column.data_type().clone(), true));
        columns.push(Arc::new(column));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("columns of one length")
}

/// A file of this process, in memory where that is possible.
fn path() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
    folder.join(format!("dataaccess-fuzz-{}.parquet", std::process::id()))
}
