//! The bytes that the responses of a scan hold for its consumer, and that its result takes; their limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use crate::decode::{Batch, too_large};
use crate::error::{Error, Result};

/// What the consumer keeps of each batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The batch as it is.
    Batches,
    /// What its records become: columns of one type, or rows as maps.
    Records,
}

/// The memory that a collected result takes, over all its responses, and its limit: `max_result_bytes=`.
#[derive(Debug)]
struct ResultSize {
    limit: u64,
    kept: Kept,
    used: AtomicU64,
}

/// The error of a result that takes more memory than `max_result_bytes`.
pub(super) fn result_too_large(limit: u64) -> Error {
    too_large("result in memory", limit).with(|details| details.field = Some("result".to_owned())).with_hint(
        "raise max_result_bytes, request fewer rows or attributes, or take them in batches or as a file, which need \
         little memory",
    )
}

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
    /// Notified when bytes are released or the consumer goes on to another response.
    pub(super) freed: Notify,
    /// The result that keeps all batches, if they are collected.
    result: Option<Arc<ResultSize>>,
}

impl BufferBudget {
    /// A budget of `limit` bytes. A response that is not read because the buffer is full is dropped after `unread`, or
    /// twice that if there are open responses after it.
    #[must_use]
    pub fn new(limit: usize, unread: Duration) -> Self {
        let [used, front, last] = [0, 0, 0].map(AtomicUsize::new);
        Self { limit, unread, used, front, last, freed: Notify::new(), result: None }
    }

    /// The same budget for batches that are kept in a result of at most `limit` bytes.
    #[must_use]
    pub fn of_result(self, limit: u64, kept: Kept) -> Self {
        Self { result: Some(Arc::new(ResultSize { limit, kept, used: AtomicU64::new(0) })), ..self }
    }

    /// A budget of its own for other responses, whose batches are kept in the same result.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self { result: self.result.clone(), ..Self::new(self.limit, self.unread) }
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Most bytes in use.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Sets the indices of the first and the last open response.
    pub fn set_open(&self, first: usize, last: usize) {
        self.last.store(last, Ordering::Relaxed);
        if self.front.swap(first, Ordering::Relaxed) != first {
            self.freed.notify_waiters();
        }
    }

    /// Counts a batch that was buffered.
    pub(super) fn take(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a batch that was taken or dropped.
    pub(super) fn release(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        self.freed.notify_waiters();
    }

    /// Counts a batch in the result, and returns the bytes to give to [`BufferBudget::void`] if the batch becomes void.
    /// Fails once the result exceeds its limit.
    pub(super) fn keep(&self, batch: &impl Batch) -> Result<usize> {
        let Some(ResultSize { limit, kept, used }) = self.result.as_deref() else { return Ok(0) };
        let bytes = match kept {
            Kept::Batches => batch.bytes(),
            Kept::Records => batch.result_bytes(),
        };
        let before = used.fetch_add(bytes as u64, Ordering::Relaxed);
        if before + bytes as u64 > *limit { Err(result_too_large(*limit)) } else { Ok(bytes) }
    }

    /// Removes batches that are void from the result.
    pub(super) fn void(&self, bytes: usize) {
        if let Some(result) = &self.result {
            result.used.fetch_sub(bytes as u64, Ordering::Relaxed);
        }
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
