//! Reads times: integers as Unix milliseconds, ISO 8601 strings in a time zone.

use jiff::ToSpan as _;
use jiff::civil::{Date, Time};
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::tz::Offset;

use super::{Moment, Zone};
use crate::error::excerpt;

/// A smaller integer is probably seconds; as milliseconds, this is March 1973.
const MIN_MILLISECONDS: u64 = 100_000_000_000;
/// A larger integer is probably micro- or nanoseconds.
const MAX_MILLISECONDS: u64 = 100_000_000_000_000;

impl Moment {
    /// Reads an integer as Unix milliseconds.
    ///
    /// # Errors
    /// A message, when the number looks like seconds, microseconds or nanoseconds.
    pub fn from_milliseconds(number: i64) -> Result<Self, String> {
        let is_milliseconds = |number: &i64| (MIN_MILLISECONDS..=MAX_MILLISECONDS).contains(&number.unsigned_abs());
        if is_milliseconds(&number) {
            return Ok(Self(number));
        }
        let units = [
            ("seconds", number.checked_mul(1_000)),
            ("microseconds", Some(number.div_euclid(1_000))),
            ("nanoseconds", Some(number.div_euclid(1_000_000))),
        ];
        let meant = units.into_iter().find_map(|(unit, meant)| Some((unit, meant.filter(is_milliseconds)?)));
        Err(match meant {
            Some((unit, meant)) => format!(
                "{number} looks like {unit}, and integers are Unix milliseconds: write {meant} for {}",
                Self(meant)
            ),
            None => format!(
                "{number} is not Unix milliseconds; write a day such as \"2024-01-31\", or milliseconds such as \
                 1706659200000"
            ),
        })
    }
}

impl Zone {
    /// Reads an ISO 8601 string: a date (its first instant in this zone), a time without offset (in this zone, the
    /// earlier one where a clock change repeats it), or a time with offset or `Z`.
    ///
    /// Digits beyond a millisecond are cut off.
    ///
    /// # Errors
    /// A message, when the string is not such a time or the day does not exist in this zone.
    pub fn parse_moment(&self, text: &str) -> Result<Moment, String> {
        let Ok(pieces) = Pieces::parse(text.trim()) else {
            return Err(not_a_time(text));
        };
        if pieces.time_zone_annotation().is_some() {
            return Err("a zone in brackets is not supported: write only the offset, as in 2024-01-31T09:30:00+01:00"
                .to_owned());
        }
        match (pieces.time(), pieces.offset()) {
            // An offset without a time of day is not parsed.
            (None, _) => self.first_instant(pieces.date()),
            // Also where a clock change skips it.
            (Some(time), None) if time == Time::midnight() => self.first_instant(pieces.date()),
            (Some(time), None) => self.moment_of(pieces.date().to_datetime(time)),
            (Some(time), Some(offset)) => offset_of(offset)
                .to_timestamp(pieces.date().to_datetime(time))
                .map(Moment::from_timestamp)
                .map_err(|_| out_of_range(text)),
        }
    }

    /// Reads a string that means its day, as [`Zone::parse_moment`].
    ///
    /// # Errors
    /// A message, also for a time with another offset than this zone has then: its day may be another one here.
    pub fn parse_day(&self, text: &str) -> Result<Moment, String> {
        let moment = self.parse_moment(text)?;
        let pieces = Pieces::parse(text.trim()).map_err(|_| not_a_time(text))?;
        let given = pieces.offset().map(|offset| offset_of(offset).seconds());
        let own = self.offset_seconds(moment);
        match given.filter(|given| *given != own) {
            None => Ok(moment),
            Some(given) => Err(format!(
                "{} is at UTC{}, and days are those of {} (UTC{}), so its day is ambiguous: give the date alone, such \
                 as \"{}\", or make a client with the timezone of your times",
                excerpt(text.trim(), 60),
                offset_text(given),
                self.name(),
                offset_text(own),
                pieces.date(),
            )),
        }
    }

    /// The first instants of a month as `2024-01`, and of the month after it.
    ///
    /// # Errors
    /// A message, for another text.
    pub fn parse_month(&self, text: &str) -> Result<(Moment, Moment), String> {
        let is_written = text.trim().len() == "2024-01".len();
        let first: Option<Date> = format!("{}-01", text.trim()).parse().ok().filter(|_| is_written);
        let Some(first) = first else {
            return Err(format!("\"{}\" is not a month: write it as \"2024-01\"", excerpt(text, 60)));
        };
        let next = first.checked_add(1.month()).map_err(|_| out_of_range(text))?;
        Ok((self.first_instant(first)?, self.first_instant(next)?))
    }
}

fn offset_of(offset: PiecesOffset) -> Offset {
    match offset {
        PiecesOffset::Numeric(numeric) => numeric.offset(),
        _ => Offset::UTC,
    }
}

/// `+07:00`, of seconds.
pub fn offset_text(seconds: i32) -> String {
    let minutes = seconds.abs() / 60;
    format!("{}{:02}:{:02}", if seconds < 0 { '-' } else { '+' }, minutes / 60, minutes % 60)
}

fn not_a_time(text: &str) -> String {
    if text.trim().parse::<i64>().is_ok() {
        return "a number in quotes is not a time: write Unix milliseconds without the quotes".to_owned();
    }
    if let Some(day) = missing_day(text.trim()) {
        return format!("there is no {day} in the calendar");
    }
    if text.trim() == "yesterday" {
        return "\"yesterday\" is not ISO 8601: write a day as 2024-01-31, or da.yesterday() as the whole condition"
            .to_owned();
    }
    format!(
        "\"{}\" is not ISO 8601: write a day as 2024-01-31, or a time as 2024-01-31T09:30:00, with an offset or Z if it \
         has one",
        excerpt(text, 60)
    )
}

/// The day that an ISO 8601 string begins with, if the calendar lacks it.
fn missing_day(text: &str) -> Option<&str> {
    let (day, rest) = text.split_at_checked("2024-01-31".len())?;
    let mut bytes = day.bytes().enumerate();
    let is_day = bytes.all(|(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() });
    let is_complete = rest.is_empty() || rest.starts_with(['T', 't', ' ']);
    (is_day && is_complete && day.parse::<Date>().is_err()).then_some(day)
}

pub(super) fn out_of_range(time: impl std::fmt::Display) -> String {
    format!("{time} is outside the supported range of years")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc() -> Zone {
        Zone::default()
    }

    #[test]
    fn integers_are_milliseconds_and_others_are_refused_with_those_that_were_meant_or_an_example() {
        for number in [1_704_067_200_000, -1_704_067_200_000, 100_000_000_000, 100_000_000_000_000] {
            assert_eq!(Moment::from_milliseconds(number).map(Moment::milliseconds), Ok(number));
        }
        for (number, unit, meant) in [
            (1_704_067_200, " seconds", " 1704067200000 for 2024-01-01T00:00:00Z"),
            (1_704_067_200_000_000, " microseconds", " 1704067200000 for 2024-01-01T00:00:00Z"),
            (1_704_067_200_000_000_000, " nanoseconds", " 1704067200000 for 2024-01-01T00:00:00Z"),
            (-1_704_067_200, " seconds", " -1704067200000 for 1916-01-02T00:00:00Z"),
            (i64::MIN, " nanoseconds", ""),
            (i64::MAX, " nanoseconds", ""),
            (0, "", "\"2024-01-31\""),
            (-1, "", "\"2024-01-31\""),
            (2024, "", "\"2024-01-31\""),
            (20_240_101, "", "\"2024-01-31\""),
        ] {
            let message = Moment::from_milliseconds(number).unwrap_err();
            assert!(message.contains(unit) && message.contains(meant), "{message}");
        }
    }

    #[test]
    fn iso_8601_is_read_in_utc() {
        for (text, milliseconds) in [
            ("2024-01-01", 1_704_067_200_000),
            ("2024-01-01T00:00:00", 1_704_067_200_000),
            ("2024-01-01 00:00", 1_704_067_200_000),
            ("2024-01-01T00", 1_704_067_200_000),
            (" 2024-01-01\n", 1_704_067_200_000),
            ("2024-01-01T00:00:00Z", 1_704_067_200_000),
            ("2024-01-01T01:00:00+01:00", 1_704_067_200_000),
            ("2024-01-01T00:00:00.123456789", 1_704_067_200_123),
            ("1969-12-31T23:59:59.9999", -1),
        ] {
            assert_eq!(utc().parse_moment(text).map(Moment::milliseconds), Ok(milliseconds), "{text}");
        }
    }

    #[test]
    fn strings_that_are_not_times_are_refused() {
        for (text, datum) in [
            ("yesterday", "2024-01-31"),
            ("", "2024-01-31"),
            ("2024-13-01", "calendar"),
            ("2024-02-30", "calendar"),
            ("2023-02-29T10:00:00", "calendar"),
            ("2024-01-31T25:00:00", "ISO 8601"),
            ("2024-02-3O", "ISO 8601"),
            ("01/02/2024", "2024-01-31"),
            ("1704067200000", "quotes"),
            ("2024-01-01T00:00+01:00[Europe/Berlin]", "offset"),
            ("2024-01-01[Europe/Berlin]", "offset"),
            ("2024-01-31+01:00", "ISO 8601"),
            ("2024-01-31Z", "ISO 8601"),
            ("9999-12-31T23:59:59-20:00", "years"),
            ("NaT", "ISO 8601"),
        ] {
            let message = utc().parse_moment(text).unwrap_err();
            assert!(message.contains(datum), "{text}: {message}");
        }
    }

    #[test]
    fn a_month_that_the_calendar_cannot_end_is_refused() {
        assert!(utc().parse_month("9999-11").is_ok());
        assert!(utc().parse_month("9999-12").unwrap_err().contains("years"));
    }

    #[test]
    fn a_clock_may_show_a_time_before_1970() {
        let (second, epoch) = (std::time::Duration::from_secs(1), std::time::UNIX_EPOCH);
        assert_eq!([epoch - second, epoch + second].map(Moment::from), [Moment(-1_000), Moment(1_000)]);
    }

    #[test]
    fn a_day_is_one_of_the_zone() {
        let berlin = Zone::try_new("Europe/Berlin").expect("a known zone");
        for text in ["2024-07-01", "2024-07-01T23:00", "2024-07-01T00:00+02:00", "2024-12-31T23:30:00+01:00"] {
            assert_eq!(berlin.parse_day(text), berlin.parse_moment(text), "{text}");
        }
        for text in ["2024-07-01T00:00Z", "2024-07-01T12:00+01:00", "2024-12-01T12:00+02:00"] {
            let message = berlin.parse_day(text).unwrap_err();
            assert!(message.contains("Europe/Berlin (UTC+0") && message.contains(&text[..10]), "{message}");
        }
        assert!(utc().parse_day("2024-07-01T02:00-03:30").unwrap_err().contains("UTC-03:30"));
        assert!(utc().parse_day("2024-07-01T02:00Z").is_ok());
    }

    #[test]
    fn a_date_or_time_without_offset_is_read_in_the_zone() {
        let berlin = Zone::try_new("Europe/Berlin").expect("a known zone");
        for (text, expected) in [
            ("2024-07-01", "2024-06-30T22:00:00Z"),
            ("2024-07-01T12:00", "2024-07-01T10:00:00Z"),
            ("2024-07-01T12:00Z", "2024-07-01T12:00:00Z"),
            // Repeated by a clock change: the earlier.
            ("2024-10-27T02:30", "2024-10-27T00:30:00Z"),
            // Skipped by a clock change: counted from before the change.
            ("2024-03-31T02:30", "2024-03-31T01:30:00Z"),
        ] {
            assert_eq!(berlin.parse_moment(text).map(|moment| moment.to_string()), Ok(expected.to_owned()), "{text}");
        }
        // The clocks went from 23:30 to 00:30, and the day began there.
        let toronto = Zone::try_new("America/Toronto").expect("a known zone");
        for text in ["1919-03-31", "1919-03-31T00:00"] {
            let moment = toronto.parse_moment(text).map(|moment| moment.to_string());
            assert_eq!(moment, Ok("1919-03-31T04:30:00Z".to_owned()), "{text}");
        }
    }
}
