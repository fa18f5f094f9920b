//! A time zone by its IANA name, and where its days begin.
//!
//! The package bundles the zone database: results do not depend on the zone files of the machine.

use std::fmt;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp, ToSpan as _};

use super::Moment;
use super::reading::{offset_text, out_of_range};
use crate::error::{Error, Kind, excerpt};

/// Zones that an error suggests.
const SUGGESTIONS: usize = 3;
/// Characters of the shortest text that an error completes or corrects.
const LEAST_PART: usize = 4;

/// The zone in which a time without offset is read.
#[derive(Clone, PartialEq, Eq)]
pub struct Zone {
    name: String,
    pub(super) rules: TimeZone,
}

impl Default for Zone {
    fn default() -> Self {
        Self { name: "UTC".to_owned(), rules: TimeZone::UTC }
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Zone({})", self.name)
    }
}

impl Zone {
    /// The zone of an IANA name, ignoring case.
    ///
    /// # Errors
    /// `Config`, which suggests the nearest names, when there is no zone of that name.
    pub fn try_new(name: &str) -> Result<Self, Error> {
        Self::of_argument("timezone", name)
    }

    /// As [`Zone::try_new`], for an argument that errors name.
    ///
    /// # Errors
    /// As [`Zone::try_new`].
    pub fn of_argument(argument: &str, name: &str) -> Result<Self, Error> {
        let rules = TimeZoneDatabase::bundled().get(name).ok().filter(|rules| !rules.is_unknown());
        match rules {
            Some(rules) => Ok(Self { name: rules.iana_name().unwrap_or(name).to_owned(), rules }),
            None => Err(unknown(argument, name)),
        }
    }

    /// The IANA name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is UTC.
    pub fn is_utc(&self) -> bool {
        self.rules == TimeZone::UTC
    }

    /// The first instant of the day of a moment.
    ///
    /// # Errors
    /// A message, at the ends of the calendar.
    pub fn start_of_day(&self, moment: Moment) -> Result<Moment, String> {
        self.first_instant(self.date_of(moment))
    }

    /// The first instant of the day that begins after the day of a moment.
    ///
    /// # Errors
    /// A message, at the ends of the calendar.
    pub fn start_of_next_day(&self, moment: Moment) -> Result<Moment, String> {
        let start = self.start_of_day(moment)?;
        // An instant of the next day, whether clock changes make this one shorter or longer.
        let next = self.start_of_day(Moment::at(start.milliseconds().saturating_add(36 * 60 * 60 * 1_000)))?;
        // The last instant of the calendar stands for all after it.
        if next > start { Ok(next) } else { Err(out_of_range(format_args!("the day after {}", self.day_of(start)))) }
    }

    /// The first instant of the day a number of days before the day of a moment.
    ///
    /// # Errors
    /// A message, at the ends of the calendar, or if the zone skipped that day.
    pub fn start_of_earlier_day(&self, moment: Moment, days: u32) -> Result<Moment, String> {
        let day = self.date_of(moment);
        self.first_instant(day.checked_sub(i64::from(days).days()).map_err(|_| out_of_range(day))?)
    }

    /// The day of a moment, as `2024-01-15`.
    pub fn day_of(&self, moment: Moment) -> String {
        self.date_of(moment).to_string()
    }

    /// The first instants of the days from the day of `start` on to the day before `stop`. A day that the zone skipped is
    /// left out.
    pub fn days(&self, start: Moment, stop: Moment) -> impl Iterator<Item = Moment> + '_ {
        let stop = self.date_of(stop);
        self.date_of(start)
            .series(1.day())
            .take_while(move |day| *day < stop)
            .filter_map(|day| self.first_instant(day).ok())
    }

    /// An instant in Unix microseconds as its clocks show it, as `2024-01-31 12:34:56+01:00`; as the clocks of UTC show it
    /// where these show a year after 9999. `None` if both do. ISO 8601 has no seconds in an offset, so an offset of long
    /// ago is cut to its minutes, and the time is that of the offset that is written.
    pub fn text_of_microseconds(&self, microseconds: i64) -> Option<String> {
        let offset = self.rules.to_offset(known_instant(microseconds)).seconds() / 60 * 60;
        let since_epoch = SignedDuration::from_micros(microseconds) + SignedDuration::from_secs(offset.into());
        let Ok(local) = DateTime::constant(1970, 1, 1, 0, 0, 0, 0).checked_add(since_epoch) else {
            return (!self.is_utc()).then(|| Self::default().text_of_microseconds(microseconds)).flatten();
        };
        Some(format!("{}{}", local.strftime("%Y-%m-%d %H:%M:%S%.f"), offset_text(offset)))
    }

    /// The offset from UTC at a moment, in seconds.
    pub fn offset_seconds(&self, moment: Moment) -> i32 {
        self.rules.to_offset(moment.timestamp()).seconds()
    }

    /// Whether a day begins at a moment.
    pub fn begins_day_at(&self, moment: Moment) -> bool {
        self.start_of_day(moment) == Ok(moment)
    }

    /// A moment as the clocks of the zone show it: a day, if it is the first instant of that day.
    pub fn wall_clock(&self, moment: Moment) -> String {
        if self.begins_day_at(moment) {
            return self.date_of(moment).to_string();
        }
        self.rules.to_datetime(moment.timestamp()).to_string().replace('T', " ")
    }

    fn date_of(&self, moment: Moment) -> Date {
        self.rules.to_datetime(moment.timestamp()).date()
    }

    /// The first instant of a day, also where a clock change skips its midnight.
    pub(super) fn first_instant(&self, day: Date) -> Result<Moment, String> {
        let midnight = day.to_datetime(Time::midnight());
        let first = match self.rules.to_ambiguous_zoned(midnight).offset() {
            // The day begins at the clock change, which may be before its midnight.
            AmbiguousOffset::Gap { before, .. } => {
                let reached = before.to_timestamp(midnight).map_err(|_| out_of_range(day))?;
                self.last_change(reached).unwrap_or(reached)
            }
            AmbiguousOffset::Fold { before: offset, .. } | AmbiguousOffset::Unambiguous { offset } => {
                offset.to_timestamp(midnight).map_err(|_| out_of_range(day))?
            }
        };
        if self.rules.to_datetime(first).date() == day {
            Ok(Moment::from_timestamp(first))
        } else {
            Err(format!("there was no {day} in {}: the clocks skipped that day", self.name))
        }
    }

    /// The first moment of a local time; one that a clock change skips is counted from before the change.
    pub(super) fn moment_of(&self, time: DateTime) -> Result<Moment, String> {
        self.rules.to_timestamp(time).map(Moment::from_timestamp).map_err(|_| out_of_range(time))
    }

    /// The clock change at an instant, or the last one before it.
    pub(super) fn last_change(&self, reached: Timestamp) -> Option<Timestamp> {
        let just_after = reached.checked_add(1.nanosecond()).ok()?;
        self.rules.preceding(just_after).next().map(|change| change.timestamp())
    }
}

/// The instant at these Unix microseconds, or the nearest one of which the time library knows the offset in each zone.
/// The last day of the calendar, a usual value for "never", is beyond.
pub(super) fn known_instant(microseconds: i64) -> Timestamp {
    const DAY: i64 = 86_400;
    let (first, last) = (Timestamp::MIN.as_second() + DAY, Timestamp::MAX.as_second() - DAY);
    let near = microseconds.clamp(first * 1_000_000, last * 1_000_000);
    Timestamp::from_microsecond(near).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn unknown(argument: &str, name: &str) -> Error {
    let shown = excerpt(name, 60);
    let error = Error::new(Kind::Config, format!("{argument} must be an IANA time zone, not \"{shown}\""));
    let nearest = nearest(&shown);
    if nearest.is_empty() {
        return error.with_hint("write the name as Area/City, such as \"Europe/Berlin\", or \"UTC\"");
    }
    error.with_hint(format!("did you mean {}?", nearest.join(", ")))
}

/// Zones whose name has this part, or has one wrong letter: the most similar name may be that of another country.
fn nearest(name: &str) -> Vec<String> {
    let part = name.to_lowercase().replace(' ', "_");
    if part.chars().count() < LEAST_PART {
        return Vec::new();
    }
    let is_near = |zone: &str| {
        let zone = zone.to_lowercase();
        let city = zone.rsplit('/').next().unwrap_or_default();
        zone.contains(&part) || [&zone, city].into_iter().any(|known| strsim::osa_distance(&part, known) == 1)
    };
    // The sign of `Etc/GMT+7` is the opposite of what it seems to be.
    TimeZoneDatabase::bundled()
        .available()
        .map(|zone| zone.as_str().to_owned())
        .filter(|zone| zone.contains('/') && !zone.starts_with("Etc/") && is_near(zone))
        .take(SUGGESTIONS)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINUTE: i64 = 60_000;

    fn zone(name: &str) -> Zone {
        Zone::try_new(name).expect("a known zone")
    }

    fn first(name: &str, day: &str) -> String {
        zone(name).parse_moment(day).expect("a day").to_string()
    }

    #[test]
    fn an_instant_is_shown_with_its_offset_up_to_the_last_day_of_the_calendar() {
        for (name, microseconds, shown) in [
            ("UTC", 1_706_693_696_000_000, Some("2024-01-31 09:34:56+00:00")),
            ("Asia/Kolkata", 1_706_693_696_500_000, Some("2024-01-31 15:04:56.5+05:30")),
            ("Asia/Ho_Chi_Minh", 253_402_275_599_000_000, Some("9999-12-31 23:59:59+07:00")),
            ("Asia/Ho_Chi_Minh", 253_402_300_799_000_000, Some("9999-12-31 23:59:59+00:00")),
            ("UTC", 253_402_300_800_000_000, None),
            ("Asia/Ho_Chi_Minh", -2_208_988_800_000_000, Some("1900-01-01 07:06:00+07:06")),
            ("America/New_York", -2_840_140_800_000_000, Some("1879-12-31 19:04:00-04:56")),
        ] {
            assert_eq!(zone(name).text_of_microseconds(microseconds).as_deref(), shown, "{name} {microseconds}");
        }
    }

    #[test]
    fn a_day_begins_where_the_clocks_of_its_zone_show_it() {
        for (name, day, expected) in [
            ("UTC", "2024-01-01", "2024-01-01T00:00:00Z"),
            ("Asia/Kathmandu", "2024-01-01", "2023-12-31T18:15:00Z"),
            // Midnight is skipped: the day begins at one.
            ("Africa/Cairo", "2024-04-26", "2024-04-25T22:00:00Z"),
            ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"),
            // Clocks jumped from 23:30 to 00:30.
            ("America/Toronto", "1919-03-31", "1919-03-31T04:30:00Z"),
            // Midnight was shown twice.
            ("America/Havana", "2024-11-03", "2024-11-03T04:00:00Z"),
            ("America/St_Johns", "2010-11-07", "2010-11-07T02:30:00Z"),
        ] {
            assert_eq!(first(name, day), expected, "{name}");
        }
    }

    #[test]
    fn a_day_that_a_zone_skipped_is_refused_and_not_counted() {
        let apia = zone("Pacific/Apia");
        let message = apia.parse_moment("2011-12-30").unwrap_err();
        assert!(message.contains("2011-12-30") && message.contains("Pacific/Apia"), "{message}");
        let moment = |text| apia.parse_moment(text).expect("a day");
        assert_eq!(apia.days(moment("2011-12-28"), moment("2012-01-01")).count(), 3);
    }

    #[test]
    fn no_day_follows_the_last_one_of_the_calendar() {
        for (name, last) in [("UTC", "9999-12-30"), ("Asia/Ho_Chi_Minh", "9999-12-31"), ("Europe/Berlin", "9999-12-30")]
        {
            let zone = zone(name);
            let moment = zone.parse_moment(last).expect("a day");
            let before = zone.start_of_earlier_day(moment, 1).expect("a day");
            assert_eq!(zone.start_of_next_day(before), Ok(moment), "{name}");
            let message = zone.start_of_next_day(moment).unwrap_err();
            assert!(message.contains(last), "{message}");
        }
    }

    #[test]
    fn the_stop_of_days_is_excluded() {
        let berlin = zone("Europe/Berlin");
        let moment = |text| berlin.parse_moment(text).expect("a day");
        let days: Vec<String> =
            berlin.days(moment("2024-03-30"), moment("2024-04-02")).map(|day| day.to_string()).collect();
        assert_eq!(days, ["2024-03-29T23:00:00Z", "2024-03-30T23:00:00Z", "2024-03-31T22:00:00Z"]);
        assert_eq!(berlin.days(moment("2024-04-02"), moment("2024-04-02")).count(), 0);
        assert_eq!(berlin.days(moment("2024-04-02"), moment("2024-04-01")).count(), 0);
    }

    #[test]
    fn a_moment_is_shown_by_the_clocks_of_the_zone() {
        let berlin = zone("Europe/Berlin");
        for (text, shown) in [
            ("2024-07-01", "2024-07-01"),
            ("2024-07-01T12:30", "2024-07-01 12:30:00"),
            ("2024-06-30T23:59:59.999", "2024-06-30 23:59:59.999"),
            ("2024-07-01T00:00Z", "2024-07-01 02:00:00"),
        ] {
            assert_eq!(berlin.wall_clock(berlin.parse_moment(text).expect("a time")), shown);
        }
        let cairo = zone("Africa/Cairo");
        assert_eq!(cairo.wall_clock(cairo.parse_moment("2024-04-26").expect("a day")), "2024-04-26");
    }

    #[test]
    fn the_case_of_a_zone_name_does_not_matter() {
        assert_eq!(zone("europe/berlin").name(), "Europe/Berlin");
        assert_eq!(Zone::default().name(), zone("UTC").name());
    }

    #[test]
    fn an_unknown_zone_is_refused_with_the_nearest() {
        for (name, nearest) in
            [("Berlin", "Europe/Berlin"), ("Europe/Berln", "Europe/Berlin"), ("New York", "America/New_York")]
        {
            let error = Zone::try_new(name).expect_err("no zone");
            assert_eq!(error.kind(), Kind::Config);
            assert!(error.hint().is_some_and(|hint| hint.contains(nearest)), "{error:?}");
        }
        // Countries, cities without a zone, and offsets: the nearest spelling is another place.
        for name in ["Vietnam", "Hanoi", "Asia/Hanoi", "Europe/Munich", "GMT+7", "ist", "ICT", "e"] {
            let error = Zone::try_new(name).expect_err("no zone");
            assert!(error.hint().is_some_and(|hint| hint.contains("Area/City")), "{name}: {error:?}");
        }
        for name in ["", "???", "\u{1b}[31m", "Etc/Unknown"] {
            assert!(Zone::try_new(name).is_err(), "{name}");
        }
    }

    fn any_zone(pick: prop::sample::Index) -> Zone {
        let names: Vec<String> = TimeZoneDatabase::bundled().available().map(|name| name.to_string()).collect();
        zone(pick.get(names.as_slice()).as_str())
    }

    /// Goes minute by minute until the clocks first show the day: the oracle.
    fn first_by_search(zone: &Zone, day: Date) -> Option<i64> {
        let sixteen_hours_before =
            jiff::tz::Offset::UTC.to_timestamp(day.at(0, 0, 0, 0)).ok()?.as_millisecond() - 16 * 60 * MINUTE;
        (0..32 * 60).map(|minute| sixteen_hours_before + minute * MINUTE).find(|at| zone.date_of(Moment(*at)) == day)
    }

    proptest! {
        #[test]
        fn first_instants_agree_with_a_search_also_on_days_of_clock_changes(
            pick in any::<prop::sample::Index>(),
            year in 1975_i16..2038,
            day_of_year in 1_i16..=365,
        ) {
            let zone = any_zone(pick);
            let start = Date::new(year, 1, 1).unwrap();
            let day = start.with().day_of_year(day_of_year).build().unwrap();
            let changes = zone.rules.following(start.to_zoned(TimeZone::UTC).unwrap().timestamp()).take(2);
            for day in changes.map(|change| zone.rules.to_datetime(change.timestamp()).date()).chain([day]) {
                prop_assert_eq!(
                    zone.first_instant(day).ok().map(Moment::milliseconds),
                    first_by_search(&zone, day),
                    "{} {}", zone.name(), day
                );
            }
        }
    }
}
