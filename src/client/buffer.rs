//! The bytes that wait for the consumer of a scan, which its responses share.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// The bytes that the responses of one scan may hold for their consumer, and what each needs to know of the others.
#[derive(Debug)]
pub struct BufferBudget {
    limit: usize,
    /// How long an open response may stay unread for want of room before it is dropped, if it is the last one.
    unread: Duration,
    used: AtomicUsize,
    /// The response whose batches the consumer waits for, and the last one that was requested.
    front: AtomicUsize,
    last: AtomicUsize,
    freed: Notify,
    is_pulled: AtomicBool,
}

impl BufferBudget {
    /// So many bytes. A response that is read no further for want of room is dropped after `unread`, or twice that if
    /// others behind it are open too.
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

    /// Bytes in all.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Notes which responses are the first and the last of those that are open.
    pub fn set_open(&self, first: usize, last: usize) {
        self.last.store(last, Ordering::Relaxed);
        if self.front.swap(first, Ordering::Relaxed) != first {
            self.notify();
        }
    }

    /// Another library takes the batches from now on.
    pub fn set_pulled(&self) {
        self.is_pulled.store(true, Ordering::Relaxed);
    }

    /// Whether it does.
    pub(super) fn is_pulled(&self) -> bool {
        self.is_pulled.load(Ordering::Relaxed)
    }

    /// A batch waits for the consumer.
    pub(super) fn take(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A batch waits no longer.
    pub(super) fn release(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        self.notify();
    }

    /// Wakes all that wait for [`BufferBudget::freed`].
    pub(super) fn notify(&self) {
        self.freed.notify_waiters();
    }

    /// The next time that bytes are released, or the consumer comes to another response.
    pub(super) fn freed(&self) -> Notified<'_> {
        self.freed.notified()
    }

    /// For how long a response may stay unread.
    pub(super) fn unread(&self) -> Duration {
        self.unread
    }

    /// Whether the consumer waits for this response.
    pub(super) fn is_front(&self, index: usize) -> bool {
        self.front.load(Ordering::Relaxed) >= index
    }

    /// Whether no response behind this one is open.
    pub(super) fn is_last(&self, index: usize) -> bool {
        self.last.load(Ordering::Relaxed) <= index
    }
}
