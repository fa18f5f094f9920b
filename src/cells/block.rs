//! A block of rows: flat cells over one text.

use std::sync::{Mutex, PoisonError, Weak};

use crate::decode::{Batch, Cell};

/// The variant of a [`Cell`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Tag {
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
pub(super) struct StoredCell {
    pub(super) tag: Tag,
    pub(super) start: u32,
    pub(super) length: u32,
}

pub(super) const NULL: StoredCell = StoredCell { tag: Tag::Null, start: 0, length: 0 };

/// A key that was not requested. Its name and its JSON are adjacent in the text of the block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extra {
    pub(super) row: usize,
    pub(super) start: usize,
    pub(super) name: usize,
    pub(super) json: usize,
}

/// The memory of blocks that were dropped, for the next ones.
pub(super) type Shelf = Mutex<Vec<(Vec<u8>, Vec<StoredCell>)>>;
/// Blocks whose memory is kept.
const MAX_KEPT: usize = 3;

/// Some records, cell by cell.
#[derive(Debug)]
pub struct Block {
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) text: String,
    pub(super) cells: Vec<StoredCell>,
    pub(super) extras: Vec<Extra>,
    pub(super) shelf: Weak<Shelf>,
}

impl Block {
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

impl Drop for Block {
    fn drop(&mut self) {
        let Some(kept) = self.shelf.upgrade() else { return };
        let memory = (std::mem::take(&mut self.text).into_bytes(), std::mem::take(&mut self.cells));
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MAX_KEPT {
            kept.push(memory);
        }
    }
}
