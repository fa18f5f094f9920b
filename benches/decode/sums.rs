//! A sink that adds up what it is given: the least that any consumer does.

use dataaccess::decode::{CellResult, Sink};

use super::bodies::COLUMNS;

/// What came in each column: a text counts by its length, a number by its value or bits, anything else as one.
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
    /// The last value of each column. As each record brings one for each, nothing need be taken back.
    row: [i64; COLUMNS.len()],
}

impl Adder {
    #[inline]
    fn put(&mut self, column: usize, value: i64) {
        if let Some(cell) = self.row.get_mut(column) {
            *cell = value;
        }
    }
}

impl Sink for Adder {
    #[inline]
    fn null(&mut self, column: usize) -> CellResult {
        self.put(column, 0);
        Ok(())
    }

    #[inline]
    fn bool(&mut self, column: usize, value: bool) -> CellResult {
        self.put(column, i64::from(value));
        Ok(())
    }

    #[inline]
    fn integer(&mut self, column: usize, digits: &str) -> CellResult {
        self.put(column, digits.parse().expect("64 bits"));
        Ok(())
    }

    #[inline]
    fn number(&mut self, column: usize, text: &str) -> CellResult {
        self.put(column, text.parse::<f64>().expect("a number").to_bits().cast_signed());
        Ok(())
    }

    #[inline]
    fn text(&mut self, column: usize, text: &str) -> CellResult {
        self.put(column, i64::try_from(text.len()).expect("64 bits"));
        Ok(())
    }

    #[inline]
    fn nested(&mut self, column: usize, _json: &str) -> CellResult {
        self.put(column, 1);
        Ok(())
    }

    fn extra(&mut self, _name: &str, _json: &str) {}

    #[inline]
    fn end_record(&mut self) {
        self.sums.records += 1;
        for (total, value) in self.sums.totals.iter_mut().zip(self.row) {
            *total = total.wrapping_add(value);
        }
    }

    fn undo_record(&mut self) {}
}
