//! The keys nobody asked for: their names and how often each came.

use std::collections::HashMap;

/// So many names are told apart.
const NAMES: usize = 100;

/// Counts the extras of complete records.
#[derive(Debug, Default)]
pub(super) struct Extras {
    counts: HashMap<String, u64>,
    /// Those of the names that came after the first hundred.
    others: u64,
    /// Names of the record that is being filled, one after the other, and where each ends.
    names: String,
    ends: Vec<usize>,
}

impl Extras {
    pub(super) fn note(&mut self, name: &str) {
        self.names.push_str(name);
        self.ends.push(self.names.len());
    }

    /// The record counts.
    #[inline]
    pub(super) fn keep(&mut self) {
        if !self.ends.is_empty() {
            self.count();
            self.forget();
        }
    }

    /// The record does not count.
    pub(super) fn forget(&mut self) {
        self.names.clear();
        self.ends.clear();
    }

    fn count(&mut self) {
        let mut start = 0;
        for end in &self.ends {
            let name = self.names.get(start..*end).unwrap_or_default();
            start = *end;
            if let Some(count) = self.counts.get_mut(name) {
                *count += 1;
            } else if self.counts.len() < NAMES {
                self.counts.insert(name.to_owned(), 1);
            } else {
                self.others += 1;
            }
        }
    }

    /// Names with their counts, the most frequent first.
    pub(super) fn counts(&self) -> Vec<(String, u64)> {
        let mut counts: Vec<_> = self.counts.iter().map(|(name, count)| (name.clone(), *count)).collect();
        counts.sort_unstable_by(|(name, count), (other, more)| more.cmp(count).then_with(|| name.cmp(other)));
        counts
    }

    pub(super) fn others(&self) -> u64 {
        self.others
    }
}
