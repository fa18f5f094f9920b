//! What all calls over the same connections share: the quota, the gate, and what is counted of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::time::sleep_until;

use super::chance::chance;
use crate::error::{Error, Kind, Result};
use crate::retry::{Again, Course, Gate, Policy, Quota};
use crate::transport::{Answer, Meter};

/// Figures of all calls over the same connections since the first of their clients was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Requests sent, those that were sent again among them.
    pub requests: u64,
    /// Requests sent again after a failure, as `retries=` allows.
    pub retries: u64,
    /// Requests sent again at once, as the service had closed the old connection they were sent on.
    pub free_retries: u64,
    /// Answers that asked to slow down.
    pub throttled: u64,
    /// Requests whose answer has not ended yet.
    pub in_flight: u64,
    /// Bytes of bodies as they came: compressed, if they were.
    pub bytes_received: u64,
    /// Connections opened.
    pub connections_opened: u64,
    /// What may still be spent on sending again.
    pub quota_left: u32,
}

#[derive(Debug)]
pub(super) struct Traffic {
    quota: Mutex<Quota>,
    gate: Mutex<Gate>,
    requests: AtomicU64,
    retries: AtomicU64,
    free_retries: AtomicU64,
    throttled: AtomicU64,
    in_flight: AtomicU64,
}

/// A request under way, however it ends.
pub(super) struct Flight<'a>(&'a Traffic);

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Traffic {
    pub(super) fn new(concurrency: u32) -> Self {
        Self {
            quota: Mutex::new(Quota::new(concurrency)),
            gate: Mutex::default(),
            requests: AtomicU64::new(0),
            retries: AtomicU64::new(0),
            free_retries: AtomicU64::new(0),
            throttled: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
        }
    }

    /// Another client joins, with so many requests at a time.
    pub(super) fn widen(&self, concurrency: u32) {
        lock(&self.quota).widen(concurrency);
    }

    /// Waits at the gate. Whoever is cancelled there leaves a turn unused.
    pub(super) async fn turn(&self) {
        loop {
            let now = Instant::now();
            let turn = lock(&self.gate).turn(now);
            if turn.at > now {
                sleep_until(turn.at.into()).await;
            }
            if lock(&self.gate).holds(turn) {
                return;
            }
        }
    }

    /// A request is sent.
    pub(super) fn begin(&self) -> Flight<'_> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        Flight(self)
    }

    /// The head of an answer came to a request of the time `sent`.
    pub(super) fn heard(&self, policy: &Policy, sent: Instant, answer: &Answer) {
        let now = Instant::now();
        if let Some(pause) = policy.pause(answer.status, answer.retry_after) {
            lock(&self.gate).refused(sent, now, pause);
        } else if answer.status == 200 {
            lock(&self.gate).passed(now);
        }
    }

    /// After how long a call sends again.
    ///
    /// # Errors
    /// The failure, when it is final.
    pub(super) fn again(&self, course: &mut Course, failure: Error, left: Duration) -> Result<Duration> {
        if failure.kind() == Kind::Throttled {
            self.throttled.fetch_add(1, Ordering::Relaxed);
        }
        match course.after(failure, left, chance(), &mut lock(&self.quota))? {
            Again::AtOnce => {
                self.free_retries.fetch_add(1, Ordering::Relaxed);
                Ok(Duration::ZERO)
            }
            Again::After(delay) => {
                self.retried();
                Ok(delay)
            }
        }
    }

    /// A request is sent again, and counts.
    pub(super) fn retried(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    /// A call ended well.
    pub(super) fn succeeded(&self, course: &Course) {
        lock(&self.quota).succeeded(course.cost());
    }

    pub(super) fn stats(&self, meter: &Meter) -> Stats {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            requests: count(&self.requests),
            retries: count(&self.retries),
            free_retries: count(&self.free_retries),
            throttled: count(&self.throttled),
            in_flight: count(&self.in_flight),
            bytes_received: meter.bytes(),
            connections_opened: meter.connections(),
            quota_left: lock(&self.quota).left(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
