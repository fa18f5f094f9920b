//! Demo data: promotion codes, customers, and exports in every state.
//!
//! Rows are computed: a day has the same ones in every sandbox. All ids begin with `demo-`.

mod codes;

use std::ops::Range;
use std::time::{Duration, SystemTime};

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::exports::{Exports, PlannedEntry};
use super::objects::Cell;
use super::switches::Switches;
use super::table::{Row, Rows, Value};
use crate::error::{Error, Kind, Result, excerpt};

/// Number of customers, from `demo-customer-0001`: not a round one, which would look like a cap.
pub const CUSTOMERS: u32 = 2_025;
/// Number of customers that may hold codes.
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

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

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
        let read = day.parse::<Date>().ok().filter(|read| read.to_string() == day && *read >= codes::FIRST_DAY);
        let until = read.ok_or_else(|| {
            let first = codes::FIRST_DAY;
            let problem = format!("until must be a day from {first} on, not `{}`", excerpt(day, 60));
            Error::new(Kind::Config, problem).with_hint("write it as 2024-02-29")
        })?;
        Ok(Self { until: Some(until), ..Self::default() })
    }

    /// The customers.
    pub(super) fn customers() -> Vec<Row> {
        (1..=CUSTOMERS).map(|number| row(customer(number))).collect()
    }

    /// The exports of a service that starts now.
    pub(super) fn exports(&self, now: SystemTime) -> Exports {
        Exports(export_plans(now, self.export_takes).into_iter().collect())
    }
}

/// Most days between the first ones and now, when the clock moves far: the last ones.
const MOST_DAYS: u32 = 366;

/// The promotion codes of a running service: a function of the clock, and the rows that the user loaded.
#[derive(Clone)]
pub(super) struct DemoCodes {
    /// The last day; none is yesterday.
    until: Option<Date>,
    /// When the last day of the start ended (UTC).
    first_end: Option<DateTime>,
    /// Rows of the user, which stay as they are.
    own: Rows,
    /// The times for which the rows are computed.
    valid: Range<DateTime>,
}

impl DemoCodes {
    /// The codes of a service that starts now.
    pub(super) fn new(demo: &Demo) -> Self {
        let valid = DateTime::MIN..DateTime::MIN;
        Self { until: demo.until, first_end: None, own: Rows::default(), valid }
    }

    /// Begins again: now is the start.
    pub(super) fn restart(&mut self) {
        self.first_end = None;
        self.expire();
    }

    /// Has the rows computed again: the zones are others.
    pub(super) fn expire(&mut self) {
        self.valid.end = self.valid.start;
    }

    /// Keeps rows of the user.
    pub(super) fn keep(&mut self, rows: &[Row]) {
        if let Ok(own) = self.own.with(rows, true) {
            self.own = own;
        }
    }

    /// All rows at this time, unless they are the same as those that were computed last.
    pub(super) fn due(&mut self, now: SystemTime, switches: &Switches) -> Option<Rows> {
        let time = Timestamp::try_from(now).ok()?;
        let now = TimeZone::UTC.to_datetime(time);
        if self.valid.contains(&now) {
            return None;
        }
        let (end, next_end) = self.ends(time, switches);
        let first_end = *self.first_end.get_or_insert(end);
        let days_before = |end: DateTime, days: u32| end.saturating_sub(i64::from(days).days());
        let mut numbers = numbers(days_before(first_end, codes::DAYS)..first_end);
        numbers.extend(self::numbers(first_end.max(days_before(end, MOST_DAYS))..end));
        let next_use = numbers.iter().filter_map(|number| codes::used(*number)).filter(|used| *used > now).min();
        self.valid = now..next_use.map_or(next_end, |used| used.min(next_end));
        let rows: Vec<Row> =
            numbers.into_iter().map(|number| row(codes::row(number, now, &switches.source_timezone))).collect();
        let own: Vec<Row> = self.own.iter().cloned().collect();
        Rows::default().with(&rows, true).and_then(|rows| rows.with(&own, true)).ok()
    }

    /// The end of the last day (UTC), and when that will be another: the last day is the given one, else yesterday by
    /// the clock, as the service cuts days.
    fn ends(&self, now: Timestamp, switches: &Switches) -> (DateTime, DateTime) {
        if let Some(until) = self.until {
            return (until.saturating_add(1.day()).at(0, 0, 0, 0), DateTime::MAX);
        }
        let today = now.to_zoned(switches.day_zone.clone());
        let start = today.start_of_day().unwrap_or_else(|_| today.clone());
        let next = today.tomorrow().and_then(|next| next.start_of_day());
        let next = next.map_or(Timestamp::MAX, |next| next.timestamp());
        (TimeZone::UTC.to_datetime(start.timestamp()), TimeZone::UTC.to_datetime(next))
    }
}

/// The numbers of the codes that are allocated within these times.
fn numbers(times: Range<DateTime>) -> Vec<u32> {
    let first = times.start.date().max(codes::FIRST_DAY);
    let days = first.series(1.day()).take_while(|day| *day <= times.end.date());
    days.flat_map(codes::of_day).filter(|number| times.contains(&codes::allocated(*number))).collect()
}

fn row(cells: Vec<Cell>) -> Row {
    cells.into_iter().map(Value::from).collect()
}

/// The plans of a service that starts now.
fn export_plans(now: SystemTime, finishing_takes: Duration) -> [(i64, Vec<PlannedEntry>); 5] {
    let entry = |ago: Duration, takes, rows, succeeds| {
        let starts = now.checked_sub(ago).unwrap_or(SystemTime::UNIX_EPOCH);
        PlannedEntry { starts, takes, rows, succeeds, code: None, message: None }
    };
    let mixed = vec![
        entry(2 * HOUR, 4 * MINUTE, 1_204, true),
        entry(HOUR, 2 * MINUTE, 0, false),
        entry(Duration::ZERO, DAY, 1_204, true),
    ];
    [
        (EXPORT_FINISHED, vec![entry(HOUR, 5 * MINUTE, 2_000, true)]),
        (EXPORT_RUNNING, vec![entry(Duration::ZERO, DAY, 2_000, true)]),
        (EXPORT_FINISHING, vec![entry(Duration::ZERO, finishing_takes, 2_000, true)]),
        (EXPORT_MIXED, mixed),
        (EXPORT_EMPTY, Vec::new()),
    ]
}

/// The id of a customer.
fn customer_id(number: u32) -> String {
    format!("demo-customer-{number:04}")
}

/// The row of a customer; the name is an opaque encoded string (section 2.3).
fn customer(number: u32) -> Vec<Cell> {
    let name = format!("{:016x}{:016x}", pseudo_random(number, 11), pseudo_random(number, 12));
    vec![customer_id(number).into(), name.into()]
}

/// A pseudo-random number of its arguments (the finalizer of `SplitMix64`).
fn pseudo_random(number: u32, salt: u64) -> u64 {
    let mut state = u64::from(number).wrapping_add(salt.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// A pseudo-random number below `below`.
fn below(below: u32, number: u32, salt: u64) -> u32 {
    u32::try_from(pseudo_random(number, salt) % u64::from(below.max(1))).unwrap_or(0)
}

/// A pseudo-random element.
fn pick<T: Copy>(from: &[T], number: u32, salt: u64) -> Option<T> {
    let index = below(u32::try_from(from.len()).unwrap_or(u32::MAX), number, salt);
    from.get(usize::try_from(index).unwrap_or(0)).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use jiff::civil::date;

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
        let mut rows = |now: &str| codes.due(at(now), &Switches::default()).map(|rows| shown(&rows)).unwrap();
        let latest = |rows: &[(String, Option<String>, i64)]| rows.iter().filter_map(|row| row.1.clone()).max();
        let first = rows("2026-05-20T23:59:59Z");
        assert_eq!(latest(&first).as_deref(), Some("2026-05-19 23:59:59"));
        let second = rows("2026-05-21T00:00:00Z");
        assert_eq!(latest(&second).as_deref(), Some("2026-05-20 23:59:59"));
        assert_eq!(second.len(), first.len() + codes::of_day(date(2026, 5, 20)).count());
        let days = date(2026, 3, 21).series(1.day()).take(161);
        assert_eq!(rows("2026-08-29T00:00:00Z").len(), days.flat_map(codes::of_day).count(), "no day is left out");
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
            let rows = shown(&started(None).due(at(now), &switches).unwrap());
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
                if let Some(due) = codes.due(now, &Switches::default()) {
                    rows = shown(&due).into_iter().map(|row| (row.0.clone(), row)).collect();
                }
                if step % 10 == 0 {
                    // The days of a later start begin later.
                    let other = shown(&started(until).due(now, &Switches::default()).unwrap());
                    assert!(other.len() > 4_000 && other.iter().all(|row| rows.get(&row.0) == Some(row)), "{step}");
                }
            }
        }
    }

    #[test]
    fn days_before_the_first_have_no_codes() {
        assert_eq!(started(None).due(at("2024-01-03T12:00:00Z"), &Switches::default()).unwrap().len(), 200);
        assert_eq!(started(None).due(at("1980-01-03T12:00:00Z"), &Switches::default()).unwrap().len(), 0);
    }
}
