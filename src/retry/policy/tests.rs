//! Policies, and the failures of a call.

use super::*;

/// A failure and its verdict.
type Failure = (Error, Verdict);

fn failure(kind: Kind, remedy: Remedy) -> Failure {
    let verdict = Verdict { remedy, is_of_service: false, is_unsent: kind == Kind::Connect, cut_off_at: None };
    (Error::new(kind, "test failure"), verdict)
}

fn server() -> Failure {
    failure(Kind::Server, Remedy::BackOff)
}

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn back_off_grows_with_the_time_of_failing_up_to_the_cap() {
    let policy = Policy::new(MINUTE);
    let pause = |milliseconds, jitter| {
        policy.backoff(policy.base, Duration::from_millis(milliseconds), MINUTE, jitter).as_millis()
    };
    assert_eq!([0, 100, 3_000, 60_000].map(|failing| pause(failing, 0.0)), [400, 450, 1_900, 30_000]);
    assert_eq!([0, 100, 3_000, 60_000].map(|failing| pause(failing, 1.0)), [300, 337, 1_425, 27_000]);
}

#[test]
fn the_first_contact_is_retried_for_less_unless_the_policy_is_patient() {
    let policy = Policy::new(MINUTE);
    let patient = policy.patient_at_first();
    assert_eq!([policy, patient].map(|policy| policy.first_contact), [FIRST_CONTACT, MINUTE]);
    let mut call = Call::new(policy, true);
    let refused = || failure(Kind::Connect, Remedy::BackOff);
    call.hold = Some(Hold { until: call.now, down_since: None, was_reached: false, is_new: true });
    assert!(call.after(refused()).is_ok());
    call.now += FIRST_CONTACT;
    let error = call.after(refused()).expect_err("the end");
    assert!(error.hint().is_some_and(|hint| hint.contains("base_url")), "{error}");
}

#[test]
fn a_first_failure_is_retried_if_it_may_pass_in_the_time_left_and_may_be_sent_twice() {
    let lost = || failure(Kind::ConnectionLost, Remedy::BackOff);
    let refused = || failure(Kind::Connect, Remedy::BackOff);
    let denied = |remedy| failure(Kind::PermissionDenied, remedy);
    let (no_time, short, long) = (Duration::ZERO, Duration::from_millis(200), 5 * MINUTE);
    for (failure, idempotent, retry_for, left, is_retried) in [
        (server(), true, MINUTE, long, true),
        (server(), true, no_time, long, false),
        (server(), true, MINUTE, short, false),
        (denied(Remedy::None), true, MINUTE, long, false),
        (denied(Remedy::NewToken), true, MINUTE, long, false),
        (lost(), true, MINUTE, long, true),
        (lost(), false, MINUTE, long, false),
        (refused(), false, MINUTE, long, true),
        (stale(), true, no_time, long, false),
        (stale(), false, MINUTE, long, false),
        (stale(), true, MINUTE, no_time, false),
    ] {
        let shown = format!("{failure:?} {idempotent} {retry_for:?} {left:?}");
        let mut call = Call { left, ..Call::new(Policy::new(retry_for), idempotent) };
        assert_eq!(call.after(failure).is_ok(), is_retried, "{shown}");
    }
}

/// A call on a clock of its own, with `left` of its `timeout=`.
struct Call {
    state: RetryState,
    hold: Option<Hold>,
    now: Instant,
    left: Duration,
}

impl Call {
    fn new(policy: Policy, idempotent: bool) -> Self {
        let now = Instant::now();
        Self { state: RetryState::new(policy, idempotent, 5 * MINUTE, now), hold: None, now, left: 5 * MINUTE }
    }

    fn after(&mut self, (failure, verdict): Failure) -> Result<Duration> {
        self.state.after(failure, &verdict, self.hold, self.left, self.now, 0.0)
    }
}

fn cut_off(received: u64) -> Failure {
    let (failure, verdict) = failure(Kind::TruncatedResponse, Remedy::BackOff);
    (failure, Verdict { cut_off_at: Some(received), ..verdict })
}

fn stale() -> Failure {
    failure(Kind::ConnectionLost, Remedy::AtOnce)
}

#[test]
fn one_retry_of_a_request_on_a_stale_connection_is_free() {
    let mut call = Call::new(Policy::new(MINUTE), true);
    assert_eq!(call.after(stale()).expect("again"), Duration::ZERO);
    assert!(call.after(stale()).is_ok_and(|delay| !delay.is_zero()));
}

#[test]
fn two_long_responses_cut_off_at_the_same_byte_end_the_retries() {
    const LONG: u64 = (8 << 20) + 1;
    let mut call = Call::new(Policy::new(MINUTE), true);
    assert!(call.after(cut_off(LONG)).is_ok());
    assert!(call.after(cut_off(70)).is_ok());
    call.now += Duration::from_secs(4);
    assert!(call.after(cut_off(LONG)).is_ok(), "the service may restart");
    assert!(call.after(cut_off(LONG + 1)).is_ok());
    call.now += Duration::from_secs(1);
    assert!(call.after(cut_off(70)).is_ok(), "no limit is so low");
    assert!(call.after(cut_off(LONG - 1)).is_ok(), "the limit lets so many bytes through");
    assert!(call.after(cut_off(LONG - 1)).is_ok());
    assert!(call.after(cut_off(LONG + 2)).is_ok(), "another byte");
    let error = call.after(cut_off(LONG)).expect_err("the same again");
    assert!(error.hint().expect("a hint").contains(&LONG.to_string()));
    let mut call = Call::new(Policy::new(MINUTE), true);
    for _ in 0..2 {
        let lost = failure(Kind::ConnectionLost, Remedy::BackOff);
        assert!(call.after(lost).is_ok(), "no byte is no offset");
    }
}

#[test]
fn a_possible_accident_is_retried_once_for_each_kind() {
    let mut call = Call::new(Policy::new(MINUTE), true);
    let mangled = || failure(Kind::MalformedHttp, Remedy::Once);
    assert!(call.after(server()).is_ok());
    assert!(call.after(mangled()).is_ok(), "the first of its kind");
    let error = call.after(mangled()).expect_err("the second");
    assert_eq!(error.hint(), None, "more retries would not help");
}

#[test]
fn a_request_is_retried_until_retry_for_is_over_and_once_more_at_its_end() {
    let mut call = Call::new(Policy::new(MINUTE), true);
    let began = call.now;
    let mut sent = 1;
    let error = loop {
        let (server, verdict) = server();
        match call.after((server.with_hint("look at it"), verdict)) {
            Ok(delay) => call.now += delay,
            Err(error) => break error,
        }
        sent += 1;
    };
    assert_eq!((call.now - began, sent), (MINUTE, 12));
    assert!(error.hint().is_some_and(|hint| hint.starts_with("look at it; retry_for (60 s)")), "{error:?}");
}

#[test]
fn a_service_that_returns_is_noticed_before_its_outage_lasted_half_as_long_again() {
    for outage in [300, 3_000, 11_000].map(Duration::from_millis) {
        let policy = Policy::new(MINUTE);
        let mut call = Call::new(policy, true);
        let began = call.now;
        while call.now - began < outage {
            let delay = call.after(failure(Kind::Connect, Remedy::BackOff)).expect("a retry");
            call.now += delay;
        }
        assert!(call.now - began <= outage + outage / 2 + policy.base);
    }
}

#[test]
fn time_in_which_a_response_arrives_is_not_time_of_failing() {
    let mut call = Call::new(Policy::new(MINUTE), true);
    assert!(call.after(cut_off(1)).is_ok());
    for received in 2..30 {
        call.now += 2 * MINUTE;
        call.state.exclude(2 * MINUTE);
        assert!(call.after(cut_off(received)).is_ok());
    }
    call.now += MINUTE;
    assert!(call.after(cut_off(99)).is_err());
}

#[test]
fn retry_after_is_obeyed_within_retry_for() {
    let asked_for = |seconds| failure(Kind::Throttled, Remedy::Pause(Some(Duration::from_secs(seconds))));
    let mut call = Call::new(Policy::new(MINUTE), true);
    assert_eq!(call.after(asked_for(60)).ok(), Some(MINUTE));
    assert_eq!(call.after(asked_for(0)).ok(), Some(Duration::from_millis(400)));
    assert_eq!(call.after(asked_for(50)).ok(), Some(Duration::from_secs(50)));
    call.now += Duration::from_secs(50);
    let error = call.after(asked_for(11)).expect_err("only 10 s are left");
    assert!(error.hint().is_some_and(|hint| hint.contains("11 s") && hint.contains("60 s")), "{error:?}");
}
