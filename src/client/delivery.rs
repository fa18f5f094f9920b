//! Delivers the batches of one response from its request to its consumer.
//!
//! Until the consumer takes the first batch, the response can be dropped and requested again: after a failure, or
//! because the buffer is full and the connection stays unread.
//!
//! After a failure, delivery is suspended until the retry is decided: a retry voids the batches that have arrived; after
//! a final failure the consumer takes them before it gets the error.

mod mode;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use tokio::time::{Instant, timeout};

pub use self::mode::{Delivered, DeliveryMode, OfAttempt};
use super::budget::BufferBudget;
use crate::decode::Batch;
use crate::error::Result;

/// The buffered batches of one response.
#[derive(Debug)]
pub struct Delivery<B: Batch> {
    index: usize,
    mode: DeliveryMode,
    budget: Arc<BufferBudget>,
    state: Mutex<State<B>>,
}

/// How much of the current attempt has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Arrived {
    Nothing,
    Headers,
    Rows,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// An attempt is in flight, or the last one has failed for the last time.
    Open,
    /// An attempt has failed, and the retry is not decided yet: nothing can be taken.
    Suspended,
    Complete,
    /// The response was dropped because the buffer is full.
    Evicted,
}

#[derive(Debug)]
struct State<B> {
    batches: VecDeque<B>,
    /// Of the batches in the queue.
    bytes: usize,
    /// Of all batches of this attempt, including those that were taken.
    total_bytes: usize,
    /// Of the same batches in the result that keeps them.
    result_bytes: usize,
    arrived: Arrived,
    /// Since when rows arrive.
    rows_since: Option<Instant>,
    /// When the request was sent, once its response has begun.
    requested_at: Option<SystemTime>,
    phase: Phase,
    /// How often batches that the consumer had taken became void.
    attempt: u32,
    /// Whether the consumer took a batch of this attempt.
    is_taken: bool,
    consumer: Option<Waker>,
}

impl<B: Batch> Delivery<B> {
    /// A delivery for the response with this index.
    #[must_use]
    pub fn new(index: usize, mode: DeliveryMode, budget: Arc<BufferBudget>) -> Self {
        let state = State {
            batches: VecDeque::new(),
            bytes: 0,
            total_bytes: 0,
            result_bytes: 0,
            arrived: Arrived::Nothing,
            rows_since: None,
            requested_at: None,
            phase: Phase::Open,
            attempt: 0,
            is_taken: false,
            consumer: None,
        };
        Self { index, mode, budget, state: Mutex::new(state) }
    }

    /// Returns the next batch, or nothing after the last batch of a complete response.
    pub fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Delivered<B>>> {
        let mut state = self.state();
        let can_take = match (state.phase, self.mode) {
            (Phase::Complete, _) | (Phase::Open, DeliveryMode::Replaceable) => true,
            (Phase::Open, DeliveryMode::Streamed { held }) => state.is_taken || state.batches.len() > held,
            (Phase::Open, DeliveryMode::Complete) | (Phase::Suspended | Phase::Evicted, _) => false,
        };
        if can_take && let Some(batch) = state.batches.pop_front() {
            state.is_taken = true;
            state.bytes -= batch.bytes();
            let attempt = state.attempt;
            drop(state);
            self.budget.release(batch.bytes());
            return Poll::Ready(Some(Delivered { attempt, batch }));
        }
        if state.phase == Phase::Complete {
            return Poll::Ready(None);
        }
        state.consumer = Some(context.waker().clone());
        Poll::Pending
    }

    /// Whether the response was dropped because the buffer is full, and must be requested again.
    #[must_use]
    pub fn is_evicted(&self) -> bool {
        self.state().phase == Phase::Evicted
    }

    /// The number of the last attempt: batches of others are void.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.state().attempt
    }

    /// Bytes of all batches of the current attempt, including those that were taken.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        self.state().total_bytes
    }

    /// Suspends delivery after a failed attempt, until [`Delivery::void`] or [`Delivery::resume`].
    ///
    /// Returns false if the request cannot be retried, as the consumer keeps the batches it took.
    pub(super) fn suspend(&self) -> bool {
        let mut state = self.state();
        if state.is_taken && matches!(self.mode, DeliveryMode::Streamed { .. }) {
            return false;
        }
        state.phase = Phase::Suspended;
        true
    }

    /// Drops all batches so far, for a retry. Those that the consumer took are void.
    pub(super) fn void(&self) {
        let mut state = self.state();
        state.attempt += u32::from(std::mem::take(&mut state.is_taken));
        (state.phase, state.arrived, state.total_bytes) = (Phase::Open, Arrived::Nothing, 0);
        state.rows_since = None;
        self.clear(state);
    }

    /// Lets the consumer take what has arrived before a final failure.
    pub(super) fn resume(&self) {
        let mut state = self.state();
        if state.phase == Phase::Suspended {
            state.phase = Phase::Open;
        }
        wake(state);
    }

    /// The response to a request that was sent then has begun.
    pub(super) fn begin(&self, requested_at: SystemTime) {
        let mut state = self.state();
        (state.arrived, state.requested_at) = (Arrived::Headers, Some(requested_at));
    }

    /// When the request was sent, once its response has begun.
    #[must_use]
    pub fn requested_at(&self) -> Option<SystemTime> {
        self.state().requested_at
    }

    /// Rows have arrived.
    pub(super) fn mark_rows(&self) {
        let mut state = self.state();
        state.arrived = Arrived::Rows;
        state.rows_since.get_or_insert_with(Instant::now);
    }

    /// The time since the first row.
    pub(super) fn receiving(&self) -> Duration {
        self.state().rows_since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    pub(super) fn arrived(&self) -> Arrived {
        self.state().arrived
    }

    /// Queues a batch for the consumer. Fails if the result that keeps the batches exceeds its limit.
    pub(crate) fn push(&self, batch: B) -> Result<()> {
        let (bytes, mut state) = (batch.bytes(), self.state());
        state.result_bytes += self.budget.keep(&batch);
        self.budget.check_result()?;
        self.budget.take(bytes);
        (state.bytes, state.total_bytes) = (state.bytes + bytes, state.total_bytes + bytes);
        state.batches.push_back(batch);
        wake(state);
        Ok(())
    }

    /// Waits until there is space for the next batch. Returns false if the buffer was full for too long: the response
    /// was dropped.
    pub(super) async fn wait_for_space(&self) -> bool {
        let began = Instant::now();
        loop {
            let freed = self.budget.freed();
            tokio::pin!(freed);
            // Registers the waiter before the check, so that no release in between is missed.
            freed.as_mut().enable();
            if self.has_space() {
                return true;
            }
            _ = timeout(self.budget.unread / 8, freed).await;
            if self.is_overdue(began.elapsed()) && self.evict() {
                return false;
            }
        }
    }

    /// Marks the response as complete and successful.
    pub(crate) fn complete(&self) {
        let mut state = self.state();
        state.phase = Phase::Complete;
        wake(state);
    }

    /// Whether the next batch may be received. The response that the consumer reads is buffered a batch ahead; those
    /// after it share the budget.
    pub(super) fn has_space(&self) -> bool {
        let ahead = match self.mode {
            DeliveryMode::Replaceable => 1,
            DeliveryMode::Streamed { held } => held + 1,
            DeliveryMode::Complete => return true,
        };
        if self.budget.is_front(self.index) {
            return self.state().batches.len() <= ahead;
        }
        self.budget.used() < self.budget.limit()
    }

    /// Whether the connection has been left unread for too long.
    fn is_overdue(&self, waited: Duration) -> bool {
        let times = if self.budget.is_last(self.index) { 1 } else { 2 };
        !self.budget.is_front(self.index) && waited >= times * self.budget.unread
    }

    /// Drops the response and returns true, unless the consumer took some of it.
    fn evict(&self) -> bool {
        let mut state = self.state();
        if state.is_taken {
            return false;
        }
        state.phase = Phase::Evicted;
        self.clear(state);
        true
    }

    fn clear(&self, mut state: MutexGuard<'_, State<B>>) {
        state.batches.clear();
        let bytes = std::mem::take(&mut state.bytes);
        self.budget.void(std::mem::take(&mut state.result_bytes));
        wake(state);
        self.budget.release(bytes);
    }

    fn state(&self) -> MutexGuard<'_, State<B>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: Batch> Drop for Delivery<B> {
    fn drop(&mut self) {
        let bytes = self.state().bytes;
        self.budget.release(bytes);
    }
}

/// Releases the lock, then wakes the consumer.
fn wake<B>(mut state: MutexGuard<'_, State<B>>) {
    let consumer = state.consumer.take();
    drop(state);
    if let Some(consumer) = consumer {
        consumer.wake();
    }
}

#[cfg(test)]
mod tests;
