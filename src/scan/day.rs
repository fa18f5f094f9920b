//! The day that a scan asked for, and the rows of another: which zone of the service would explain them.

use crate::contract::codes::REQUIRED_COLUMN;
use crate::contract::condition::{Condition, EQUALS, TIME_UNIT};
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

    /// Whether rows between two instants are all of this day.
    fn holds(self, (earliest, latest): (i64, i64)) -> bool {
        self.start <= earliest && latest < self.end
    }

    /// Whether they are all of the day that holds what was sent, where a service cuts its days at this offset, or at
    /// one of two whose clock may change within that day.
    fn holds_at(self, offsets: &[i64], (earliest, latest): (i64, i64)) -> bool {
        offsets.iter().any(|begin| {
            let day = (self.sent + begin).div_euclid(DAY);
            let is_before_end = |end: &i64| latest < (day + 1) * DAY - end;
            day * DAY - begin <= earliest && offsets.iter().any(is_before_end)
        })
    }
}

/// The answers of days, and the rows of other days in them.
#[derive(Debug)]
pub(super) struct OutOfDayRows {
    /// The times of the first answer that has any, as the document writes times, which is in UTC.
    first: Option<(String, String)>,
    answers: u64,
    odd: u64,
    /// The offsets at which a service may cut its days, given all answers: whole hours come first, then the nearest.
    offsets: Vec<i64>,
    /// The winter's offsets of those that put the clock on by an hour in summer, likewise.
    changing: Vec<i64>,
}

impl Default for OutOfDayRows {
    fn default() -> Self {
        let mut offsets: Vec<i64> =
            (0..=(EASTERNMOST - WESTERNMOST) / STEP).map(|step| WESTERNMOST + step * STEP).collect();
        offsets.sort_by_key(|offset| (offset % HOUR != 0, offset.abs()));
        Self { first: None, answers: 0, odd: 0, changing: offsets.clone(), offsets }
    }
}

impl OutOfDayRows {
    /// Adds an answer whose rows have their times between these two. Answers whether some are of another day.
    pub(super) fn add(&mut self, day: Option<Day>, times: Option<&(String, String)>) -> bool {
        let (Some(day), Some((least, greatest))) = (day, times) else { return false };
        let read = |text| Zone::default().parse_moment(text).ok().map(Moment::milliseconds);
        let Some(span) = read(least).zip(read(greatest)) else { return false };
        self.answers += 1;
        self.offsets.retain(|offset| day.holds_at(&[*offset], span));
        self.changing.retain(|offset| day.holds_at(&[*offset, offset + HOUR], span));
        let is_odd = !day.holds(span);
        if is_odd {
            self.odd += 1;
            self.first.get_or_insert_with(|| (least.clone(), greatest.clone()));
        }
        is_odd
    }

    /// What is odd about all of them, told once.
    pub(super) fn told(&self) -> Option<String> {
        let (least, greatest) = self.first.as_ref()?;
        let told = format!("rows of another day than asked for: {REQUIRED_COLUMN} is from {least} to {greatest} (UTC)");
        let told = match self.answers {
            1 => told,
            all => format!("{told}, and {} of {all} days are like that", self.odd),
        };
        let zone = match (self.offsets.first(), self.changing.first()) {
            (Some(offset), _) => format!("UTC{}", sign(*offset)),
            (None, Some(winter)) => format!("UTC{}, and UTC{} in summer", sign(*winter), sign(winter + HOUR)),
            (None, None) => return Some(format!("{told}, which no zone of the service explains")),
        };
        Some(format!("{told}, as if the service cut its days at {zone}: set timezone= to such a zone"))
    }
}

/// The instant of a condition that holds for one day of the required column.
fn day_of(condition: &Condition) -> Option<i64> {
    let Condition { kind, column, operator, value, time_unit, .. } = condition;
    let is_day = kind.is_some() && column == REQUIRED_COLUMN && operator == EQUALS;
    value.as_i64().filter(|_| is_day && time_unit.as_deref() == Some(TIME_UNIT))
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

    /// What is told of answers of days.
    fn told(answers: &[(Day, &str, &str)]) -> Option<String> {
        let mut out_of_day = OutOfDayRows::default();
        for (day, least, greatest) in answers {
            out_of_day.add(Some(*day), Some(&((*least).to_owned(), (*greatest).to_owned())));
        }
        out_of_day.told()
    }

    #[test]
    fn rows_of_the_day_are_no_strays() {
        assert_eq!(told(&[(day(), "2024-01-15 00:00:00", "2024-01-15 23:59:59")]), None);
        assert_eq!(told(&[(day(), "no time at all", "2024-01-15 23:59:59")]), None);
    }

    #[test]
    fn the_zone_of_the_service_is_found_by_the_rows_it_gives() {
        for (least, greatest, zone) in [
            ("2024-01-14 17:00:00", "2024-01-15 16:59:59", "UTC+07:00"),
            ("2024-01-14 18:15:00", "2024-01-15 18:10:00", "UTC+05:45"),
            ("2024-01-14 05:00:00", "2024-01-15 04:59:59", "UTC-05:00"),
        ] {
            let told = told(&[(day(), least, greatest)]).expect("strays");
            assert!(told.contains(zone), "{told}");
        }
        let told = told(&[(day(), "2024-01-10 00:00:00", "2024-01-15 00:00:00")]).expect("strays");
        assert!(told.contains("no zone"), "{told}");
    }

    #[test]
    fn a_zone_is_told_that_explains_all_answers() {
        let next = Day { sent: day().end, start: day().end, end: day().end + DAY };
        let answers = [
            (day(), "2024-01-14 17:30:00", "2024-01-15 06:30:00"),
            (next, "2024-01-15 17:00:00", "2024-01-16 16:00:00"),
        ];
        let told = told(&answers).expect("strays");
        assert!(told.contains("2 of 2 days") && told.contains("UTC+07:00"), "{told}");
    }

    #[test]
    fn a_service_that_puts_its_clock_on_explains_all_answers() {
        // Berlin does so in the night to the 31st of March 2024: that day has 23 hours there.
        let march_30 = 1_711_756_800_000;
        let day = |number: i64| {
            let start = march_30 + number * DAY;
            Day { sent: start, start, end: start + DAY }
        };
        let answers = [
            (day(0), "2024-03-29 23:00:00", "2024-03-30 22:59:59"),
            (day(1), "2024-03-30 23:00:00", "2024-03-31 21:59:59"),
            (day(2), "2024-03-31 22:00:00", "2024-04-01 21:59:59"),
        ];
        let told = told(&answers).expect("strays");
        assert!(told.contains("UTC+01:00, and UTC+02:00 in summer"), "{told}");
    }

    #[test]
    fn a_caller_of_another_zone_asks_for_a_day_of_theirs() {
        // Midnight in Berlin is 23:00 UTC of the day before; a service in UTC cuts the day that holds it.
        let start = 1_705_273_200_000;
        let berlin = Day { sent: start, start, end: start + DAY };
        assert_eq!(told(&[(berlin, "2024-01-14 23:00:00", "2024-01-15 22:59:59")]), None);
        let told = told(&[(berlin, "2024-01-14 00:00:01", "2024-01-14 23:59:59")]).expect("strays");
        assert!(told.contains("UTC+00:00"), "{told}");
    }
}
