//! Limits the rate of all requests after a pause that the service asked for: it grows steadily from below the rate that
//! the service accepted before.

use std::time::{Duration, Instant};

/// Share of the accepted rate that is left after a refusal.
const CUT: f64 = 0.7;
/// Share of the accepted rate that is added each second: after six seconds all of it is back, and the rate grows on.
const GROWTH: f64 = 0.05;
/// Smallest rate, and growth each second, in requests a second.
const MIN_RATE: f64 = 1.0;

/// Unlimited until the service refuses a request.
#[derive(Debug, Default)]
pub struct Throttle {
    limit: Option<Limit>,
    accepted: AcceptedRate,
}

/// The rate after a refusal.
#[derive(Clone, Copy, Debug)]
struct Limit {
    cut: Instant,
    rate: f64,
    growth: f64,
    next: Instant,
}

impl Throttle {
    /// Starts a request that is due at this time, after a pause that ended at `opened`.
    ///
    /// # Errors
    /// The time of the next start, which is later. Try again then, as the service may refuse a request meanwhile.
    pub fn try_start(&mut self, due: Instant, opened: Option<Instant>) -> Result<(), Instant> {
        let Some(limit) = &mut self.limit else { return Ok(()) };
        if due < limit.next {
            return Err(limit.next);
        }
        let grown_for = due.saturating_duration_since(opened.unwrap_or(limit.cut));
        let rate = limit.rate + limit.growth * grown_for.as_secs_f64();
        limit.next = due + Duration::from_secs_f64(rate.recip());
        Ok(())
    }

    /// Records that the service accepted a request.
    pub fn accepted(&mut self, now: Instant) {
        self.accepted.add(now);
    }

    /// Records that the service refused a request, which was sent at `sent`. One that was sent before the last cut says
    /// nothing about the rate since.
    pub fn refused(&mut self, sent: Instant, now: Instant) {
        if self.limit.is_none_or(|limit| sent >= limit.cut) {
            let accepted = self.accepted.rate(now);
            let [rate, growth] = [CUT, GROWTH].map(|share| (accepted * share).max(MIN_RATE));
            self.limit = Some(Limit { cut: now, rate, growth, next: now });
        }
    }
}

/// The rate of accepted requests, counted in windows of a second.
#[derive(Debug, Default)]
struct AcceptedRate {
    window: Option<Instant>,
    count: u32,
    before: f64,
}

impl AcceptedRate {
    const WINDOW: Duration = Duration::from_secs(1);

    fn add(&mut self, now: Instant) {
        self.roll(now);
        self.count += 1;
    }

    /// Requests a second. The current window counts as if it were complete.
    fn rate(&mut self, now: Instant) -> f64 {
        self.roll(now);
        self.before.max(f64::from(self.count))
    }

    fn roll(&mut self, now: Instant) {
        let age = self.window.map_or(Self::WINDOW, |window| now.duration_since(window));
        if age < Self::WINDOW {
            return;
        }
        self.before = if age < 2 * Self::WINDOW { f64::from(self.count) / age.as_secs_f64() } else { 0.0 };
        self.count = 0;
        self.window = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// The start of a request that is due at this time.
    fn start(throttle: &mut Throttle, mut due: Instant) -> Instant {
        while let Err(later) = throttle.try_start(due, None) {
            due = later;
        }
        due
    }

    /// The starts of `count` requests that are all due at `from`, in milliseconds after it.
    fn starts(throttle: &mut Throttle, from: Instant, count: usize) -> Vec<u128> {
        (0..count).map(|_| start(throttle, from).duration_since(from).as_millis()).collect()
    }

    #[test]
    fn requests_start_at_once_before_the_first_refusal() {
        let mut throttle = Throttle::default();
        assert_eq!(starts(&mut throttle, Instant::now(), 3), [0, 0, 0]);
    }

    #[test]
    fn the_rate_starts_below_the_accepted_one_and_grows_steadily() {
        let (mut throttle, begin) = (Throttle::default(), Instant::now());
        for number in 0..100 {
            throttle.accepted(begin + SECOND * number / 100);
        }
        let now = begin + SECOND;
        throttle.refused(now, now);
        let starts = starts(&mut throttle, now, 1_000);
        let started = |from: u128, to: u128| starts.iter().filter(|at| (from..to).contains(*at)).count();
        // 70 a second at first, 5 more each second.
        assert!((71..=74).contains(&started(0, 1_000)), "{}", started(0, 1_000));
        assert!((96..=99).contains(&started(5_000, 6_000)), "{}", started(5_000, 6_000));
    }

    #[test]
    fn refusals_of_requests_from_before_the_cut_do_not_cut_again() {
        let (mut throttle, begin) = (Throttle::default(), Instant::now());
        throttle.accepted(begin);
        throttle.refused(begin, begin + SECOND / 2);
        let cut = throttle.limit.expect("a limit").cut;
        throttle.refused(begin, begin + SECOND);
        assert_eq!(throttle.limit.expect("a limit").cut, cut);
    }

    #[test]
    fn a_request_that_was_sent_since_the_cut_and_is_refused_cuts_again() {
        let (mut throttle, begin) = (Throttle::default(), Instant::now());
        let accepted = |throttle: &mut Throttle, from, count| {
            (0..count).for_each(|number| throttle.accepted(from + SECOND * number / count));
        };
        accepted(&mut throttle, begin, 100);
        throttle.refused(begin, begin + SECOND);
        accepted(&mut throttle, begin + SECOND, 50);
        throttle.refused(begin + SECOND, begin + 2 * SECOND);
        let rate = throttle.limit.expect("a limit").rate;
        assert!((rate - 35.0).abs() < 1e-9, "{rate}");
    }

    #[test]
    fn without_accepted_requests_the_rate_starts_at_one_a_second() {
        let (mut throttle, begin) = (Throttle::default(), Instant::now());
        throttle.refused(begin, begin);
        assert_eq!(starts(&mut throttle, begin, 4), [0, 1_000, 1_500, 1_900]);
    }

    #[test]
    fn the_accepted_rate_is_counted_in_windows_of_a_second() {
        let (mut accepted, begin) = (AcceptedRate::default(), Instant::now());
        let mut rate = |half_seconds, more| {
            let now = begin + SECOND / 2 * half_seconds;
            (0..more).for_each(|_| accepted.add(now));
            accepted.rate(now)
        };
        let found = [rate(0, 12), rate(1, 0), rate(2, 1), rate(5, 0), rate(5, 6), rate(9, 0)];
        // The window from 1 s on had one request in one and a half seconds; the one from 2.5 s on is two seconds old.
        assert!(
            found
                .into_iter()
                .zip([12.0, 12.0, 12.0, 2.0 / 3.0, 6.0, 0.0])
                .all(|(found, rate)| (found - rate).abs() < 1e-9),
            "{found:?}"
        );
    }
}
