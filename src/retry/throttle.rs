//! Spaces the starts of all requests once the service has asked for a pause: wider with each refusal, and closer with the
//! time in which it asks for no other.

use std::time::{Duration, Instant};

/// The distance of two starts after the first refusal.
const FIRST: Duration = Duration::from_millis(20);
/// The longest distance.
const LONGEST: Duration = Duration::from_secs(1);
/// How much wider each refusal makes it.
const WIDER: f64 = 1.5;
/// What is left of it after a second without one: after eight seconds it is what it was.
const CLOSER: f64 = 0.95;

/// Without distance until the service refuses a request.
#[derive(Debug, Default)]
pub struct Throttle {
    spacing: Duration,
    last: Option<Instant>,
    widened: Option<Instant>,
}

impl Throttle {
    /// Starts a request, after a pause that ended at `opened`.
    ///
    /// # Errors
    /// The time of the next start, which is later. Try again then, as the service may refuse a request meanwhile.
    pub fn try_start(&mut self, now: Instant, opened: Option<Instant>) -> Result<(), Instant> {
        if let Some(next) = self.last.map(|last| last + self.spacing).filter(|next| now < *next) {
            return Err(next);
        }
        let since = self.last.max(opened);
        let passed = since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        self.spacing = self.spacing.mul_f64(CLOSER.powf(passed.as_secs_f64()));
        self.last = Some(now);
        Ok(())
    }

    /// Records that the service refused a request, which was sent at `sent`. One that was sent before the distance was
    /// last made wider says nothing about it.
    pub fn refused(&mut self, sent: Instant, now: Instant) {
        if self.widened.is_none_or(|widened| sent >= widened) {
            self.spacing = self.spacing.mul_f64(WIDER).clamp(FIRST, LONGEST);
            self.widened = Some(now);
        }
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

    /// How many requests start within the second after this time, if any number is due.
    fn rate(throttle: &mut Throttle, from: Instant) -> u32 {
        (0..200).take_while(|_| start(throttle, from) < from + SECOND).map(|_| 1).sum()
    }

    #[test]
    fn requests_start_at_once_before_the_first_refusal() {
        assert_eq!(rate(&mut Throttle::default(), Instant::now()), 200);
    }

    #[test]
    fn the_rate_falls_with_each_refusal_and_grows_steadily() {
        let (mut throttle, now) = (Throttle::default(), Instant::now());
        throttle.refused(now, now);
        assert_eq!(rate(&mut throttle, now), 52);
        assert_eq!(rate(&mut throttle, now + SECOND), 53);
        for _ in 0..20 {
            throttle.refused(now + 2 * SECOND, now + 2 * SECOND);
        }
        assert_eq!(throttle.spacing, LONGEST);
    }

    #[test]
    fn a_refusal_of_a_request_from_before_the_last_one_changes_nothing() {
        let (mut throttle, begin) = (Throttle::default(), Instant::now());
        throttle.refused(begin, begin + SECOND / 2);
        throttle.refused(begin, begin + SECOND);
        assert_eq!(throttle.spacing, FIRST);
        throttle.refused(begin + SECOND / 2, begin + SECOND);
        assert_eq!(throttle.spacing, FIRST.mul_f64(WIDER));
    }

    #[test]
    fn a_pause_does_not_count_as_time_without_a_refusal() {
        let (mut throttle, now) = (Throttle::default(), Instant::now());
        assert_eq!(throttle.try_start(now, None), Ok(()));
        throttle.refused(now, now);
        assert_eq!(throttle.try_start(now + 60 * SECOND, Some(now + 60 * SECOND)), Ok(()));
        assert_eq!(throttle.spacing, FIRST);
    }
}
