//! Random rows of known types through the decoder, against the values they were written from.

use std::collections::VecDeque;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{ONE_BATCH, body, cells_of, decode, drain};
use crate::columns::{Column, ColumnSink, ColumnType, Options};
use crate::decode::{Cell, CellResult, Sink};
use crate::time::wall_clock_microseconds;

/// A cell that is held back: its text, and what makes a cell of that.
type Held = (String, fn(&str) -> Cell<'_>);

fn hold(cell: Cell) -> Held {
    match cell {
        Cell::Null => (String::new(), |_| Cell::Null),
        Cell::Bool(value) => (value.to_string(), |text| Cell::Bool(text == "true")),
        Cell::Integer(digits) => (digits.to_owned(), |digits| Cell::Integer(digits)),
        Cell::Number(number) => (number.to_owned(), |number| Cell::Number(number)),
        Cell::String(text) => (text.to_owned(), |text| Cell::String(text)),
        Cell::Nested(json) => (json.to_owned(), |json| Cell::Nested(json)),
    }
}

/// Writes each record in another order, and some of them after other values that it undoes.
struct Unsteady {
    columns: ColumnSink,
    /// For each record where to begin, and how many cells to write and undo first.
    script: VecDeque<(usize, Option<usize>)>,
    record: Vec<(usize, Held)>,
}

/// Writes a cell the short way if there is one, with other bytes behind it.
fn write(columns: &mut ColumnSink, column: usize, cell: Cell) -> CellResult {
    let block = |text: &str| {
        let mut block = [0xFF; 32];
        block[..text.len()].copy_from_slice(text.as_bytes());
        block
    };
    let is_taken = match cell {
        Cell::String(text) if text.is_ascii() && text.len() < 32 => {
            columns.short_string(column, &block(text), text.len())
        }
        Cell::Integer(digits) if digits.len() < 8 && digits != "-0" => {
            columns.short_integer(column, digits.parse().expect("an integer"), &block(digits), digits.len())
        }
        _ => false,
    };
    if is_taken { Ok(()) } else { columns.cell(column, cell) }
}

impl Sink for Unsteady {
    fn cell(&mut self, column: usize, cell: Cell) -> CellResult {
        self.record.push((column, hold(cell)));
        Ok(())
    }
    fn end_record(&mut self) {
        let mut record = std::mem::take(&mut self.record);
        let (start, undone) = self.script.pop_front().unwrap_or_default();
        let length = record.len();
        record.rotate_left(start % length);
        if let Some(cells) = undone {
            for (column, _) in record.iter().rev().take(cells) {
                // Whether it fits or not, the record is undone.
                let _fits = write(&mut self.columns, *column, Cell::String("1999-09-09 09:09:09"));
            }
            self.columns.undo_record();
        }
        for (column, (text, cell)) in &record {
            write(&mut self.columns, *column, cell(text)).expect("values are of the column's type");
        }
        self.columns.end_record();
    }
    fn undo_record(&mut self) {
        self.record.clear();
    }
}

/// A value of a type.
fn value(column_type: ColumnType) -> BoxedStrategy<Value> {
    let present = match column_type {
        ColumnType::String | ColumnType::StringOrJson | ColumnType::Name(_) => "\\PC{0,20}".prop_map(Value::from).boxed(),
        ColumnType::Int64 => prop_oneof![any::<i64>(), -9_999_999_i64..9_999_999].prop_map(Value::from).boxed(),
        ColumnType::Float64 => any::<f64>().prop_filter("JSON has no other", |value| value.is_finite()).prop_map(Value::from).boxed(),
        ColumnType::Bool => any::<bool>().prop_map(Value::from).boxed(),
        ColumnType::Timestamp => {
            "(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])[ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?"
                .prop_map(Value::from)
                .boxed()
        }
        ColumnType::Json => prop_oneof![
            any::<u64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            "\\PC{0,9}".prop_map(Value::from),
            "\\PC{0,9}".prop_map(|text| json!([text, {"a": 1.5, "b": text}])),
        ]
        .boxed(),
    };
    prop_oneof![4 => present, 1 => Just(Value::Null)].boxed()
}

/// The cell that a value becomes.
fn cell(column_type: ColumnType, value: &Value) -> String {
    match (column_type, value) {
        (ColumnType::String, Value::String(text)) => text.clone(),
        (ColumnType::Float64, Value::Number(number)) => format!("{:?}", number.as_f64().expect("a float")),
        (ColumnType::Timestamp, Value::String(text)) => {
            format!("{} us", wall_clock_microseconds(text).expect("a time"))
        }
        _ => value.to_string(),
    }
}

/// Types of some columns with rows of their values.
fn table() -> impl Strategy<Value = (Vec<ColumnType>, Vec<Vec<Value>>)> {
    prop::collection::vec(prop::sample::select(ColumnType::ALL.to_vec()), 1..6).prop_flat_map(|types| {
        let row: Vec<_> = types.iter().map(|column_type| value(*column_type)).collect();
        (Just(types), prop::collection::vec(row, 0..20))
    })
}

proptest! {
    #[test]
    fn batches_hold_what_was_written(
        (types, rows) in table(),
        script in prop::collection::vec((0_usize..6, prop::option::of(0_usize..7)), 0..20),
        max_rows in 1_usize..25,
        step in 1_usize..300,
        views: bool,
    ) {
        let name = |index: usize| format!("c{index}");
        let columns: Vec<Column> =
            types.iter().enumerate().map(|(index, column_type)| Column::new(&name(index), *column_type)).collect();
        let record = |row: &Vec<Value>| {
            Value::from(row.iter().enumerate().map(|(index, value)| (name(index), value.clone())).collect::<Map<_, _>>())
        };
        let records: Vec<String> = rows.iter().map(|row| record(row).to_string()).collect();
        let options = Options { views, max_rows, ..ONE_BATCH };
        let mut sink =
            Unsteady { columns: ColumnSink::new(&columns, options), script: script.into(), record: Vec::new() };
        decode(&columns, &body(&records), step, &mut sink).expect("good records");
        let batches = drain(&mut sink.columns).expect("batches");
        prop_assert_eq!(batches.len(), rows.len().div_ceil(max_rows));
        for (index, column_type) in types.iter().enumerate() {
            let expected: Vec<String> = rows.iter().map(|row| cell(*column_type, &row[index])).collect();
            prop_assert_eq!(cells_of(&batches, index), expected);
        }
    }
}
