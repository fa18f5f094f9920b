//! Batches of one response on their way from its request to its consumer, and until when the request may be retried.
//!
//! A batch counts as delivered when the consumer takes it. Until it took one, a response can be dropped and requested
//! again: after a failure, or because it waits for room in the buffer while its connection is not read.
//!
//! Between a failure and the decision what to do about it nothing can be taken: a retry voids what has arrived, and a
//! final failure lets the consumer have it before it hears of the failure.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::buffer::BufferBudget;
use crate::decode::Batch;
use crate::error::{Error, Kind, Result};

/// What a consumer gets of a response.
#[derive(Debug)]
pub enum Event<B> {
    /// The next records.
    Batch(B),
    /// The request is retried: all records of this response so far are void ([`DeliveryMode::Provisional`] alone).
    Restart,
}

/// When the consumer can take the batches of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryMode {
    /// As they come; a retry voids those that were taken.
    Provisional,
    /// As they come; once one was taken, the request is not retried. The first `held` batches can be taken when there
    /// are more or the response is complete, so that a response no longer than that can be retried to its end.
    Streamed {
        /// How many.
        held: usize,
    },
    /// When the response is complete and reports success.
    Complete,
}

/// The batches of one response, between its request and its consumer.
#[derive(Debug)]
pub struct Delivery<B: Batch> {
    /// Its place among the responses that share the budget.
    index: usize,
    mode: DeliveryMode,
    budget: Arc<BufferBudget>,
    state: Mutex<State<B>>,
}

/// What has arrived of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Arrived {
    Nothing,
    Headers,
    Rows,
}

/// Where a response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// An attempt is in flight, or the last one has failed permanently.
    Open,
    /// An attempt has failed: nothing is taken until it is known what follows.
    Suspended,
    /// It is complete and reports success.
    Complete,
    /// It was dropped for want of room.
    Evicted,
}

/// What the consumer knows of batches that it took and that are void.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Restart {
    /// There are none.
    None,
    /// It is to know.
    Due,
    /// It knows, and has acted on it when it asks for more.
    Announced,
}

#[derive(Debug)]
struct State<B> {
    batches: VecDeque<B>,
    /// Of the batches that were not taken.
    bytes: usize,
    /// Of all batches of this attempt.
    total_bytes: usize,
    arrived: Arrived,
    phase: Phase,
    /// Whether the consumer took a batch of this attempt.
    is_taken: bool,
    restart: Restart,
    consumer: Option<Waker>,
}

impl<B: Batch> Delivery<B> {
    /// For the response of this index.
    #[must_use]
    pub fn new(index: usize, mode: DeliveryMode, budget: Arc<BufferBudget>) -> Self {
        let state = State {
            batches: VecDeque::new(),
            bytes: 0,
            total_bytes: 0,
            arrived: Arrived::Nothing,
            phase: Phase::Open,
            is_taken: false,
            restart: Restart::None,
            consumer: None,
        };
        Self { index, mode, budget, state: Mutex::new(state) }
    }

    /// The next event; nothing when the response is complete and was taken to its end.
    pub fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Event<B>>> {
        let mut state = self.state();
        match state.restart {
            Restart::Due => {
                state.restart = Restart::Announced;
                return Poll::Ready(Some(Event::Restart));
            }
            Restart::Announced => {
                state.restart = Restart::None;
                self.budget.notify();
            }
            Restart::None => {}
        }
        let can_take = match (state.phase, self.mode) {
            (Phase::Complete, _) | (Phase::Open, DeliveryMode::Provisional) => true,
            (Phase::Open, DeliveryMode::Streamed { held }) => state.is_taken || state.batches.len() > held,
            (Phase::Open, DeliveryMode::Complete) | (Phase::Suspended | Phase::Evicted, _) => false,
        };
        if can_take && let Some(batch) = state.batches.pop_front() {
            state.is_taken = true;
            state.bytes -= batch.bytes();
            drop(state);
            self.budget.release(batch.bytes());
            return Poll::Ready(Some(Event::Batch(batch)));
        }
        if state.phase == Phase::Complete {
            return Poll::Ready(None);
        }
        state.consumer = Some(context.waker().clone());
        Poll::Pending
    }

    /// Whether the response was dropped for want of room, and is to be requested again.
    #[must_use]
    pub fn is_evicted(&self) -> bool {
        self.state().phase == Phase::Evicted
    }

    /// Whether another library takes the batches.
    pub(super) fn is_pulled(&self) -> bool {
        self.budget.is_pulled()
    }

    /// Bytes of all its batches so far, those that were taken among them.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        self.state().total_bytes
    }

    /// The attempt has failed: nothing of it is taken until [`Delivery::void`] or [`Delivery::resume`].
    ///
    /// Returns whether the request may be retried: not if the consumer took a batch that cannot be taken back.
    pub(super) fn suspend(&self) -> bool {
        let mut state = self.state();
        if state.is_taken && matches!(self.mode, DeliveryMode::Streamed { .. }) {
            return false;
        }
        state.phase = Phase::Suspended;
        true
    }

    /// The request is retried: all batches so far are void.
    pub(super) fn void(&self) {
        let mut state = self.state();
        if state.is_taken {
            state.restart = Restart::Due;
        }
        (state.is_taken, state.total_bytes) = (false, 0);
        self.clear(state);
    }

    /// The request has failed permanently: the consumer gets what has arrived, and then the failure.
    pub(super) fn resume(&self) {
        let mut state = self.state();
        if state.phase == Phase::Suspended {
            state.phase = Phase::Open;
        }
        wake(state);
    }

    /// The headers of an attempt have arrived.
    pub(super) fn mark_headers(&self) {
        self.state().arrived = Arrived::Headers;
    }

    /// Whether this attempt has come to its headers.
    pub(super) fn has_headers(&self) -> bool {
        self.state().arrived >= Arrived::Headers
    }

    /// The first record of an attempt has arrived.
    pub(super) fn mark_first_row(&self) {
        self.state().arrived = Arrived::Rows;
    }

    /// Whether this attempt has come to its first record.
    pub(super) fn has_rows(&self) -> bool {
        self.state().arrived == Arrived::Rows
    }

    /// Gives a batch to the consumer, then waits until there is room for the next.
    ///
    /// # Errors
    /// There was no room for too long: the response must be dropped ([`Delivery::is_evicted`]).
    pub(super) async fn send(&self, batch: B) -> Result<()> {
        self.push(batch);
        let began = Instant::now();
        loop {
            let freed = self.budget.freed();
            tokio::pin!(freed);
            // From here on no release is missed.
            freed.as_mut().enable();
            if self.has_room() {
                return Ok(());
            }
            _ = timeout(self.budget.unread() / 8, freed).await;
            if self.is_overdue(began.elapsed()) && self.evict() {
                return Err(Error::new(Kind::Internal, "a response was dropped, to be requested again later"));
            }
        }
    }

    fn push(&self, batch: B) {
        let bytes = batch.bytes();
        self.budget.take(bytes);
        let mut state = self.state();
        state.bytes += bytes;
        state.total_bytes += bytes;
        state.batches.push_back(batch);
        wake(state);
    }

    /// The response is complete and reports success.
    pub(super) fn complete(&self) {
        let mut state = self.state();
        state.phase = Phase::Complete;
        wake(state);
    }

    /// A new attempt begins, as soon as the consumer knows that the batches of the last one are void.
    pub(super) async fn restart(&self) {
        loop {
            let acted = self.budget.freed();
            tokio::pin!(acted);
            // From here on nothing is missed.
            acted.as_mut().enable();
            if self.try_open() {
                return;
            }
            acted.await;
        }
    }

    fn try_open(&self) -> bool {
        let mut state = self.state();
        if state.restart != Restart::None {
            return false;
        }
        (state.phase, state.arrived) = (Phase::Open, Arrived::Nothing);
        true
    }

    /// Whether the next batch may be received. The response that the consumer takes waits for them; those behind it are
    /// read ahead as far as the budget goes.
    fn has_room(&self) -> bool {
        let ahead = match self.mode {
            DeliveryMode::Provisional => 1,
            DeliveryMode::Streamed { held } => held + 1,
            DeliveryMode::Complete => return true,
        };
        if self.budget.is_front(self.index) {
            return self.state().batches.len() <= ahead;
        }
        self.budget.used() < self.budget.limit()
    }

    /// Whether the connection has not been read for too long.
    fn is_overdue(&self, waited: Duration) -> bool {
        let times = if self.budget.is_last(self.index) { 1 } else { 2 };
        !self.budget.is_front(self.index) && waited >= times * self.budget.unread()
    }

    /// Drops the response, unless the consumer took some of it.
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

/// Wakes the consumer, who finds the lock free.
fn wake<B>(mut state: MutexGuard<'_, State<B>>) {
    let consumer = state.consumer.take();
    drop(state);
    if let Some(consumer) = consumer {
        consumer.wake();
    }
}

#[cfg(test)]
mod tests;
