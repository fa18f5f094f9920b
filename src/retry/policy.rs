//! Which failures are retried, how often, and the back-off before each retry.

use std::time::Duration;

use crate::error::{Error, Field, Kind};

/// Retries of a call, unless `retries=` is given.
const RETRIES: u32 = 3;
/// Retries of each request of a scan.
const SCAN_RETRIES: u32 = 7;

/// How a call deals with failures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Most retries: requests sent after the first.
    pub retries: u32,
    /// Whether `retries=` was given, which then applies to scans too.
    pub is_explicit: bool,
    /// First back-off after a lost connection or a server error.
    pub base: Duration,
    /// First back-off after a 429, and the pause of all calls after a 429 without `Retry-After`.
    pub throttled_base: Duration,
    /// Longest back-off, unless `Retry-After` asks for more.
    pub cap: Duration,
    /// Longest `Retry-After` that is obeyed; a longer one makes the failure final.
    pub max_retry_after: Duration,
    /// Whether a call waits for the longest back-off, instead of failing, when the retry budget is used up.
    pub waits_for_budget: bool,
}

impl Policy {
    /// The defaults, with the number of `retries=` if it is given.
    #[must_use]
    pub fn new(retries: Option<u32>) -> Self {
        Self {
            retries: retries.unwrap_or(RETRIES),
            is_explicit: retries.is_some(),
            base: Duration::from_millis(50),
            throttled_base: Duration::from_secs(1),
            cap: Duration::from_secs(20),
            max_retry_after: Duration::from_secs(120),
            waits_for_budget: false,
        }
    }

    /// Divides all back-offs by `time_scale`, for tests. `Retry-After` is not scaled.
    #[must_use]
    pub fn scaled(self, time_scale: u32) -> Self {
        let [base, throttled_base, cap] = [self.base, self.throttled_base, self.cap].map(|delay| delay / time_scale);
        Self { base, throttled_base, cap, ..self }
    }

    /// The policy of one request of a scan, whose failure would lose the rows of all others: eight attempts, unless
    /// `retries=` is given, and longer waits.
    #[must_use]
    pub const fn for_scan_request(self) -> Self {
        let retries = if self.is_explicit { self.retries } else { SCAN_RETRIES };
        Self { retries, max_retry_after: Duration::from_secs(15 * 60), waits_for_budget: true, ..self }
    }

    /// Whether the service asked to slow down. A 503 without `Retry-After` does not: it looks like an outage.
    #[must_use]
    pub fn is_throttle(failure: &Error) -> bool {
        failure.kind() == Kind::Throttled
            && (failure.field("status") == Some(&Field::Integer(429)) || failure.field("retry_after").is_some())
    }

    /// How long all calls pause after a response with this status and `Retry-After`. Returns nothing when the
    /// response does not ask for a pause, or for one longer than `max_retry_after`.
    #[must_use]
    pub fn pause(&self, status: u16, retry_after: Option<Duration>) -> Option<Duration> {
        match (status, retry_after) {
            (429 | 503, Some(asked)) => (asked <= self.max_retry_after).then_some(asked),
            (429, None) => Some(self.throttled_base),
            _ => None,
        }
    }

    /// How long to wait before the retry, or nothing when the failure is final.
    ///
    /// `attempts` counts the requests sent so far; a request that is not `idempotent` is retried only if it was
    /// never sent; `jitter` is uniform in 0 to 1.
    #[must_use]
    pub fn backoff(&self, attempts: u32, failure: &Error, idempotent: bool, jitter: f64) -> Option<Duration> {
        if attempts > self.retries || !failure.is_retryable() {
            return None;
        }
        // Without a connection nothing was sent.
        if !idempotent && !matches!(failure.kind(), Kind::Connect | Kind::Proxy) {
            return None;
        }
        let base = if Self::is_throttle(failure) { self.throttled_base } else { self.base };
        let ceiling = base.saturating_mul(1 << attempts.saturating_sub(1).min(20)).min(self.cap);
        let own = ceiling.mul_f64(jitter.clamp(0.0, 1.0));
        match failure.field("retry_after") {
            Some(Field::Number(seconds)) => {
                let asked = Duration::try_from_secs_f64(*seconds).ok()?;
                (asked <= self.max_retry_after).then(|| own.max(asked))
            }
            _ => Some(own),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kind: Kind) -> Error {
        Error::new(kind, "made up").retryable()
    }

    #[test]
    fn back_off_doubles_up_to_the_cap_and_is_fully_jittered() {
        let policy = Policy::new(Some(100));
        let server = failure(Kind::Server);
        let longest: Vec<u128> = [1, 2, 3, 9, 10, 60]
            .iter()
            .map(|attempts| policy.backoff(*attempts, &server, true, 1.0).expect("a delay").as_millis())
            .collect();
        assert_eq!(longest, [50, 100, 200, 12_800, 20_000, 20_000]);
        assert_eq!(policy.backoff(3, &server, true, 0.0), Some(Duration::ZERO));
        assert_eq!(policy.backoff(3, &server, true, 0.5), Some(Duration::from_millis(100)));
        let throttled = failure(Kind::Throttled).with("status", 429_u16);
        assert_eq!(policy.backoff(1, &throttled, true, 1.0), Some(Duration::from_secs(1)));
        let unavailable = failure(Kind::Throttled).with("status", 503_u16);
        assert_eq!(policy.backoff(1, &unavailable, true, 1.0), Some(Duration::from_millis(50)));
    }

    #[test]
    fn all_calls_pause_when_asked_to_and_not_for_too_long() {
        let policy = Policy::new(Some(3));
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(policy.pause(429, None), seconds(1));
        assert_eq!(policy.pause(429, seconds(0)), seconds(0));
        assert_eq!(policy.pause(503, seconds(120)), seconds(120));
        assert_eq!(policy.pause(429, seconds(121)), None);
        assert_eq!(policy.pause(503, None), None);
        assert_eq!(policy.pause(500, seconds(7)), None);
    }

    #[test]
    fn no_retries_sends_one_request() {
        assert_eq!(Policy::new(Some(0)).backoff(1, &failure(Kind::Server), true, 0.5), None);
        assert!(Policy::new(Some(1)).backoff(1, &failure(Kind::Server), true, 0.5).is_some());
        assert_eq!(Policy::new(Some(1)).backoff(2, &failure(Kind::Server), true, 0.5), None);
    }

    #[test]
    fn a_permanent_failure_is_not_retried() {
        assert_eq!(Policy::new(Some(9)).backoff(1, &Error::new(Kind::PermissionDenied, "no"), true, 0.5), None);
    }

    #[test]
    fn a_request_that_may_have_arrived_is_retried_only_if_idempotent() {
        let policy = Policy::new(Some(3));
        assert_eq!(policy.backoff(1, &failure(Kind::ConnectionLost), false, 0.5), None);
        assert!(policy.backoff(1, &failure(Kind::ConnectionLost), true, 0.5).is_some());
        assert!(policy.backoff(1, &failure(Kind::Connect), false, 0.5).is_some());
    }

    #[test]
    fn retry_after_is_obeyed_up_to_a_limit() {
        let policy = Policy::new(Some(3));
        let asked_for = |seconds: f64| {
            let error = failure(Kind::Throttled).with("retry_after", Field::Number(seconds));
            policy.backoff(1, &error, true, 0.5)
        };
        assert_eq!(asked_for(0.0), Some(Duration::from_millis(500)));
        assert_eq!(asked_for(7.0), Some(Duration::from_secs(7)));
        assert_eq!(asked_for(121.0), None);
    }
}
