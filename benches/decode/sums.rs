//! A sink that keeps a number for each value and adds them up in batches: the least that any consumer does.

use dataaccess::decode::{Fit, Sink};

use super::bodies::COLUMNS;

const BATCH: usize = 1_024;

/// What came in each column, as one number.
#[derive(Debug, Default, PartialEq)]
pub struct Sums {
    pub totals: [i64; COLUMNS.len()],
    pub records: u64,
}

impl Sums {
    /// Counts a value: a text by its length, a number by its value or bits, anything else as one.
    pub fn add(&mut self, column: usize, value: i64) {
        if let Some(total) = self.totals.get_mut(column) {
            *total = total.wrapping_add(value);
        }
    }
}

/// Builds sums.
#[derive(Debug, Default)]
pub struct Adder {
    sums: Sums,
    values: [Vec<i64>; COLUMNS.len()],
    rows: usize,
}

impl Adder {
    pub fn finish(mut self) -> Sums {
        self.add_up();
        self.sums
    }

    fn add_up(&mut self) {
        for (column, values) in self.values.iter_mut().enumerate() {
            self.sums.add(column, values.drain(..).fold(0, i64::wrapping_add));
        }
        self.sums.records += self.rows as u64;
        self.rows = 0;
    }

    #[inline]
    fn put(&mut self, column: usize, value: i64) {
        self.values.get_mut(column).expect("a column").push(value);
    }
}

impl Sink for Adder {
    #[inline]
    fn null(&mut self, column: usize) -> Fit {
        self.put(column, 0);
        Ok(())
    }

    #[inline]
    fn bool(&mut self, column: usize, value: bool) -> Fit {
        self.put(column, i64::from(value));
        Ok(())
    }

    #[inline]
    fn integer(&mut self, column: usize, digits: &str) -> Fit {
        self.put(column, digits.parse().expect("64 bits"));
        Ok(())
    }

    #[inline]
    fn number(&mut self, column: usize, text: &str) -> Fit {
        self.put(column, text.parse::<f64>().expect("a number").to_bits().cast_signed());
        Ok(())
    }

    #[inline]
    fn text(&mut self, column: usize, text: &str) -> Fit {
        self.put(column, i64::try_from(text.len()).expect("64 bits"));
        Ok(())
    }

    #[inline]
    fn nested(&mut self, column: usize, _json: &str) -> Fit {
        self.put(column, 1);
        Ok(())
    }

    fn extra(&mut self, _name: &str, _json: &str) {}

    #[inline]
    fn end_record(&mut self) {
        self.rows += 1;
        if self.rows == BATCH {
            self.add_up();
        }
    }

    fn undo_record(&mut self) {
        self.values.iter_mut().for_each(|values| values.truncate(self.rows));
    }
}
