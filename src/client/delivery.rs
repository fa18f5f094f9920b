//! Delivers the batches of one response from its request to its consumer.
//!
//! Until the consumer takes the first batch, the response can be dropped and requested again: after a failure, or
//! because the buffer is full and the connection stays unread.
//!
//! After a failure, delivery is suspended until the retry is decided: a retry voids the batches that have arrived; after
//! a final failure the consumer takes them before it gets the error.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use tokio::time::{Instant, timeout};

use super::budget::BufferBudget;
use super::lock;
use crate::decode::Batch;
use crate::error::Result;

/// A batch of records. A batch with another number of its attempt voids the batches before it.
#[derive(Debug)]
pub struct Delivered<B> {
    /// Number of the attempt. It changes only in [`DeliveryMode::Replaceable`], when a retry follows batches that were
    /// taken.
    pub attempt: u32,
    /// The records.
    pub batch: B,
}

impl<B> Delivered<B> {
    /// With the records in memory of their own: a channel of tokio reserves space for 32 batches at once.
    pub fn boxed(self) -> Delivered<Box<B>> {
        Delivered { attempt: self.attempt, batch: Box::new(self.batch) }
    }
}

/// What a consumer makes of the batches of one attempt.
#[derive(Debug)]
pub struct OfAttempt<T> {
    attempt: u32,
    value: T,
}

/// When the consumer can take the batches of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryMode {
    /// As they arrive; a retry delivers all records anew and voids the batches that were taken.
    Replaceable,
    /// As they arrive; the request is not retried once a batch was taken. The first `held` batches are held back until
    /// there are more or the response is complete, so that a short response can be retried to its end.
    Streamed {
        /// Batches held back.
        held: usize,
    },
    /// Once the response is complete and reports success.
    Complete,
}

impl<T> OfAttempt<T> {
    /// A value for the first attempt.
    pub const fn new(value: T) -> Self {
        Self { attempt: 0, value }
    }

    /// The value of this attempt, which is made `anew` if the value is of an earlier one.
    pub fn of(&mut self, attempt: u32, anew: impl FnOnce() -> T) -> &mut T {
        if self.attempt != attempt {
            *self = Self { attempt, value: anew() };
        }
        &mut self.value
    }

    /// The value of the newest attempt so far.
    pub fn last(&self) -> &T {
        &self.value
    }

    /// The value of the last attempt, which may have delivered nothing.
    pub fn of_last(mut self, attempt: u32, anew: impl FnOnce() -> T) -> T {
        self.of(attempt, anew);
        self.value
    }
}

/// The buffered batches of one response.
#[derive(Debug)]
pub struct Delivery<B: Batch> {
    index: usize,
    mode: DeliveryMode,
    budget: Arc<BufferBudget>,
    state: Mutex<State<B>>,
}

/// How much of the current attempt has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    Nothing,
    Headers,
    /// Since then.
    Rows(Instant),
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
    /// Of all batches of this attempt, including those that were taken.
    total_bytes: usize,
    /// Of the same batches in the result that keeps them.
    result_bytes: usize,
    arrived: Arrived,
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
            total_bytes: 0,
            result_bytes: 0,
            arrived: Arrived::Nothing,
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
    pub fn is_evicted(&self) -> bool {
        self.state().phase == Phase::Evicted
    }

    /// The number of the last attempt: batches of others are void.
    pub fn attempt(&self) -> u32 {
        self.state().attempt
    }

    /// Bytes of all batches of the current attempt, including those that were taken.
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
    pub fn requested_at(&self) -> Option<SystemTime> {
        self.state().requested_at
    }

    /// Rows have arrived.
    pub(super) fn mark_rows(&self) {
        let mut state = self.state();
        if !matches!(state.arrived, Arrived::Rows(_)) {
            state.arrived = Arrived::Rows(Instant::now());
        }
    }

    pub(super) fn arrived(&self) -> Arrived {
        self.state().arrived
    }

    /// Queues a batch for the consumer. Fails if the result that keeps the batches exceeds its limit.
    pub(crate) fn push(&self, batch: B) -> Result<()> {
        let (bytes, mut state) = (batch.bytes(), self.state());
        state.result_bytes += self.budget.keep(&batch)?;
        self.budget.take(bytes);
        state.total_bytes += bytes;
        state.batches.push_back(batch);
        wake(state);
        Ok(())
    }

    /// Waits until there is space for the next batch. Returns false if the buffer was full for too long: the response
    /// was dropped.
    pub(super) async fn wait_for_space(&self) -> bool {
        let began = Instant::now();
        loop {
            let freed = self.budget.freed.notified();
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
        let bytes = state.batches.drain(..).map(|batch| batch.bytes()).sum();
        self.budget.void(std::mem::take(&mut state.result_bytes));
        wake(state);
        self.budget.release(bytes);
    }

    fn state(&self) -> MutexGuard<'_, State<B>> {
        lock(&self.state)
    }
}

impl<B: Batch> Drop for Delivery<B> {
    fn drop(&mut self) {
        let bytes = self.state().batches.iter().map(Batch::bytes).sum();
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
