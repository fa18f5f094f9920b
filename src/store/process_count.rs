//! Counts what a process would leave behind if it ended now: locks in stores, temporary files.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number of this process, below its id, as a forked child inherits it. An atomic, as in a child nobody may be there to
/// unlock a mutex.
#[derive(Debug, Default)]
pub struct ProcessCount(AtomicU64);

impl ProcessCount {
    /// Nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The number.
    #[must_use]
    pub fn get(&self) -> u64 {
        of_process(process::id(), self.0.load(Ordering::Acquire))
    }

    /// Counts one more.
    pub fn add(&self) {
        self.change(|count| count + 1);
    }

    /// Counts one less.
    pub fn remove(&self) {
        self.change(|count| count.saturating_sub(1));
    }

    fn change(&self, change: impl Fn(u64) -> u64) {
        let pid = process::id();
        let changed = |number| Some(u64::from(pid) << 32 | change(of_process(pid, number)));
        _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, changed);
    }
}

fn of_process(pid: u32, number: u64) -> u64 {
    if number >> 32 == u64::from(pid) { number & u64::from(u32::MAX) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_parent_holds_is_not_counted_in_its_child() {
        let count = ProcessCount::new();
        count.add();
        count.add();
        count.remove();
        assert_eq!(count.get(), 1);
        let inherited = ProcessCount(AtomicU64::new(u64::from(process::id() + 1) << 32 | 7));
        assert_eq!(inherited.get(), 0);
        inherited.remove();
        inherited.add();
        assert_eq!(inherited.get(), 1);
    }
}
