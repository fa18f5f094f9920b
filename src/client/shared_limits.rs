//! When a request may start: the gate that all calls over the same connections share, and the rate of a client.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::lock;
use crate::error::{Error, Kind};
use crate::retry::{Caller, Gate, Hold, Policy, Remedy, Verdict};

#[derive(Debug, Default)]
pub(super) struct SharedLimits {
    gate: Mutex<Gate>,
    /// The gate may let another request start.
    changed: Notify,
    /// Of any call.
    last_failure: Mutex<Option<Error>>,
}

/// The queue in which the requests of one client wait for their start: for `requests_per_second=` and at the gate.
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
        match self.interval {
            Some(_) => "requests_per_second or a pause that the service asked for",
            None => "the pause that the service asked for",
        }
    }

    /// Waits until a request of this call may start. It must be ready to be sent: starts of requests that wait for something
    /// else afterwards would bunch up.
    ///
    /// A caller that is cancelled meanwhile delays no other.
    pub(super) async fn wait_for_start<'a>(
        &self,
        limits: &'a SharedLimits,
        call: u64,
        policy: &Policy,
        jitter: impl Fn() -> f64,
    ) -> Started<'a> {
        let ready = Instant::now();
        let mut next = self.next.lock().await;
        let mut due = next.map_or(ready, |next| next.max(ready));
        loop {
            if due > Instant::now() {
                sleep_until(due).await;
            }
            let try_start = || lock(&limits.gate).try_start(call, policy, due.into_std(), &jitter);
            if try_start().is_ok() {
                break;
            }
            let changed = limits.changed.notified();
            tokio::pin!(changed);
            // Registers before the gate is asked again, so that no change in between is missed.
            changed.as_mut().enable();
            let later = match try_start() {
                Ok(()) => break,
                Err(later) => later,
            };
            due = match later.map(Instant::from_std) {
                None => {
                    changed.await;
                    Instant::now()
                }
                Some(later) => tokio::select! {
                    () = sleep_until(later) => later,
                    () = changed => Instant::now(),
                },
            };
        }
        *next = self.interval.map(|interval| due + interval);
        Started { limits, call, has_waited: due > ready }
    }
}

/// A request that has started, until its attempt is over.
pub(super) struct Started<'a> {
    limits: &'a SharedLimits,
    call: u64,
    pub(super) has_waited: bool,
}

impl Drop for Started<'_> {
    fn drop(&mut self) {
        let mut gate = lock(&self.limits.gate);
        if gate.has_probe() {
            gate.ended(self.call);
            self.limits.changed.notify_waiters();
        }
    }
}

impl SharedLimits {
    /// Records that a request of this call failed, which was sent at `sent`. Returns what holds it, if it may be retried.
    pub(super) fn record_failure(
        &self,
        caller: Caller,
        policy: &Policy,
        failure: &Error,
        verdict: &Verdict,
        sent: Instant,
        jitter: f64,
    ) -> Option<Hold> {
        let now = Instant::now().into_std();
        match verdict.remedy {
            Remedy::Once | Remedy::BackOff | Remedy::Pause(_) => {
                *lock(&self.last_failure) = Some(failure.clone());
                Some(lock(&self.gate).failed(caller, policy, verdict, sent.into_std(), now, jitter))
            }
            // The status of a proxy shows nothing of the service.
            Remedy::None | Remedy::NewToken if failure.kind() != Kind::Proxy && failure.details().status.is_some() => {
                self.change(Gate::answered);
                None
            }
            _ => None,
        }
    }

    /// Changes what the gate knows, so that it may let another request start.
    pub(super) fn change(&self, change: impl FnOnce(&mut Gate)) {
        change(&mut lock(&self.gate));
        self.changed.notify_waiters();
    }

    /// Records that the headers of the response to a request of this call have arrived.
    pub(super) fn record_response(&self, call: u64, status: u16) {
        let mut gate = lock(&self.gate);
        gate.reached(call, status == 200, Instant::now().into_std());
        if gate.has_probe() {
            self.changed.notify_waiters();
        }
    }

    /// What the gate knows.
    pub(super) fn gate(&self) -> MutexGuard<'_, Gate> {
        lock(&self.gate)
    }

    /// The last failure of a request of any call.
    pub(super) fn last_failure(&self) -> Option<Error> {
        lock(&self.last_failure).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_millis(100);

    async fn start(shared_limits: &SharedLimits, rate_limiter: &RateLimiter) {
        let policy = Policy::new(Duration::from_secs(60));
        drop(rate_limiter.wait_for_start(shared_limits, 1, &policy, || 0.0).await);
    }

    /// When each of `count` requests that are ready at once starts, from now on.
    async fn starts(shared_limits: &SharedLimits, rate_limiter: &RateLimiter, count: u32) -> Vec<Duration> {
        let began = Instant::now();
        let waits = (0..count).map(|_| async {
            start(shared_limits, rate_limiter).await;
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
            lock(&shared_limits.gate).reached(1, true, now + Duration::from_millis(3) * number);
        }
        let waiting = starts(&shared_limits, &rate_limiter, 6);
        let refusing = async {
            tokio::time::sleep(2 * INTERVAL + INTERVAL / 2).await;
            let now = Instant::now().into_std();
            let asked = Some(20 * INTERVAL);
            let verdict =
                Verdict { remedy: Remedy::Pause(asked), is_of_service: true, is_unsent: false, cut_off_at: None };
            let policy = Policy::new(Duration::from_secs(60));
            lock(&shared_limits.gate).failed(Caller { call: 1, began: now }, &policy, &verdict, now, now, 0.0);
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
        start(&shared_limits, &rate_limiter).await;
        for _ in 0..5 {
            assert!(tokio::time::timeout(INTERVAL / 100, start(&shared_limits, &rate_limiter)).await.is_err());
        }
        assert_eq!(starts(&shared_limits, &rate_limiter, 1).await, [INTERVAL / 20 * 19]);
    }
}
