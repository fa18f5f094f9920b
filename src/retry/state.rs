//! The failures of one call so far, and whether the next one is retried.

use std::time::Duration;

use super::{Policy, RetryBudget};
use crate::error::{Error, Field, Kind, Result};

/// When a failed request is retried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RetryDecision {
    /// At once, and not counted: the service had closed the idle connection that the request was sent on.
    Immediate,
    /// After a delay.
    After(Duration),
}

/// The failures of one call.
#[derive(Debug)]
pub struct RetryState {
    policy: Policy,
    idempotent: bool,
    /// Failed requests, without the one that is not counted.
    failures: u32,
    used_free_retry: bool,
    /// The kinds of the failures so far.
    failed_kinds: Vec<Kind>,
    /// How many bytes were received of each response that was cut off.
    truncations: Vec<i64>,
    /// What the last retry took from the budget.
    cost: Option<u32>,
}

impl RetryState {
    /// The state of a new call.
    #[must_use]
    pub const fn new(policy: Policy, idempotent: bool) -> Self {
        Self {
            policy,
            idempotent,
            failures: 0,
            used_free_retry: false,
            failed_kinds: Vec::new(),
            truncations: Vec::new(),
            cost: None,
        }
    }

    /// Whether a request whose token was refused may be retried with another token. Counts it as a retry.
    pub fn consume_auth_retry(&mut self) -> bool {
        let may = self.failures < self.policy.retries;
        self.failures += u32::from(may);
        may
    }

    /// When to retry after a failure. `left` is the rest of the call's time; `jitter` is uniform in 0 to 1.
    ///
    /// # Errors
    /// The failure itself when it is final, with the reason unless the failure implies it.
    pub fn after(
        &mut self,
        failure: Error,
        left: Duration,
        jitter: f64,
        budget: &mut RetryBudget,
    ) -> Result<RetryDecision> {
        // With `retries=0` exactly one request is sent.
        let is_free = failure.is_stale() && self.idempotent && !self.used_free_retry && self.policy.retries > 0;
        if is_free && !left.is_zero() {
            self.used_free_retry = true;
            return Ok(RetryDecision::Immediate);
        }
        self.failures += 1;
        // Some kinds of failure may be an accident and are retried once.
        let is_second = failure.most_retries() == 1 && self.failed_kinds.contains(&failure.kind());
        self.failed_kinds.push(failure.kind());
        let delay = self.policy.backoff(self.failures, &failure, self.idempotent, jitter).filter(|_| !is_second);
        let Some(delay) = delay.filter(|delay| *delay < left) else {
            return Err(failure);
        };
        if let Some(offset) = truncation_offset(&failure) {
            self.truncations.push(offset);
            let times = self.truncations.iter().filter(|known| **known == offset).count();
            // Buffers often end at such an offset, so two may be a coincidence.
            let limit = if offset % 4096 == 0 { 3 } else { 2 };
            if times == limit {
                let reason =
                    format!("{times} attempts were cut off at byte {offset}; a proxy probably limits the size");
                return Err(failure.with_reason(format!("{reason} of responses. Request fewer rows per call")));
            }
        }
        let cost = if Policy::is_throttle(&failure) { RetryBudget::THROTTLED } else { RetryBudget::TRANSIENT };
        if !budget.try_spend(cost) {
            if self.policy.waits_for_budget {
                self.cost = None;
                return Ok(RetryDecision::After(delay.max(self.policy.cap)));
            }
            return Err(failure
                .with("quota_exhausted", true)
                .with_reason("not retried: the retry budget is used up by recent failures"));
        }
        self.cost = Some(cost);
        Ok(RetryDecision::After(delay))
    }

    /// What the last retry took from the budget, if there was one.
    #[must_use]
    pub fn cost(&self) -> Option<u32> {
        self.cost
    }
}

/// After how many bytes the response was cut off, if it was.
fn truncation_offset(failure: &Error) -> Option<i64> {
    match (failure.kind(), failure.field("received")) {
        (Kind::ConnectionLost | Kind::TruncatedResponse, Some(Field::Integer(received))) if *received > 0 => {
            Some(*received)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(300);

    fn failure(kind: Kind) -> Error {
        Error::new(kind, "made up").retryable()
    }

    fn cut_off(received: i64) -> Error {
        failure(Kind::TruncatedResponse).with("received", received)
    }

    fn stale() -> Error {
        failure(Kind::ConnectionLost).with("received", 0_i64).stale()
    }

    #[test]
    fn one_retry_of_a_request_on_a_stale_connection_is_free() {
        let mut budget = RetryBudget::new(8);
        let mut state = RetryState::new(Policy::new(Some(1)), true);
        assert_eq!(state.after(stale(), LONG, 1.0, &mut budget).expect("again"), RetryDecision::Immediate);
        assert_eq!((budget.left(), state.cost()), (500, None));
        assert!(matches!(state.after(stale(), LONG, 1.0, &mut budget), Ok(RetryDecision::After(_))));
        assert!(state.after(stale(), LONG, 1.0, &mut budget).is_err());
    }

    #[test]
    fn nothing_is_free_without_retries_or_idempotence() {
        let mut budget = RetryBudget::new(8);
        assert!(RetryState::new(Policy::new(Some(0)), true).after(stale(), LONG, 1.0, &mut budget).is_err());
        assert!(RetryState::new(Policy::new(Some(3)), false).after(stale(), LONG, 1.0, &mut budget).is_err());
        assert!(RetryState::new(Policy::new(Some(3)), true).after(stale(), Duration::ZERO, 1.0, &mut budget).is_err());
    }

    #[test]
    fn a_delay_longer_than_the_time_left_is_not_begun() {
        let mut budget = RetryBudget::new(8);
        let mut state = RetryState::new(Policy::new(Some(3)), true);
        let left = Duration::from_millis(50);
        assert!(state.after(failure(Kind::Server), left, 1.0, &mut budget).is_err());
        assert_eq!(budget.left(), 500, "nothing was spent on it");
    }

    #[test]
    fn two_responses_cut_off_at_the_same_byte_end_the_retries() {
        let mut budget = RetryBudget::new(8);
        let mut state = RetryState::new(Policy::new(Some(9)), true);
        assert!(state.after(cut_off(4_097), LONG, 0.0, &mut budget).is_ok());
        assert!(state.after(cut_off(70), LONG, 0.0, &mut budget).is_ok());
        let error = state.after(cut_off(4_097), LONG, 0.0, &mut budget).expect_err("the same again");
        assert!(error.hint().expect("a hint").contains("at byte 4097"));
        assert_eq!(error.field("quota_exhausted"), None);
        let mut state = RetryState::new(Policy::new(Some(9)), true);
        for _ in 0..2 {
            let lost = failure(Kind::ConnectionLost).with("received", 0_i64);
            assert!(state.after(lost, LONG, 0.0, &mut budget).is_ok(), "no byte is no offset");
        }
    }

    #[test]
    fn at_a_multiple_of_4_kib_it_takes_three() {
        let mut budget = RetryBudget::new(8);
        let mut state = RetryState::new(Policy::new(Some(9)), true);
        for _ in 0..2 {
            assert!(state.after(cut_off(4_096), LONG, 0.0, &mut budget).is_ok());
        }
        assert!(state.after(cut_off(4_096), LONG, 0.0, &mut budget).is_err());
    }

    #[test]
    fn a_possible_accident_is_retried_once_for_each_kind() {
        let mut budget = RetryBudget::new(8);
        let mut state = RetryState::new(Policy::new(Some(9)), true);
        let mangled = || Error::new(Kind::MalformedHttp, "made up").retryable_once();
        assert!(state.after(failure(Kind::Server), LONG, 0.0, &mut budget).is_ok());
        assert!(state.after(mangled(), LONG, 0.0, &mut budget).is_ok(), "the first of its kind");
        assert!(state.after(mangled(), LONG, 0.0, &mut budget).is_err());
    }

    #[test]
    fn an_empty_budget_makes_the_failure_final() {
        let mut budget = RetryBudget::new(8);
        assert_eq!((0..200).filter(|_| budget.try_spend(RetryBudget::THROTTLED)).count(), 100);
        let error = RetryState::new(Policy::new(Some(3)), true)
            .after(failure(Kind::Server).with_hint("look at it"), LONG, 0.0, &mut budget)
            .expect_err("nothing left");
        assert_eq!((error.kind(), error.is_retryable()), (Kind::Server, true));
        assert_eq!(error.field("quota_exhausted"), Some(&Field::Flag(true)));
        assert!(error.hint().expect("a hint").starts_with("look at it; not retried"));
    }

    #[test]
    fn a_request_of_a_scan_waits_when_the_budget_is_empty() {
        let mut budget = RetryBudget::new(8);
        while budget.try_spend(RetryBudget::THROTTLED) {}
        let policy = Policy::new(None).for_scan_request();
        let mut state = RetryState::new(policy, true);
        for _ in 0..7 {
            let again = state.after(failure(Kind::Server), LONG, 0.0, &mut budget).expect("a retry");
            assert_eq!((again, state.cost()), (RetryDecision::After(policy.cap), None));
        }
        assert!(state.after(failure(Kind::Server), LONG, 0.0, &mut budget).is_err(), "eight attempts and no more");
        assert!(
            RetryState::new(Policy::new(Some(0)).for_scan_request(), true)
                .after(failure(Kind::Server), LONG, 0.0, &mut budget)
                .is_err()
        );
    }

    #[test]
    fn a_final_failure_costs_nothing() {
        let mut budget = RetryBudget::new(8);
        let mut state = RetryState::new(Policy::new(Some(0)), true);
        assert!(state.after(failure(Kind::Server), LONG, 0.0, &mut budget).is_err());
        assert!(state.after(Error::new(Kind::PermissionDenied, "no"), LONG, 0.0, &mut budget).is_err());
        assert_eq!(budget.left(), 500);
    }

    #[test]
    fn a_retry_after_429_costs_less() {
        let mut budget = RetryBudget::new(8);
        let mut state = RetryState::new(Policy::new(Some(3)), true);
        let throttled = failure(Kind::Throttled).with("status", 429_u16);
        assert!(state.after(throttled, LONG, 0.0, &mut budget).is_ok());
        assert_eq!((budget.left(), state.cost()), (495, Some(5)));
        // A 503 without `Retry-After` looks like an outage.
        assert!(state.after(failure(Kind::Throttled).with("status", 503_u16), LONG, 0.0, &mut budget).is_ok());
        assert_eq!((budget.left(), state.cost()), (481, Some(14)));
    }

    #[test]
    fn a_retry_with_a_renewed_token_counts() {
        let mut state = RetryState::new(Policy::new(Some(1)), true);
        assert!(state.consume_auth_retry());
        assert!(!state.consume_auth_retry());
        assert!(state.after(failure(Kind::Server), LONG, 0.0, &mut RetryBudget::new(8)).is_err());
        assert!(!RetryState::new(Policy::new(Some(0)), true).consume_auth_retry());
    }
}
