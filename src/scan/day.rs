//! The day that a scan asked for, and the rows of another: which zone of the service would explain them.

use serde_json::Value;

use crate::contract::codes::REQUIRED_COLUMN;
use crate::contract::condition::{CodeCondition, Condition, EQUALS, TIME_UNIT};
use crate::contract::search::SearchBody;
use crate::time::{Moment, Zone};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// The offsets there are, in steps of a quarter of an hour.
const WESTERNMOST: i64 = -12 * HOUR;
const EASTERNMOST: i64 = 14 * HOUR;
const STEP: i64 = 15 * MINUTE;

/// A day of the caller's zone, in Unix milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Day {
    /// What was sent.
    sent: i64,
    start: i64,
    end: i64,
}

impl Day {
    /// The day of `on(day)`, if that is what a promotion code search asks for.
    pub(super) fn asked(body: &SearchBody, zone: &Zone) -> Option<Self> {
        let mut conditions = body.filters.or.iter().flat_map(|group| &group.and);
        let sent = conditions.find_map(day_of)?;
        let start = zone.start_of_day(Moment::from_milliseconds(sent).ok()?).ok()?.milliseconds();
        // Some hour of the next day, however long clocks make this one.
        let later = Moment::from_milliseconds(start + DAY + DAY / 2).ok()?;
        let end = zone.start_of_day(later).ok()?.milliseconds();
        Some(Self { sent, start, end })
    }

    /// What is odd about rows between two times as the document writes them, which are UTC.
    pub(super) fn strays(self, least: &str, greatest: &str) -> Option<String> {
        let read = |text| Zone::default().parse_moment(text).ok().map(Moment::milliseconds);
        let (earliest, latest) = (read(least)?, read(greatest)?);
        if self.start <= earliest && latest < self.end {
            return None;
        }
        let told = format!("rows of another day than asked for: {REQUIRED_COLUMN} is from {least} to {greatest} (UTC)");
        Some(match self.explaining(earliest, latest) {
            Some(offset) => {
                format!("{told}, as if the service cut its days at UTC{}: set timezone= to such a zone", sign(offset))
            }
            None => format!("{told}, which no zone of the service explains"),
        })
    }

    /// The offset of a zone in which all rows are of the day that holds what was sent; whole hours come first.
    fn explaining(self, earliest: i64, latest: i64) -> Option<i64> {
        let holds = |offset: &i64| {
            let start = (self.sent + offset).div_euclid(DAY) * DAY - offset;
            start <= earliest && latest < start + DAY
        };
        let offsets = || (0..=(EASTERNMOST - WESTERNMOST) / STEP).map(|step| WESTERNMOST + step * STEP);
        let nearest = |offsets: &mut dyn Iterator<Item = i64>| offsets.filter(holds).min_by_key(|offset| offset.abs());
        nearest(&mut offsets().filter(|offset| offset % HOUR == 0)).or_else(|| nearest(&mut offsets()))
    }
}

/// The instant of a condition that holds for one day of the required column.
fn day_of(condition: &Condition) -> Option<i64> {
    let Condition::Code(CodeCondition { column, operator, value: Value::Number(sent), time_unit, .. }) = condition
    else {
        return None;
    };
    let is_day = column == REQUIRED_COLUMN && operator == EQUALS && time_unit.as_deref() == Some(TIME_UNIT);
    sent.as_i64().filter(|_| is_day)
}

/// `+07:00`.
fn sign(offset: i64) -> String {
    let minutes = offset.abs() / MINUTE;
    format!("{}{:02}:{:02}", if offset < 0 { '-' } else { '+' }, minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 15th of January 2024 as a caller in UTC asks for it.
    fn day() -> Day {
        let start = 1_705_276_800_000;
        Day { sent: start, start, end: start + DAY }
    }

    #[test]
    fn rows_of_the_day_are_no_strays() {
        assert_eq!(day().strays("2024-01-15 00:00:00", "2024-01-15 23:59:59"), None);
        assert_eq!(day().strays("no time at all", "2024-01-15 23:59:59"), None);
    }

    #[test]
    fn the_zone_of_the_service_is_found_by_the_rows_it_gives() {
        for (least, greatest, zone) in [
            ("2024-01-14 17:00:00", "2024-01-15 16:59:59", "UTC+07:00"),
            ("2024-01-14 18:15:00", "2024-01-15 18:10:00", "UTC+05:45"),
            ("2024-01-14 05:00:00", "2024-01-15 04:59:59", "UTC-05:00"),
        ] {
            let told = day().strays(least, greatest).expect("strays");
            assert!(told.contains(zone), "{told}");
        }
        let told = day().strays("2024-01-10 00:00:00", "2024-01-15 00:00:00").expect("strays");
        assert!(told.contains("no zone"), "{told}");
    }

    #[test]
    fn a_caller_of_another_zone_asks_for_a_day_of_theirs() {
        // Midnight in Berlin is 23:00 UTC of the day before; a service in UTC cuts the day that holds it.
        let start = 1_705_273_200_000;
        let berlin = Day { sent: start, start, end: start + DAY };
        assert_eq!(berlin.strays("2024-01-14 23:00:00", "2024-01-15 22:59:59"), None);
        let told = berlin.strays("2024-01-14 00:00:01", "2024-01-14 23:59:59").expect("strays");
        assert!(told.contains("UTC+00:00"), "{told}");
    }
}
