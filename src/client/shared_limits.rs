//! What all calls over the same connections share: the health of the service, the throttle and the counters.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::time::{Instant, sleep_until};

use super::classify::{asks_to_wait, is_server_error};
use crate::error::{Error, Kind, constant_argument};
use crate::retry::{Health, Policy, Remedy, Throttle, Verdict};
use crate::transport::{Meter, Response};

/// Counters of all calls over the same connections, since the first of their clients was made.
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
}

#[derive(Debug, Default)]
pub(super) struct SharedLimits {
    health: Mutex<Health>,
    throttle: Mutex<Throttle>,
    counters: Counters,
    /// Why calls wait before they retry, by their ids.
    waits: Mutex<BTreeMap<u64, String>>,
}

#[derive(Debug, Default)]
struct Counters {
    requests: AtomicU64,
    retries: AtomicU64,
    free_retries: AtomicU64,
    throttled: AtomicU64,
    in_flight: AtomicU64,
}

/// The queue in which the requests of one client wait for their start: for `requests_per_second=` and for the throttle.
#[derive(Debug)]
pub(super) struct RateLimiter {
    interval: Option<Duration>,
    /// The earliest start that `requests_per_second=` allows. Its lock is the queue.
    next: tokio::sync::Mutex<Option<Instant>>,
}

impl RateLimiter {
    pub(super) fn new(interval: Option<Duration>) -> Self {
        Self { interval, next: tokio::sync::Mutex::default() }
    }

    /// What a request waits for here.
    pub(super) fn cause(&self) -> &'static str {
        self.interval.map_or("the pause that the service asked for", |_| {
            concat!(constant_argument!("requests_per_second"), " or a pause that the service asked for")
        })
    }

    /// Waits until a request may start, and returns whether that took time. The request must be ready to be sent: starts
    /// of requests that wait for something else afterwards would bunch up.
    ///
    /// A caller that is cancelled meanwhile delays no other.
    pub(super) async fn wait_for_start(&self, limits: &SharedLimits) -> bool {
        let ready = Instant::now();
        let mut next = self.next.lock().await;
        let mut due = next.map_or(ready, |next| next.max(ready));
        loop {
            if due > Instant::now() {
                sleep_until(due).await;
            }
            match lock(&limits.throttle).try_start(due.into_std()) {
                Ok(()) => break,
                Err(later) => due = Instant::from_std(later),
            }
        }
        *next = self.interval.map(|interval| due + interval);
        due > ready
    }
}

/// Counts a request as in flight until it is dropped.
pub(super) struct InFlightGuard<'a>(&'a SharedLimits);

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.counters.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why a call waits, until a response arrives or this is dropped.
pub(super) struct WaitGuard<'a> {
    limits: &'a SharedLimits,
    call: u64,
    is_waiting: bool,
}

impl WaitGuard<'_> {
    /// The call waits after this failure.
    pub(super) fn note(&mut self, failure: &Error) {
        self.is_waiting = true;
        lock(&self.limits.waits).insert(self.call, failure.marked_message().to_owned());
    }
}

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        if self.is_waiting {
            lock(&self.limits.waits).remove(&self.call);
        }
    }
}

impl SharedLimits {
    /// The waits of a call, which has none yet.
    pub(super) fn waits(&self, call: u64) -> WaitGuard<'_> {
        WaitGuard { limits: self, call, is_waiting: false }
    }

    /// Why one of the calls waits; nothing while none does.
    pub(super) fn waits_for(&self) -> Option<String> {
        lock(&self.waits).last_key_value().map(|(_, reason)| reason.clone())
    }

    /// How long a request that failed like this is retried.
    pub(super) fn retry_for(&self, policy: &Policy, verdict: &Verdict) -> Duration {
        lock(&self.health).retry_for(policy, verdict)
    }

    /// Records that a request of this call failed.
    pub(super) fn record_failure(&self, call: u64, failure: &Error, verdict: &Verdict) {
        if failure.kind() == Kind::Throttled {
            increment(&self.counters.throttled);
        }
        if matches!(verdict.remedy, Remedy::Once | Remedy::BackOff) {
            lock(&self.health).failed(call, verdict.scope);
        }
    }

    /// Whether requests of other calls would fail too.
    pub(super) fn is_down_for_all(&self) -> bool {
        lock(&self.health).is_down_for_all()
    }

    /// Whether a retry may be sent now. If not, it backs off once more.
    pub(super) fn may_retry(&self, policy: &Policy) -> bool {
        lock(&self.health).may_retry(policy, Instant::now().into_std())
    }

    pub(super) fn count_request(&self) -> InFlightGuard<'_> {
        increment(&self.counters.requests);
        increment(&self.counters.in_flight);
        InFlightGuard(self)
    }

    /// Records that the headers of the response to a request have arrived, which was sent at `sent`.
    pub(super) fn record_response(&self, policy: &Policy, sent: Instant, response: &Response) {
        let now = Instant::now().into_std();
        lock(&self.waits).clear();
        lock(&self.health).reached();
        // At the headers: a body may take longer than others can wait to hear of it.
        if !is_server_error(response.status) || response.retry_after.is_some() {
            lock(&self.health).responded();
        }
        let pause = asks_to_wait(response.status, response.retry_after).and_then(|pause| policy.pause(pause));
        if let Some(pause) = pause {
            lock(&self.throttle).refused(sent.into_std(), now, pause);
        } else if response.status == 200 {
            lock(&self.throttle).accepted(now);
        }
    }

    /// Records a response whose envelope asks all requests to wait.
    pub(super) fn record_refusal(&self, policy: &Policy, sent: Instant, verdict: Verdict) {
        if let Remedy::Pause(pause) = verdict.remedy
            && let Some(pause) = policy.pause(pause)
        {
            lock(&self.throttle).refused(sent.into_std(), Instant::now().into_std(), pause);
        }
    }

    pub(super) fn count_retry(&self) {
        increment(&self.counters.retries);
    }

    /// Counts a retry that `retries=` does not count.
    pub(super) fn count_free_retry(&self) {
        increment(&self.counters.free_retries);
    }

    pub(super) fn stats(&self, meter: &Meter) -> Stats {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            requests: count(&self.counters.requests),
            retries: count(&self.counters.retries),
            free_retries: count(&self.counters.free_retries),
            throttled: count(&self.counters.throttled),
            in_flight: count(&self.counters.in_flight),
            bytes_received: count(&meter.bytes),
            connections_opened: count(&meter.connections),
        }
    }
}

fn increment(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_millis(100);

    /// When each of `count` requests that are ready at once starts, from now on.
    async fn starts(shared_limits: &SharedLimits, rate_limiter: &RateLimiter, count: u32) -> Vec<Duration> {
        let began = Instant::now();
        let waits = (0..count).map(|_| async {
            rate_limiter.wait_for_start(shared_limits).await;
            began.elapsed()
        });
        futures_util::future::join_all(waits).await
    }

    #[tokio::test(start_paused = true)]
    async fn requests_start_an_interval_apart_and_idle_time_is_not_saved_up() {
        let (shared_limits, rate_limiter) = (SharedLimits::default(), RateLimiter::new(Some(INTERVAL)));
        for _ in 0..2 {
            assert_eq!(starts(&shared_limits, &rate_limiter, 3).await, [0, 1, 2].map(|number| number * INTERVAL));
            tokio::time::sleep(600 * INTERVAL).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_rate_holds_for_requests_that_waited_for_the_throttle() {
        let (shared_limits, rate_limiter) = (SharedLimits::default(), RateLimiter::new(Some(INTERVAL)));
        // The service has accepted hundreds of requests a second of other clients.
        let now = Instant::now().into_std();
        for number in 0..300 {
            lock(&shared_limits.throttle).accepted(now + Duration::from_millis(3) * number);
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
    async fn a_caller_cancelled_in_the_queue_delays_no_other() {
        let (shared_limits, rate_limiter) = (SharedLimits::default(), RateLimiter::new(Some(INTERVAL)));
        rate_limiter.wait_for_start(&shared_limits).await;
        for _ in 0..5 {
            assert!(tokio::time::timeout(INTERVAL / 100, rate_limiter.wait_for_start(&shared_limits)).await.is_err());
        }
        assert_eq!(starts(&shared_limits, &rate_limiter, 1).await, [INTERVAL / 20 * 19]);
    }
}
