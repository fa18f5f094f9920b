//! A block of rows: flat cells over one text.

use crate::decode::{Batch, Cell, PoolHandle, has_wide, json_size, text_bytes};

/// The variant of a [`Cell`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Tag {
    Null,
    False,
    True,
    /// With its value, and as text.
    ShortInteger,
    Integer,
    Number,
    String,
    Nested,
}

/// A cell whose text is in the block.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredCell {
    pub(super) tag: Tag,
    pub(super) start: u32,
    pub(super) length: u32,
    /// Of a short integer.
    pub(super) integer: i32,
}

pub(super) const NULL: StoredCell = StoredCell { tag: Tag::Null, start: 0, length: 0, integer: 0 };

/// A cell, or the value of one that is a short integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// The value of an integer.
    Integer(i32),
    /// Any other cell.
    Cell(Cell<'a>),
}

/// A key that was not requested. In the text of the block are its name, from `start` on, and its value as JSON.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extra {
    pub(super) row: usize,
    pub(super) start: usize,
    pub(super) value: usize,
    pub(super) end: usize,
}

/// The memory of a block.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) text: Vec<u8>,
    pub(super) cells: Vec<StoredCell>,
    pub(super) extras: Vec<Extra>,
}

/// Bytes of a row as a map of the caller, approximately.
const MAP_BYTES: usize = 128;
/// Bytes of a key of the map with its value, approximately.
const ENTRY_BYTES: usize = 64;

/// Some records, cell by cell.
#[derive(Debug)]
pub struct Block {
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) text: String,
    pub(super) cells: Vec<StoredCell>,
    /// Whether a cell may be an object or array.
    pub(super) has_nested: bool,
    pub(super) extras: Vec<Extra>,
    pub(super) pool: PoolHandle<Memory>,
}

impl Block {
    /// Complete rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The cells of a row, in the order of the columns.
    pub fn row(&self, row: usize) -> impl Iterator<Item = Cell<'_>> {
        self.stored(row).map(|cell| self.cell(cell))
    }

    /// The same, with the value of an integer in place of its text where it is known.
    pub fn values(&self, row: usize) -> impl Iterator<Item = Value<'_>> {
        self.stored(row).map(|cell| match cell.tag {
            Tag::ShortInteger => Value::Integer(cell.integer),
            _ => Value::Cell(self.cell(cell)),
        })
    }

    fn stored(&self, row: usize) -> std::slice::Iter<'_, StoredCell> {
        let start = row * self.columns;
        self.cells[start..start + self.columns].iter()
    }

    #[inline]
    fn cell(&self, cell: &StoredCell) -> Cell<'_> {
        let text = || self.text_of(cell);
        match cell.tag {
            Tag::Null => Cell::Null,
            Tag::False => Cell::Bool(false),
            Tag::True => Cell::Bool(true),
            Tag::ShortInteger | Tag::Integer => Cell::Integer(text()),
            Tag::Number => Cell::Number(text()),
            Tag::String => Cell::String(text()),
            Tag::Nested => Cell::Nested(text()),
        }
    }

    /// The names and JSON of a row's extra keys. Rows are read in order, with one `cursor` that starts at 0.
    pub fn extras<'a>(&'a self, row: usize, cursor: &mut usize) -> impl Iterator<Item = (&'a str, &'a str)> + Clone {
        let rest = &self.extras[*cursor..];
        let count = rest.iter().take_while(|extra| extra.row == row).count();
        *cursor += count;
        rest.iter().take(count).map(|extra| (&self.text[extra.start..extra.value], &self.text[extra.value..extra.end]))
    }

    fn text_of(&self, cell: &StoredCell) -> &str {
        &self.text[cell.start as usize..][..cell.length as usize]
    }
}

impl Batch for Block {
    fn bytes(&self) -> usize {
        self.text.len() + self.cells.len() * size_of::<StoredCell>() + self.extras.len() * size_of::<Extra>()
    }

    fn result_bytes(&self) -> usize {
        // Most blocks need no look at their cells: their texts take in Python what they take here, or less.
        let is_wide = has_wide(&self.text);
        let cells = if self.has_nested || is_wide { self.cells.as_slice() } else { &[] };
        let beyond = |text: &str| text_bytes(text.as_bytes()).saturating_sub(text.len());
        let nested = |json: &str| {
            let size = json_size(json);
            size.values * ENTRY_BYTES + size.text.saturating_sub(json.len())
        };
        let cells = cells.iter().map(|cell| match cell.tag {
            Tag::Nested => nested(self.text_of(cell)),
            Tag::String if is_wide => beyond(self.text_of(cell)),
            _ => 0,
        });
        let extras = self.extras.iter().map(|extra| nested(&self.text[extra.value..extra.end]));
        // Records share the names of such keys.
        let names: usize = self.extras.iter().map(|extra| extra.value - extra.start).sum();
        let beyond: usize = cells.sum::<usize>() + extras.sum::<usize>();
        self.text.len() - names + self.rows * MAP_BYTES + self.cells.len() * ENTRY_BYTES + beyond
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let Self { text, cells, extras, pool, .. } = self;
        let (text, cells, extras) = (std::mem::take(text), std::mem::take(cells), std::mem::take(extras));
        pool.give_back(|| Some(Memory { text: text.into_bytes(), cells, extras }));
    }
}
