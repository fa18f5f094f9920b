//! The window of a request: the span of a time column in which its rows must lie, and when a file of it is final.

#[cfg(feature = "files")]
use std::time::Duration;

use crate::contract::condition::{Condition, DATETIME, EQUALS, TIME_UNIT};
use crate::contract::search::Group;
use crate::filter::{Plan, Search, span};
use crate::time::{Calendar, DayComparison, Moment, Zone, all_zones, offset_text};

const DAY: i64 = 24 * 60 * 60_000;
/// Rows a day from which on a day without any is no accident: one of 20,000 such days has none by chance.
const USUAL_ROWS: u64 = 10;

/// The settings of other zones, and what finds out which.
const OTHER_ZONES: &str = "may be of another zone (timezone, source_timezone); check(day) of the client finds which";

/// The first and the last of some instants, in Unix milliseconds.
type Range = (i64, i64);

/// A span of a time column that the rows of a request must lie in, in Unix milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) column: String,
    /// Its first instant.
    start: Option<i64>,
    /// The first instant behind it.
    end: Option<i64>,
    /// The first and the last instant that conditions name, if they ask for whole days one by one.
    named: Option<Range>,
}

impl Window {
    /// The window of a search: of the first attribute for which a day is requested, else of the first one with a range.
    /// Conditions joined by AND make it smaller, groups joined by OR larger.
    pub(super) fn of(search: &Search, calendar: &Calendar) -> Option<Self> {
        let groups = &search.body.filters.or;
        let is_compared =
            |column: &&String| groups.iter().flat_map(|group| &group.and).any(|condition| condition.column == **column);
        let of_column = |column: &String| {
            let windows = groups.iter().map(|group| Self::of_group(group, column, calendar));
            windows.reduce(|one, other| one.or(&other)).filter(|window| window.start.is_some() || window.end.is_some())
        };
        let mut windows: Vec<Self> = search.attributes.iter().filter(is_compared).filter_map(of_column).collect();
        windows.sort_by_key(|window| window.named.is_none());
        windows.into_iter().next()
    }

    /// The window of one day: that of an instant.
    #[cfg(feature = "files")]
    pub(super) fn of_day(column: &str, instant: Moment, zone: &Zone) -> Option<Self> {
        let (start, end) = (zone.start_of_day(instant).ok()?, zone.start_of_next_day(instant).ok()?);
        let [instant, start, end] = [instant, start, end].map(Moment::milliseconds);
        Some(Self { column: column.to_owned(), start: Some(start), end: Some(end), named: Some((instant, instant)) })
    }

    /// What a condition whose instant lies within a day selects is not known, as the readings of the specification differ.
    fn of_group(group: &Group, column: &str, calendar: &Calendar) -> Self {
        let mut window = Self { column: column.to_owned(), start: None, end: None, named: None };
        for condition in group.and.iter().filter(|condition| condition.column == column && compares_days(condition)) {
            let Some(instant) = condition.value.as_i64().map(Moment::at) else { continue };
            if condition.operator == EQUALS {
                window.named = Some((instant.milliseconds(), instant.milliseconds()));
            }
            let (start, end) = span(&condition.operator, instant, calendar);
            window.start = window.start.max(start.map(Moment::milliseconds));
            window.end = window.end.into_iter().chain(end.map(Moment::milliseconds)).min();
        }
        window
    }

    fn or(self, other: &Self) -> Self {
        let named = self.named.zip(other.named);
        Self {
            column: self.column,
            start: self.start.zip(other.start).map(|(one, other)| one.min(other)),
            end: self.end.zip(other.end).map(|(one, other)| one.max(other)),
            named: named.map(|(one, other)| (one.0.min(other.0), one.1.max(other.1))),
        }
    }

    /// Whether its days are requested by name, and not as a range.
    pub(super) const fn is_of_days(&self) -> bool {
        self.named.is_some()
    }

    /// Whether it has begun at a time.
    #[cfg(feature = "files")]
    pub(super) fn has_begun(&self, now: Moment) -> bool {
        self.start.is_none_or(|start| start <= now.milliseconds())
    }

    /// Whether rows that were requested then do not change any more: it was over, and for so long.
    #[cfg(feature = "files")]
    pub(super) fn is_final(&self, requested_at: Moment, settle: Duration) -> bool {
        let settle = i64::try_from(settle.as_millis()).unwrap_or(i64::MAX);
        self.end.is_none_or(|end| requested_at.milliseconds() >= end.saturating_add(settle))
    }

    /// Whether rows of these least and greatest times, which are written in the zone `source`, lie in it. Times that cannot
    /// be read do.
    pub(super) fn contains(&self, times: Option<&(String, String)>, source: &Zone) -> bool {
        let Some((least, greatest)) = times.and_then(|times| instants(times, source)) else { return true };
        self.start.is_none_or(|start| start <= least) && self.end.is_none_or(|end| greatest < end)
    }

    /// Its days: that of its first instant, and that of its last.
    fn days(&self, zone: &Zone) -> (Option<String>, Option<String>) {
        let day = |at: i64| zone.day_of(Moment::at(at));
        (self.start.map(day), self.end.map(|end| day(end - 1)))
    }

    /// The first or last day of a range, if it is over and has no row, although rows between two instants lie beside it: a
    /// service loses that day if its days begin elsewhere, or if it compares days in the other way.
    fn lost_day(&self, rows: Range, calendar: &Calendar) -> Option<String> {
        let zone = &calendar.zone;
        let second = self.start.and_then(|start| zone.start_of_next_day(Moment::at(start)).ok());
        let final_day = self.end.and_then(|end| zone.start_of_day(Moment::at(end - 1)).ok());
        // How long after the beginning, and before the end, rows come.
        let late = second.map(|second| rows.0 - second.milliseconds());
        let early = final_day.map(|start| start.milliseconds() - rows.1);
        let is_over = self.end.is_some_and(|end| end <= calendar.now.milliseconds());
        let (first, end) = self.days(zone);
        let first = first.filter(|_| late.is_some_and(|late| (0..DAY).contains(&late)));
        first.or(end.filter(|_| is_over && early.is_some_and(|early| (1..DAY).contains(&early))))
    }

    /// The days of rows that are outside: those at both ends of a range, and of a day that is requested by name this day.
    fn stray_days(&self, times: &(String, String), zone: &Zone, source: &Zone) -> Vec<String> {
        if self.is_of_days() {
            return self.days(zone).0.into_iter().collect();
        }
        let Some((least, greatest)) = instants(times, source) else { return Vec::new() };
        let before = self.start.filter(|start| least < *start).map(|_| least);
        let after = self.end.filter(|end| *end <= greatest).map(|_| greatest);
        before.into_iter().chain(after).map(|at| zone.day_of(Moment::at(at))).collect()
    }
}

/// The condition of each request of a plan that selects its day, if exactly one does: its position in the group.
pub(super) fn position_of_day(plan: &Plan) -> Option<usize> {
    let [group] = plan.template().body.filters.or.as_slice() else { return None };
    let selects_day = |condition: &Condition| compares_days(condition) && condition.operator == EQUALS;
    let mut positions = (0..).zip(&group.and).filter(|(_, condition)| selects_day(condition));
    let (position, _) = positions.next()?;
    positions.next().is_none().then_some(position)
}

fn compares_days(condition: &Condition) -> bool {
    condition.data_type == DATETIME && condition.time_unit.as_deref() == Some(TIME_UNIT)
}

/// The instants of the least and the greatest time of records, which are written in the zone `source`, in Unix
/// milliseconds. None if one is no time.
fn instants((least, greatest): &(String, String), source: &Zone) -> Option<Range> {
    let read = |text| source.instant_of(text).map(Moment::milliseconds);
    read(least).zip(read(greatest))
}

/// The responses with rows outside their windows.
#[derive(Clone, Debug, Default)]
pub(super) struct Strays {
    /// Of each response whose rows have times: the instants that conditions name, and those of its rows.
    responses: Vec<(Option<Range>, Range)>,
    /// The window of the first of them.
    window: Option<Window>,
    /// How many have rows outside.
    odd: usize,
    /// The window of the first of those, and the least and the greatest time of its rows.
    first: Option<(Window, (String, String))>,
    /// The days whose responses have rows of others, or that rows outside a range are of.
    pub(super) days: Vec<String>,
}

impl Strays {
    /// Adds a response by the least and the greatest time of its rows. Returns whether some row is outside its window.
    pub(super) fn add(
        &mut self,
        window: Option<&Window>,
        times: Option<&(String, String)>,
        zone: &Zone,
        source: &Zone,
    ) -> bool {
        let (Some(window), Some(times)) = (window, times) else { return false };
        let Some(range) = instants(times, source) else { return false };
        self.responses.push((window.named, range));
        if self.window.is_none() {
            self.window = Some(window.clone());
        }
        if window.contains(Some(times), source) {
            return false;
        }
        self.odd += 1;
        match &mut self.first {
            None => self.first = Some((window.clone(), times.clone())),
            Some((first, (least, greatest))) if first == window => {
                *least = times.0.clone().min(std::mem::take(least));
                *greatest = times.1.clone().max(std::mem::take(greatest));
            }
            Some(_) => {}
        }
        for day in window.stray_days(times, zone, source) {
            if !self.days.contains(&day) {
                self.days.push(day);
            }
        }
        true
    }

    /// One message for all of them; none if all rows lie in their windows, and no day at the end of a range is lost.
    /// `rows` is how many rows there are, if all responses are known.
    pub(super) fn message(&self, calendar: &Calendar, source: &Zone, rows: Option<u64>) -> Option<String> {
        let Some((window, (least, greatest))) = &self.first else { return self.lost_day(calendar, rows?) };
        let (what, several) = if window.is_of_days() { ("day", "days") } else { ("range", "responses") };
        let count = match self.responses.len() {
            1 => String::new(),
            responses => format!(" in {} of {responses} {several}", self.odd),
        };
        let advice = match window.named {
            Some((at, _)) => self.of_days(at),
            None => of_range(window, calendar),
        };
        Some(format!(
            "rows outside the requested {what}{count}: {} {least} to {greatest} ({}){advice}",
            window.column,
            source.name()
        ))
    }

    /// That a day at an end of the range has no row, where rows are frequent.
    fn lost_day(&self, calendar: &Calendar, rows: u64) -> Option<String> {
        let window = self.window.as_ref().filter(|window| !window.is_of_days())?;
        let ranges = self.responses.iter().map(|(_, range)| *range);
        let (least, greatest) = ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
        let days = u64::try_from((greatest - least) / DAY + 1).ok()?;
        let lost = window.lost_day((least, greatest), calendar).filter(|_| rows >= USUAL_ROWS.saturating_mul(days))?;
        let reason = match calendar.comparison {
            DayComparison::Inclusive => format!(
                "the service probably excludes the day that a condition names: set day_comparison to \"{}\"",
                calendar.comparison.other()
            ),
            DayComparison::Exclusive => format!("if there should be some, days or times of the service {OTHER_ZONES}"),
        };
        Some(format!(
            "no row of {lost}, a day at the end of the requested range, and {rows} rows of the days beside it; {reason}"
        ))
    }

    /// Which days explain the rows: runs of neighboring offsets that zones have.
    fn of_days(&self, at: i64) -> String {
        let mut offsets: Vec<i32> = all_zones().iter().map(|zone| zone.offset_seconds(Moment::at(at))).collect();
        offsets.sort_unstable();
        offsets.dedup();
        let text = |offset: i32| format!("UTC{}", offset_text(offset));
        let runs = offsets.chunk_by(|one, other| self.fit(*one) == self.fit(*other));
        let fitting = runs.filter_map(|run| Some((*run.first()?, *run.last()?))).filter(|(first, _)| self.fit(*first));
        let fitting =
            fitting.map(
                |(first, last)| if first == last { text(first) } else { format!("{} to {}", text(first), text(last)) },
            );
        let offsets = fitting.collect::<Vec<_>>().join(", ");
        if offsets.is_empty() {
            return format!("; no one offset explains them: days or times of the service {OTHER_ZONES}");
        }
        format!("; days at {offsets} would explain them, or its times {OTHER_ZONES}")
    }

    /// Whether days at an offset, in seconds, explain the rows of all responses.
    fn fit(&self, offset: i32) -> bool {
        let day = |instant: i64| (instant + i64::from(offset) * 1_000).div_euclid(DAY);
        self.responses.iter().all(|(named, (least, greatest))| {
            named.is_some_and(|(first, last)| day(first) <= day(*least) && day(*greatest) <= day(last))
        })
    }
}

/// Which other reading of a range explains rows that are outside.
fn of_range(window: &Window, calendar: &Calendar) -> String {
    let range = match window.days(&calendar.zone) {
        (Some(first), Some(last)) => format!("begins on {first} and ends with {last}"),
        (Some(first), None) => format!("begins on {first}"),
        (None, last) => format!("ends with {}", last.unwrap_or_default()),
    };
    match calendar.comparison {
        DayComparison::Inclusive => format!(", and the range {range}; days or times of the service {OTHER_ZONES}"),
        DayComparison::Exclusive => format!(
            ", and the range {range}; the service may include the day that a condition names (then set day_comparison to \
             \"{}\"), or its days or times {OTHER_ZONES}",
            calendar.comparison.other()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::condition::AFTER_DATE;
    use crate::filter::items::{self, ItemsArguments};
    use crate::filter::{ColumnCondition, Comparison, InputValue, Method, Tree};

    const BOTH: [DayComparison; 2] = [DayComparison::Exclusive, DayComparison::Inclusive];

    fn leaf((column, method, time): &(&str, Method, &str)) -> Tree<ColumnCondition> {
        let comparison = Comparison::new(method.clone(), InputValue::Moment((*time).to_owned()));
        Tree::Leaf(ColumnCondition { column: InputValue::text(*column), comparison })
    }

    fn calendar(comparison: DayComparison) -> Calendar {
        Calendar { comparison, ..Calendar::default() }
    }

    fn window_of(tree: Tree<ColumnCondition>, calendar: &Calendar) -> Option<Window> {
        let arguments = ItemsArguments {
            item_type_name: InputValue::text("customer"),
            attrs: InputValue::List(["opened", "closed"].map(InputValue::text).into()),
            where_clause: InputValue::Expression(Box::new(tree)),
            ..ItemsArguments::default()
        };
        Window::of(&items::check(arguments, calendar).expect("a valid search"), calendar)
    }

    fn window(conditions: &[(&str, Method, &str)], comparison: DayComparison) -> Option<Window> {
        window_of(Tree::All(conditions.iter().map(leaf).collect()), &calendar(comparison))
    }

    fn contains(window: &Window, least: &str, greatest: &str) -> bool {
        window.contains(Some(&(least.to_owned(), greatest.to_owned())), &Zone::default())
    }

    fn day(text: &str, zone: &Zone) -> Window {
        Window::of_day("opened", zone.parse_day(text).expect("a day"), zone).expect("a window")
    }

    /// What is said of responses: the window, the least and the greatest time, all of one zone.
    fn strays(responses: &[(Window, &str, &str)], zone: &Zone) -> (Vec<String>, Option<String>) {
        let mut strays = Strays::default();
        for (window, least, greatest) in responses {
            let times = ((*least).to_owned(), (*greatest).to_owned());
            strays.add(Some(window), Some(&times), zone, &Zone::default());
        }
        let message = strays.message(&Calendar::new(zone.clone()), &Zone::default(), None);
        (strays.days, message)
    }

    fn offsets(responses: &[(Window, &str, &str)], zone: &Zone) -> Vec<String> {
        let message = strays(responses, zone).1.expect("rows outside the day");
        let words = message.split_whitespace().map(|word| word.trim_matches([',', ';']));
        words.filter(|word| word.starts_with("UTC") && word.len() > 3).map(ToOwned::to_owned).collect()
    }

    #[test]
    fn the_window_of_each_method_follows_from_its_condition() {
        for comparison in BOTH {
            for (method, least, greatest) in [
                (Method::Since, "2024-01-15 00:00:00", "2025-01-01 00:00:00"),
                (Method::After, "2024-01-16 00:00:00", "2025-01-01 00:00:00"),
                (Method::Before, "2023-01-01 00:00:00", "2024-01-14 23:59:59"),
                (Method::Until, "2023-01-01 00:00:00", "2024-01-15 23:59:59"),
                (Method::On, "2024-01-15 00:00:00", "2024-01-15 23:59:59"),
            ] {
                let window = window(&[("opened", method.clone(), "2024-01-15")], comparison).expect("a window");
                assert!(contains(&window, least, greatest), "{method:?} {comparison:?}");
                let is_start = matches!(method, Method::Since | Method::After | Method::On);
                assert_eq!(contains(&window, "2024-01-13 00:00:00", least), !is_start, "{method:?} {comparison:?}");
                let is_end = !matches!(method, Method::Since | Method::After);
                assert_eq!(contains(&window, least, "2024-01-17 00:00:00"), !is_end, "{method:?} {comparison:?}");
                assert!(contains(&window, "no time at all", "2024-01-17 00:00:00"));
            }
        }
    }

    #[test]
    fn conditions_joined_by_and_narrow_a_window_and_groups_joined_by_or_widen_it() {
        let both = [("closed", Method::Since, "2024-01-15"), ("closed", Method::Until, "2024-01-17")];
        let range = window(&both, DayComparison::Exclusive).expect("a window");
        assert_eq!((range.column.as_str(), range.is_of_days()), ("closed", false));
        assert!(contains(&range, "2024-01-15 00:00:00", "2024-01-17 23:59:59"));
        let (days, message) = strays(&[(range, "2024-01-14 10:00:00", "2024-01-18 10:00:00")], &Zone::default());
        assert_eq!(days, ["2024-01-14", "2024-01-18"]);
        let message = message.expect("rows outside");
        assert!(message.contains("2024-01-15") && message.contains("2024-01-17"), "{message}");
        assert!(message.contains("day_comparison") && message.contains("source_timezone"), "{message}");

        let calendar = Calendar::default();
        let (early, late) = (("opened", Method::On, "2024-01-15"), ("opened", Method::On, "2024-01-20"));
        let either = window_of(Tree::Any([&early, &late].map(leaf).into()), &calendar).expect("a window");
        assert!(either.is_of_days());
        assert!(contains(&either, "2024-01-15 00:00:00", "2024-01-20 23:59:59"));
        assert!(!contains(&either, "2024-01-14 23:59:59", "2024-01-20 23:59:59"));
        let other = ("closed", Method::On, "2024-01-20");
        assert_eq!(window_of(Tree::Any([&early, &other].map(leaf).into()), &calendar), None);
    }

    #[test]
    fn a_day_comes_before_a_range_and_only_of_what_is_requested() {
        let both = [("opened", Method::Since, "2024-01-15"), ("closed", Method::On, "2024-01-17")];
        assert_eq!(window(&both, DayComparison::Exclusive).expect("a window").column, "closed");
        assert_eq!(window(&[("elsewhere", Method::Since, "2024-01-15")], DayComparison::Exclusive), None);
        for time in ["2024-01-15T12:00", "2024-01-15T00:00"] {
            let operator = Method::Operator(InputValue::text(AFTER_DATE));
            assert_eq!(window(&[("opened", operator, time)], DayComparison::Exclusive), None, "{time}");
        }
    }

    #[test]
    fn the_offset_of_the_service_is_found_in_its_rows() {
        let utc = Zone::default();
        for (least, greatest, expected) in [
            ("2024-01-14 17:00:00", "2024-01-15 16:59:59", &["UTC+07:00"][..]),
            ("2024-01-14 18:15:00", "2024-01-15 18:10:00", &["UTC+05:45"]),
            ("2024-01-14 05:02:00", "2024-01-15 02:51:00", &["UTC-05:00", "UTC-03:00"]),
            ("2024-01-10 00:00:00", "2024-01-15 00:00:00", &[]),
        ] {
            let responses = [(day("2024-01-15", &utc), least, greatest)];
            assert_eq!(offsets(&responses, &utc), expected, "{least}");
            assert_eq!(strays(&responses, &utc).0, ["2024-01-15"]);
        }
        let whole = [(day("2024-01-15", &utc), "2024-01-15 00:00:00", "2024-01-15 23:59:59")];
        assert_eq!(strays(&whole, &utc), (Vec::new(), None));
    }

    #[test]
    fn an_offset_explains_all_responses_or_none_is_named() {
        let utc = Zone::default();
        let two = [
            (day("2024-01-15", &utc), "2024-01-14 17:30:00", "2024-01-15 06:30:00"),
            (day("2024-01-16", &utc), "2024-01-15 17:00:00", "2024-01-16 16:59:00"),
        ];
        assert_eq!(offsets(&two, &utc), ["UTC+07:00"]);
        assert!(strays(&two, &utc).1.expect("rows outside").contains("2 of 2 days"));
        // In Berlin the clocks change: the days before and after have other offsets.
        let berlin = [
            (day("2024-03-30", &utc), "2024-03-29 23:00:00", "2024-03-30 22:59:59"),
            (day("2024-04-01", &utc), "2024-03-31 22:00:00", "2024-04-01 21:59:59"),
        ];
        assert_eq!(offsets(&berlin, &utc), [""; 0]);
        assert!(strays(&berlin, &utc).1.expect("rows outside").contains("check(day)"));
    }

    #[test]
    fn a_day_at_the_end_of_a_range_that_is_over_is_not_lost_where_rows_are_frequent() {
        let now = Zone::default().parse_moment("2024-02-01T12:00").expect("a time");
        let lost = |window: &Window, comparison, times: (&str, &str), rows| {
            let (mut strays, utc) = (Strays::default(), Zone::default());
            strays.add(Some(window), Some(&(times.0.to_owned(), times.1.to_owned())), &utc, &utc);
            let message = strays.message(&Calendar { now, ..calendar(comparison) }, &utc, rows)?;
            let setting = if comparison == DayComparison::Inclusive { "day_comparison" } else { "source_timezone" };
            assert!(message.contains(setting), "{message}");
            message.split([' ', ',']).find(|word| word.starts_with("2024")).map(ToOwned::to_owned)
        };
        let both = [("opened", Method::Since, "2024-01-15"), ("opened", Method::Until, "2024-01-20")];
        for comparison in BOTH {
            let range = window(&both, comparison).expect("a window");
            for (least, greatest, rows, expected) in [
                ("2024-01-16 00:10:00", "2024-01-19 23:50:00", Some(400), Some("2024-01-15")),
                ("2024-01-15 10:00:00", "2024-01-19 23:50:00", Some(400), Some("2024-01-20")),
                ("2024-01-16 00:10:00", "2024-01-19 23:50:00", Some(39), None),
                ("2024-01-16 00:10:00", "2024-01-19 23:50:00", None, None),
                ("2024-01-17 00:10:00", "2024-01-20 10:00:00", Some(400), None),
            ] {
                let found = lost(&range, comparison, (least, greatest), rows);
                assert_eq!(found.as_deref(), expected, "{comparison:?} {least} {rows:?}");
            }
            for (last, greatest, expected) in
                [("2024-02-01", "2024-01-31 23:50:00", None), ("2024-01-31", "2024-01-30 23:50:00", Some("2024-01-31"))]
            {
                let range = window(&[("opened", Method::Until, last)], comparison).expect("a window");
                let found = lost(&range, comparison, ("2024-01-20 00:10:00", greatest), Some(400));
                assert_eq!(found.as_deref(), expected, "{comparison:?} {last}");
            }
        }
    }

    #[test]
    fn a_day_is_that_of_the_callers_zone() {
        // Midnight in Berlin is 23:00 UTC of the day before; a service in UTC takes the day with that instant.
        let zone = Zone::try_new("Europe/Berlin").expect("a zone");
        let berlin = day("2024-01-15", &zone);
        assert!(contains(&berlin, "2024-01-14 23:00:00", "2024-01-15 22:59:59"));
        assert_eq!(offsets(&[(berlin, "2024-01-14 00:00:01", "2024-01-14 23:59:59")], &zone), ["UTC+00:00"]);
    }

    #[test]
    fn a_day_is_final_once_it_is_over_and_has_settled() {
        let zone = Zone::try_new("Europe/Berlin").expect("a zone");
        let hour = Duration::from_secs(3_600);
        // The day of a change of the clocks has 23 hours.
        let window = day("2024-03-31", &zone);
        let over = zone.parse_moment("2024-04-01T00:00").expect("a time");
        for (requested_at, settle, expected) in [
            (over.preceding(), Duration::ZERO, false),
            (over, Duration::ZERO, true),
            (over, hour, false),
            (Moment::at(over.milliseconds() + 3_600_000), hour, true),
            (over, Duration::MAX, false),
        ] {
            assert_eq!(window.is_final(requested_at, settle), expected, "{requested_at:?} {settle:?}");
        }
        assert!(window.has_begun(over) && !window.has_begun(Moment::at(over.milliseconds() - 23 * 3_600_000 - 1)));
    }
}
