//! The buffer of a scan: the bytes that its responses hold for the consumer.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// The limit on the bytes that all responses of a scan hold, and which of the responses are open.
#[derive(Debug)]
pub struct BufferBudget {
    limit: usize,
    /// How long the last open response may stay unread because the buffer is full, before it is dropped.
    pub(super) unread: Duration,
    used: AtomicUsize,
    /// Index of the response that the consumer reads, and of the last one that was requested.
    front: AtomicUsize,
    last: AtomicUsize,
    freed: Notify,
    is_pulled: AtomicBool,
}

impl BufferBudget {
    /// A budget of `limit` bytes. A response that is not read because the buffer is full is dropped after `unread`, or
    /// twice that if there are open responses after it.
    #[must_use]
    pub fn new(limit: usize, unread: Duration) -> Self {
        let [used, front, last] = [0, 0, 0].map(AtomicUsize::new);
        Self { limit, unread, used, front, last, freed: Notify::new(), is_pulled: AtomicBool::new(false) }
    }

    /// Bytes in use.
    #[must_use]
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Most bytes in use.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Sets the indices of the first and the last open response.
    pub fn set_open(&self, first: usize, last: usize) {
        self.last.store(last, Ordering::Relaxed);
        if self.front.swap(first, Ordering::Relaxed) != first {
            self.notify();
        }
    }

    /// Records that another library pulls the batches, through the Arrow C stream.
    pub fn set_pulled(&self) {
        self.is_pulled.store(true, Ordering::Relaxed);
    }

    /// Whether another library pulls the batches.
    pub(super) fn is_pulled(&self) -> bool {
        self.is_pulled.load(Ordering::Relaxed)
    }

    /// Counts a batch that was buffered.
    pub(super) fn take(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a batch that was taken or dropped.
    pub(super) fn release(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        self.notify();
    }

    /// Wakes everything that awaits [`BufferBudget::freed`].
    pub(super) fn notify(&self) {
        self.freed.notify_waiters();
    }

    /// Completes when bytes are released or the consumer goes on to another response.
    pub(super) fn freed(&self) -> Notified<'_> {
        self.freed.notified()
    }

    /// Whether the consumer reads this response.
    pub(super) fn is_front(&self, index: usize) -> bool {
        self.front.load(Ordering::Relaxed) >= index
    }

    /// Whether no response after this one is open.
    pub(super) fn is_last(&self, index: usize) -> bool {
        self.last.load(Ordering::Relaxed) <= index
    }
}
