//! Which failures are worth another attempt, and the back-off before it.

use std::time::Duration;

use crate::error::{Error, Kind};

/// Requests sent after the first, unless the caller says how many,
const RETRIES: u32 = 3;
/// and for each request of a scan of several.
const SCAN_RETRIES: u32 = 7;

/// How a call deals with failures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Requests sent after the first.
    pub retries: u32,
    /// Whether the caller gave their number, which then holds everywhere.
    pub is_given: bool,
    /// First back-off after a lost connection or a failing service.
    pub base: Duration,
    /// First back-off, and the pause for all callers, when the service asks to slow down.
    pub throttled_base: Duration,
    /// Longest back-off of our own.
    pub cap: Duration,
    /// Longest wait the service may ask for; above it the error is told at once.
    pub max_retry_after: Duration,
    /// Whether a call whose retry the quota refuses waits for the longest back-off instead of failing.
    pub is_patient: bool,
}

impl Policy {
    /// The defaults, with so many retries if the caller gave a number.
    #[must_use]
    pub fn new(retries: Option<u32>) -> Self {
        Self {
            retries: retries.unwrap_or(RETRIES),
            is_given: retries.is_some(),
            base: Duration::from_millis(50),
            throttled_base: Duration::from_secs(1),
            cap: Duration::from_secs(20),
            max_retry_after: Duration::from_secs(120),
            is_patient: false,
        }
    }

    /// The same on a clock that runs so many times faster, for tests. What the service asks for stays as it is.
    #[must_use]
    pub fn scaled(self, time_scale: u32) -> Self {
        let [base, throttled_base, cap] = [self.base, self.throttled_base, self.cap].map(|delay| delay / time_scale);
        Self { base, throttled_base, cap, ..self }
    }

    /// The policy of one request of many, whose failure would cost the work of all: eight attempts, unless the caller
    /// gave another number, and time to wait.
    #[must_use]
    pub const fn for_scan_request(self) -> Self {
        let retries = if self.is_given { self.retries } else { SCAN_RETRIES };
        Self { retries, max_retry_after: Duration::from_secs(15 * 60), is_patient: true, ..self }
    }

    /// Whether the service asked to slow down. Without a word on when, a 503 is what an outage looks like.
    #[must_use]
    pub fn is_throttle(failure: &Error) -> bool {
        failure.kind() == Kind::Throttled
            && (failure.details().status == Some(429) || failure.details().retry_after.is_some())
    }

    /// For how long all callers stay away after an answer of this status, which asks for so much; nothing when it
    /// does not ask, or for longer than anybody waits.
    #[must_use]
    pub fn pause(&self, status: u16, retry_after: Option<Duration>) -> Option<Duration> {
        match (status, retry_after) {
            (429 | 503, Some(asked)) => (asked <= self.max_retry_after).then_some(asked),
            (429, None) => Some(self.throttled_base),
            _ => None,
        }
    }

    /// How long to wait before sending again, or nothing when this failure is final.
    ///
    /// `attempts` counts the requests sent so far; `idempotent` says that sending twice does no harm;
    /// `chance` is uniform in 0 to 1.
    #[must_use]
    pub fn delay(&self, attempts: u32, failure: &Error, idempotent: bool, chance: f64) -> Option<Duration> {
        if attempts > self.retries || !failure.is_retryable() {
            return None;
        }
        // A connection that never came about has carried nothing.
        if !idempotent && !matches!(failure.kind(), Kind::Connect | Kind::Proxy) {
            return None;
        }
        let base = if Self::is_throttle(failure) { self.throttled_base } else { self.base };
        let ceiling = base.saturating_mul(1 << attempts.saturating_sub(1).min(20)).min(self.cap);
        let own = ceiling.mul_f64(chance.clamp(0.0, 1.0));
        match failure.details().retry_after {
            Some(asked) => (asked <= self.max_retry_after).then(|| own.max(asked)),
            None => Some(own),
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
            .map(|attempts| policy.delay(*attempts, &server, true, 1.0).expect("a delay").as_millis())
            .collect();
        assert_eq!(longest, [50, 100, 200, 12_800, 20_000, 20_000]);
        assert_eq!(policy.delay(3, &server, true, 0.0), Some(Duration::ZERO));
        assert_eq!(policy.delay(3, &server, true, 0.5), Some(Duration::from_millis(100)));
        let throttled = failure(Kind::Throttled).with(|details| details.status = Some(429));
        assert_eq!(policy.delay(1, &throttled, true, 1.0), Some(Duration::from_secs(1)));
        let unavailable = failure(Kind::Throttled).with(|details| details.status = Some(503));
        assert_eq!(policy.delay(1, &unavailable, true, 1.0), Some(Duration::from_millis(50)));
    }

    #[test]
    fn all_callers_stay_away_when_asked_to_and_not_for_too_long() {
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
        assert_eq!(Policy::new(Some(0)).delay(1, &failure(Kind::Server), true, 0.5), None);
        assert!(Policy::new(Some(1)).delay(1, &failure(Kind::Server), true, 0.5).is_some());
        assert_eq!(Policy::new(Some(1)).delay(2, &failure(Kind::Server), true, 0.5), None);
    }

    #[test]
    fn what_cannot_mend_itself_is_not_sent_again() {
        assert_eq!(Policy::new(Some(9)).delay(1, &Error::new(Kind::PermissionDenied, "no"), true, 0.5), None);
    }

    #[test]
    fn what_may_have_arrived_is_sent_again_only_when_that_is_harmless() {
        let policy = Policy::new(Some(3));
        assert_eq!(policy.delay(1, &failure(Kind::ConnectionLost), false, 0.5), None);
        assert!(policy.delay(1, &failure(Kind::ConnectionLost), true, 0.5).is_some());
        assert!(policy.delay(1, &failure(Kind::Connect), false, 0.5).is_some());
    }

    #[test]
    fn the_service_may_ask_for_longer_but_not_for_too_long() {
        let policy = Policy::new(Some(3));
        let asks = |seconds| {
            let asked = Duration::from_secs(seconds);
            let error = failure(Kind::Throttled).with(|details| details.retry_after = Some(asked));
            policy.delay(1, &error, true, 0.5)
        };
        assert_eq!(asks(0), Some(Duration::from_millis(500)));
        assert_eq!(asks(7), Some(Duration::from_secs(7)));
        assert_eq!(asks(121), None);
    }
}
