//! Days and ranges of days: `days(start, stop)`, `month(text)`, `last_days(count)` and `yesterday()`.

use std::fmt;

use super::input::InputValue;
use super::values::is_not;
use crate::time::{Calendar, Moment, Zone};

/// No scan has more days.
const MOST_DAYS: u32 = 100_000;

/// A range of days.
#[derive(Clone, Debug, PartialEq)]
pub enum Days {
    /// `days(start, stop)`.
    Range {
        /// The first day.
        start: InputValue,
        /// The day after the last.
        stop: InputValue,
    },
    /// `month("2024-01")`.
    Month(InputValue),
    /// `last_days(7)`: complete days, up to yesterday.
    Last(InputValue),
    /// `yesterday()`.
    Yesterday,
}

impl Days {
    /// The first instants of the first day and of the day after the last one. `start` is before `stop`.
    ///
    /// # Errors
    /// A message that says what to write instead.
    pub fn bounds(&self, calendar: &Calendar) -> Result<(Moment, Moment), String> {
        let zone = &calendar.zone;
        match self {
            Self::Range { start, stop } => range(start, stop, zone),
            Self::Month(InputValue::Text(month) | InputValue::Moment(month)) => zone.parse_month(month),
            Self::Month(other) => Err(is_not(other, "a month: write it as \"2024-01\"")),
            Self::Last(count) => {
                let today = zone.start_of_day(calendar.now)?;
                Ok((zone.start_of_earlier_day(today, number_of_days(count)?)?, today))
            }
            Self::Yesterday => {
                let today = zone.start_of_day(calendar.now)?;
                Ok((zone.start_of_day(today.preceding())?, today))
            }
        }
    }
}

impl fmt::Display for Days {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range { start, stop } => write!(formatter, "days({start}, {stop})"),
            Self::Month(month) => write!(formatter, "month({month})"),
            Self::Last(count) => write!(formatter, "last_days({count})"),
            Self::Yesterday => formatter.write_str("yesterday()"),
        }
    }
}

/// An instant of a day, which is a day of this zone.
pub(super) fn day(value: &InputValue, zone: &Zone) -> Result<Moment, String> {
    match value {
        InputValue::Text(text) | InputValue::Moment(text) => zone.parse_day(text),
        value => moment(value, zone),
    }
}

/// An instant.
pub(super) fn moment(value: &InputValue, zone: &Zone) -> Result<Moment, String> {
    match value {
        InputValue::Text(text) | InputValue::Moment(text) => zone.parse_moment(text),
        InputValue::Integer(number) => Moment::from_milliseconds(*number),
        InputValue::Number(number) if number.is_finite() => {
            Err(format!("{} is a float, not a time: write milliseconds as an int", value.shown()))
        }
        InputValue::List(_) => Err("takes one time, not a list".to_owned()),
        value => Err(is_not(value, "a time: give a date, a datetime, an ISO 8601 string or Unix milliseconds")),
    }
}

/// Whole days alone: a stop with a time of day would silently exclude a day that is meant.
fn range(start: &InputValue, stop: &InputValue, zone: &Zone) -> Result<(Moment, Moment), String> {
    let (first, last) = (day(start, zone)?, day(stop, zone)?);
    let (first_day, stop_day) = (zone.start_of_day(first)?, zone.start_of_day(last)?);
    if last != stop_day {
        let (stop, day) = (stop.shown(), zone.day_of(last));
        let next = zone.day_of(zone.start_of_next_day(last)?);
        return Err(format!(
            "{stop} has a time of day, and the stop day is excluded: write the stop {next} to include {day}"
        ));
    }
    if first != first_day {
        let (start, day) = (start.shown(), zone.day_of(first));
        return Err(format!("{start} has a time of day, and days are whole: write the start {day}"));
    }
    if first < last {
        return Ok((first, last));
    }
    let (start, stop) = (start.shown(), stop.shown());
    let problem = if first > last { format!("start {start} is after stop {stop}") } else { format!("both are {stop}") };
    Err(format!("the range has no day: {problem}, and stop is excluded"))
}

fn number_of_days(value: &InputValue) -> Result<u32, String> {
    match value {
        InputValue::Integer(count @ ..1) => Err(format!("{count} is not a number of days: write 1 or more")),
        InputValue::Integer(count) => {
            let count = u32::try_from(*count).ok().filter(|count| *count <= MOST_DAYS);
            count.ok_or_else(|| format!("the range has more than {MOST_DAYS} days"))
        }
        value => Err(is_not(value, "a number of days: write an integer")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::filter::tests::input;

    fn calendar(zone: &str, now: &str) -> Calendar {
        let zone = Zone::try_new(zone).expect("a zone");
        Calendar { now: Zone::default().parse_moment(now).expect("a time"), ..Calendar::new(zone) }
    }

    fn days(days: &Days, calendar: &Calendar) -> Result<String, String> {
        let (start, stop) = days.bounds(calendar)?;
        Ok(format!("{} {}", calendar.zone.wall_clock(start), calendar.zone.wall_clock(stop)))
    }

    fn between(start: &str, stop: &str) -> Days {
        Days::Range { start: InputValue::text(start), stop: InputValue::text(stop) }
    }

    #[test]
    fn today_is_that_of_the_zone() {
        for (zone, now, yesterday, week) in [
            ("UTC", "2024-03-01T12:00", "2024-02-29 2024-03-01", "2024-02-23 2024-03-01"),
            // Already tomorrow there.
            ("Asia/Ho_Chi_Minh", "2024-02-29T17:00Z", "2024-02-29 2024-03-01", "2024-02-23 2024-03-01"),
            ("Asia/Ho_Chi_Minh", "2024-02-29T16:59:59Z", "2024-02-28 2024-02-29", "2024-02-22 2024-02-29"),
            // A day of 23 hours, and a day that begins at one.
            ("Europe/Berlin", "2024-04-01T00:00Z", "2024-03-31 2024-04-01", "2024-03-25 2024-04-01"),
            ("Africa/Cairo", "2024-04-26T12:00Z", "2024-04-25 2024-04-26", "2024-04-19 2024-04-26"),
        ] {
            let calendar = calendar(zone, now);
            assert_eq!(days(&Days::Yesterday, &calendar), Ok(yesterday.to_owned()), "{zone} {now}");
            assert_eq!(days(&Days::Last(InputValue::Integer(7)), &calendar), Ok(week.to_owned()), "{zone} {now}");
        }
    }

    #[test]
    fn a_month_is_all_its_days() {
        let calendar = calendar("America/Havana", "2024-01-01");
        for (month, expected) in [
            ("2024-02", "2024-02-01 2024-03-01"),
            ("2023-12", "2023-12-01 2024-01-01"),
            (" 2024-03 ", "2024-03-01 2024-04-01"),
        ] {
            assert_eq!(days(&Days::Month(InputValue::text(month)), &calendar), Ok(expected.to_owned()));
        }
        for month in ["2024-13", "2024-00", "2024", "2024-01-15", "24-01", "January", ""] {
            let message = days(&Days::Month(InputValue::text(month)), &calendar).unwrap_err();
            assert!(message.contains("2024-01"), "{message}");
        }
        assert!(Days::Month(InputValue::Integer(1)).bounds(&calendar).is_err());
    }

    #[test]
    fn a_number_of_days_is_a_positive_integer() {
        let calendar = calendar("UTC", "2024-01-01");
        for count in [json!(0), json!(-3), json!(100_001), json!(7.0), json!("7")].map(input) {
            assert!(Days::Last(count.clone()).bounds(&calendar).is_err(), "{count}");
        }
    }

    #[test]
    fn a_range_has_whole_days() {
        let (utc, cairo) = (calendar("UTC", "2024-01-01"), calendar("Africa/Cairo", "2024-01-01"));
        for midnight in ["2024-02-01", "2024-02-01T00:00", "2024-02-01 00:00:00.000", "2024-02-01T00:00Z"] {
            assert_eq!(days(&between("2024-01-01", midnight), &utc), Ok("2024-01-01 2024-02-01".to_owned()));
            assert_eq!(days(&between(midnight, "2024-03-01"), &utc), Ok("2024-02-01 2024-03-01".to_owned()));
        }
        for (start, stop, suggested) in [
            ("2024-01-01", "2024-01-31 23:59:59", "stop 2024-02-01"),
            ("2024-01-01 10:00", "2024-01-31T00:00:00.001", "stop 2024-02-01"),
            ("2024-01-01 10:00", "2024-01-31", "start 2024-01-01"),
        ] {
            let message = days(&between(start, stop), &utc).unwrap_err();
            assert!(message.contains(suggested), "{message}");
        }
        // A clock change skips this midnight.
        assert_eq!(days(&between("2024-04-25", "2024-04-26T00:00"), &cairo), Ok("2024-04-25 2024-04-26".to_owned()));
    }
}
