//! One gate for all requests over the same connections. It is open while the service works. A pause that the service asks
//! for holds every request. After some failures in a row, one request at a time probes, at growing distances.

use std::time::{Duration, Instant};

use super::throttle::Throttle;
use super::{Policy, Remedy, Verdict};

/// Failures in a row, of more than one call, after which requests probe.
const FAILURES: u32 = 5;
/// Most requests of the first second, until the service has answered one. Each second without an answer doubles them.
const UNPROVEN: u32 = 8;
/// A pause that ends no call in time is kept for so long: a mistaken `Retry-After` of a day blocks no client for a day.
const LONGEST: Duration = Duration::from_secs(900);

/// What requests of all calls have shown of the service.
#[derive(Debug, Default)]
pub struct Gate {
    /// Whether the headers of any response have arrived.
    pub was_reached: bool,
    /// Whether a response was complete and reported success.
    pub has_succeeded: bool,
    /// When the pause ends that the service asked for.
    pub pause_ends: Option<Instant>,
    has_answered: bool,
    failing: Option<Failing>,
    probe: Option<Probe>,
    next_probe: Option<Instant>,
    /// The first start, and how many there were before the service answered.
    unproven: Option<(Instant, u32)>,
    throttle: Throttle,
}

/// Failures in a row.
#[derive(Debug)]
struct Failing {
    since: Instant,
    count: u32,
    first_call: u64,
    is_of_several_calls: bool,
    is_unsent: bool,
    /// Whether they show that other requests would fail too.
    is_of_service: bool,
}

#[derive(Debug)]
struct Probe {
    call: u64,
    responded: Option<Instant>,
}

/// A call, as the gate knows it.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// Its id.
    pub call: u64,
    /// When it began.
    pub began: Instant,
}

/// What holds a request after its failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// No request starts before; the past, if the gate is open.
    pub until: Instant,
    /// Since when the service fails for all. Then only one request at a time probes.
    pub down_since: Option<Instant>,
    /// Whether the headers of any response have arrived.
    pub was_reached: bool,
    /// Whether this failure began the pause, or no pause holds the request.
    pub is_new: bool,
}

impl Gate {
    /// Starts a request of this call. `jitter` is drawn for a probe alone: most requests need no random number.
    ///
    /// # Errors
    /// When to try again, and until then after each change; nothing if only a change can let it start.
    pub fn try_start(
        &mut self,
        call: u64,
        policy: &Policy,
        now: Instant,
        jitter: impl FnOnce() -> f64,
    ) -> Result<(), Option<Instant>> {
        if !policy.has_retries() {
            return Ok(());
        }
        let proven = self.probe.as_ref().and_then(|probe| Some(probe.responded? + policy.restart));
        if proven.is_some_and(|proven| proven <= now) {
            // Others cannot wait for the end of a long body.
            self.answered();
        }
        let is_probing = self.down_since().is_some();
        if is_probing && self.probe.is_some() {
            return Err(proven);
        }
        if let Some(opens) = self.opens().filter(|opens| now < *opens) {
            return Err(Some(opens));
        }
        let (first, starts) = self.unproven.unwrap_or((now, 0));
        let seconds = u32::try_from(now.saturating_duration_since(first).as_secs()).unwrap_or(u32::MAX);
        if !self.has_answered && starts >= UNPROVEN.saturating_mul(2_u32.saturating_pow(seconds)) {
            return Err(Some(first + Duration::from_secs(u64::from(seconds) + 1)));
        }
        self.throttle.try_start(now, self.pause_ends).map_err(Some)?;
        self.unproven = Some((first, starts.saturating_add(1)));
        if is_probing {
            self.space_probes(policy, now, jitter());
            self.probe = Some(Probe { call, responded: None });
        }
        Ok(())
    }

    /// Records that the headers of a response have arrived; with the status 200 if it `is_ok`.
    pub fn reached(&mut self, call: u64, is_ok: bool, now: Instant) {
        self.was_reached = true;
        if let Some(probe) = self.probe.as_mut().filter(|probe| is_ok && probe.call == call) {
            probe.responded.get_or_insert(now);
        }
    }

    /// Records that a response is complete and reports success.
    pub fn succeeded(&mut self) {
        self.has_succeeded = true;
        self.answered();
    }

    /// Records a response that shows that the service works.
    pub fn answered(&mut self) {
        self.has_answered = true;
        (self.failing, self.probe) = (None, None);
    }

    /// Records that a request failed, which was sent at `sent`, in a way that may pass.
    pub fn failed(
        &mut self,
        caller: Caller,
        policy: &Policy,
        verdict: &Verdict,
        sent: Instant,
        now: Instant,
        jitter: f64,
    ) -> Hold {
        let was_probing = self.down_since().is_some();
        let was_held = was_probing || self.pause_ends.is_some_and(|ends| now < ends);
        let was_probe = self.probe.as_ref().is_some_and(|probe| probe.call == caller.call);
        if let Remedy::Pause(asked) = verdict.remedy {
            let asked = asked.unwrap_or(policy.throttled_base);
            // Many processes that are told the same do not come back together, nor too late for a call.
            let spread = policy.spread(asked).mul_f64(jitter).min(policy.retry_for.saturating_sub(asked));
            let held = if asked > policy.retry_for { asked.min(LONGEST.max(policy.retry_for)) } else { asked + spread };
            self.throttle.refused(sent, now);
            self.pause_ends = self.pause_ends.max(Some(now + held));
        }
        let failing = self.failing.get_or_insert(Failing {
            since: now,
            count: 0,
            first_call: caller.call,
            is_of_several_calls: false,
            is_unsent: false,
            is_of_service: false,
        });
        failing.count = failing.count.saturating_add(1);
        failing.is_of_several_calls |= failing.first_call != caller.call;
        failing.is_unsent |= verdict.is_unsent;
        // A request that fails as those before it, though it began after them, is no exception.
        failing.is_of_service |= !self.has_succeeded || verdict.is_of_service || caller.began > failing.since;
        let down_since = self.down_since();
        if down_since.is_some() && !was_probing {
            self.space_probes(policy, now, jitter);
        }
        let (until, was_reached) = (self.opens().unwrap_or(now), self.was_reached);
        Hold { until, down_since, was_reached, is_new: was_probe || !was_held }
    }

    /// Records that an attempt of a call is over. If it was the probe, another may begin.
    pub fn ended(&mut self, call: u64) {
        self.probe.take_if(|probe| probe.call == call);
    }

    /// Lets the next request probe at once, as a call has given up: one that did not fail yet shows whether all do. Or as the
    /// time of a call is over that `is_unsent`.
    pub fn gave_up(&mut self, is_unsent: bool, now: Instant) {
        if is_unsent || self.failing.as_ref().is_some_and(|failing| !failing.is_of_service) {
            self.next_probe = self.next_probe.map(|next| next.min(now));
        }
    }

    /// Whether a request probes.
    pub fn has_probe(&self) -> bool {
        self.probe.is_some()
    }

    /// Since when the service fails.
    pub fn failing_since(&self) -> Option<Instant> {
        self.failing.as_ref().map(|failing| failing.since)
    }

    /// Since when it fails for all. Then requests probe.
    pub fn down_since(&self) -> Option<Instant> {
        let is_down = |failing: &&Failing| failing.count >= FAILURES && failing.is_of_several_calls;
        self.failing.as_ref().filter(is_down).map(|failing| failing.since)
    }

    /// Whether requests of other calls would fail too.
    pub fn is_down_for_all(&self) -> bool {
        let is_down = self.down_since().is_some();
        self.failing.as_ref().is_some_and(|failing| failing.is_unsent || is_down && failing.is_of_service)
    }

    /// When the next request may start, as far as pauses tell.
    fn opens(&self) -> Option<Instant> {
        self.pause_ends.max(self.down_since().and(self.next_probe))
    }

    /// Sets when the request after the one of now may probe.
    fn space_probes(&mut self, policy: &Policy, now: Instant, jitter: f64) {
        let failing_for = self.failing_since().map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        let rest = policy.retry_for.saturating_sub(failing_for);
        self.next_probe = Some(now + policy.backoff(policy.probe_base, failing_for, rest, jitter));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Which requests a failure is about.
    #[derive(Clone, Copy, PartialEq)]
    enum Scope {
        Request,
        Service,
        Unsent,
    }

    /// A gate on a clock of its own, without chance.
    struct Test {
        gate: Gate,
        policy: Policy,
        now: Instant,
    }

    impl Test {
        fn new() -> Self {
            Self { gate: Gate::default(), policy: Policy::new(60 * SECOND), now: Instant::now() }
        }

        fn start(&mut self, call: u64) -> Result<(), Option<Duration>> {
            let started = self.gate.try_start(call, &self.policy, self.now, || 0.0);
            started.map_err(|later| later.map(|later| later - self.now))
        }

        fn fail_with(&mut self, call: u64, scope: Scope, remedy: Remedy) -> Hold {
            let (is_of_service, is_unsent) = (scope != Scope::Request, scope == Scope::Unsent);
            let verdict = Verdict { remedy, is_of_service, is_unsent, cut_off_at: None };
            let caller = Caller { call, began: self.now };
            let hold = self.gate.failed(caller, &self.policy, &verdict, self.now, self.now, 0.0);
            self.gate.ended(call);
            hold
        }

        fn fail(&mut self, calls: impl IntoIterator<Item = u64>, scope: Scope) {
            for call in calls {
                self.fail_with(call, scope, Remedy::BackOff);
            }
        }
    }

    #[test]
    fn after_five_failures_of_several_calls_one_request_at_a_time_probes() {
        let mut test = Test::new();
        test.fail([1, 1, 1, 2], Scope::Service);
        assert_eq!(test.start(3), Ok(()));
        test.fail([1], Scope::Service);
        assert_eq!(test.start(4), Err(Some(test.policy.probe_base)));
        test.now += 2 * SECOND;
        assert_eq!((test.start(4), test.start(5)), (Ok(()), Err(None)));
        assert!(test.fail_with(4, Scope::Service, Remedy::BackOff).is_new);
        // From the start of one probe to that of the next.
        assert_eq!(test.start(5), Err(Some(test.policy.probe_base + SECOND)));
        test.gate.answered();
        assert_eq!([4, 5, 6].map(|call| test.start(call)), [Ok(()); 3]);
        assert!(!test.gate.is_down_for_all());
    }

    #[test]
    fn a_probe_that_is_dropped_lets_another_begin_and_one_that_arrives_opens_the_gate() {
        let mut test = Test::new();
        test.fail(1..=5, Scope::Service);
        test.now += 2 * SECOND;
        assert_eq!(test.start(1), Ok(()));
        test.gate.ended(1);
        test.now += 10 * SECOND;
        assert_eq!(test.start(2), Ok(()));
        test.gate.reached(2, true, test.now);
        assert_eq!(test.start(3), Err(Some(5 * SECOND)));
        test.now += 5 * SECOND;
        assert_eq!([3, 4].map(|call| test.start(call)), [Ok(()); 2]);
    }

    #[test]
    fn failures_of_one_call_are_no_outage_unless_no_connection_opens() {
        let mut test = Test::new();
        test.fail([1; 20], Scope::Service);
        assert_eq!((test.start(2), test.gate.is_down_for_all()), (Ok(()), false));
        test.fail([1], Scope::Unsent);
        assert!(test.gate.is_down_for_all());
    }

    #[test]
    fn failures_that_one_request_may_cause_are_an_outage_once_a_later_call_fails_too() {
        let mut test = Test::new();
        test.gate.succeeded();
        test.fail([1, 1, 1, 2, 2], Scope::Request);
        assert!(!test.gate.is_down_for_all());
        test.now += SECOND;
        test.fail([3], Scope::Request);
        assert!(test.gate.is_down_for_all());
    }

    #[test]
    fn a_pause_holds_all_and_the_longer_one_counts() {
        let mut test = Test::new();
        let pause = |seconds| Remedy::Pause(Some(seconds * SECOND));
        let holds = [9, 3].map(|seconds| test.fail_with(1, Scope::Service, pause(seconds)).is_new);
        assert_eq!((holds, test.start(2)), ([true, false], Err(Some(9 * SECOND))));
        test.fail_with(1, Scope::Service, pause(100_000));
        assert_eq!(test.start(2), Err(Some(LONGEST)));
        let once = Policy::new(Duration::ZERO);
        assert_eq!(test.gate.try_start(2, &once, test.now, || 0.0), Ok(()), "one that is sent once waits for nothing");
    }

    #[test]
    fn a_service_that_never_answered_gets_few_requests_at_first() {
        let mut test = Test::new();
        let mut started = || {
            let started = (0..100).filter(|call| test.start(*call).is_ok()).count();
            test.now += SECOND;
            started
        };
        assert_eq!([started(), started(), started(), started()], [8, 8, 16, 32]);
        test.gate.answered();
        assert_eq!((0..100).filter(|call| test.start(*call).is_ok()).count(), 100);
    }
}
