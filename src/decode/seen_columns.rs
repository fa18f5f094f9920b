//! The columns of the current record whose keys were read.

use super::column_names::ColumnNames;
use super::{Cell, Sink};

/// Columns before this one have a bit in a word.
const NARROW: usize = u64::BITS as usize;

/// The columns that were read.
#[derive(Debug)]
pub(super) struct SeenColumns {
    /// A bit for each of the first columns that was read.
    narrow: u64,
    /// The bits of the first columns.
    all_narrow: u64,
    /// Number of the current record.
    record: u64,
    /// For each column without a bit, the number of the last record with its key.
    wide: Vec<u64>,
}

impl SeenColumns {
    pub(super) fn new(columns: usize) -> Self {
        let all_narrow = (0..columns.min(NARROW)).fold(0, |all, column| all | 1 << column);
        Self { narrow: 0, all_narrow, record: 0, wide: vec![0; columns.saturating_sub(NARROW)] }
    }

    #[inline]
    pub(super) fn begin_record(&mut self) {
        self.narrow = 0;
        self.record += 1;
    }

    /// The bit of a column, if it has one.
    pub(super) fn bit(column: usize) -> Option<u64> {
        (column < NARROW).then(|| 1 << column)
    }

    /// The bits of the columns that were read.
    #[inline]
    pub(super) fn narrow(&self) -> u64 {
        self.narrow
    }

    #[inline]
    pub(super) fn set_narrow(&mut self, narrow: u64) {
        self.narrow = narrow;
    }

    /// Marks a column as read. Returns false if it was already.
    pub(super) fn mark(&mut self, column: usize) -> bool {
        if let Some(bit) = Self::bit(column) {
            let is_new = self.narrow & bit == 0;
            self.narrow |= bit;
            return is_new;
        }
        std::mem::replace(&mut self.wide[column - NARROW], self.record) != self.record
    }

    /// The bits of all columns, if each has one.
    pub(super) fn all_narrow(&self) -> Option<u64> {
        self.wide.is_empty().then_some(self.all_narrow)
    }

    /// How many columns were read, of those that have a bit.
    pub(super) fn count(&self) -> usize {
        self.narrow.count_ones() as usize
    }

    /// Whether all columns were read. May be false although they were.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.narrow == self.all_narrow && self.wide.is_empty()
    }

    /// Writes a null into each column that was not read.
    pub(super) fn fill_absent<S: Sink>(&self, columns: &mut ColumnNames, sink: &mut S) -> Option<()> {
        for column in self.absent() {
            sink.cell(column, Cell::Null).ok()?;
            columns.count_absent(column);
        }
        Some(())
    }

    /// The columns that were not read.
    fn absent(&self) -> impl Iterator<Item = usize> {
        let mut bits = self.all_narrow & !self.narrow;
        let narrow = std::iter::from_fn(move || {
            let column = (bits != 0).then(|| bits.trailing_zeros() as usize);
            bits &= bits.wrapping_sub(1);
            column
        });
        let wide = self.wide.iter().enumerate().filter(|(_, record)| **record != self.record);
        narrow.chain(wide.map(|(column, _)| NARROW + column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_read_once_in_each_record() {
        for columns in [0, 1, 63, 64, 65, 130] {
            let mut seen = SeenColumns::new(columns);
            for record in 0..3 {
                seen.begin_record();
                assert_eq!(seen.is_complete(), columns == 0);
                for column in (0..columns).filter(|column| column % 3 == record) {
                    assert!(seen.mark(column) && !seen.mark(column), "{column} of {columns}");
                }
                let others: Vec<_> = (0..columns).filter(|column| column % 3 != record).collect();
                assert_eq!(seen.absent().collect::<Vec<_>>(), others);
                for column in others {
                    assert!(seen.mark(column));
                }
                assert_eq!(seen.absent().count(), 0);
                assert!(seen.is_complete() || columns > NARROW);
            }
        }
    }
}
