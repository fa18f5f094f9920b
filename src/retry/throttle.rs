//! The gate before a service that asked to slow down: shut for all until it may be asked again, then opened to a
//! rate that grows steadily from below the one the service took before.

use std::time::{Duration, Instant};

/// What is left of the rate that was too much.
const CUT: f64 = 0.7;
/// So much of it comes back each second: all within six, and more until the service objects again.
const GROWTH: f64 = 0.05;
/// Requests a second, and their growth each second, at least.
const LEAST: f64 = 1.0;

/// When a request may start, unless the gate was shut in the meantime.
#[derive(Clone, Copy, Debug)]
pub struct Permit {
    /// Not before.
    pub at: Instant,
    /// How often the gate had been shut when the turn was given.
    shut: u64,
}

/// Open and without a limit until the service objects for the first time.
#[derive(Debug, Default)]
pub struct Throttle {
    shut: u64,
    limit: Option<Limit>,
    taken: Taken,
}

/// The rate after a cut.
#[derive(Clone, Copy, Debug)]
struct Limit {
    cut: Instant,
    opens: Instant,
    rate: f64,
    growth: f64,
    next: Instant,
}

impl Throttle {
    /// When the next request may start. Whoever waited for it asks [`Throttle::holds`] before it goes.
    #[must_use]
    pub fn turn(&mut self, now: Instant) -> Permit {
        let at = self.limit.as_mut().map_or(now, |limit| limit.turn(now));
        Permit { at, shut: self.shut }
    }

    /// Whether a turn still counts: nobody shut the gate since.
    #[must_use]
    pub fn holds(&self, turn: Permit) -> bool {
        turn.shut == self.shut
    }

    /// The service took a request.
    pub fn passed(&mut self, now: Instant) {
        self.taken.add(now);
    }

    /// The service asked to slow down and to stay away for `pause`, in answer to a request of the time `sent`.
    pub fn refused(&mut self, sent: Instant, now: Instant, pause: Duration) {
        let opens = now + pause;
        match &mut self.limit {
            // It left before the last cut, and says nothing of the rate since.
            Some(limit) if sent < limit.cut => {
                if opens <= limit.opens {
                    return;
                }
                limit.opens = opens;
                limit.next = opens;
            }
            _ => {
                let rate = self.taken.rate(now);
                self.limit = Some(Limit {
                    cut: now,
                    opens,
                    rate: (rate * CUT).max(LEAST),
                    growth: (rate * GROWTH).max(LEAST),
                    next: opens,
                });
            }
        }
        self.shut += 1;
    }
}

impl Limit {
    fn turn(&mut self, now: Instant) -> Instant {
        let at = self.next.max(now);
        let rate = self.rate + self.growth * at.duration_since(self.opens).as_secs_f64();
        self.next = at + Duration::from_secs_f64(rate.recip());
        at
    }
}

/// How many requests the service took of late, in windows of a second.
#[derive(Debug, Default)]
struct Taken {
    window: Option<Instant>,
    count: u32,
    before: f64,
}

impl Taken {
    const WINDOW: Duration = Duration::from_secs(1);

    fn add(&mut self, now: Instant) {
        self.roll(now);
        self.count += 1;
    }

    /// Requests a second; the present window counts for what it has.
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

    /// The starts of so many requests that are all ready now, in milliseconds from `from`.
    fn starts(throttle: &mut Throttle, from: Instant, count: usize) -> Vec<u128> {
        (0..count).map(|_| throttle.turn(from).at.duration_since(from).as_millis()).collect()
    }

    #[test]
    fn nobody_waits_before_the_service_objects() {
        let mut throttle = Throttle::default();
        assert_eq!(starts(&mut throttle, Instant::now(), 3), [0, 0, 0]);
    }

    #[test]
    fn a_refusal_shuts_the_gate_for_all_and_voids_the_turns_that_were_given() {
        let (mut throttle, start) = (Throttle::default(), Instant::now());
        let turn = throttle.turn(start);
        assert!(throttle.holds(turn));
        throttle.refused(start, start, 5 * SECOND);
        assert!(!throttle.holds(turn));
        let turn = throttle.turn(start + SECOND);
        assert_eq!(turn.at, start + 5 * SECOND);
        assert!(throttle.holds(turn));
    }

    #[test]
    fn the_rate_begins_below_what_was_taken_and_grows_steadily() {
        let (mut throttle, start) = (Throttle::default(), Instant::now());
        for number in 0..100 {
            throttle.passed(start + SECOND * number / 100);
        }
        let now = start + SECOND;
        throttle.refused(now, now, Duration::ZERO);
        let starts = starts(&mut throttle, now, 1_000);
        let started = |from: u128, to: u128| starts.iter().filter(|at| (from..to).contains(*at)).count();
        // 70 a second at first, 5 more each second.
        assert!((71..=74).contains(&started(0, 1_000)), "{}", started(0, 1_000));
        assert!((96..=99).contains(&started(5_000, 6_000)), "{}", started(5_000, 6_000));
    }

    #[test]
    fn refusals_of_what_left_before_the_cut_do_not_cut_again() {
        let (mut throttle, start) = (Throttle::default(), Instant::now());
        throttle.refused(start, start + SECOND / 2, SECOND);
        let rate = throttle.limit.expect("a limit").rate;
        let turn = throttle.turn(start + SECOND);
        throttle.refused(start, start + SECOND, SECOND / 10);
        assert!(throttle.holds(turn), "a shorter pause changes nothing");
        throttle.refused(start, start + SECOND, 9 * SECOND);
        let limit = throttle.limit.expect("a limit");
        assert!((limit.rate - rate).abs() < f64::EPSILON);
        assert_eq!(throttle.turn(start + SECOND).at, start + 10 * SECOND);
    }

    #[test]
    fn a_service_that_took_nothing_is_asked_once_a_second_at_first() {
        let (mut throttle, start) = (Throttle::default(), Instant::now());
        throttle.refused(start, start, Duration::ZERO);
        assert_eq!(starts(&mut throttle, start, 4), [0, 1_000, 1_500, 1_900]);
    }
}
