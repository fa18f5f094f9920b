//! The day of a timestamp in a time zone, as a range of UTC times in the store's format.
//!
//! The service's own implementation of `time_unit` DAY (section 2.4), independent of the client's.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::objects::TIME_FORMAT;

/// The Unix milliseconds for which [`Day::of`] returns a day in UTC.
#[cfg(test)]
pub(super) const TIMES: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_127_999_999;

/// A day as formatted times: `start` is included, `end` is excluded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Day {
    pub(super) start: String,
    pub(super) end: String,
}

impl Day {
    /// The day of a Unix timestamp in milliseconds; none beyond four-digit years.
    pub(super) fn of(milliseconds: i64, zone: &TimeZone) -> Option<Self> {
        let time = Timestamp::from_millisecond(milliseconds).ok()?.to_zoned(zone.clone());
        // A clock change may skip midnight.
        let start = time.start_of_day().ok()?;
        let end = start.tomorrow().ok()?.start_of_day().ok()?;
        Some(Self { start: formatted(&start)?, end: formatted(&end)? })
    }
}

/// A time in Unix seconds in the store's format; none beyond four-digit years.
pub(super) fn of_seconds(seconds: i64) -> Option<String> {
    formatted(&Timestamp::from_second(seconds).ok()?.to_zoned(TimeZone::UTC))
}

/// Fixed length, so that strings compare as the times do.
fn formatted(time: &Zoned) -> Option<String> {
    let time = time.with_time_zone(TimeZone::UTC);
    (time.year() >= 1).then(|| time.strftime(TIME_FORMAT).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(time: &str, zone: &str) -> (String, String) {
        let time: Timestamp = time.parse().unwrap();
        let day = Day::of(time.as_millisecond(), &TimeZone::get(zone).unwrap()).unwrap();
        (day.start, day.end)
    }

    #[test]
    fn a_day_begins_at_its_first_millisecond_and_ends_before_the_next() {
        let whole = ("2024-02-29 00:00:00".to_owned(), "2024-03-01 00:00:00".to_owned());
        assert_eq!(day("2024-02-29T00:00:00Z", "UTC"), whole);
        assert_eq!(day("2024-02-29T23:59:59.999Z", "UTC"), whole);
    }

    #[test]
    fn another_zone_cuts_elsewhere() {
        let day = day("2024-01-01T18:00:00Z", "Asia/Ho_Chi_Minh");
        assert_eq!(day, ("2024-01-01 17:00:00".to_owned(), "2024-01-02 17:00:00".to_owned()));
    }

    #[test]
    fn a_midnight_that_is_skipped_and_a_long_day_are_whole() {
        // Beirut skipped 2024-03-31 00:00; New York had 25 hours on 2024-11-03.
        assert_eq!(day("2024-03-31T05:00:00Z", "Asia/Beirut").0, "2024-03-30 22:00:00");
        let long = day("2024-11-03T12:00:00Z", "America/New_York");
        assert_eq!(long, ("2024-11-03 04:00:00".to_owned(), "2024-11-04 05:00:00".to_owned()));
    }

    #[test]
    fn times_outside_the_calendar_have_no_day() {
        for milliseconds in [i64::MIN, i64::MAX, TIMES.start() - 1, TIMES.end() + 1] {
            assert_eq!(Day::of(milliseconds, &TimeZone::UTC), None, "{milliseconds}");
        }
        for milliseconds in [*TIMES.start(), *TIMES.end()] {
            assert!(Day::of(milliseconds, &TimeZone::UTC).is_some(), "{milliseconds}");
        }
    }
}
