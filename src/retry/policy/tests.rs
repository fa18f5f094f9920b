//! Policies, and the failures of a call.

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
    let throttled = failure(Kind::Throttled).with(|details| details.status = Some(429));
    assert_eq!(policy.backoff(1, &throttled, true, 1.0), Some(Duration::from_secs(1)));
    let unavailable = failure(Kind::Throttled).with(|details| details.status = Some(503));
    assert_eq!(policy.backoff(1, &unavailable, true, 1.0), Some(Duration::from_millis(50)));
}

#[test]
fn all_calls_pause_when_asked_to_and_not_for_too_long() {
    let policy = Policy::new(Some(3));
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(policy.throttle_pause(429, None), seconds(1));
    assert_eq!(policy.throttle_pause(429, seconds(0)), seconds(0));
    assert_eq!(policy.throttle_pause(503, seconds(120)), seconds(120));
    assert_eq!(policy.throttle_pause(429, seconds(121)), None);
    assert_eq!(policy.throttle_pause(503, None), None);
    assert_eq!(policy.throttle_pause(500, seconds(7)), None);
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
    let asked_for = |seconds| {
        let asked = Duration::from_secs(seconds);
        let error = failure(Kind::Throttled).with(|details| details.retry_after = Some(asked));
        policy.backoff(1, &error, true, 0.5)
    };
    assert_eq!(asked_for(0), Some(Duration::from_millis(500)));
    assert_eq!(asked_for(7), Some(Duration::from_secs(7)));
    assert_eq!(asked_for(121), None);
}

/// A call with `left` of its time and a budget of its own.
struct Call {
    state: RetryState,
    budget: RetryBudget,
    left: Duration,
}

impl Call {
    fn new(policy: Policy, idempotent: bool) -> Self {
        let left = Duration::from_secs(300);
        Self { state: RetryState::new(policy, idempotent), budget: RetryBudget::new(8), left }
    }

    fn with_retries(retries: u32) -> Self {
        Self::new(Policy::new(Some(retries)), true)
    }

    fn after(&mut self, failure: Error) -> Result<RetryDecision> {
        self.state.after(failure, self.left, 1.0, &mut self.budget)
    }
}

fn cut_off(received: u64) -> Error {
    failure(Kind::TruncatedResponse).with(|details| details.received = Some(received))
}

fn stale() -> Error {
    failure(Kind::ConnectionLost).with(|details| details.received = Some(0)).stale()
}

#[test]
fn one_retry_of_a_request_on_a_stale_connection_is_free() {
    let mut call = Call::with_retries(1);
    assert_eq!(call.after(stale()).expect("again"), RetryDecision::Immediate);
    assert_eq!((call.budget.left(), call.state.cost()), (500, None));
    assert!(matches!(call.after(stale()), Ok(RetryDecision::After(_))));
    assert!(call.after(stale()).is_err());
}

#[test]
fn nothing_is_free_without_retries_time_or_idempotence() {
    assert!(Call::with_retries(0).after(stale()).is_err());
    assert!(Call::new(Policy::new(Some(3)), false).after(stale()).is_err());
    assert!(Call { left: Duration::ZERO, ..Call::with_retries(3) }.after(stale()).is_err());
}

#[test]
fn a_delay_longer_than_the_time_left_is_not_begun() {
    let mut call = Call { left: Duration::from_millis(50), ..Call::with_retries(3) };
    assert!(call.after(failure(Kind::Server)).is_err());
    assert_eq!(call.budget.left(), 500, "nothing was spent on it");
}

#[test]
fn two_responses_cut_off_at_the_same_byte_end_the_retries() {
    let mut call = Call::with_retries(9);
    assert!(call.after(cut_off(4_097)).is_ok());
    assert!(call.after(cut_off(70)).is_ok());
    let error = call.after(cut_off(4_097)).expect_err("the same again");
    assert!(error.hint().expect("a hint").contains("at byte 4097"));
    assert!(!error.details().retry_budget_exhausted);
    let mut call = Call::with_retries(9);
    for _ in 0..2 {
        let lost = failure(Kind::ConnectionLost).with(|details| details.received = Some(0));
        assert!(call.after(lost).is_ok(), "no byte is no offset");
    }
}

#[test]
fn at_a_multiple_of_4_kib_it_takes_three() {
    let mut call = Call::with_retries(9);
    assert_eq!([(); 3].map(|()| call.after(cut_off(4_096)).is_ok()), [true, true, false]);
}

#[test]
fn a_possible_accident_is_retried_once_for_each_kind() {
    let mut call = Call::with_retries(9);
    let mangled = || Error::new(Kind::MalformedHttp, "made up").retryable_once();
    assert!(call.after(failure(Kind::Server)).is_ok());
    assert!(call.after(mangled()).is_ok(), "the first of its kind");
    assert!(call.after(mangled()).is_err());
}

#[test]
fn an_empty_budget_makes_the_failure_final() {
    let mut call = Call::with_retries(3);
    assert_eq!((0..200).filter(|_| call.budget.try_spend(RetryBudget::THROTTLED)).count(), 100);
    let error = call.after(failure(Kind::Server).with_hint("look at it")).expect_err("nothing left");
    assert_eq!((error.kind(), error.is_retryable()), (Kind::Server, true));
    assert!(error.details().retry_budget_exhausted);
    assert!(error.hint().expect("a hint").starts_with("look at it; not retried"));
}

#[test]
fn a_request_of_a_scan_waits_when_the_budget_is_empty() {
    let policy = Policy::new(None).for_scan_request();
    let mut call = Call::new(policy, true);
    while call.budget.try_spend(RetryBudget::THROTTLED) {}
    for _ in 0..7 {
        let again = call.after(failure(Kind::Server)).expect("a retry");
        assert_eq!((again, call.state.cost()), (RetryDecision::After(policy.cap), None));
    }
    assert!(call.after(failure(Kind::Server)).is_err(), "eight attempts and no more");
    assert!(Call::new(Policy::new(Some(0)).for_scan_request(), true).after(failure(Kind::Server)).is_err());
}

#[test]
fn a_final_failure_costs_nothing() {
    let mut call = Call::with_retries(0);
    assert!(call.after(failure(Kind::Server)).is_err());
    assert!(call.after(Error::new(Kind::PermissionDenied, "no")).is_err());
    assert_eq!(call.budget.left(), 500);
}

#[test]
fn a_retry_after_429_costs_less() {
    let mut call = Call::with_retries(3);
    assert!(call.after(failure(Kind::Throttled).with(|details| details.status = Some(429))).is_ok());
    assert_eq!((call.budget.left(), call.state.cost()), (495, Some(5)));
    // A 503 without `Retry-After` looks like an outage.
    assert!(call.after(failure(Kind::Throttled).with(|details| details.status = Some(503))).is_ok());
    assert_eq!((call.budget.left(), call.state.cost()), (481, Some(14)));
}

#[test]
fn a_retry_with_a_renewed_token_counts() {
    let mut call = Call::with_retries(1);
    assert!(call.state.consume_auth_retry());
    assert!(!call.state.consume_auth_retry());
    assert!(call.after(failure(Kind::Server)).is_err());
    assert!(!Call::with_retries(0).state.consume_auth_retry());
}
