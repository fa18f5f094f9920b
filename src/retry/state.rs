//! The way of one call through its failures: what they leave it to do.

use std::time::Duration;

use super::{Policy, RetryBudget};
use crate::error::{Error, Kind, Result};

/// How a request is sent again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RetryDecision {
    /// Now, and uncounted: the connection was an old one that the service had given up.
    AtOnce,
    /// After a pause.
    After(Duration),
}

/// What a call has been through.
#[derive(Debug)]
pub struct RetryState {
    policy: Policy,
    /// Whether sending twice does no harm.
    idempotent: bool,
    /// Requests that count and failed.
    failures: u32,
    was_free: bool,
    /// The kinds of the failures so far.
    accidents: Vec<Kind>,
    /// Where answers broke off, in bytes.
    breaks: Vec<u64>,
    /// Of the last request, if it was not the first.
    cost: Option<u32>,
}

impl RetryState {
    /// A call that begins.
    #[must_use]
    pub const fn new(policy: Policy, idempotent: bool) -> Self {
        Self { policy, idempotent, failures: 0, was_free: false, accidents: Vec::new(), breaks: Vec::new(), cost: None }
    }

    /// Whether a request whose token was refused may be sent again with another one, which counts.
    pub fn consume_auth_retry(&mut self) -> bool {
        let may = self.failures < self.policy.retries;
        self.failures += u32::from(may);
        may
    }

    /// How to go on after a failure, with so much time left; `chance` is uniform in 0 to 1.
    ///
    /// # Errors
    /// The failure itself when it is final, with the reason where that is not the failure's own.
    pub fn after(
        &mut self,
        failure: Error,
        left: Duration,
        chance: f64,
        budget: &mut RetryBudget,
    ) -> Result<RetryDecision> {
        // Without retries exactly one request is sent, and what may have arrived stays so.
        let is_free = failure.is_stale() && self.idempotent && !self.was_free && self.policy.retries > 0;
        if is_free && !left.is_zero() {
            self.was_free = true;
            return Ok(RetryDecision::AtOnce);
        }
        self.failures += 1;
        // Some failures may be accidents: each kind of them is worth one more request.
        let is_second = failure.max_retries() == 1 && self.accidents.contains(&failure.kind());
        self.accidents.push(failure.kind());
        let delay = self.policy.delay(self.failures, &failure, self.idempotent, chance).filter(|_| !is_second);
        let Some(delay) = delay.filter(|delay| *delay < left) else {
            return Err(failure);
        };
        if let Some(offset) = truncation_offset(&failure) {
            self.breaks.push(offset);
            let times = self.breaks.iter().filter(|known| **known == offset).count();
            // Buffers end at such an offset by themselves, so twice may be chance.
            let most = if offset % 4096 == 0 { 3 } else { 2 };
            if times == most {
                let reason =
                    format!("{times} attempts were cut off at byte {offset}; a proxy probably limits the size");
                return Err(failure.with_reason(format!("{reason} of responses. Request fewer rows per call")));
            }
        }
        let cost = if Policy::is_throttle(&failure) { RetryBudget::THROTTLED } else { RetryBudget::TRANSIENT };
        if !budget.take(cost) {
            if self.policy.is_patient {
                self.cost = None;
                return Ok(RetryDecision::After(delay.max(self.policy.cap)));
            }
            return Err(failure
                .with(|details| details.quota_exhausted = true)
                .with_reason("not sent again, as too much failed of late to burden the service further"));
        }
        self.cost = Some(cost);
        Ok(RetryDecision::After(delay))
    }

    /// What the last request cost, if it was not the first.
    #[must_use]
    pub fn cost(&self) -> Option<u32> {
        self.cost
    }
}

/// Within a body, after how many of its bytes.
fn truncation_offset(failure: &Error) -> Option<u64> {
    let is_cut_off = matches!(failure.kind(), Kind::ConnectionLost | Kind::TruncatedResponse);
    failure.details().received.filter(|received| is_cut_off && *received > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(300);

    fn failure(kind: Kind) -> Error {
        Error::new(kind, "made up").retryable()
    }

    fn broken(received: u64) -> Error {
        failure(Kind::TruncatedResponse).with(|details| details.received = Some(received))
    }

    fn stale() -> Error {
        failure(Kind::ConnectionLost).with(|details| details.received = Some(0)).stale()
    }

    #[test]
    fn one_request_on_an_old_connection_is_free() {
        let mut budget = RetryBudget::new(8);
        let mut state = RetryState::new(Policy::new(Some(1)), true);
        assert_eq!(state.after(stale(), LONG, 1.0, &mut budget).expect("again"), RetryDecision::AtOnce);
        assert_eq!((budget.left(), state.cost()), (500, None));
        assert!(matches!(state.after(stale(), LONG, 1.0, &mut budget), Ok(RetryDecision::After(_))));
        assert!(state.after(stale(), LONG, 1.0, &mut budget).is_err());
    }

    #[test]
    fn nothing_is_free_without_retries_or_where_twice_does_harm() {
        let mut budget = RetryBudget::new(8);
        assert!(RetryState::new(Policy::new(Some(0)), true).after(stale(), LONG, 1.0, &mut budget).is_err());
        assert!(RetryState::new(Policy::new(Some(3)), false).after(stale(), LONG, 1.0, &mut budget).is_err());
        assert!(RetryState::new(Policy::new(Some(3)), true).after(stale(), Duration::ZERO, 1.0, &mut budget).is_err());
    }

    #[test]
    fn a_pause_that_leaves_no_time_is_not_begun() {
        let mut budget = RetryBudget::new(8);
        let mut state = RetryState::new(Policy::new(Some(3)), true);
        let left = Duration::from_millis(50);
        assert!(state.after(failure(Kind::Server), left, 1.0, &mut budget).is_err());
        assert_eq!(budget.left(), 500, "nothing was spent on it");
    }

    #[test]
    fn two_answers_that_break_at_the_same_byte_are_enough() {
        let mut budget = RetryBudget::new(8);
        let mut state = RetryState::new(Policy::new(Some(9)), true);
        assert!(state.after(broken(4_097), LONG, 0.0, &mut budget).is_ok());
        assert!(state.after(broken(70), LONG, 0.0, &mut budget).is_ok());
        let error = state.after(broken(4_097), LONG, 0.0, &mut budget).expect_err("the same again");
        assert!(error.hint().expect("a hint").contains("at byte 4097"));
        assert!(!error.details().quota_exhausted);
        let mut state = RetryState::new(Policy::new(Some(9)), true);
        for _ in 0..2 {
            let lost = failure(Kind::ConnectionLost).with(|details| details.received = Some(0));
            assert!(state.after(lost, LONG, 0.0, &mut budget).is_ok(), "no byte is no place");
        }
    }

    #[test]
    fn at_the_end_of_a_buffer_it_takes_three() {
        let mut budget = RetryBudget::new(8);
        let mut state = RetryState::new(Policy::new(Some(9)), true);
        for _ in 0..2 {
            assert!(state.after(broken(4_096), LONG, 0.0, &mut budget).is_ok());
        }
        assert!(state.after(broken(4_096), LONG, 0.0, &mut budget).is_err());
    }

    #[test]
    fn what_may_be_an_accident_is_retried_once_for_each_kind() {
        let mut budget = RetryBudget::new(8);
        let mut state = RetryState::new(Policy::new(Some(9)), true);
        let mangled = || Error::new(Kind::MalformedHttp, "made up").retryable_once();
        assert!(state.after(failure(Kind::Server), LONG, 0.0, &mut budget).is_ok());
        assert!(state.after(mangled(), LONG, 0.0, &mut budget).is_ok(), "the first of its kind");
        assert!(state.after(mangled(), LONG, 0.0, &mut budget).is_err());
    }

    #[test]
    fn an_empty_quota_ends_a_call_with_its_own_failure() {
        let mut budget = RetryBudget::new(8);
        assert_eq!((0..200).filter(|_| budget.take(RetryBudget::THROTTLED)).count(), 100);
        let error = RetryState::new(Policy::new(Some(3)), true)
            .after(failure(Kind::Server).with_hint("look at it"), LONG, 0.0, &mut budget)
            .expect_err("nothing left");
        assert_eq!((error.kind(), error.is_retryable()), (Kind::Server, true));
        assert!(error.details().quota_exhausted);
        assert!(error.hint().expect("a hint").starts_with("look at it; not sent again"));
    }

    #[test]
    fn a_part_of_many_waits_where_the_quota_is_empty() {
        let mut budget = RetryBudget::new(8);
        while budget.take(RetryBudget::THROTTLED) {}
        let policy = Policy::new(None).for_scan_request();
        let mut state = RetryState::new(policy, true);
        for _ in 0..7 {
            let again = state.after(failure(Kind::Server), LONG, 0.0, &mut budget).expect("patience");
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
    fn what_is_not_sent_again_costs_nothing() {
        let mut budget = RetryBudget::new(8);
        let mut state = RetryState::new(Policy::new(Some(0)), true);
        assert!(state.after(failure(Kind::Server), LONG, 0.0, &mut budget).is_err());
        assert!(state.after(Error::new(Kind::PermissionDenied, "no"), LONG, 0.0, &mut budget).is_err());
        assert_eq!(budget.left(), 500);
    }

    #[test]
    fn asking_to_slow_down_is_cheaper_than_failing() {
        let mut budget = RetryBudget::new(8);
        let mut state = RetryState::new(Policy::new(Some(3)), true);
        let throttled = failure(Kind::Throttled).with(|details| details.status = Some(429));
        assert!(state.after(throttled, LONG, 0.0, &mut budget).is_ok());
        assert_eq!((budget.left(), state.cost()), (495, Some(5)));
        // Without a word on when, a 503 is what an outage looks like.
        assert!(
            state
                .after(failure(Kind::Throttled).with(|details| details.status = Some(503)), LONG, 0.0, &mut budget)
                .is_ok()
        );
        assert_eq!((budget.left(), state.cost()), (481, Some(14)));
    }

    #[test]
    fn a_renewed_token_counts_as_an_attempt() {
        let mut state = RetryState::new(Policy::new(Some(1)), true);
        assert!(state.consume_auth_retry());
        assert!(!state.consume_auth_retry());
        assert!(state.after(failure(Kind::Server), LONG, 0.0, &mut RetryBudget::new(8)).is_err());
        assert!(!RetryState::new(Policy::new(Some(0)), true).consume_auth_retry());
    }
}
