//! The sink for rows: cells over one text, in blocks that the consumer turns into rows.
#![expect(clippy::indexing_slicing, reason = "a wrong index is a defect: the caller turns the panic into an error")]

mod block;

pub use self::block::{Block, Value};
use self::block::{Extra, Memory, NULL, StoredCell, Tag};
pub use crate::decode::Cell;
use crate::decode::{BatchSink, BufferPool, Bytes32, CellResult, PaddedBytes, Sink, TypeMismatch};
use crate::error::{Result, defect};

/// Rows of a full block.
const BLOCK_ROWS: usize = 8_192;
/// Cells of a full block.
const BLOCK_CELLS: usize = 1 << 20;
/// Bytes of text of a full block.
const BLOCK_BYTES: usize = 1 << 20;

/// Builds blocks.
#[derive(Debug)]
pub struct Cells {
    columns: usize,
    /// Most rows of a block.
    max_rows: usize,
    /// Complete rows.
    rows: usize,
    text: PaddedBytes,
    /// The cells of the complete rows and of one row that is incomplete.
    values: Vec<StoredCell>,
    /// Whether a cell may be an object or array.
    has_nested: bool,
    extras: Vec<Extra>,
    /// Extras of complete rows.
    kept_extras: usize,
    /// Length of the text of complete rows.
    kept: usize,
    /// Index of the first cell of the incomplete row.
    row: usize,
    pool: BufferPool<Memory>,
}

impl Cells {
    /// A sink for rows of `columns` cells.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        let max_rows = (BLOCK_CELLS / columns.max(1)).clamp(1, BLOCK_ROWS);
        Self {
            columns,
            max_rows,
            rows: 0,
            text: PaddedBytes::default(),
            values: vec![NULL; columns],
            has_nested: false,
            extras: Vec::new(),
            kept_extras: 0,
            kept: 0,
            row: 0,
            pool: BufferPool::default(),
        }
    }

    /// All complete rows.
    fn block(&mut self) -> Result<Block> {
        let (mut text, length) = self.text.take();
        debug_assert!(self.kept <= length, "the text of complete rows is shorter than it was");
        text.truncate(self.kept);
        let text = String::from_utf8(text).map_err(|error| defect("cells are not UTF-8").with_source(error))?;
        let mut cells = std::mem::take(&mut self.values);
        cells.truncate(self.row);
        let (columns, rows, extras) = (self.columns, self.rows, std::mem::take(&mut self.extras));
        let has_nested = std::mem::take(&mut self.has_nested);
        (self.rows, self.kept_extras, self.kept, self.row) = (0, 0, 0, 0);
        Ok(Block { columns, rows, text, cells, has_nested, extras, pool: self.pool.handle() })
    }

    /// Begins the next block, in the memory of a dropped one if there is any, else in as much as `last` had.
    fn begin(&mut self, last: &Block) {
        let new = || Memory {
            // Zeroed pages come from the system: a text that grows would be zeroed and copied each time.
            text: vec![0; last.text.capacity().min(2 * BLOCK_BYTES)],
            cells: Vec::with_capacity(last.cells.capacity()),
            extras: Vec::new(),
        };
        let Memory { mut text, mut cells, mut extras } = self.pool.take().unwrap_or_else(new);
        text.resize(text.capacity(), 0);
        cells.clear();
        cells.resize(self.columns, NULL);
        extras.clear();
        self.text.move_into(text);
        (self.values, self.extras) = (cells, extras);
    }

    /// Stores a cell whose text is the last of the block, from `start` on. Returns false if the text is too long.
    #[inline]
    fn store(&mut self, column: usize, tag: Tag, start: usize, integer: i32) -> bool {
        let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(self.text.len())) else { return false };
        self.values[self.row + column] = StoredCell { tag, start, length: end - start, integer };
        true
    }
}

impl BatchSink for Cells {
    type Batch = Block;

    fn take_full(&mut self) -> Result<Option<Block>> {
        if self.records_until_full() > 0 {
            return Ok(None);
        }
        let block = self.block()?;
        self.begin(&block);
        Ok(Some(block))
    }

    fn take(&mut self) -> Result<Option<Block>> {
        if self.rows == 0 {
            return Ok(None);
        }
        let block = self.block()?;
        self.values.resize(self.columns, NULL);
        Ok(Some(block))
    }
}

impl Sink for Cells {
    #[inline]
    fn cell(&mut self, column: usize, cell: Cell) -> CellResult {
        let (tag, text) = match cell {
            Cell::Null => {
                // No text, which is most of the work.
                self.values[self.row + column] = NULL;
                return Ok(());
            }
            Cell::Bool(value) => (if value { Tag::True } else { Tag::False }, ""),
            Cell::Integer(digits) => (Tag::Integer, digits),
            Cell::Number(text) => (Tag::Number, text),
            Cell::String(text) => (Tag::String, text),
            Cell::Nested(json) => {
                self.has_nested = true;
                (Tag::Nested, json)
            }
        };
        let start = self.text.len();
        self.text.push(text.as_bytes());
        let too_much = TypeMismatch { expected: "less than 4 GiB in a block of rows", suggested_type: None };
        self.store(column, tag, start, 0).then_some(()).ok_or(too_much)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every string: a call would cost as much as the work")]
    fn short_string(&mut self, column: usize, text: &Bytes32, length: usize) -> bool {
        let start = self.text.len();
        self.text.push_block(text, length);
        self.store(column, Tag::String, start, 0)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every integer: a call would cost as much as the work")]
    fn short_integer(&mut self, column: usize, integer: i32, written: &Bytes32, length: usize) -> bool {
        let start = self.text.len();
        self.text.push_block(written, length);
        self.store(column, Tag::ShortInteger, start, integer)
    }

    fn records_until_full(&self) -> u64 {
        if self.kept >= BLOCK_BYTES { 0 } else { self.max_rows.saturating_sub(self.rows) as u64 }
    }

    fn extra(&mut self, name: &str, json: &str) {
        let start = self.text.len();
        self.text.push(name.as_bytes());
        let value = self.text.len();
        self.text.push(json.as_bytes());
        self.extras.push(Extra { row: self.rows, start, value, end: self.text.len() });
    }

    #[inline]
    fn end_record(&mut self) {
        self.rows += 1;
        self.row += self.columns;
        self.values.resize(self.row + self.columns, NULL);
        self.kept = self.text.len();
        self.kept_extras = self.extras.len();
    }

    fn undo_record(&mut self) {
        // The cells stay: each is written again before the record is complete.
        self.text.truncate(self.kept);
        self.extras.truncate(self.kept_extras);
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
    fn a_block_may_be_built_in_the_memory_of_another() {
        let mut cells = Cells::new(2);
        let mut memory = std::ptr::null();
        let text = |row: usize| format!("{row:!<31}");
        for round in 0..3 {
            for row in 0..BLOCK_ROWS {
                let mut bytes = [b' '; 32];
                bytes[..31].copy_from_slice(text(row).as_bytes());
                assert!(cells.short_integer(1, 7, &bytes, 4));
                if row % 3 == round {
                    assert!(cells.short_string(0, &bytes, 31));
                }
                cells.end_record();
            }
            let block = cells.take_full().expect("no error").expect("a full block");
            for row in 0..BLOCK_ROWS {
                let text = text(row);
                let expected = [if row % 3 == round { String(&text) } else { Null }, Integer(&text[..4])];
                assert_eq!(block.row(row).collect::<Vec<_>>(), expected);
                assert_eq!(block.values(row).collect::<Vec<_>>(), [Value::Cell(expected[0]), Value::Integer(7)]);
            }
            match round {
                0 => memory = block.cells.as_ptr(),
                1 => {}
                _ => assert_eq!(block.cells.as_ptr(), memory),
            }
        }
    }

    #[test]
    fn rows_that_are_shorter_than_their_cells_fill_blocks_of_limited_size() {
        use crate::decode::{DecodePlan, Decoder};

        let names: Vec<_> = (0..1_000).map(|number| format!("a{number}")).collect();
        let (mut cells, mut rows) = (Cells::new(names.len()), 0);
        let mut decoder = Decoder::new(DecodePlan { columns: Some(names.into()), ..DecodePlan::default() });
        let body = format!(r#"{{"code":200,"data":{{"status":true,"data":[{}{{}}]}}}}"#, "{},".repeat(4_999));
        let mut rest = body.as_bytes();
        while !rest.is_empty() {
            rest = &rest[decoder.feed(rest, &mut cells).expect("good")..];
            assert!(cells.values.len() <= BLOCK_CELLS + 1_000, "{} cells at once", cells.values.len());
            while let Some(block) = cells.take_full().expect("no error") {
                rows += block.rows();
            }
        }
        assert_eq!(decoder.finish().expect("complete").records, 5_000);
        assert_eq!(rows + cells.take().expect("no error").map_or(0, |block| block.rows()), 5_000);
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
