//! Whether the service is down, as far as the requests of all calls over the same connections show, and how many retries
//! they may send while it fails.

use std::time::{Duration, Instant};

use super::{Policy, Scope, Verdict};

/// Failures in a row, of more than one call, that show an outage.
const FAILURES: u32 = 5;

/// The failures since the service last responded.
#[derive(Debug, Default)]
pub struct Health {
    was_reached: bool,
    has_responded: bool,
    failures: u32,
    first_call: u64,
    is_of_several_calls: bool,
    last: Option<Scope>,
    retries: RetryBudget,
}

impl Health {
    /// Records that the headers of a response have arrived, and that it is no failure of the service.
    pub fn responded(&mut self) {
        *self = Self { was_reached: true, has_responded: true, ..Self::default() };
    }

    /// Records that the headers of any response have arrived.
    pub fn reached(&mut self) {
        self.was_reached = true;
    }

    /// How long a request that failed like this is retried.
    #[must_use]
    pub fn retry_for(&self, policy: &Policy, verdict: &Verdict) -> Duration {
        if verdict.is_unsent && !self.was_reached { policy.first_contact } else { policy.retry_for }
    }

    /// Records that a request of this call failed in a way that may concern other requests.
    pub fn failed(&mut self, call: u64, scope: Scope) {
        if scope == Scope::Request {
            return;
        }
        if self.failures == 0 {
            self.first_call = call;
        }
        self.failures = self.failures.saturating_add(1);
        self.is_of_several_calls |= self.first_call != call;
        self.last = Some(scope);
    }

    /// Whether requests of other calls would fail too.
    #[must_use]
    pub fn is_down_for_all(&self) -> bool {
        let are_many = self.failures >= FAILURES && self.is_of_several_calls;
        match self.last {
            Some(Scope::All) => true,
            Some(Scope::Service) => are_many,
            Some(Scope::Unclear) => are_many && !self.has_responded,
            Some(Scope::Request) | None => false,
        }
    }

    /// Whether a retry may be sent now. If not, it backs off once more.
    pub fn may_retry(&mut self, policy: &Policy, now: Instant) -> bool {
        self.retries.take(policy, now)
    }
}

/// A token bucket for the retries since the service last responded.
///
/// The eight requests in flight of a usual scan, each with its own back-off, hardly notice it. Hundreds of calls that fail
/// together send no more than this to a service that is down.
#[derive(Debug)]
struct RetryBudget {
    tokens: f64,
    filled_at: Option<Instant>,
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self { tokens: Self::TOKENS, filled_at: None }
    }
}

impl RetryBudget {
    /// Tokens in a full bucket. It gets as many in the longest back-off: two a second by default.
    const TOKENS: f64 = 20.0;

    fn take(&mut self, policy: &Policy, now: Instant) -> bool {
        if let Some(filled_at) = self.filled_at.replace(now) {
            let share = now.saturating_duration_since(filled_at).as_secs_f64() / policy.cap.as_secs_f64().max(1e-9);
            self.tokens = (self.tokens + share * Self::TOKENS).min(Self::TOKENS);
        }
        let has_token = self.tokens >= 1.0;
        self.tokens -= f64::from(u8::from(has_token));
        has_token
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retry::Remedy;

    const SECOND: Duration = Duration::from_secs(1);

    /// The health after failures of these calls, of a service that had responded or not.
    fn health(has_responded: bool, scope: Scope, calls: impl IntoIterator<Item = u64>) -> Health {
        let mut health = Health::default();
        if has_responded {
            health.responded();
        }
        calls.into_iter().for_each(|call| health.failed(call, scope));
        health
    }

    #[test]
    fn five_failures_of_several_calls_are_an_outage() {
        for has_responded in [false, true] {
            assert!(!health(has_responded, Scope::Service, [1, 1, 1, 2]).is_down_for_all());
            assert!(health(has_responded, Scope::Service, [1, 1, 1, 1, 2]).is_down_for_all());
            assert!(!health(has_responded, Scope::Service, [1; 20]).is_down_for_all(), "of one call");
        }
    }

    #[test]
    fn a_response_ends_an_outage() {
        let mut health = health(false, Scope::Service, 1..=9);
        assert!(health.is_down_for_all());
        health.responded();
        assert!(!health.is_down_for_all());
        (1..5).for_each(|call| health.failed(call, Scope::Service));
        assert!(!health.is_down_for_all());
    }

    #[test]
    fn one_failed_connection_is_an_outage() {
        assert!(health(true, Scope::All, [1]).is_down_for_all());
    }

    #[test]
    fn failures_that_one_request_may_cause_are_an_outage_only_of_a_service_that_never_responded() {
        assert!(!health(true, Scope::Unclear, 1..=9).is_down_for_all());
        assert!(health(false, Scope::Unclear, 1..=9).is_down_for_all());
        assert!(!health(false, Scope::Request, 1..=9).is_down_for_all());
    }

    #[test]
    fn only_a_service_that_never_responded_is_retried_for_less() {
        let policy = Policy::new(60 * SECOND, None);
        let verdict = |is_unsent| Verdict { remedy: Remedy::BackOff, scope: Scope::All, is_unsent, cut_off_at: None };
        let retry_for = |health: &Health| [true, false].map(|is_unsent| health.retry_for(&policy, &verdict(is_unsent)));
        let [first, full] = [policy.first_contact, policy.retry_for];
        assert_eq!(retry_for(&Health::default()), [first, full]);
        let reached: [fn(&mut Health); 2] = [Health::reached, Health::responded];
        for record in reached {
            let mut health = Health::default();
            record(&mut health);
            assert_eq!(retry_for(&health), [full, full]);
        }
    }

    #[test]
    fn retries_are_bounded_until_the_service_responds() {
        let (policy, start) = (Policy::new(60 * SECOND, None), Instant::now());
        let mut health = health(true, Scope::Service, 1..=9);
        let sent = |from: u32, to: u32, health: &mut Health| {
            (from * 100..to * 100).filter(|at| health.may_retry(&policy, start + SECOND * *at / 100)).count()
        };
        assert_eq!(sent(0, 1, &mut health), 21);
        assert_eq!(sent(1, 11, &mut health), 20);
        health.responded();
        assert_eq!(sent(11, 12, &mut health), 21);
    }
}
