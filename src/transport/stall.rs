//! The stall rule: a body must arrive at a minimum rate. Only the time spent waiting for bytes counts, not the time
//! of a slow consumer. Pure: time is passed in.

use std::time::Duration;

use crate::config::Timeouts;

/// Bytes and waiting time of the current window.
#[derive(Debug)]
pub(super) struct Stall {
    grace: Duration,
    window: Duration,
    waited: Duration,
    bytes: usize,
}

impl Stall {
    /// Fewest bytes of a window: 256 a second in a window of 30 seconds.
    pub(super) const MIN_BYTES: usize = 256 * 30;

    pub(super) fn new(timeouts: &Timeouts) -> Self {
        Self { grace: timeouts.grace, window: timeouts.stall, waited: Duration::ZERO, bytes: 0 }
    }

    /// Counts bytes and the time waited for them. Returns whether a window ended with too few bytes.
    pub(super) fn is_reached(&mut self, waited: Duration, bytes: usize) -> bool {
        self.waited += waited;
        if !self.grace.is_zero() {
            if self.waited >= self.grace {
                (self.grace, self.waited) = (Duration::ZERO, Duration::ZERO);
            }
            return false;
        }
        self.bytes += bytes;
        if self.waited < self.window {
            return false;
        }
        let too_little = self.bytes < Self::MIN_BYTES;
        (self.waited, self.bytes) = (Duration::ZERO, 0);
        too_little
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn stall() -> Stall {
        Stall::new(&Timeouts::default())
    }

    #[test]
    fn a_slow_body_is_found_after_grace_and_window() {
        let mut stall = stall();
        let found = (1..200).find(|_| stall.is_reached(SECOND, 255));
        assert_eq!(found, Some(50));
    }

    #[test]
    fn the_minimum_rate_is_enough_for_ever() {
        let mut stall = stall();
        assert!((0..10_000).all(|_| !stall.is_reached(SECOND, 256)));
    }

    #[test]
    fn a_burst_does_not_excuse_the_windows_after_it() {
        let mut stall = stall();
        assert!(!stall.is_reached(SECOND, 1 << 30));
        assert!((0..200).any(|_| stall.is_reached(SECOND, 1)));
    }

    #[test]
    fn time_that_was_not_spent_waiting_does_not_count() {
        let mut stall = stall();
        assert!((0..100_000).all(|_| !stall.is_reached(Duration::ZERO, 1)));
    }
}
