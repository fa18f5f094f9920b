//! Times and zones of any text: what is read is what the time library reads, days contain their instants, and what is
//! shown is read back.

#![no_main]

use dataaccess::time::{Moment, Zone, wall_clock_microseconds};
use dataaccess_fuzz::Choices;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

/// Zones with clock changes at midnight, by half an hour, of a whole day, and before 1900.
const ZONES: [&str; 8] = [
    "UTC",
    "Europe/Berlin",
    "Asia/Ho_Chi_Minh",
    "America/Sao_Paulo",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "America/New_York",
    "Asia/Kathmandu",
];

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let mut choices = Choices::of(text);
    let name = *choices.one(&ZONES);
    let (zone, rules) = (Zone::try_new(name).expect("a zone"), TimeZone::get(name).expect("a zone"));
    if let Some(bytes) = text.first_chunk() {
        let number = i64::from_le_bytes(*bytes);
        microseconds(&zone, number);
        drop(Moment::from_milliseconds(number).map(|moment| day(&zone, moment)));
    }
    let Ok(text) = str::from_utf8(text) else { return };
    drop(Zone::try_new(text).map(|zone| assert!(TimeZone::get(zone.name()).is_ok())));
    drop(zone.parse_month(text).map(|(first, next)| assert!(first < next && zone.day_of(first).ends_with("-01"))));
    match zone.parse_moment(text) {
        Ok(moment) => {
            assert_eq!(Some(moment.milliseconds()), expected(text.trim(), &rules), "{name}");
            day(&zone, moment);
        }
        Err(message) => assert!(!message.is_empty()),
    }
    if let Ok(moment) = zone.parse_day(text) {
        assert_eq!(zone.parse_moment(text), Ok(moment));
    }
    if let Some(local) = wall_clock_microseconds(text) {
        let time: DateTime = text.parse().expect("a time of the library too");
        assert_eq!(local, civil_microseconds(time));
        instant(&zone, &rules, local, time);
    }
});

/// The Unix milliseconds that the time library reads.
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

/// The day of a moment contains it, and what is shown is read back.
fn day(zone: &Zone, moment: Moment) {
    let (Ok(start), Ok(next)) = (zone.start_of_day(moment), zone.start_of_next_day(moment)) else { return };
    assert!(start <= moment && moment < next, "{start} {moment} {next}");
    assert_eq!(zone.day_of(start), zone.day_of(moment));
    assert_eq!(zone.day_of(next.preceding()), zone.day_of(moment));
    assert_eq!(zone.parse_day(&zone.day_of(moment)), Ok(start));
    // Of an hour that a clock change repeats, the text means the earlier one.
    let shown = zone.parse_moment(&zone.wall_clock(moment)).expect("a time");
    assert!(shown <= moment && zone.wall_clock(shown) == zone.wall_clock(moment), "{shown} {moment}");
    assert_eq!(zone.parse_moment(&moment.to_string()), Ok(moment));
}

/// The clocks of a zone at an instant are shown with their offset, so they are that instant. Offsets have no seconds in
/// ISO 8601: those of local mean time lose theirs.
fn microseconds(zone: &Zone, microseconds: i64) {
    let Some(shown) = zone.text_of_microseconds(microseconds) else { return };
    if let Ok(read) = shown.parse::<Timestamp>() {
        let lost = read.as_microsecond().abs_diff(microseconds);
        assert!(lost < 60_000_000 && lost.is_multiple_of(1_000_000), "{shown}");
    }
}

fn civil_microseconds(time: DateTime) -> i64 {
    let since = time.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
    i64::try_from(since.as_micros()).expect("microseconds of a year of four digits")
}

/// A local time as an instant: the earlier of two, and the end of a gap.
fn instant(zone: &Zone, rules: &TimeZone, local: i64, time: DateTime) {
    let read = zone.instants().instant(local);
    let expected = match rules.to_ambiguous_timestamp(time).offset() {
        AmbiguousOffset::Unambiguous { offset } | AmbiguousOffset::Fold { before: offset, .. } => {
            local - offset_microseconds(offset)
        }
        AmbiguousOffset::Gap { before, after } => {
            let change = Timestamp::from_microsecond(local - offset_microseconds(after)).ok();
            let change = change.and_then(|time| rules.following(time).next());
            let Some(change) = change else { return };
            assert!(read <= local - offset_microseconds(before));
            change.timestamp().as_microsecond()
        }
    };
    assert_eq!(read, expected);
}

fn offset_microseconds(offset: Offset) -> i64 {
    i64::from(offset.seconds()) * 1_000_000
}
