//! The decoder against `serde_json`, for any split, key order, spacing and type, and everything it must refuse.

use serde_json::{Map, Value};

mod any_rows;
mod bodies;
mod conformance;
mod envelope;
mod equality;
mod hot_loop;
mod limits;
mod refusals;

use super::{Bytes32, Cell, CellResult, DecodePlan, Decoder, Envelope, Limits, RecordShape, Sink};
use crate::error::{Error, Kind, Result};

/// Builds `serde_json` objects.
#[derive(Default)]
struct Objects {
    names: Vec<String>,
    rows: Vec<Value>,
    row: Map<String, Value>,
}

impl Objects {
    fn new(plan: &DecodePlan) -> Self {
        Self { names: plan.columns.clone().unwrap_or_default().to_vec(), ..Self::default() }
    }
}

impl Sink for Objects {
    fn cell(&mut self, column: usize, cell: Cell) -> CellResult {
        let value = match cell {
            Cell::Null => Value::Null,
            Cell::Bool(value) => value.into(),
            // `serde_json` refuses an integer that no float holds.
            Cell::Integer(digits) => serde_json::from_str(digits).unwrap_or_else(|_| digits.into()),
            Cell::String(text) => text.into(),
            Cell::Number(json) | Cell::Nested(json) => serde_json::from_str(json).expect("valid JSON"),
        };
        self.row.insert(self.names[column].clone(), value);
        Ok(())
    }
    fn short_string(&mut self, column: usize, text: &Bytes32, length: usize) -> bool {
        let text = text.get(..length).expect("in the block");
        self.cell(column, Cell::String(str::from_utf8(text).expect("ASCII"))).is_ok()
    }
    fn short_integer(&mut self, column: usize, integer: i32, written: &Bytes32, length: usize) -> bool {
        assert_eq!(written.get(..length).expect("in the block"), integer.to_string().as_bytes());
        self.row.insert(self.names[column].clone(), integer.into());
        true
    }
    fn extra(&mut self, name: &str, json: &str) {
        self.row.insert(name.to_owned(), serde_json::from_str(json).expect("valid JSON"));
    }
    fn end_record(&mut self) {
        self.rows.push(Value::Object(std::mem::take(&mut self.row)));
    }
    fn undo_record(&mut self) {
        self.row.clear();
    }
}

/// Decodes a body in pieces. The sink has the records up to the error, if there is one.
fn decode_into<'a, S: Sink>(
    mut decoder: Decoder,
    sink: &mut S,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Envelope> {
    pieces.into_iter().try_for_each(|piece| decoder.feed(piece, sink).map(drop))?;
    decoder.finish()
}

/// A result that can be compared: the envelope, or kind and message of the error.
fn comparable(result: Result<Envelope>) -> Result<String, (Kind, String)> {
    result.map(|envelope| format!("{envelope:?}")).map_err(|error| (error.kind(), error.message().to_owned()))
}

fn decode_with(plan: DecodePlan, pieces: &[&[u8]]) -> Result<(Envelope, Vec<Value>)> {
    let mut sink = Objects::new(&plan);
    let envelope = decode_into(Decoder::new(plan), &mut sink, pieces.iter().copied())?;
    Ok((envelope, sink.rows))
}

fn plan(columns: &[&str]) -> DecodePlan {
    DecodePlan { columns: Some(columns.iter().map(|name| (*name).to_owned()).collect()), ..DecodePlan::default() }
}

fn decode(columns: &[&str], body: &str) -> Result<(Envelope, Vec<Value>)> {
    decode_with(plan(columns), &[body.as_bytes()])
}

fn refusal(body: &[u8]) -> Error {
    decode_with(plan(&["a"]), &[body]).expect_err("this must be refused")
}

/// A response with these records.
fn response(records: &str) -> String {
    format!(r#"{{"code":200,"data":{{"status":true,"data":[{records}]}}}}"#)
}

/// The records of a body as `serde_json` reads them, with a null for each absent column.
fn expected_rows(body: &[u8], columns: &[&str]) -> Vec<Value> {
    let whole: Value = serde_json::from_slice(body).expect("valid JSON");
    let rows = whole["data"]["data"].as_array().expect("an array").iter();
    rows.map(|row| {
        let mut row = row.as_object().expect("an object").clone();
        for column in columns {
            row.entry(*column).or_insert(Value::Null);
        }
        Value::Object(row)
    })
    .collect()
}

const RESPONSE: &str = r#" {"code": 200, "message" : "Search \u0042O \"ok\"", "data":
 {"status":true,"data":[{"a":1,"b":"x\n\u00e9 \ud83d\ude00"},{"b":null,"a":-2.5e3,"c":[1,{"d":"]}"}]},
  {"a":18446744073709551616,"b":""}], "more": {"x": []}}, "duration":"3ms" } "#;
