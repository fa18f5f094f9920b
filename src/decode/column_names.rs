//! The requested columns, and in how many records each key was present.

use std::collections::HashMap;
use std::sync::Arc;

/// Up to this number, names are compared one by one: for a small response that is faster than hashing them.
const FEW: usize = 32;

/// Maps names to columns and counts records.
#[derive(Debug)]
pub(super) struct ColumnNames {
    names: Arc<[String]>,
    /// The column of each name, if there are more than a few names.
    index: Option<HashMap<String, usize>>,
    records: u64,
    /// For each column, the records without its key.
    absent: Vec<u64>,
}

impl ColumnNames {
    pub(super) fn new(names: Arc<[String]>) -> Self {
        let index = || names.iter().enumerate().map(|(column, name)| (name.clone(), column)).collect();
        let index = (names.len() > FEW).then(index);
        let absent = vec![0; names.len()];
        Self { names, index, records: 0, absent }
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(name).copied(),
            None => self.names.iter().position(|known| known == name),
        }
    }

    /// Counts a record without the key of this column.
    pub(super) fn count_absent(&mut self, column: usize) {
        self.absent[column] += 1;
    }

    /// Counts a complete record.
    #[inline]
    pub(super) fn count_record(&mut self) {
        self.records += 1;
    }

    /// For each column the records with its key.
    pub(super) fn present(&self) -> Vec<u64> {
        self.absent.iter().map(|absent| self.records.saturating_sub(*absent)).collect()
    }
}
