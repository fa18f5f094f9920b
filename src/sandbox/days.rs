//! The times in records for which a condition on a time holds (section 2.4), and the zone of records.
//!
//! The service's own implementation of `time_unit` DAY, independent of the client's.

use std::ops::Range;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::objects::TIME_FORMAT;
use super::switches::{DayComparison, DayEquals, Switches};
use crate::contract::condition::{AFTER_DATE, BEFORE_DATE, EQUALS};
use crate::error::{Error, Kind, Result};

/// The Unix milliseconds of days in UTC that [`times`] takes.
#[cfg(test)]
pub(super) const TIMES: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_127_999_999;

/// The zone of the times in records, for who converts times before they are loaded.
#[derive(Debug)]
pub struct RecordZone(TimeZone);

impl RecordZone {
    /// The zone of this IANA name.
    ///
    /// # Errors
    /// `Sandbox` for an unknown name.
    pub fn named(name: &str) -> Result<Self> {
        TimeZone::get(name).map(Self).map_err(|cause| {
            Error::new(Kind::Sandbox, format!("`{name}` is not an IANA time zone"))
                .with_hint("write it as Asia/Ho_Chi_Minh, or UTC")
                .with_source(cause)
        })
    }

    /// A UTC time `YYYY-MM-DD HH:MM:SS` as records have it. Any other string stays as it is.
    pub fn record_time(&self, utc: &str) -> String {
        let time = DateTime::strptime(TIME_FORMAT, utc).and_then(|time| TimeZone::UTC.to_timestamp(time));
        time.ok().and_then(|time| record_time(time.as_second(), &self.0)).unwrap_or_else(|| utc.to_owned())
    }
}

/// A time in Unix seconds, as records have it.
pub(super) fn record_time(second: i64, zone: &TimeZone) -> Option<String> {
    Timestamp::from_second(second).ok().map(|time| zone.to_datetime(time).strftime(TIME_FORMAT).to_string())
}

/// The first time in records for which a condition holds, and the first one after it for which it does not; none beyond
/// four-digit years.
///
/// Times have a fixed length, so that strings compare as they do, but within an hour that clocks repeat: without an
/// offset, its times are ambiguous.
pub(super) fn times(
    operator: &str,
    milliseconds: i64,
    switches: &Switches,
) -> Option<(Option<String>, Option<String>)> {
    let Range { start, end } = seconds(operator, milliseconds, switches)?;
    let written = |second| match second {
        i64::MIN | i64::MAX => Some(None),
        second => record_time(second, &switches.source_timezone).map(Some),
    };
    Some((written(start)?, written(end)?))
}

/// The Unix seconds for which a condition on a time holds, as records have whole seconds; without seconds for an operator
/// that is not documented. A switch decides whether `before` and `after` include the day of the time, or compare instants.
pub(super) fn seconds(operator: &str, milliseconds: i64, switches: &Switches) -> Option<Range<i64>> {
    let time = Timestamp::from_millisecond(milliseconds).ok()?.to_zoned(switches.day_zone.clone());
    let day = of_day(&time)?;
    // The first second that is not before the time.
    let first = -(-milliseconds).div_euclid(1_000);
    Some(match (operator, switches.day_comparison) {
        (EQUALS, _) if switches.day_equals == DayEquals::Window => first..first + 24 * 3_600,
        (EQUALS, _) => day,
        (BEFORE_DATE, DayComparison::Exclusive) => i64::MIN..day.start,
        (BEFORE_DATE, DayComparison::Inclusive) => i64::MIN..day.end,
        (BEFORE_DATE, DayComparison::Instants) => i64::MIN..first,
        (AFTER_DATE, DayComparison::Exclusive) => day.end..i64::MAX,
        (AFTER_DATE, DayComparison::Inclusive) => day.start..i64::MAX,
        (AFTER_DATE, DayComparison::Instants) => milliseconds.div_euclid(1_000) + 1..i64::MAX,
        _ => 0..0,
    })
}

/// The Unix seconds of the day of a time.
pub(super) fn of_day(time: &Zoned) -> Option<Range<i64>> {
    // A clock change may skip midnight.
    let start = time.start_of_day().ok().filter(|start| start.year() >= 1)?;
    let end = start.tomorrow().ok()?.start_of_day().ok()?;
    Some(start.timestamp().as_second()..end.timestamp().as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switches(days: &str, records: &str) -> Switches {
        let [day_zone, source_timezone] = [days, records].map(|name| TimeZone::get(name).unwrap());
        Switches { day_zone, source_timezone, ..Switches::default() }
    }

    fn day(time: &str, days: &str, records: &str) -> (String, String) {
        let time: Timestamp = time.parse().unwrap();
        let (start, end) = times(EQUALS, time.as_millisecond(), &switches(days, records)).unwrap();
        (start.unwrap(), end.unwrap())
    }

    #[test]
    fn records_may_have_times_of_another_zone() {
        let local = day("2024-01-01T18:00:00Z", "Asia/Ho_Chi_Minh", "Asia/Ho_Chi_Minh");
        assert_eq!(local, ("2024-01-02 00:00:00".to_owned(), "2024-01-03 00:00:00".to_owned()));
        let local = day("2024-01-01T18:00:00Z", "UTC", "Asia/Kolkata");
        assert_eq!(local, ("2024-01-01 05:30:00".to_owned(), "2024-01-02 05:30:00".to_owned()));
    }

    #[test]
    fn a_midnight_that_is_skipped_and_a_long_day_are_whole() {
        // Beirut skipped 2024-03-31 00:00; New York had 25 hours on 2024-11-03.
        assert_eq!(day("2024-03-31T05:00:00Z", "Asia/Beirut", "UTC").0, "2024-03-30 22:00:00");
        let long = day("2024-11-03T12:00:00Z", "America/New_York", "UTC");
        assert_eq!(long, ("2024-11-03 04:00:00".to_owned(), "2024-11-04 05:00:00".to_owned()));
    }

    #[test]
    fn times_outside_the_calendar_have_no_day() {
        for milliseconds in [i64::MIN, i64::MAX, TIMES.start() - 1, TIMES.end() + 1] {
            assert_eq!(times(AFTER_DATE, milliseconds, &Switches::default()), None, "{milliseconds}");
        }
        for milliseconds in [*TIMES.start(), *TIMES.end()] {
            assert!(times(AFTER_DATE, milliseconds, &Switches::default()).is_some(), "{milliseconds}");
        }
    }
}
