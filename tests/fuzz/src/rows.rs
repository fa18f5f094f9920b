//! Sinks of the decoder: rows that can be compared.

use dataaccess::decode::{Bytes32, Cell, CellResult, Decoder, Envelope, Sink, TypeMismatch};
use dataaccess::error::{Kind, Result};
use serde_json::{Map, Value};

/// Keeps rows as `serde_json` would read them, and checks how the decoder calls it.
#[derive(Debug, Default)]
pub struct Rows {
    /// The columns.
    pub names: Vec<String>,
    /// The rows so far.
    pub rows: Vec<Row>,
    row: Row,
    /// Refuses integers in this column.
    pub narrow: Option<usize>,
    /// Refuses short values, which then come the general way.
    pub is_slow: bool,
}

/// A record: its cells as the decoder wrote them, and the other keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    cells: Vec<Option<String>>,
    values: Vec<Option<Value>>,
    extras: Vec<(String, String)>,
}

impl Rows {
    /// A sink for these columns.
    pub fn new(names: &[&str]) -> Self {
        let mut rows = Self { names: names.iter().map(|name| (*name).to_owned()).collect(), ..Self::default() };
        rows.row = rows.empty();
        rows
    }

    fn empty(&self) -> Row {
        let (cells, values) = (vec![None; self.names.len()], vec![None; self.names.len()]);
        Row { cells, values, extras: Vec::new() }
    }

    /// Feeds the pieces to the decoder.
    pub fn decode(&mut self, mut decoder: Decoder, pieces: &[&[u8]]) -> Result<Envelope> {
        for piece in pieces {
            assert_eq!(decoder.feed(piece, self)?, piece.len(), "a sink that is never full");
        }
        decoder.finish()
    }
}

impl Row {
    /// The record as an object, if `serde_json` can hold its values.
    pub fn object(&self, names: &[String]) -> Option<Map<String, Value>> {
        let mut object = Map::new();
        for (name, json) in &self.extras {
            object.insert(name.clone(), serde_json::from_str(json).ok()?);
        }
        for (name, value) in names.iter().zip(&self.values) {
            object.insert(name.clone(), value.clone()?);
        }
        Some(object)
    }
}

impl Sink for Rows {
    fn cell(&mut self, column: usize, cell: Cell) -> CellResult {
        if matches!(cell, Cell::Integer(_)) && self.narrow == Some(column) {
            return Err(TypeMismatch { expected: "no integer", suggested_type: None });
        }
        let before = self.row.cells[column].replace(format!("{cell:?}"));
        assert_eq!(before, None, "a column was written twice");
        self.row.values[column] = match cell {
            Cell::Null => Some(Value::Null),
            Cell::Bool(flag) => Some(flag.into()),
            Cell::String(text) => Some(text.into()),
            Cell::Integer(json) | Cell::Number(json) | Cell::Nested(json) => serde_json::from_str(json).ok(),
        };
        Ok(())
    }
    fn short_string(&mut self, column: usize, text: &Bytes32, length: usize) -> bool {
        let text = text.get(..length).expect("in the block");
        assert!(text.is_ascii());
        !self.is_slow && self.cell(column, Cell::String(str::from_utf8(text).expect("ASCII"))).is_ok()
    }
    fn short_integer(&mut self, column: usize, integer: i32, written: &Bytes32, length: usize) -> bool {
        let written = str::from_utf8(written.get(..length).expect("in the block")).expect("digits");
        assert_eq!(written.parse(), Ok(integer));
        !self.is_slow && self.cell(column, Cell::Integer(written)).is_ok()
    }
    fn extra(&mut self, name: &str, json: &str) {
        self.row.extras.push((name.to_owned(), json.to_owned()));
    }
    fn end_record(&mut self) {
        assert!(self.row.cells.iter().all(Option::is_some), "a column was not written");
        let next = self.empty();
        self.rows.push(std::mem::replace(&mut self.row, next));
    }
    fn undo_record(&mut self) {
        self.row = self.empty();
    }
}

/// The envelope, or the kind and the text of the error.
pub fn comparable(result: Result<Envelope>) -> Result<String, (Kind, String)> {
    result.map(|envelope| format!("{envelope:?}")).map_err(|error| (error.kind(), format!("{error:?}")))
}
