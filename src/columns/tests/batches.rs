//! Where batches end, and that an undone record leaves nothing.

use arrow_array::RecordBatch;
use arrow_schema::DataType;

use super::{Column, ColumnSink, ONE_BATCH, Options, body, cells_of, decode, drain, read};
use crate::columns::{ColumnType, items, unify};
use crate::decode::{BatchSink as _, Cell, DecodePlan, Decoder, Sink as _};
use crate::error::Kind as ErrorKind;

fn rows(batches: &[RecordBatch]) -> Vec<usize> {
    batches.iter().map(RecordBatch::num_rows).collect()
}

fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|number| format!(r#"{{"a":{number}}}"#)).collect()
}

fn integers() -> Vec<Column> {
    vec![Column::new("a", ColumnType::Int64)]
}

#[test]
fn batches_are_the_same_however_the_bytes_arrive() {
    let text = vec![Column::new("a", ColumnType::StringOrJson)];
    for (max_rows, max_bytes, expected) in [
        (4, usize::MAX, vec![4, 4, 2]),
        (usize::MAX, 27, vec![3, 3, 3, 1]),
        (2, 27, vec![2, 2, 2, 2, 2]),
        (10, usize::MAX, vec![10]),
        (0, usize::MAX, vec![1; 10]),
        (usize::MAX, 0, vec![1; 10]),
    ] {
        for step in [1, 7, 1 << 16] {
            let mut sink = ColumnSink::new(&text, Options { max_rows, max_bytes, ..ONE_BATCH });
            decode(&text, &body(&numbers(10)), step, &mut sink).expect("good records");
            assert_eq!(rows(&drain(&mut sink).expect("batches")), expected, "{max_rows} rows, {max_bytes} bytes");
        }
    }
}

#[test]
fn records_that_are_shorter_than_their_cells_fill_one_batch_at_a_time() {
    let names: Vec<_> = (0..1_000).map(|number| format!("a{number}")).collect();
    let columns: Vec<_> = names.iter().map(|name| Column::new(name, ColumnType::Int64)).collect();
    let mut sink = ColumnSink::new(&columns, Options { max_rows: 8_192, max_bytes: 2 << 20, ..ONE_BATCH });
    let mut decoder = Decoder::new(DecodePlan { columns: Some(names.into()), ..DecodePlan::default() });
    let body = body(&vec!["{}".to_owned(); 2_000]);
    let (mut rest, mut rows) = (body.as_bytes(), 0);
    while !rest.is_empty() {
        rest = &rest[decoder.feed(rest, &mut sink).expect("good")..];
        if let Some(batch) = sink.take_full().expect("no error") {
            rows += batch.num_rows();
        }
        assert!(sink.take_full().expect("no error").is_none(), "two batches at once");
    }
    assert_eq!(rows + sink.take().expect("no error").map_or(0, |batch| batch.num_rows()), 2_000);
}

#[test]
fn only_full_batches_are_taken_before_the_end() {
    let mut sink = ColumnSink::new(&integers(), Options { max_rows: 2, ..ONE_BATCH });
    decode(&integers(), &body(&numbers(3)), 64, &mut sink).expect("good records");
    assert_eq!(sink.take_full().expect("no error").map(|batch| batch.num_rows()), Some(2));
    assert!(sink.take_full().expect("no error").is_none());
    assert_eq!(sink.take().expect("no error").map(|batch| batch.num_rows()), Some(1));
    assert!(sink.take().expect("no error").is_none());
}

#[test]
fn an_undone_record_leaves_nothing() {
    let columns = items(&["a".to_owned(), "b".to_owned()], &[("b".to_owned(), ColumnType::Int64)]);
    for widen in [true, false] {
        let mut sink = ColumnSink::new(&columns, Options { max_bytes: 60, widen, ..ONE_BATCH });
        let record = |sink: &mut ColumnSink, a: Option<&str>, b: Option<&str>| {
            a.map_or(Ok(()), |text| sink.cell(0, Cell::String(text))).expect("fits");
            b.map_or(Ok(()), |digits| sink.cell(1, Cell::Integer(digits))).expect("fits");
            sink.undo_record();
            sink.cell(1, Cell::Null).expect("fits");
            sink.cell(0, Cell::Integer("7")).expect("fits");
            sink.end_record();
        };
        record(&mut sink, Some(&"text that would fill the batch".repeat(9)), Some("5"));
        record(&mut sink, None, Some("5"));
        record(&mut sink, None, None);
        record(&mut sink, Some("a text in a column of numbers"), None);
        sink.undo_record();
        record(&mut sink, None, Some("5"));
        sink.undo_record();
        let mut batches = drain(&mut sink).expect("no error");
        if widen {
            (_, batches, _) = unify(&columns, false, batches).expect("one type");
        }
        // A record counts 17 bytes, whatever was undone.
        assert_eq!(rows(&batches), [4, 1]);
        assert!(batches.iter().all(|batch| *batch.column(0).data_type() == DataType::Int64));
        assert_eq!(
            (cells_of(&batches, 0), cells_of(&batches, 1)),
            (vec!["7".to_owned(); 5], vec!["null".to_owned(); 5])
        );
        assert!(sink.take().expect("no error").is_none(), "no record is left of those undone at the end");
    }
}

#[test]
fn a_record_that_does_not_fit_is_not_in_the_batch() {
    let mut sink = ColumnSink::new(&integers(), ONE_BATCH);
    let bad = [numbers(2), vec![r#"{"a":"x"}"#.to_owned()]].concat();
    let error = decode(&integers(), &body(&bad), 64, &mut sink).expect_err("a mismatch");
    assert_eq!(error.kind(), ErrorKind::Record);
    assert_eq!(cells_of(&drain(&mut sink).expect("no error"), 0), ["0", "1"]);
}

#[test]
#[should_panic(expected = "index out of bounds")]
fn a_cell_of_no_column_is_a_defect() {
    _ = ColumnSink::new(&integers(), ONE_BATCH).cell(1, Cell::Null);
}

#[test]
fn a_column_without_a_cell_is_a_defect_and_no_batch() {
    let two = [integers(), vec![Column::new("b", ColumnType::Int64)]].concat();
    let mut sink = ColumnSink::new(&two, ONE_BATCH);
    sink.cell(0, Cell::Integer("1")).expect("fits");
    sink.end_record();
    assert_eq!(sink.take().expect_err("columns of different lengths").kind(), ErrorKind::Internal);
}

#[test]
fn a_huge_record_is_a_batch_of_its_own() {
    let text = vec![Column::new("a", ColumnType::String)];
    let long = "x".repeat(1 << 20);
    let records = [format!(r#"{{"a":"{long}"}}"#), r#"{"a":"y"}"#.to_owned()];
    let batches = read(&text, Options { max_bytes: 1 << 16, ..ONE_BATCH }, &records).expect("long texts fit");
    assert_eq!(rows(&batches), [1, 1]);
    assert_eq!(cells_of(&batches, 0), [long, "y".to_owned()]);
}
