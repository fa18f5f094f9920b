//! The sink for rows: cells over one text, in blocks that the consumer turns into rows.

pub use crate::decode::Cell;
use crate::decode::{Batch, BatchSink, CellResult, Sink, TypeMismatch};
use crate::error::Result;

/// A block is full once it has this many rows,
const BLOCK_ROWS: usize = 8_192;
/// or this much text.
const BLOCK_BYTES: usize = 1 << 20;

/// The variant of a [`Cell`].
#[derive(Clone, Copy, Debug)]
enum Tag {
    Null,
    False,
    True,
    Integer,
    Number,
    String,
    Nested,
}

/// A cell whose text is in the block.
#[derive(Clone, Copy, Debug)]
struct StoredCell {
    tag: Tag,
    start: u32,
    length: u32,
}

const NULL: StoredCell = StoredCell { tag: Tag::Null, start: 0, length: 0 };

/// A key that was not requested. Its name and its JSON are adjacent in the text of the block.
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
    /// The cells of the complete rows and of one row that is incomplete.
    cells: Vec<StoredCell>,
    extras: Vec<Extra>,
}

impl Block {
    fn new(columns: usize) -> Self {
        Self { columns, rows: 0, text: String::new(), cells: vec![NULL; columns], extras: Vec::new() }
    }

    /// Complete rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The cells of a row, in the order of the columns.
    pub fn row(&self, row: usize) -> impl Iterator<Item = Cell<'_>> {
        let start = row * self.columns;
        let cells = self.cells.get(start..start + self.columns).unwrap_or_default();
        cells.iter().map(|cell| {
            let text = self.text_at(cell.start as usize, cell.length as usize);
            match cell.tag {
                Tag::Null => Cell::Null,
                Tag::False => Cell::Bool(false),
                Tag::True => Cell::Bool(true),
                Tag::Integer => Cell::Integer(text),
                Tag::Number => Cell::Number(text),
                Tag::String => Cell::String(text),
                Tag::Nested => Cell::Nested(text),
            }
        })
    }

    /// The names and JSON of a row's extra keys. Ask for the rows in order, with one `cursor` that starts at 0.
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
        self.text.len() + self.cells.len() * size_of::<StoredCell>() + self.extras.len() * size_of::<Extra>()
    }
}

/// Builds blocks.
#[derive(Debug)]
pub struct Cells {
    block: Block,
    /// Length of the text of complete rows.
    kept: usize,
}

impl Cells {
    /// A sink for so many columns.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self { block: Block::new(columns), kept: 0 }
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
    #[inline]
    fn cell(&mut self, column: usize, cell: Cell) -> CellResult {
        let (tag, text) = match cell {
            Cell::Null => (Tag::Null, ""),
            Cell::Bool(value) => (if value { Tag::True } else { Tag::False }, ""),
            Cell::Integer(digits) => (Tag::Integer, digits),
            Cell::Number(text) => (Tag::Number, text),
            Cell::String(text) => (Tag::String, text),
            Cell::Nested(json) => (Tag::Nested, json),
        };
        let Block { columns, rows, text: texts, cells, .. } = &mut self.block;
        let too_much = TypeMismatch { expected: "less than 4 GiB in a block of rows", suggested_type: None };
        let start = u32::try_from(texts.len()).map_err(|_| too_much)?;
        let length = u32::try_from(text.len()).map_err(|_| too_much)?;
        texts.push_str(text);
        if let Some(stored) = cells.get_mut(*rows * *columns + column) {
            *stored = StoredCell { tag, start, length };
        }
        Ok(())
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
        cells.resize((*rows + 1) * *columns, NULL);
        self.kept = text.len();
    }

    fn undo_record(&mut self) {
        let Block { rows, text, extras, .. } = &mut self.block;
        // The cells stay: each is written again before the record is complete.
        text.truncate(self.kept);
        extras.truncate(extras.partition_point(|extra| extra.row < *rows));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Cell::{Bool, Integer, Nested, Null, String};

    /// Two rows, and between them one that is undone.
    fn block() -> Block {
        let mut cells = Cells::new(2);
        cells.cell(1, String("b")).expect("fits");
        cells.extra("x", "[1]");
        cells.cell(0, Integer("7")).expect("fits");
        cells.end_record();
        cells.extra("lost", "1");
        cells.cell(0, String("lost")).expect("fits");
        cells.undo_record();
        cells.cell(1, Nested("{}")).expect("fits");
        cells.cell(0, Bool(true)).expect("fits");
        cells.extra("y", "2");
        cells.end_record();
        cells.take().expect("no error").expect("two rows")
    }

    #[test]
    fn cells_may_come_in_any_order() {
        let block = block();
        assert_eq!(block.rows(), 2);
        assert_eq!(block.row(0).collect::<Vec<_>>(), [Integer("7"), String("b")]);
        assert_eq!(block.row(1).collect::<Vec<_>>(), [Bool(true), Nested("{}")]);
    }

    #[test]
    fn an_undone_record_leaves_nothing() {
        let block = block();
        let mut cursor = 0;
        assert_eq!(block.extras(0, &mut cursor).collect::<Vec<_>>(), [("x", "[1]")]);
        assert_eq!(block.extras(1, &mut cursor).collect::<Vec<_>>(), [("y", "2")]);
        assert!(!block.text.contains("lost"));
    }

    #[test]
    fn a_block_is_taken_when_it_is_full_and_never_without_rows() {
        let mut cells = Cells::new(1);
        assert!(cells.take().expect("no error").is_none());
        for _ in 1..BLOCK_ROWS {
            cells.cell(0, Null).expect("fits");
            cells.end_record();
        }
        assert!(cells.take_full().expect("no error").is_none());
        cells.cell(0, Null).expect("fits");
        cells.end_record();
        assert_eq!(cells.take_full().expect("no error").map(|block| block.rows()), Some(BLOCK_ROWS));
        cells.cell(0, String(&"x".repeat(BLOCK_BYTES))).expect("fits");
        assert!(cells.take_full().expect("no error").is_none(), "no row is complete");
        cells.end_record();
        assert_eq!(cells.take_full().expect("no error").map(|block| block.rows()), Some(1));
    }
}
