//! Demo data: promotion codes, customers, and exports in every state.
//!
//! Rows are computed: a day has the same ones in every sandbox. All ids begin with `demo-`.

mod codes;

use std::ops::Range;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;

use self::codes::{DAY, DAYS};
use super::chance::drawn;
use super::days;
use super::exports::{Entry, Export, Exports};
use super::options::Seconds;
use super::switches::Switches;
use super::table::{Row, Rows, Value};
use crate::error::{Error, Kind, Result, excerpt};

/// Number of customers, from `demo-customer-0001`: not a round one, which would look like a cap.
pub const CUSTOMERS: u32 = 2_025;
const HOLDERS: u32 = 2_000;
/// Number of visitors with codes, from `demo-visitor-0001`.
pub const VISITORS: u32 = 500;

/// An export that ended long before the start of the service.
pub const EXPORT_FINISHED: i64 = 5_637_051;
/// An export that starts with the service and runs for a day.
pub const EXPORT_RUNNING: i64 = 5_637_052;
/// An export that starts with the service and ends [`Demo::export_takes`] later.
pub const EXPORT_FINISHING: i64 = 5_637_053;
/// An export of three entries: one finished, one failed, one still running.
pub const EXPORT_MIXED: i64 = 5_637_054;
/// An export that has no entries yet.
pub const EXPORT_EMPTY: i64 = 5_637_055;

/// Settings of the demo data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demo {
    /// How long [`EXPORT_FINISHING`] runs.
    pub export_takes: Duration,
    /// The last day of promotion codes; none is yesterday, by the clock of the sandbox.
    pub until: Option<Date>,
}

impl Default for Demo {
    fn default() -> Self {
        Self { export_takes: Duration::from_secs(3), until: None }
    }
}

impl Demo {
    /// Demo data up to a day, written 2024-02-29.
    ///
    /// # Errors
    /// `Config` for another text, and for a day before 2024-01-01, the first of the demo data.
    pub fn until(day: &str) -> Result<Self> {
        let first = date(2024, 1, 1);
        let until = day.parse::<Date>().ok().filter(|read| read.to_string() == day && *read >= first);
        let until = until.ok_or_else(|| {
            let problem = format!("until must be a day from {first} on, not `{}`", excerpt(day, 60));
            Error::new(Kind::Config, problem).with_hint("write it as 2024-02-29")
        })?;
        Ok(Self { until: Some(until), ..Self::default() })
    }

    /// The customers. A name is an opaque encoded string (section 2.3).
    pub(super) fn customers() -> Rows {
        let name = |number: u32| format!("{:016x}{:016x}", drawn(number.into(), 11), drawn(number.into(), 12));
        let row = |number| Row::from([customer_id(number), name(number)].map(|text| Value::Text(text.into())));
        Rows::default().with(&(1..=CUSTOMERS).map(row).collect::<Vec<Row>>()).0
    }

    pub(super) fn exports(&self, now: SystemTime) -> Exports {
        let entry = |delay, seconds, rows, succeeds| {
            let (delay, seconds) = (Seconds(Duration::from_secs(delay)), Seconds(Duration::from_secs(seconds)));
            Entry { delay, seconds, rows, succeeds, ..Entry::default() }
        };
        let finishing = Entry { seconds: Seconds(self.export_takes), ..entry(0, 0, 2_000, true) };
        let (hour, day) = (3_600, 24 * 3_600);
        let mixed = vec![entry(0, 240, 1_204, true), entry(hour, 120, 0, false), entry(2 * hour, day, 1_204, true)];
        let exports = [
            (EXPORT_FINISHED, hour, vec![entry(0, 300, 2_000, true)]),
            (EXPORT_RUNNING, 0, vec![entry(0, day, 2_000, true)]),
            (EXPORT_FINISHING, 0, vec![finishing]),
            (EXPORT_MIXED, 2 * hour, mixed),
            (EXPORT_EMPTY, 0, Vec::new()),
        ];
        let started = |ago| now - Duration::from_secs(ago);
        Exports(exports.map(|(id, ago, entries)| (id, Export { started: started(ago), entries })).into())
    }
}

/// Most days between the first ones and now, when the clock moves far: the last ones.
const MOST_DAYS: i64 = 366;

/// The promotion codes of a running service: a function of the clock, and the rows that the user loaded. Times are Unix
/// seconds.
#[derive(Clone)]
pub(super) struct DemoCodes {
    /// The last day; none is yesterday.
    until: Option<Date>,
    /// When the last day of the start ended.
    first_end: Option<i64>,
    /// Rows of the user, which stay as they are.
    own: Rows,
    /// The times for which the rows are computed.
    valid: Range<i64>,
}

impl DemoCodes {
    pub(super) fn new(demo: &Demo) -> Self {
        Self { until: demo.until, first_end: None, own: Rows::default(), valid: 0..0 }
    }

    /// They begin again: now is the start.
    pub(super) fn restarted(&self) -> Self {
        Self { first_end: None, ..self.expired() }
    }

    /// Their rows are computed again: the zones are others.
    pub(super) fn expired(&self) -> Self {
        Self { valid: 0..0, ..self.clone() }
    }

    pub(super) fn with(self, added: &[Row]) -> Self {
        Self { own: self.own.with(added).0, ..self }
    }

    /// All rows at this time, unless they are the same as those that were computed last.
    pub(super) fn due(&self, now: SystemTime, switches: &Switches) -> Option<(Self, Rows)> {
        let time = Timestamp::try_from(now).ok()?;
        let now = time.as_second();
        if self.valid.contains(&now) {
            return None;
        }
        let (end, next_end) = self.ends(time, &switches.day_zone)?;
        let first_end = self.first_end.unwrap_or(end);
        let added = codes::within(first_end.max(end - MOST_DAYS * DAY)..end);
        let codes: Vec<u32> = codes::within(first_end - i64::from(DAYS) * DAY..first_end).chain(added).collect();
        let uses = codes.iter().filter_map(|code| codes::used(*code)).filter(|used| *used > now);
        let valid = now..uses.fold(next_end, i64::min);
        let rows: Vec<Row> = codes.iter().map(|code| codes::row(*code, now, &switches.source_timezone)).collect();
        let rows = Rows::default().with(&rows).0.with(&self.own).0;
        Some((Self { first_end: Some(first_end), valid, ..self.clone() }, rows))
    }

    /// The end of the last day, and when that will be another: the last day is the given one, else yesterday by the clock,
    /// as the service cuts days. None at the end of the calendar.
    fn ends(&self, now: Timestamp, day_zone: &TimeZone) -> Option<(i64, i64)> {
        if let Some(until) = self.until {
            return Some((days::of_day(&until.to_zoned(TimeZone::UTC).ok()?)?.end, i64::MAX));
        }
        let today = days::of_day(&now.to_zoned(day_zone.clone()))?;
        Some((today.start, today.end))
    }
}

fn customer_id(number: u32) -> String {
    format!("demo-customer-{number:04}")
}

fn below(below: u32, number: u32, salt: u64) -> u32 {
    u32::try_from(drawn(number.into(), salt) % u64::from(below)).unwrap_or(0)
}

fn pick<T: Copy, const N: usize>(from: &[T; N], number: u32, salt: u64) -> Option<T> {
    let index = drawn(number.into(), salt) % N as u64;
    from.get(usize::try_from(index).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use jiff::ToSpan;
    use jiff::civil::DateTime;

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn at(time: &str) -> SystemTime {
        time.parse::<Timestamp>().unwrap().into()
    }

    fn started(until: Option<Date>) -> DemoCodes {
        DemoCodes::new(&Demo { until, ..Demo::default() })
    }

    /// Id, allocation and status of all rows.
    fn shown(rows: &Rows) -> Vec<(String, Option<String>, i64)> {
        let cell = |row: &Row, index: usize| serde_json::to_value(&row[index]).unwrap();
        let text = |row: &Row, index| cell(row, index).as_str().map(str::to_owned);
        rows.iter().map(|row| (text(row, 0).unwrap(), text(row, 4), cell(row, 7).as_i64().unwrap())).collect()
    }

    #[test]
    fn midnight_adds_the_day_that_ended_and_a_long_time_adds_a_year() {
        let mut codes = started(None);
        let mut rows = |now: &str| {
            let (next, rows) = codes.due(at(now), &Switches::default()).unwrap();
            codes = next;
            shown(&rows)
        };
        let latest = |rows: &[(String, Option<String>, i64)]| rows.iter().filter_map(|row| row.1.clone()).max();
        let first = rows("2026-05-20T23:59:59Z");
        assert_eq!(latest(&first).as_deref(), Some("2026-05-19 23:59:59"));
        let second = rows("2026-05-21T00:00:00Z");
        assert_eq!(latest(&second).as_deref(), Some("2026-05-20 23:59:59"));
        assert_eq!(second.len(), first.len() + 100);
        assert_eq!(rows("2026-08-29T00:00:00Z").len(), 161 * 100, "no day is left out");
        assert!((36_500..36_700).contains(&(rows("2926-05-21T00:00:00Z").len() - first.len())));
    }

    #[test]
    fn the_last_day_is_yesterday_where_the_service_cuts_days() {
        for (zone, now, end) in [
            ("Asia/Ho_Chi_Minh", "2026-05-20T19:43:00Z", "2026-05-20 17:00:00"),
            ("Asia/Ho_Chi_Minh", "2026-05-20T10:00:00Z", "2026-05-19 17:00:00"),
            ("America/Sao_Paulo", "2026-05-20T02:00:00Z", "2026-05-19 03:00:00"),
            ("America/Sao_Paulo", "2026-05-20T12:00:00Z", "2026-05-20 03:00:00"),
        ] {
            let switches = Switches { day_zone: TimeZone::get(zone).unwrap(), ..Switches::default() };
            let rows = shown(&started(None).due(at(now), &switches).unwrap().1);
            let last = rows.into_iter().filter_map(|row| row.1).max().unwrap();
            let before: DateTime = end.parse::<DateTime>().unwrap().saturating_sub(6.hours());
            assert!(*last < *end && last > before.strftime("%Y-%m-%d %H:%M:%S").to_string(), "{zone}: {last}");
        }
    }

    #[test]
    fn rows_are_computed_again_only_when_they_change_and_are_then_those_of_a_new_start() {
        for until in [None, Some(date(2024, 2, 24))] {
            let (mut codes, mut rows) = (started(until), BTreeMap::new());
            for step in 0..60_u32 {
                let now = at("2024-02-20T06:00:00Z") + DAY * step / 3;
                if let Some((next, due)) = codes.due(now, &Switches::default()) {
                    codes = next;
                    rows = shown(&due).into_iter().map(|row| (row.0.clone(), row)).collect();
                }
                if step % 10 == 0 {
                    // The days of a later start begin later.
                    let other = shown(&started(until).due(now, &Switches::default()).unwrap().1);
                    assert!(other.len() > 4_000 && other.iter().all(|row| rows.get(&row.0) == Some(row)), "{step}");
                }
            }
        }
    }

    #[test]
    fn days_before_the_first_have_no_codes() {
        assert_eq!(started(None).due(at("2024-01-03T12:00:00Z"), &Switches::default()).unwrap().1.len(), 200);
        assert_eq!(started(None).due(at("1980-01-03T12:00:00Z"), &Switches::default()).unwrap().1.len(), 0);
    }
}
