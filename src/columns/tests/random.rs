//! Random rows of known types through the decoder, against the values they were written from.

use std::collections::VecDeque;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{WIDE, body, cells_of, column, decode, drain};
use crate::columns::{Column, ColumnSink, Kind, Options, Type};
use crate::decode::{CellResult, Sink};
use crate::time::wall_clock_microseconds;

/// A cell that was held back.
#[derive(Clone, Debug)]
enum Cell {
    Null,
    Bool(bool),
    Integer(String),
    Number(String),
    Text(String),
    Nested(String),
}

impl Cell {
    fn give(&self, column: usize, sink: &mut ColumnSink) -> CellResult {
        match self {
            Self::Null => sink.null(column),
            Self::Bool(value) => sink.bool(column, *value),
            Self::Integer(digits) => sink.integer(column, digits),
            Self::Number(text) => sink.number(column, text),
            Self::Text(text) => sink.text(column, text),
            Self::Nested(json) => sink.nested(column, json),
        }
    }
}

/// Gives each record to the columns in another order, and some of them after half a record of other values
/// that is undone.
struct Unsteady {
    columns: ColumnSink,
    /// For each record where to begin, and after how many cells to give up first.
    script: VecDeque<(usize, Option<usize>)>,
    record: Vec<(usize, Cell)>,
}

impl Unsteady {
    #[expect(clippy::unnecessary_wraps, reason = "every method of a sink ends with it")]
    fn hold(&mut self, column: usize, cell: Cell) -> CellResult {
        self.record.push((column, cell));
        Ok(())
    }
}

impl Sink for Unsteady {
    fn null(&mut self, column: usize) -> CellResult {
        self.hold(column, Cell::Null)
    }
    fn bool(&mut self, column: usize, value: bool) -> CellResult {
        self.hold(column, Cell::Bool(value))
    }
    fn integer(&mut self, column: usize, digits: &str) -> CellResult {
        self.hold(column, Cell::Integer(digits.to_owned()))
    }
    fn number(&mut self, column: usize, text: &str) -> CellResult {
        self.hold(column, Cell::Number(text.to_owned()))
    }
    fn text(&mut self, column: usize, text: &str) -> CellResult {
        self.hold(column, Cell::Text(text.to_owned()))
    }
    fn nested(&mut self, column: usize, json: &str) -> CellResult {
        self.hold(column, Cell::Nested(json.to_owned()))
    }
    fn extra(&mut self, _name: &str, _json: &str) {}
    fn end_record(&mut self) {
        let mut record = std::mem::take(&mut self.record);
        let (start, given_up) = self.script.pop_front().unwrap_or_default();
        let length = record.len();
        record.rotate_left(start % length);
        if let Some(cells) = given_up {
            for (column, _) in record.iter().rev().take(cells) {
                // Whether it fits or not, it must not count.
                let _fit = Cell::Text("1999-09-09 09:09:09".to_owned()).give(*column, &mut self.columns);
            }
            self.columns.undo_record();
        }
        for (column, cell) in &record {
            cell.give(*column, &mut self.columns).expect("values are of the column's type");
        }
        self.columns.end_record();
    }
    fn undo_record(&mut self) {
        self.record.clear();
    }
}

/// A value for a type.
fn value(of_column: Type) -> BoxedStrategy<Value> {
    let present = match of_column {
        Type::Text => "\\PC{0,20}".prop_map(Value::from).boxed(),
        Type::Int64 => any::<i64>().prop_map(Value::from).boxed(),
        Type::Float64 => any::<f64>().prop_filter("JSON has no other", |value| value.is_finite()).prop_map(Value::from).boxed(),
        Type::Bool => any::<bool>().prop_map(Value::from).boxed(),
        Type::Timestamp => {
            "(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])[ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?"
                .prop_map(Value::from)
                .boxed()
        }
        Type::Json => prop_oneof![
            any::<u64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            "\\PC{0,9}".prop_map(Value::from),
            "\\PC{0,9}".prop_map(|text| json!([text, {"a": 1.5, "b": text}])),
        ]
        .boxed(),
    };
    prop_oneof![4 => present, 1 => Just(Value::Null)].boxed()
}

/// How the value stands in a column of its type.
fn cell(of_column: Type, value: &Value) -> String {
    match (of_column, value) {
        (Type::Text, Value::String(text)) => text.clone(),
        (Type::Float64, Value::Number(number)) => format!("{:?}", number.as_f64().expect("a float")),
        (Type::Timestamp, Value::String(text)) => {
            format!("{} us", wall_clock_microseconds(text).expect("a time"))
        }
        _ => value.to_string(),
    }
}

/// Types of some columns with rows of their values.
fn table() -> impl Strategy<Value = (Vec<Type>, Vec<Vec<Value>>)> {
    prop::collection::vec(prop::sample::select(Type::ALL.to_vec()), 1..6).prop_flat_map(|types| {
        let row: Vec<_> = types.iter().map(|of_column| value(*of_column)).collect();
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
        let name = |place: usize| format!("c{place}");
        let columns: Vec<Column> =
            types.iter().enumerate().map(|(place, of_column)| column(&name(place), Kind::Fixed(*of_column))).collect();
        let record = |row: &Vec<Value>| {
            Value::from(row.iter().enumerate().map(|(place, value)| (name(place), value.clone())).collect::<Map<_, _>>())
        };
        let records: Vec<String> = rows.iter().map(|row| record(row).to_string()).collect();
        let options = Options { views, max_rows, ..WIDE };
        let mut sink =
            Unsteady { columns: ColumnSink::new(&columns, options), script: script.into(), record: Vec::new() };
        decode(&columns, &body(&records), step, &mut sink).expect("good records");
        let batches = drain(&mut sink.columns).expect("batches");
        prop_assert_eq!(batches.len(), rows.len().div_ceil(max_rows));
        for (place, of_column) in types.iter().enumerate() {
            let expected: Vec<String> = rows.iter().map(|row| cell(*of_column, &row[place])).collect();
            prop_assert_eq!(cells_of(&batches, place), expected);
        }
    }
}
