//! The rows that a search asks for with `after_date` and `before_date`, and what the rows that came say about how the
//! service compares days.

use super::day;
use crate::contract::condition::{AFTER_DATE, BEFORE_DATE, Condition, DATETIME, TIME_UNIT};
use crate::filter::Search;
use crate::time::{Calendar, DayComparison, Moment, Zone};

const DAY: i64 = 24 * 60 * 60 * 1_000;
/// Rows a day from which on a day without any is no accident: one of 20,000 such days has none by chance.
const USUAL_ROWS: u64 = 10;

/// A range of a column, from the first instant of a day to the last of another.
#[derive(Clone, Debug)]
pub(super) struct RowRange {
    pub(super) column: String,
    calendar: Calendar,
    /// The zone of times in records.
    source: Zone,
    start: Option<Edge>,
    end: Option<Edge>,
}

/// An end of a range, in Unix milliseconds.
#[derive(Clone, Copy, Debug)]
struct Edge {
    at: i64,
    /// A day further in.
    inner: i64,
}

impl RowRange {
    /// The range of the first column among the attributes that has one: every row must be in it.
    ///
    /// A condition whose instant lies within a day has no known rows, as the readings of the specification differ.
    pub(super) fn requested(search: &Search, calendar: &Calendar, source: &Zone) -> Option<Self> {
        let [group] = search.body.filters.or.as_slice() else { return None };
        let of_column = |column: &String| {
            let ends = |operator: &str, read: &dyn Fn(Moment) -> Option<Moment>| -> Vec<Moment> {
                let conditions = group.and.iter().filter(|each| each.column == *column);
                conditions.filter_map(|condition| read(instant(condition, operator)?)).collect()
            };
            let start = ends(AFTER_DATE, &|sent| calendar.start_of_rows(sent)).into_iter().max();
            let end = ends(BEFORE_DATE, &|sent| calendar.end_of_rows(sent)).into_iter().min();
            let start = start.and_then(|start| Edge::of_start(start, calendar));
            let end = end.and_then(|end| Edge::of_end(end, calendar));
            (start.is_some() || end.is_some()).then(|| Self {
                column: column.clone(),
                calendar: calendar.clone(),
                source: source.clone(),
                start,
                end,
            })
        };
        search.attributes.iter().find_map(of_column)
    }

    fn instants(&self, times: &(String, String)) -> Option<(i64, i64)> {
        day::instants(times, &self.source)
    }

    /// Whether the rows between these times are in the range. Times that cannot be read are.
    pub(super) fn contains(&self, times: Option<&(String, String)>) -> bool {
        let Some((least, greatest)) = times.and_then(|times| self.instants(times)) else { return true };
        self.start.is_none_or(|start| start.at <= least) && self.end.is_none_or(|end| greatest < end.at)
    }

    /// The days outside the range of which rows came: the day of the least time, and of the greatest.
    pub(super) fn stray_days(&self, times: Option<&(String, String)>) -> Vec<String> {
        let Some((least, greatest)) = times.and_then(|times| self.instants(times)) else { return Vec::new() };
        let before = self.start.filter(|start| least < start.at).map(|_| least);
        let after = self.end.filter(|end| end.at <= greatest).map(|_| greatest);
        let mut days: Vec<String> =
            before.into_iter().chain(after).map(|at| self.calendar.zone.day_of(Moment::at(at))).collect();
        days.dedup();
        days
    }

    /// What looks wrong in the rows of all requests; none if nothing does.
    pub(super) fn message(&self, times: Option<&(String, String)>, rows: u64, has_all: bool) -> Option<String> {
        let times = times?;
        if self.contains(Some(times)) {
            let instants = self.instants(times).filter(|_| has_all)?;
            return self.empty_day(instants, rows);
        }
        Some(self.outside(times))
    }

    fn outside(&self, times: &(String, String)) -> String {
        let (least, greatest) = times;
        let day = |at: i64| self.calendar.zone.day_of(Moment::at(at));
        let range = match (self.start, self.end) {
            (Some(start), Some(end)) => format!("begins on {} and ends with {}", day(start.at), day(end.at - 1)),
            (Some(start), None) => format!("begins on {}", day(start.at)),
            (_, end) => format!("ends with {}", end.map(|end| day(end.at - 1)).unwrap_or_default()),
        };
        let found = format!(
            "rows outside the requested range: {} {least} to {greatest} ({}), and the range {range}",
            self.column,
            self.source.name()
        );
        if self.calendar.comparison == DayComparison::Inclusive {
            return format!("{found}; days or times of the service {OTHER_ZONES}");
        }
        format!(
            "{found}; the service may include the day that a condition names (then {}), or its days or times {OTHER_ZONES}",
            self.setting()
        )
    }

    /// That the first or the last day has no row, although the day next to it has. A service that excludes the day which
    /// a condition names would drop the day, and so would one whose days and times are of another zone.
    ///
    /// A last day that is not over may have no row yet.
    fn empty_day(&self, (least, greatest): (i64, i64), rows: u64) -> Option<String> {
        let days = u64::try_from((greatest - least) / DAY + 1).ok()?;
        if rows < USUAL_ROWS.saturating_mul(days) {
            return None;
        }
        let is_next = |at: i64, inner: i64| (at - inner).abs() < DAY;
        let start = self.start.filter(|start| start.inner <= least && is_next(least, start.inner));
        let is_inclusive = self.calendar.comparison == DayComparison::Inclusive;
        let is_over = |end: &Edge| end.at <= self.calendar.now.milliseconds();
        let end = self.end.filter(is_over).filter(|end| greatest < end.inner && is_next(greatest, end.inner));
        let day = start.map(|start| start.at).or(end.map(|end| end.inner))?;
        let reason = if is_inclusive {
            format!("the service probably excludes the day that a condition names: {}", self.setting())
        } else {
            format!("if there should be some, days or times of the service {OTHER_ZONES}")
        };
        Some(format!(
            "no row of {}, a day at the end of the requested range, and {rows} rows of the days beside it; {reason}",
            self.calendar.zone.day_of(Moment::at(day)),
        ))
    }

    /// What to set if the service compares days in the other way.
    fn setting(&self) -> String {
        format!("set day_comparison to \"{}\"", self.calendar.comparison.other())
    }
}

/// The settings of other zones, and what finds out which.
const OTHER_ZONES: &str = "may be of another zone (timezone, source_timezone); check(day) of the client finds which";

impl Edge {
    fn of_start(start: Moment, calendar: &Calendar) -> Option<Self> {
        let inner = calendar.zone.start_of_next_day(start).ok()?;
        Some(Self { at: start.milliseconds(), inner: inner.milliseconds() })
    }

    fn of_end(end: Moment, calendar: &Calendar) -> Option<Self> {
        let inner = calendar.zone.start_of_day(end.preceding()).ok()?;
        Some(Self { at: end.milliseconds(), inner: inner.milliseconds() })
    }
}

/// The instant of a condition with this operator that compares days.
fn instant(condition: &Condition, operator: &str) -> Option<Moment> {
    let Condition { data_type, operator: own, time_unit, value, .. } = condition;
    let compares_days = data_type == DATETIME && own == operator && time_unit.as_deref() == Some(TIME_UNIT);
    value.as_i64().filter(|_| compares_days).map(Moment::at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::items::{self, ItemsArguments};
    use crate::filter::{ColumnCondition, Comparison, InputValue, Method, Tree};

    fn range(conditions: &[(&str, Method, &str)], comparison: DayComparison) -> Option<RowRange> {
        let leaf = |(column, method, time): &(&str, Method, &str)| {
            let comparison = Comparison::new(method.clone(), InputValue::Moment((*time).to_owned()));
            Tree::Leaf(ColumnCondition { column: InputValue::text(*column), comparison })
        };
        let now = Zone::default().parse_moment("2024-02-01T12:00").expect("a time");
        let calendar = Calendar { comparison, now, ..Calendar::default() };
        let arguments = ItemsArguments {
            item_type_name: InputValue::text("customer"),
            attrs: InputValue::List(["opened", "closed"].map(InputValue::text).into()),
            where_clause: InputValue::Expression(Box::new(Tree::All(conditions.iter().map(leaf).collect()))),
            ..ItemsArguments::default()
        };
        RowRange::requested(&items::check(arguments, &calendar).expect("a valid search"), &calendar, &Zone::default())
    }

    fn times(least: &str, greatest: &str) -> (String, String) {
        (least.to_owned(), greatest.to_owned())
    }

    const BOTH: [DayComparison; 2] = [DayComparison::Exclusive, DayComparison::Inclusive];

    #[test]
    fn the_range_of_each_method_follows_from_its_condition() {
        for comparison in BOTH {
            for (method, least, greatest) in [
                (Method::Since, "2024-01-15 00:00:00", "2025-01-01 00:00:00"),
                (Method::After, "2024-01-16 00:00:00", "2025-01-01 00:00:00"),
                (Method::Before, "2023-01-01 00:00:00", "2024-01-14 23:59:59"),
                (Method::Until, "2023-01-01 00:00:00", "2024-01-15 23:59:59"),
            ] {
                let range = range(&[("opened", method.clone(), "2024-01-15")], comparison).expect("a range");
                assert!(range.contains(Some(&times(least, greatest))), "{method} {comparison:?}");
                let (before, after) = (times("2024-01-13 00:00:00", greatest), times(least, "2024-01-17 00:00:00"));
                let is_start = matches!(method, Method::Since | Method::After);
                assert!(!range.contains(Some(if is_start { &before } else { &after })), "{method} {comparison:?}");
            }
        }
    }

    #[test]
    fn conditions_of_one_column_are_one_range() {
        let both = [("closed", Method::Since, "2024-01-15"), ("closed", Method::Until, "2024-01-17")];
        let range = range(&both, DayComparison::Exclusive).expect("a range");
        assert_eq!(range.column, "closed");
        assert_eq!(range.message(Some(&times("2024-01-15 00:00:00", "2024-01-17 23:59:59")), 9, true), None);
        let message = range.message(Some(&times("2024-01-14 10:00:00", "2024-01-18 10:00:00")), 9, true);
        let message = message.expect("rows outside");
        let days = range.stray_days(Some(&times("2024-01-14 10:00:00", "2024-01-18 10:00:00")));
        assert_eq!(days, ["2024-01-14", "2024-01-18"]);
        for datum in ["2024-01-15", "2024-01-17", "day_comparison to \"inclusive\"", "source_timezone"] {
            assert!(message.contains(datum), "{message}");
        }
        let message = range.message(Some(&times("2024-01-13 10:00:00", "2024-01-18 10:00:00")), 9, true);
        assert!(message.is_some_and(|message| message.contains("day_comparison to \"inclusive\"")));
    }

    #[test]
    fn what_an_operator_sends_within_a_day_is_no_range() {
        let operator = || Method::Operator(InputValue::text(AFTER_DATE));
        assert!(range(&[("opened", operator(), "2024-01-15T12:00")], DayComparison::Exclusive).is_none());
        assert!(range(&[("opened", operator(), "2024-01-15T00:00")], DayComparison::Exclusive).is_none());
        assert!(range(&[("elsewhere", Method::Since, "2024-01-15")], DayComparison::Exclusive).is_none());
        assert!(range(&[("opened", Method::On, "2024-01-15")], DayComparison::Exclusive).is_none());
    }

    #[test]
    fn an_empty_day_at_the_end_is_reported_where_rows_are_frequent_and_the_day_would_be_included() {
        let both = [("opened", Method::Since, "2024-01-15"), ("opened", Method::Until, "2024-01-20")];
        let found = times("2024-01-16 00:10:00", "2024-01-19 23:50:00");
        let message = |comparison, times, rows, has_all| {
            range(&both, comparison).expect("a range").message(Some(times), rows, has_all)
        };
        let last = times("2024-01-15 10:00:00", "2024-01-19 23:50:00");
        for (comparison, setting) in [
            (DayComparison::Inclusive, "day_comparison to \"exclusive\""),
            (DayComparison::Exclusive, "source_timezone"),
        ] {
            for (times, day) in [(&found, "2024-01-15"), (&last, "2024-01-20")] {
                let text = message(comparison, times, 400, true).expect(day);
                assert!(text.contains(day) && text.contains(setting), "{text}");
            }
        }
        for (comparison, times, rows, has_all) in [
            (DayComparison::Exclusive, &found, 39, true),
            (DayComparison::Inclusive, &found, 39, true),
            (DayComparison::Inclusive, &found, 400, false),
            (DayComparison::Inclusive, &times("2024-01-17 00:10:00", "2024-01-20 10:00:00"), 400, true),
        ] {
            assert_eq!(message(comparison, times, rows, has_all), None, "{comparison:?} {times:?} {rows}");
        }
        let sunday = range(&[("opened", Method::Since, "2024-01-14")], DayComparison::Exclusive).expect("a range");
        let text = sunday.message(Some(&times("2024-01-15 00:10:00", "2024-01-19 23:50:00")), 400, true);
        assert!(text.is_some_and(|text| text.contains("2024-01-14")));
    }

    #[test]
    fn a_last_day_that_is_not_over_may_have_no_row() {
        for (last, is_over) in [("2024-02-01", false), ("2024-01-31", true)] {
            let range = range(&[("opened", Method::Until, last)], DayComparison::Exclusive).expect("a range");
            let until = if is_over { "2024-01-30 23:50:00" } else { "2024-01-31 23:50:00" };
            let message = range.message(Some(&times("2024-01-20 00:10:00", until)), 400, true);
            assert_eq!(message.is_some(), is_over, "{message:?}");
        }
    }
}
