//! Moments, the time zone in which a time without offset is read and a day begins, and how fast pauses run.
//!
//! The only module that uses the time library. A reader returns a message that says what to write instead.

mod all_zones;
mod calendar;
mod instants;
mod reading;
mod wall_clock;
mod zone;

use std::fmt;
#[cfg(feature = "testing")]
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

pub use all_zones::all_zones;
pub use calendar::{Calendar, DayComparison};
pub use instants::Instants;
pub use reading::offset_text;
pub use wall_clock::{plain_wall_clock, wall_clock_microseconds};
pub use zone::Zone;

/// How many times faster time-outs and pauses run in tests. Those of clients and stores that are made from then on.
#[cfg(feature = "testing")]
pub static SPEED: AtomicU32 = AtomicU32::new(1);

/// A time-out or pause, as long as it is outside of tests.
pub fn scaled(duration: Duration) -> Duration {
    #[cfg(feature = "testing")]
    let duration = duration / SPEED.load(Ordering::Relaxed).max(1);
    duration
}

/// A point in time, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(i64);

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        let milliseconds = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self(match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => milliseconds(since),
            Err(before) => -milliseconds(before.duration()),
        })
    }
}

impl Moment {
    /// At these Unix milliseconds, whether or not they look like another unit.
    #[must_use]
    pub const fn at(milliseconds: i64) -> Self {
        Self(milliseconds)
    }

    /// Unix milliseconds.
    pub const fn milliseconds(self) -> i64 {
        self.0
    }

    /// The millisecond before.
    #[must_use]
    pub const fn preceding(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// Rounds down to a millisecond, also before 1970.
    fn from_timestamp(timestamp: Timestamp) -> Self {
        let milliseconds = timestamp.as_nanosecond().div_euclid(1_000_000);
        Self(i64::try_from(milliseconds).unwrap_or_else(|_| timestamp.as_millisecond()))
    }

    fn timestamp(self) -> Timestamp {
        Timestamp::from_millisecond(self.0).unwrap_or(Timestamp::MAX)
    }
}

impl fmt::Display for Moment {
    /// ISO 8601 in UTC.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.timestamp().fmt(formatter)
    }
}
