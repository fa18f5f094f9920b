//! The sink for rows: flat cells over one text, in blocks that another room turns into whatever rows are there.
//!
//! A block is made while bytes arrive and read by whoever holds the interpreter; this room knows nothing of it.

use crate::decode::{Fit, Sink};

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
    start: usize,
    length: usize,
}

/// A key nobody asked for.
#[derive(Clone, Copy, Debug)]
struct Extra {
    row: usize,
    name: Cell,
    json: Cell,
}

/// Some records, cell by cell.
#[derive(Debug, Default)]
pub struct Block {
    columns: usize,
    rows: usize,
    text: String,
    cells: Vec<Cell>,
    extras: Vec<Extra>,
}

impl Block {
    /// Complete rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The cells of a row, in the columns' order.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (Tag, &str)> {
        let start = row * self.columns;
        let cells = self.cells.get(start..start + self.columns).unwrap_or_default();
        cells.iter().map(|cell| (cell.tag, self.text_of(*cell)))
    }

    /// The extras of a row as names and JSON. `cursor` walks along: start it at 0 and go through the rows in order.
    pub fn extras<'a>(&'a self, row: usize, cursor: &mut usize) -> impl Iterator<Item = (&'a str, &'a str)> {
        let rest = self.extras.get(*cursor..).unwrap_or_default();
        let count = rest.iter().take_while(|extra| extra.row == row).count();
        *cursor += count;
        rest.iter().take(count).map(|extra| (self.text_of(extra.name), self.text_of(extra.json)))
    }

    fn text_of(&self, cell: Cell) -> &str {
        self.text.get(cell.start..cell.start + cell.length).unwrap_or_default()
    }

    fn push(&mut self, tag: Tag, text: &str) -> Cell {
        let cell = Cell { tag, start: self.text.len(), length: text.len() };
        self.text.push_str(text);
        cell
    }
}

/// Builds blocks.
#[derive(Debug)]
pub struct Cells {
    block: Block,
}

impl Cells {
    /// An empty block of so many columns.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self { block: Block { columns, ..Block::default() } }
    }

    /// The block, once it is worth handing on.
    pub fn take_full(&mut self) -> Option<Block> {
        (self.block.rows >= BLOCK_ROWS || self.block.text.len() >= BLOCK_BYTES).then(|| self.take())
    }

    /// The block as it is.
    pub fn take(&mut self) -> Block {
        let columns = self.block.columns;
        std::mem::replace(&mut self.block, Block { columns, ..Block::default() })
    }

    fn cell(&mut self, tag: Tag, text: &str) {
        let cell = self.block.push(tag, text);
        self.block.cells.push(cell);
    }
}

impl Sink for Cells {
    fn null(&mut self, _column: usize) -> Fit {
        self.cell(Tag::Null, "");
        Ok(())
    }

    fn bool(&mut self, _column: usize, value: bool) -> Fit {
        self.cell(if value { Tag::True } else { Tag::False }, "");
        Ok(())
    }

    fn integer(&mut self, _column: usize, digits: &str) -> Fit {
        self.cell(Tag::Integer, digits);
        Ok(())
    }

    fn number(&mut self, _column: usize, text: &str) -> Fit {
        self.cell(Tag::Number, text);
        Ok(())
    }

    fn text(&mut self, _column: usize, text: &str) -> Fit {
        self.cell(Tag::Text, text);
        Ok(())
    }

    fn nested(&mut self, _column: usize, json: &str) -> Fit {
        self.cell(Tag::Nested, json);
        Ok(())
    }

    fn extra(&mut self, name: &str, json: &str) {
        let row = self.block.rows;
        let name = self.block.push(Tag::Text, name);
        let json = self.block.push(Tag::Nested, json);
        self.block.extras.push(Extra { row, name, json });
    }

    fn end_record(&mut self) {
        self.block.rows += 1;
    }

    fn undo_record(&mut self) {
        let Block { columns, rows, cells, extras, .. } = &mut self.block;
        cells.truncate(*rows * *columns);
        extras.retain(|extra| extra.row < *rows);
    }
}
