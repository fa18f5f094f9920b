//! Whether the service is down, as far as the requests of all calls over the same connections show. While it is, they
//! send one probe at a time instead of a retry each.

use std::time::Instant;

use super::Policy;
use crate::error::{Error, Kind};

/// So many failures in a row, of more than one call, are an outage of a service that has responded before.
const FAILURES: u32 = 5;

/// The failures since the last response.
#[derive(Debug, Default)]
pub struct Outage {
    has_responded: bool,
    failing: Option<Failing>,
}

#[derive(Debug)]
struct Failing {
    since: Instant,
    count: u32,
    first_call: u64,
    is_of_several_calls: bool,
    last: Error,
    last_at: Instant,
    next_probe: Instant,
    is_probed: bool,
}

/// When a retry, or a further request of a scan, may be sent.
#[derive(Clone, Debug)]
pub enum Turn {
    /// Now: the service is not known to be down.
    Now,
    /// Now, as the probe that the others wait for.
    Probe,
    /// To be asked again at this time.
    At(Instant),
    /// To be asked again after the probe in flight, or at this time.
    AfterProbe(Option<Instant>),
    /// The time is over, and this is the last failure.
    Never(Error),
}

impl Outage {
    /// The turn of a request of this call that is ready. The call began at `since` and may wait until `until`.
    ///
    /// A call fails only for what failed since it began: where that is nothing, it probes before its time is over. One
    /// that fails without a request counts like one whose request failed.
    pub fn turn(&mut self, call: u64, since: Instant, until: Instant, now: Instant) -> Turn {
        let is_known = self.is_known();
        match &mut self.failing {
            Some(failing) if is_known => {
                let is_fresh = failing.last_at >= since;
                if is_fresh && now >= until {
                    failing.count(call);
                    return Turn::Never(failing.last.clone());
                }
                if failing.is_probed {
                    return Turn::AfterProbe(is_fresh.then_some(until));
                }
                let due = if is_fresh { failing.next_probe } else { failing.next_probe.min(until) };
                if now < due {
                    return Turn::At(if is_fresh { due.min(until) } else { due });
                }
                failing.is_probed = true;
                Turn::Probe
            }
            _ => Turn::Now,
        }
    }

    /// Records a response that shows the service at work. Returns whether requests had failed before it.
    pub fn responded(&mut self) -> bool {
        self.has_responded = true;
        self.failing.take().is_some()
    }

    /// Records a failure of a request of this call that a retry may cure; `jitter` is uniform in 0 to 1.
    pub fn failed(&mut self, call: u64, failure: &Error, policy: &Policy, now: Instant, jitter: f64) {
        let failing = self.failing.get_or_insert_with(|| Failing {
            since: now,
            count: 0,
            first_call: call,
            is_of_several_calls: false,
            last: failure.clone(),
            last_at: now,
            next_probe: now,
            is_probed: false,
        });
        failing.count(call);
        (failing.last, failing.last_at) = (failure.clone(), now);
        failing.next_probe = now + policy.backoff(now.saturating_duration_since(failing.since), false, jitter);
    }

    /// The probe has ended, whatever came of it.
    pub fn end_probe(&mut self) {
        if let Some(failing) = &mut self.failing {
            failing.is_probed = false;
        }
    }

    /// Whether other requests would fail too.
    #[must_use]
    pub fn is_for_all(&self) -> bool {
        self.failing.as_ref().is_some_and(|failing| {
            let is_of_any = !self.has_responded || !may_be_of_one_request(&failing.last);
            is_unreachable(&failing.last) || failing.are_many() && is_of_any
        })
    }

    fn is_known(&self) -> bool {
        self.failing
            .as_ref()
            .is_some_and(|failing| !self.has_responded || is_unreachable(&failing.last) || failing.are_many())
    }
}

impl Failing {
    fn count(&mut self, call: u64) {
        self.count += 1;
        self.is_of_several_calls |= self.first_call != call;
    }

    fn are_many(&self) -> bool {
        self.count >= FAILURES && self.is_of_several_calls
    }
}

/// Whether no connection to the service can be made, whichever the request.
fn is_unreachable(failure: &Error) -> bool {
    matches!(failure.kind(), Kind::Connect | Kind::Proxy)
}

/// Whether the failure may come from what one request asks for, such as a day that is too large for the service.
fn may_be_of_one_request(failure: &Error) -> bool {
    match failure.kind() {
        Kind::Connect | Kind::Proxy | Kind::ConnectionLost | Kind::Throttled => false,
        Kind::Server => !matches!(failure.details().status, Some(502 | 504)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn policy() -> Policy {
        Policy::new(60 * SECOND, None)
    }

    fn of(kind: Kind) -> Error {
        Error::new(kind, "test failure").retryable()
    }

    /// A turn, without the error.
    #[derive(Debug, PartialEq)]
    enum Asked {
        Now,
        Probe,
        At(Instant),
        AfterProbe,
        Never,
    }

    fn turn_of(outage: &mut Outage, since: Instant, until: Instant, now: Instant) -> Asked {
        match outage.turn(1, since, until, now) {
            Turn::Now => Asked::Now,
            Turn::Probe => Asked::Probe,
            Turn::At(time) => Asked::At(time),
            Turn::AfterProbe(_) => Asked::AfterProbe,
            Turn::Never(_) => Asked::Never,
        }
    }

    /// The turn of a request whose call began before all failures and has two minutes.
    fn turn(outage: &mut Outage, began: Instant, now: Instant) -> Asked {
        turn_of(outage, began, began + 120 * SECOND, now)
    }

    /// The same service, after it has responded once.
    fn known() -> Outage {
        let mut outage = Outage::default();
        assert!(!outage.responded());
        outage
    }

    #[test]
    fn a_service_that_never_responded_is_probed_from_the_first_failure_on() {
        let (mut outage, now) = (Outage::default(), Instant::now());
        assert_eq!(turn(&mut outage, now, now), Asked::Now);
        outage.failed(1, &of(Kind::Server), &policy(), now, 1.0);
        let probe = now + SECOND / 5;
        assert_eq!(turn(&mut outage, now, now), Asked::At(probe));
        assert_eq!(turn(&mut outage, now, probe), Asked::Probe);
        assert_eq!(turn(&mut outage, now, probe), Asked::AfterProbe);
        outage.failed(1, &of(Kind::Server), &policy(), probe, 1.0);
        outage.end_probe();
        assert_eq!(turn(&mut outage, now, probe), Asked::At(probe + SECOND / 5 + SECOND / 10));
        assert!(!outage.is_for_all(), "failures of one call");
        (0..FAILURES).for_each(|_| outage.failed(2, &of(Kind::Server), &policy(), probe, 1.0));
        assert!(outage.is_for_all());
        assert!(outage.responded());
        assert_eq!((turn(&mut outage, now, now), outage.is_for_all()), (Asked::Now, false));
    }

    #[test]
    fn probes_get_rarer_and_come_at_least_every_ten_seconds() {
        let (mut outage, now) = (Outage::default(), Instant::now());
        outage.failed(1, &of(Kind::Connect), &policy(), now, 1.0);
        outage.failed(1, &of(Kind::Connect), &policy(), now + 4 * SECOND, 1.0);
        assert_eq!(turn(&mut outage, now, now + 4 * SECOND), Asked::At(now + 4 * SECOND + SECOND * 11 / 5));
        outage.failed(1, &of(Kind::Connect), &policy(), now + 50 * SECOND, 1.0);
        assert_eq!(turn(&mut outage, now, now + 50 * SECOND), Asked::At(now + 60 * SECOND));
    }

    #[test]
    fn failures_of_one_call_alone_are_no_outage_of_a_service_that_has_responded() {
        let (mut outage, now) = (known(), Instant::now());
        for _ in 0..20 {
            outage.failed(1, &of(Kind::ConnectionLost), &policy(), now, 1.0);
        }
        assert_eq!((turn(&mut outage, now, now), outage.is_for_all()), (Asked::Now, false));
        outage.failed(2, &of(Kind::ConnectionLost), &policy(), now, 1.0);
        assert!(matches!(turn(&mut outage, now, now), Asked::At(_)));
        assert!(outage.is_for_all());
    }

    #[test]
    fn without_a_connection_the_first_failure_is_enough() {
        let (mut outage, now) = (known(), Instant::now());
        outage.failed(1, &of(Kind::Connect), &policy(), now, 1.0);
        assert!(matches!(turn(&mut outage, now, now), Asked::At(_)));
        assert!(outage.is_for_all());
    }

    #[test]
    fn failures_that_one_request_may_cause_pause_the_others_but_do_not_end_them() {
        let (mut outage, now) = (known(), Instant::now());
        for call in 0..5 {
            let failure = of(Kind::Server).with(|details| details.status = Some(500));
            outage.failed(call, &failure, &policy(), now, 1.0);
        }
        assert!(matches!(turn(&mut outage, now, now), Asked::At(_)));
        assert!(!outage.is_for_all());
    }

    #[test]
    fn calls_that_fail_without_a_request_count() {
        let now = Instant::now();
        for (calls, is_for_all) in [([2, 3, 4, 5], true), ([1, 1, 1, 1], false)] {
            let mut outage = Outage::default();
            outage.failed(1, &of(Kind::Throttled), &policy(), now, 1.0);
            assert!(!outage.is_for_all());
            for call in calls {
                assert!(matches!(outage.turn(call, now, now, now), Turn::Never(_)));
            }
            assert_eq!(outage.is_for_all(), is_for_all, "{calls:?}");
        }
    }

    #[test]
    fn a_call_fails_only_for_what_failed_since_it_began() {
        let (mut outage, now) = (Outage::default(), Instant::now());
        outage.failed(1, &of(Kind::Server), &policy(), now, 1.0);
        let later = now + SECOND / 10;
        assert_eq!(turn_of(&mut outage, now, later, later), Asked::Never);
        assert_eq!(turn_of(&mut outage, later, later, later), Asked::Probe, "without any time");
        assert_eq!(turn_of(&mut outage, later, later, later), Asked::AfterProbe);
        outage.failed(2, &of(Kind::Server), &policy(), later, 1.0);
        outage.end_probe();
        assert_eq!(turn_of(&mut outage, later, later, later), Asked::Never, "the probe failed");
    }
}
