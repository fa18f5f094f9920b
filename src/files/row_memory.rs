//! The memory that rows take which are read from files, and its limit.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Unreadable;

/// What the rows of several files take together.
#[derive(Debug)]
pub struct RowMemory {
    limit: u64,
    used: AtomicU64,
}

impl RowMemory {
    /// Nothing yet, and at most `limit` bytes.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { limit, used: AtomicU64::new(0) }
    }

    /// Bytes at most, of the rows and of each file.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Counts rows.
    ///
    /// # Errors
    /// Together they exceed the limit.
    pub(super) fn add(&self, bytes: usize) -> Result<(), Unreadable> {
        let bytes = bytes as u64;
        let used = self.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if used > self.limit { Err(Unreadable::TooLarge(self.limit)) } else { Ok(()) }
    }
}
