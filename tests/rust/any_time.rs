//! Times in any form: the delay of `Retry-After`, times of records and conditions, and days of zones.

use dataaccess::retry::retry_after;
use dataaccess::time::{Moment, Zone};
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use proptest::prelude::*;
use std::time::{Duration, SystemTime};

/// Zones with changes at midnight, of half an hour and of a day, and an offset of quarters of an hour.
const ZONES: [&str; 6] =
    ["UTC", "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu"];
/// Any text, or one that looks like a time.
const TEXT: &str = "\\PC{0,30}|\
    [0-9]{4}-[01][0-9]-[0-3][0-9]\
    ([ T][0-2][0-9]:[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+-][01][0-9]:[0-5][0-9])?)?";

proptest! {
    #[test]
    fn a_date_is_the_time_until_it(until in 0_u64..253_402_300_800, now in 0_u64..253_402_300_800) {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let expected = until.checked_sub(now).map(Duration::from_secs);
        prop_assert_eq!(retry_after(&httpdate::fmt_http_date(at(until)), at(now)), expected);
    }

    #[test]
    fn a_number_is_never_a_longer_delay(number in 0_f64..1e18, now in 0_u64..253_402_300_800) {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(now);
        let asked = retry_after(&number.to_string(), now);
        prop_assert!(asked.is_none_or(|asked| asked <= Duration::from_secs_f64(number)));
    }

    #[test]
    fn a_time_is_read_as_by_the_library(
        name in prop::sample::select(ZONES.to_vec()),
        text in TEXT,
    ) {
        let (zone, rules) = (Zone::try_new(name).unwrap(), TimeZone::get(name).unwrap());
        if let Ok(moment) = zone.parse_moment(&text) {
            prop_assert_eq!(Some(moment.milliseconds()), expected(text.trim(), &rules));
        }
    }

    #[test]
    fn a_day_contains_its_moments_and_is_read_back(
        name in prop::sample::select(ZONES.to_vec()),
        milliseconds in -2_000_000_000_000_i64..4_102_444_800_000,
    ) {
        let (zone, moment) = (Zone::try_new(name).unwrap(), Moment::at(milliseconds));
        let (start, next) = (zone.start_of_day(moment).unwrap(), zone.start_of_next_day(moment).unwrap());
        prop_assert!(start <= moment && moment < next);
        prop_assert_eq!(zone.day_of(next.preceding()), zone.day_of(start));
        prop_assert_eq!(zone.parse_day(&zone.day_of(moment)), Ok(start));
        // In an hour that a clock change repeats, the text means the earlier moment.
        let shown = zone.parse_moment(&zone.wall_clock(moment)).unwrap();
        prop_assert!(shown <= moment && zone.wall_clock(shown) == zone.wall_clock(moment));
        prop_assert_eq!(zone.parse_moment(&moment.to_string()), Ok(moment));
    }
}

fn expected(text: &str, rules: &TimeZone) -> Option<i64> {
    let floor = |timestamp: Timestamp| i64::try_from(timestamp.as_nanosecond().div_euclid(1_000_000)).ok();
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return floor(timestamp);
    }
    let time: DateTime = text.parse().ok()?;
    if time.time() == jiff::civil::Time::midnight() {
        return floor(time.date().to_zoned(rules.clone()).ok()?.start_of_day().ok()?.timestamp());
    }
    floor(rules.to_timestamp(time).ok()?)
}
