//! The day of a timestamp in a time zone, as a range of times in the store's format, and in the zone of records.
//!
//! The service's own implementation of `time_unit` DAY (section 2.4), independent of the client's.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::objects::TIME_FORMAT;
use crate::error::{Error, Kind, Result};

/// The Unix milliseconds for which [`Day::of`] returns a day in UTC.
#[cfg(test)]
pub(super) const TIMES: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_127_999_999;

/// The zones of a service.
#[derive(Debug)]
pub(super) struct Zones {
    /// Where days are cut.
    pub(super) days: TimeZone,
    /// Of the times in records.
    pub(super) records: TimeZone,
}

impl Zones {
    /// The zones with these IANA names: of the days, and of the times in records.
    pub(super) fn named(days: &str, records: &str) -> Result<Self> {
        Ok(Self { days: zone(days)?, records: zone(records)? })
    }
}

/// The zone of the times in records, for who converts times before they are loaded.
#[derive(Debug)]
pub struct RecordZone(TimeZone);

impl RecordZone {
    /// The zone of this IANA name.
    ///
    /// # Errors
    /// `Sandbox` for an unknown name.
    pub fn named(name: &str) -> Result<Self> {
        zone(name).map(Self)
    }

    /// A UTC time `YYYY-MM-DD HH:MM:SS` as records have it. Any other string stays as it is.
    #[must_use]
    pub fn record_time(&self, utc: &str) -> String {
        let Ok(time) = DateTime::strptime(TIME_FORMAT, utc) else { return utc.to_owned() };
        in_zone(time, &self.0).strftime(TIME_FORMAT).to_string()
    }
}

/// The zone of an IANA name.
fn zone(name: &str) -> Result<TimeZone> {
    TimeZone::get(name).map_err(|cause| {
        Error::new(Kind::Sandbox, format!("`{name}` is not an IANA time zone"))
            .with_hint("write it as Asia/Ho_Chi_Minh, or UTC")
            .with_source(cause)
    })
}

/// A UTC time in a zone.
fn in_zone(utc: DateTime, zone: &TimeZone) -> DateTime {
    // Only a time at the end of the calendar has none.
    TimeZone::UTC.to_timestamp(utc).map_or(utc, |time| zone.to_datetime(time))
}

/// A day as formatted times: `start` is included, `end` is excluded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Day {
    pub(super) start: String,
    pub(super) end: String,
}

impl Day {
    /// The day of a Unix timestamp in milliseconds; none beyond four-digit years.
    pub(super) fn of(milliseconds: i64, zones: &Zones) -> Option<Self> {
        Self::with(&Timestamp::from_millisecond(milliseconds).ok()?.to_zoned(zones.days.clone()), zones)
    }

    fn with(time: &Zoned, zones: &Zones) -> Option<Self> {
        // A clock change may skip midnight.
        let start = time.start_of_day().ok()?;
        let end = start.tomorrow().ok()?.start_of_day().ok()?;
        let formatted = |time: &Zoned| formatted(time, &zones.records);
        Some(Self { start: formatted(&start)?, end: formatted(&end)? })
    }
}

/// A time in Unix seconds, as records have it; none beyond four-digit years.
pub(super) fn of_seconds(seconds: i64, zones: &Zones) -> Option<String> {
    formatted(&Timestamp::from_second(seconds).ok()?.to_zoned(TimeZone::UTC), &zones.records)
}

/// Fixed length, so that strings compare as the times do, but within an hour that clocks repeat: without an offset, its
/// times are ambiguous.
fn formatted(time: &Zoned, zone: &TimeZone) -> Option<String> {
    let time = time.with_time_zone(zone.clone());
    (time.year() >= 1).then(|| time.strftime(TIME_FORMAT).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zones(days: &str, records: &str) -> Zones {
        Zones { days: TimeZone::get(days).unwrap(), records: TimeZone::get(records).unwrap() }
    }

    fn day(time: &str, zone: &str) -> (String, String) {
        day_of_records(time, &zones(zone, "UTC"))
    }

    fn day_of_records(time: &str, zones: &Zones) -> (String, String) {
        let time: Timestamp = time.parse().unwrap();
        let day = Day::of(time.as_millisecond(), zones).unwrap();
        (day.start, day.end)
    }

    #[test]
    fn records_may_have_times_of_another_zone() {
        let day = day_of_records("2024-01-01T18:00:00Z", &zones("Asia/Ho_Chi_Minh", "Asia/Ho_Chi_Minh"));
        assert_eq!(day, ("2024-01-02 00:00:00".to_owned(), "2024-01-03 00:00:00".to_owned()));
        let day = day_of_records("2024-01-01T18:00:00Z", &zones("UTC", "Asia/Kolkata"));
        assert_eq!(day, ("2024-01-01 05:30:00".to_owned(), "2024-01-02 05:30:00".to_owned()));
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
            assert_eq!(Day::of(milliseconds, &zones("UTC", "UTC")), None, "{milliseconds}");
        }
        for milliseconds in [*TIMES.start(), *TIMES.end()] {
            assert!(Day::of(milliseconds, &zones("UTC", "UTC")).is_some(), "{milliseconds}");
        }
    }
}
