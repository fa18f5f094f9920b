//! The requested columns, and what was seen of them.

use std::collections::HashMap;

/// Names to places, and counts.
#[derive(Debug)]
pub(super) struct ColumnNames {
    names: Vec<String>,
    index: HashMap<String, usize>,
    records: u64,
    /// In how many records each was absent.
    absent: Vec<u64>,
    records_with_extras: u64,
}

impl ColumnNames {
    pub(super) fn new(names: Vec<String>) -> Self {
        let index = names.iter().enumerate().map(|(place, name)| (name.clone(), place)).collect();
        let absent = vec![0; names.len()];
        Self { names, index, records: 0, absent, records_with_extras: 0 }
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// A record lacks this one.
    pub(super) fn count_absent(&mut self, column: usize) {
        if let Some(absent) = self.absent.get_mut(column) {
            *absent += 1;
        }
    }

    /// A record is complete.
    #[inline]
    pub(super) fn count_record(&mut self, has_extras: bool) {
        self.records += 1;
        self.records_with_extras += u64::from(has_extras);
    }

    /// In how many records each was present, and how many records had keys nobody asked for.
    pub(super) fn into_counts(self) -> (Vec<u64>, u64) {
        let present = self.absent.iter().map(|absent| self.records.saturating_sub(*absent)).collect();
        (present, self.records_with_extras)
    }
}
