//! The sink for rows: flat cells over one text, in blocks that another room turns into whatever rows are there.
//!
//! A block is made while bytes arrive and read by whoever holds the interpreter; this room knows nothing of it.

use crate::decode::{Batch, BatchSink, CellResult, Sink, TypeMismatch};
use crate::error::Result;

/// A block is handed on once it has this many rows,
const BLOCK_ROWS: usize = 8_192;
/// or this much text.
const BLOCK_BYTES: usize = 1 << 20;

/// What a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// Null or absent.
    Null,
    /// `false`.
    False,
    /// `true`.
    True,
    /// A whole number of any size, as written.
    Integer,
    /// A finite number, as written.
    Number,
    /// A text, unescaped.
    Text,
    /// An object or array, as checked JSON.
    Nested,
}

/// A tag and the place of its text in the block.
#[derive(Clone, Copy, Debug)]
struct Cell {
    tag: Tag,
    start: u32,
    length: u32,
}

/// What a cell is until its value comes.
const EMPTY: Cell = Cell { tag: Tag::Null, start: 0, length: 0 };

/// A key nobody asked for: name and JSON stand together in the block's text.
#[derive(Clone, Copy, Debug)]
struct Extra {
    row: usize,
    start: usize,
    name: usize,
    json: usize,
}

/// Some records, cell by cell.
#[derive(Debug)]
pub struct Block {
    columns: usize,
    rows: usize,
    text: String,
    /// Those of the complete rows, and those of one more that is being filled.
    cells: Vec<Cell>,
    extras: Vec<Extra>,
}

impl Block {
    fn new(columns: usize) -> Self {
        Self { columns, rows: 0, text: String::new(), cells: vec![EMPTY; columns], extras: Vec::new() }
    }

    /// Complete rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The cells of a row, in the columns' order.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (Tag, &str)> {
        let start = row * self.columns;
        let cells = self.cells.get(start..start + self.columns).unwrap_or_default();
        cells.iter().map(|cell| (cell.tag, self.text_at(cell.start as usize, cell.length as usize)))
    }

    /// The extras of a row as names and JSON. `cursor` walks along: start it at 0 and go through the rows in order.
    pub fn extras<'a>(&'a self, row: usize, cursor: &mut usize) -> impl Iterator<Item = (&'a str, &'a str)> {
        let rest = self.extras.get(*cursor..).unwrap_or_default();
        let count = rest.iter().take_while(|extra| extra.row == row).count();
        *cursor += count;
        rest.iter()
            .take(count)
            .map(|extra| (self.text_at(extra.start, extra.name), self.text_at(extra.start + extra.name, extra.json)))
    }

    fn text_at(&self, start: usize, length: usize) -> &str {
        self.text.get(start..start + length).unwrap_or_default()
    }
}

impl Batch for Block {
    fn bytes(&self) -> usize {
        self.text.len() + self.cells.len() * size_of::<Cell>() + self.extras.len() * size_of::<Extra>()
    }
}

/// Builds blocks.
#[derive(Debug)]
pub struct Cells {
    block: Block,
    /// Text of the complete rows.
    kept: usize,
}

impl Cells {
    /// An empty block of so many columns.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self { block: Block::new(columns), kept: 0 }
    }

    fn cell(&mut self, column: usize, tag: Tag, text: &str) -> CellResult {
        let Block { columns, rows, text: texts, cells, .. } = &mut self.block;
        let too_much = TypeMismatch { expected: "less than 4 GiB between two blocks", suggested_type: None };
        let start = u32::try_from(texts.len()).map_err(|_| too_much)?;
        let length = u32::try_from(text.len()).map_err(|_| too_much)?;
        texts.push_str(text);
        if let Some(cell) = cells.get_mut(*rows * *columns + column) {
            *cell = Cell { tag, start, length };
        }
        Ok(())
    }
}

impl BatchSink for Cells {
    type Batch = Block;

    fn take_full(&mut self) -> Result<Option<Block>> {
        if self.block.rows >= BLOCK_ROWS || self.kept >= BLOCK_BYTES { self.take() } else { Ok(None) }
    }

    fn take(&mut self) -> Result<Option<Block>> {
        if self.block.rows == 0 {
            return Ok(None);
        }
        let columns = self.block.columns;
        self.kept = 0;
        Ok(Some(std::mem::replace(&mut self.block, Block::new(columns))))
    }
}

impl Sink for Cells {
    fn null(&mut self, column: usize) -> CellResult {
        self.cell(column, Tag::Null, "")
    }

    fn bool(&mut self, column: usize, value: bool) -> CellResult {
        self.cell(column, if value { Tag::True } else { Tag::False }, "")
    }

    fn integer(&mut self, column: usize, digits: &str) -> CellResult {
        self.cell(column, Tag::Integer, digits)
    }

    fn number(&mut self, column: usize, text: &str) -> CellResult {
        self.cell(column, Tag::Number, text)
    }

    fn text(&mut self, column: usize, text: &str) -> CellResult {
        self.cell(column, Tag::Text, text)
    }

    fn nested(&mut self, column: usize, json: &str) -> CellResult {
        self.cell(column, Tag::Nested, json)
    }

    fn extra(&mut self, name: &str, json: &str) {
        let Block { rows, text, extras, .. } = &mut self.block;
        extras.push(Extra { row: *rows, start: text.len(), name: name.len(), json: json.len() });
        text.push_str(name);
        text.push_str(json);
    }

    fn end_record(&mut self) {
        let Block { columns, rows, text, cells, .. } = &mut self.block;
        *rows += 1;
        cells.resize((*rows + 1) * *columns, EMPTY);
        self.kept = text.len();
    }

    fn undo_record(&mut self) {
        let Block { rows, text, extras, .. } = &mut self.block;
        // Its cells stay: each of them is written again before the record counts.
        text.truncate(self.kept);
        extras.truncate(extras.partition_point(|extra| extra.row < *rows));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows; before the second, one that is given up half way.
    fn block() -> Block {
        let mut cells = Cells::new(2);
        cells.text(1, "b").expect("fits");
        cells.extra("x", "[1]");
        cells.integer(0, "7").expect("fits");
        cells.end_record();
        cells.extra("lost", "1");
        cells.text(0, "lost").expect("fits");
        cells.undo_record();
        cells.nested(1, "{}").expect("fits");
        cells.bool(0, true).expect("fits");
        cells.extra("y", "2");
        cells.end_record();
        cells.take().expect("no error").expect("two rows")
    }

    #[test]
    fn cells_may_come_in_any_order() {
        let block = block();
        assert_eq!(block.rows(), 2);
        assert_eq!(block.row(0).collect::<Vec<_>>(), [(Tag::Integer, "7"), (Tag::Text, "b")]);
        assert_eq!(block.row(1).collect::<Vec<_>>(), [(Tag::True, ""), (Tag::Nested, "{}")]);
    }

    #[test]
    fn what_is_undone_leaves_nothing() {
        let block = block();
        let mut cursor = 0;
        assert_eq!(block.extras(0, &mut cursor).collect::<Vec<_>>(), [("x", "[1]")]);
        assert_eq!(block.extras(1, &mut cursor).collect::<Vec<_>>(), [("y", "2")]);
        assert!(!block.text.contains("lost"));
    }

    #[test]
    fn a_block_is_handed_on_when_it_is_full_and_only_with_rows() {
        let mut cells = Cells::new(1);
        assert!(cells.take().expect("no error").is_none());
        for _ in 1..BLOCK_ROWS {
            cells.null(0).expect("fits");
            cells.end_record();
        }
        assert!(cells.take_full().expect("no error").is_none());
        cells.null(0).expect("fits");
        cells.end_record();
        assert_eq!(cells.take_full().expect("no error").map(|block| block.rows()), Some(BLOCK_ROWS));
        cells.text(0, &"x".repeat(BLOCK_BYTES)).expect("fits");
        assert!(cells.take_full().expect("no error").is_none(), "no row is complete");
        cells.end_record();
        assert_eq!(cells.take_full().expect("no error").map(|block| block.rows()), Some(1));
    }
}
