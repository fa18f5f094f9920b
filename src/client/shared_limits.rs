//! What all calls over the same connections share: the quota, the gate, and what is counted of them. And when a request
//! may start: `rate=` and the gate are one queue.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::time::{Instant, sleep_until};

use super::rng::uniform;
use crate::error::{Error, Kind, Result};
use crate::retry::{Policy, RetryBudget, RetryDecision, RetryState, Throttle};
use crate::transport::{Meter, Response};

/// Figures of all calls over the same connections since the first of their clients was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Requests sent, including retries.
    pub requests: u64,
    /// Requests retried after a failure, as `retries=` allows.
    pub retries: u64,
    /// Requests retried at once, because the service had closed the idle connection they were sent on.
    pub free_retries: u64,
    /// Responses that asked to slow down.
    pub throttled: u64,
    /// Requests whose response has not ended yet.
    pub in_flight: u64,
    /// Bytes of response bodies as received: compressed, if they were.
    pub bytes_received: u64,
    /// Connections opened.
    pub connections_opened: u64,
    /// Tokens left in the retry budget.
    pub quota_left: u32,
}

#[derive(Debug)]
pub(super) struct SharedLimits {
    budget: Mutex<RetryBudget>,
    throttle: Mutex<Throttle>,
    requests: AtomicU64,
    retries: AtomicU64,
    free_retries: AtomicU64,
    throttled: AtomicU64,
    in_flight: AtomicU64,
}

/// `rate=` of one client: the least time between the starts of two of its requests, and when the last one was due.
#[derive(Debug)]
pub(super) struct RateLimiter {
    interval: Option<Duration>,
    last: tokio::sync::Mutex<Option<Instant>>,
}

impl RateLimiter {
    pub(super) fn new(interval: Option<Duration>) -> Self {
        Self { interval, last: tokio::sync::Mutex::default() }
    }
}

/// A request under way, however it ends.
pub(super) struct InFlightGuard<'a>(&'a SharedLimits);

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SharedLimits {
    pub(super) fn new(concurrency: u32) -> Self {
        Self {
            budget: Mutex::new(RetryBudget::new(concurrency)),
            throttle: Mutex::default(),
            requests: AtomicU64::new(0),
            retries: AtomicU64::new(0),
            free_retries: AtomicU64::new(0),
            throttled: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
        }
    }

    /// Another client shares the limits, with `concurrency` requests at a time.
    pub(super) fn grow_for(&self, concurrency: u32) {
        lock(&self.budget).grow_for(concurrency);
    }

    /// Waits until a request may start. Whoever is cancelled meanwhile delays nobody.
    pub(super) async fn turn(&self, rate_limiter: &RateLimiter) {
        let Some(interval) = rate_limiter.interval else {
            self.pass_throttle().await;
            return;
        };
        // The lock is the queue: its holder starts next, also when the gate was shut meanwhile.
        let mut last = rate_limiter.last.lock().await;
        let due = last.map_or_else(Instant::now, |last| Instant::now().max(last + interval));
        sleep_until(due).await;
        let passed = self.pass_throttle().await;
        *last = Some(passed.unwrap_or(due));
    }

    /// Waits at the gate; says when it could be passed, if it was not open. Whoever is cancelled there leaves a turn
    /// unused.
    async fn pass_throttle(&self) -> Option<Instant> {
        let mut passed = None;
        loop {
            let now = Instant::now();
            let turn = lock(&self.throttle).turn(now.into_std());
            let at = Instant::from_std(turn.at);
            if at > now {
                sleep_until(at).await;
                passed = Some(at);
            }
            if lock(&self.throttle).holds(turn) {
                return passed;
            }
        }
    }

    /// A request is sent.
    pub(super) fn begin(&self) -> InFlightGuard<'_> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlightGuard(self)
    }

    /// The head of an answer came to a request of the time `sent`.
    pub(super) fn heard(&self, policy: &Policy, sent: Instant, response: &Response) {
        let now = Instant::now().into_std();
        if let Some(pause) = policy.pause(response.status, response.retry_after) {
            lock(&self.throttle).refused(sent.into_std(), now, pause);
        } else if response.status == 200 {
            lock(&self.throttle).passed(now);
        }
    }

    /// The delay before the retry.
    ///
    /// # Errors
    /// The failure itself when it is final.
    pub(super) fn again(&self, state: &mut RetryState, failure: Error, left: Duration) -> Result<Duration> {
        if failure.kind() == Kind::Throttled {
            self.throttled.fetch_add(1, Ordering::Relaxed);
        }
        match state.after(failure, left, uniform(), &mut lock(&self.budget))? {
            RetryDecision::Immediate => {
                self.free_retries.fetch_add(1, Ordering::Relaxed);
                Ok(Duration::ZERO)
            }
            RetryDecision::After(delay) => {
                self.retried();
                Ok(delay)
            }
        }
    }

    /// Counts a retry.
    pub(super) fn retried(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    /// Pays back into the retry budget after a successful call.
    pub(super) fn succeeded(&self, state: &RetryState) {
        lock(&self.budget).succeeded(state.cost());
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
            quota_left: lock(&self.budget).left(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_millis(100);

    /// When each of so many requests that are ready at once starts, since `began`.
    async fn starts(shared_limits: &SharedLimits, rate_limiter: &RateLimiter, count: u32) -> Vec<Duration> {
        let began = Instant::now();
        let turns = (0..count).map(|_| async {
            shared_limits.turn(rate_limiter).await;
            began.elapsed()
        });
        futures_util::future::join_all(turns).await
    }

    #[tokio::test(start_paused = true)]
    async fn requests_start_an_interval_apart_and_idle_time_is_not_saved_up() {
        let (shared_limits, rate_limiter) = (SharedLimits::new(8), RateLimiter::new(Some(INTERVAL)));
        for _ in 0..2 {
            assert_eq!(starts(&shared_limits, &rate_limiter, 3).await, [0, 1, 2].map(|number| number * INTERVAL));
            tokio::time::sleep(600 * INTERVAL).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_rate_holds_for_those_who_waited_for_a_service_that_asked_for_quiet() {
        let (shared_limits, rate_limiter) = (SharedLimits::new(8), RateLimiter::new(Some(INTERVAL)));
        // Others over the same connections have found out that it takes hundreds a second.
        let now = Instant::now().into_std();
        for number in 0..300 {
            lock(&shared_limits.throttle).passed(now + Duration::from_millis(3) * number);
        }
        let waiting = starts(&shared_limits, &rate_limiter, 6);
        let refusing = async {
            tokio::time::sleep(2 * INTERVAL + INTERVAL / 2).await;
            let now = Instant::now().into_std();
            lock(&shared_limits.throttle).refused(now, now, 20 * INTERVAL);
        };
        let (starts, ()) = tokio::join!(waiting, refusing);
        assert_eq!(starts.iter().filter(|start| **start < 3 * INTERVAL).count(), 3);
        let gaps = starts.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
        assert!(gaps.clone().all(|gap| gap >= INTERVAL), "{starts:?}");
        assert!(starts[3] >= 20 * INTERVAL, "{starts:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_cancelled_in_the_queue_delays_nobody() {
        let (shared_limits, rate_limiter) = (SharedLimits::new(8), RateLimiter::new(Some(INTERVAL)));
        shared_limits.turn(&rate_limiter).await;
        for _ in 0..5 {
            assert!(tokio::time::timeout(INTERVAL / 100, shared_limits.turn(&rate_limiter)).await.is_err());
        }
        assert_eq!(starts(&shared_limits, &rate_limiter, 1).await, [INTERVAL / 20 * 19]);
    }
}
