//! A sink that adds up its cells, the least that any consumer does.

use dataaccess::decode::{Bytes32, Cell, CellResult, Sink};

use super::bodies::COLUMNS;

/// A sum for each column: of the lengths of strings, the values or bits of numbers, and one for anything else.
#[derive(Debug, Default, PartialEq)]
pub struct Sums {
    pub totals: [i64; COLUMNS.len()],
    pub records: u64,
}

impl Sums {
    pub fn add(&mut self, column: usize, value: i64) {
        if let Some(total) = self.totals.get_mut(column) {
            *total = total.wrapping_add(value);
        }
    }
}

/// Builds sums, a record at a time.
#[derive(Debug, Default)]
pub struct Adder {
    pub sums: Sums,
    /// The last value of each column. Each record overwrites all of them, so nothing has to be undone.
    row: [i64; COLUMNS.len()],
}

impl Adder {
    /// Always true: every cell is taken.
    #[inline]
    fn cell_is(&mut self, column: usize, value: i64) -> bool {
        if let Some(cell) = self.row.get_mut(column) {
            *cell = value;
        }
        true
    }
}

impl Sink for Adder {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would cost as much as the work")]
    fn cell(&mut self, column: usize, cell: Cell) -> CellResult {
        let value = match cell {
            Cell::Null => 0,
            Cell::Bool(value) => i64::from(value),
            Cell::Integer(digits) => digits.parse().expect("64 bits"),
            Cell::Number(text) => text.parse::<f64>().expect("a number").to_bits().cast_signed(),
            Cell::String(text) => i64::try_from(text.len()).expect("64 bits"),
            Cell::Nested(_) => 1,
        };
        self.cell_is(column, value);
        Ok(())
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as above")]
    fn short_string(&mut self, column: usize, _text: &Bytes32, length: usize) -> bool {
        self.cell_is(column, i64::try_from(length).expect("64 bits"))
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as above")]
    fn short_integer(&mut self, column: usize, integer: i32, _written: &Bytes32, _length: usize) -> bool {
        self.cell_is(column, integer.into())
    }

    fn undo_cell(&mut self, _column: usize) {}

    #[inline]
    fn end_record(&mut self) {
        self.sums.records += 1;
        for (total, value) in self.sums.totals.iter_mut().zip(self.row) {
            *total = total.wrapping_add(value);
        }
    }

    fn undo_record(&mut self) {}
}
