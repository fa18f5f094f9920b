//! JSON Lines, read back.

use std::fs;

use dataaccess::cells::{Block, Cell, Cells};
use dataaccess::decode::{BatchSink, Sink};
use dataaccess::error::Kind;
use dataaccess::files::{AtomicFile, Compression, JsonLines, Output, Writer};
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::folder::{Folder, Published};

fn attributes(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// What a block becomes in a file.
fn lines(attributes: &[String], block: &Block) -> String {
    let folder = Folder::new();
    let file = AtomicFile::create(&folder.file("a.jsonl"), Kind::File).unwrap();
    let mut writer = JsonLines::new(Output::new(file, Compression::None).unwrap(), attributes).unwrap();
    writer.write(block).unwrap();
    let written = writer.finish().unwrap().published().unwrap();
    assert_eq!(written, folder.file("a.jsonl").metadata().unwrap().len());
    fs::read_to_string(folder.file("a.jsonl")).unwrap()
}

#[test]
fn values_are_as_on_the_wire_and_each_row_is_one_line() {
    let mut cells = Cells::new(3);
    cells.cell(0, Cell::Integer("123456789012345678901234567890")).unwrap();
    cells.cell(1, Cell::Number("1.50E+2")).unwrap();
    cells.cell(2, Cell::String("a \"b\"\n\u{7f}\u{2028}é😀\\")).unwrap();
    cells.extra("key \"q\"", "[\n 1,\r\n {\"a\\nb\": null} ]");
    cells.end_record();
    cells.cell(0, Cell::Null).unwrap();
    cells.cell(1, Cell::Bool(true)).unwrap();
    cells.cell(2, Cell::Nested("{\"x\":\n[1e5]}")).unwrap();
    cells.end_record();
    cells.cell(0, Cell::Bool(false)).unwrap();
    cells.cell(1, Cell::Null).unwrap();
    cells.cell(2, Cell::Null).unwrap();
    cells.extra("twice", "1");
    cells.extra("once", "\"é\"");
    cells.extra("twice", "2");
    cells.end_record();
    let expected = concat!(
        r#"{"id":123456789012345678901234567890,"näme":1.50E+2,"c":"a \"b\"\n"#,
        "\u{7f}\u{2028}é😀",
        r#"\\","key \"q\"":[ 1, {"a\nb": null} ]}"#,
        "\n",
        r#"{"id":null,"näme":true,"c":{"x":[1e5]}}"#,
        "\n",
        r#"{"id":false,"näme":null,"c":null,"twice":2,"once":"é"}"#,
        "\n"
    );
    assert_eq!(lines(&attributes(&["id", "näme", "c"]), &cells.take().unwrap().unwrap()), expected);
}

#[test]
fn rows_may_have_no_attributes() {
    let mut cells = Cells::new(0);
    cells.end_record();
    cells.extra("a", "1");
    cells.extra("b", "2");
    cells.end_record();
    assert_eq!(lines(&[], &cells.take().unwrap().unwrap()), "{}\n{\"a\":1,\"b\":2}\n");
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = "(\\PC|[\\x00-\\x20\"\\\\é😀])*";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no others", |number| number.is_finite()).prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text, inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_rows_read_back(rows in prop::collection::vec(prop::collection::vec(any_value(), 2..5), 1..8)) {
        let mut cells = Cells::new(2);
        for row in &rows {
            for (column, value) in row[..2].iter().enumerate() {
                let json = serde_json::to_string_pretty(value).unwrap();
                match value {
                    Value::Null => cells.cell(column, Cell::Null),
                    Value::Bool(value) => cells.cell(column, Cell::Bool(*value)),
                    Value::Number(number) if number.is_i64() => cells.cell(column, Cell::Integer(&json)),
                    Value::Number(_) => cells.cell(column, Cell::Number(&json)),
                    Value::String(text) => cells.cell(column, Cell::String(text)),
                    _ => cells.cell(column, Cell::Nested(&json)),
                }
                .unwrap();
            }
            for (number, value) in row[2..].iter().enumerate() {
                cells.extra(&format!("extra {number}"), &serde_json::to_string_pretty(value).unwrap());
            }
            cells.end_record();
        }
        let found = lines(&attributes(&["a", "b"]), &cells.take().unwrap().unwrap());
        prop_assert_eq!(found.lines().count(), rows.len());
        for (line, row) in found.lines().zip(rows) {
            let names = ["a", "b", "extra 0", "extra 1", "extra 2"].map(ToOwned::to_owned);
            let expected: Map<_, _> = names.into_iter().zip(row).collect();
            prop_assert_eq!(serde_json::from_str::<Value>(line).unwrap(), Value::Object(expected));
        }
    }
}
