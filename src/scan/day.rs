//! The days of a scan, the day that a request asks for, and rows outside it.

use super::zone_fit::ZoneFit;
use crate::contract::condition::{Condition, DATETIME, EQUALS, TIME_UNIT};
#[cfg(feature = "files")]
use crate::contract::search::Filters;
use crate::contract::search::{Group, SearchBody};
use crate::filter::{Plan, Search};
use crate::time::{Moment, Zone};

/// A day of 24 hours.
pub(super) const DAY: i64 = 24 * 3_600_000;

/// The condition that selects the day of each request, and the zone in which it is a day.
#[derive(Clone, Debug)]
pub(super) struct ByDay {
    position: usize,
    zone: Zone,
}

impl ByDay {
    /// The days of a plan, if exactly one condition selects a day.
    pub(super) fn of(plan: &Plan, zone: &Zone) -> Option<Self> {
        let [group] = plan.template().body.filters.or.as_slice() else { return None };
        let mut positions = (0..).zip(&group.and).filter(|(_, condition)| selects_day(condition));
        let (position, _) = positions.next()?;
        positions.next().is_none().then(|| Self { position, zone: zone.clone() })
    }

    /// The day of a request, as `2024-01-15`.
    pub(super) fn day(&self, body: &SearchBody) -> Option<String> {
        Some(self.zone.day_of(self.sent(body)?))
    }

    /// The first instant of the day of a request, and the first of the next day.
    #[cfg(feature = "files")]
    pub(super) fn bounds(&self, body: &SearchBody) -> Option<(Moment, Moment)> {
        bounds(&self.zone, self.sent(body)?)
    }

    fn sent(&self, body: &SearchBody) -> Option<Moment> {
        day_of(body.filters.or.first()?.and.get(self.position)?)
    }

    /// The zone in which the days are cut.
    #[cfg(feature = "files")]
    pub(super) fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Takes the condition that selects the day out of the filters.
    #[cfg(feature = "files")]
    pub(super) fn take(&self, filters: &mut Filters) -> Option<Condition> {
        let group = filters.or.first_mut()?;
        (self.position < group.and.len()).then(|| group.and.remove(self.position))
    }
}

/// The first instant of the day that an instant lies in, and the first of the next day.
pub(super) fn bounds(zone: &Zone, instant: Moment) -> Option<(Moment, Moment)> {
    let start = zone.start_of_day(instant).ok()?;
    Some((start, zone.start_of_next_day(instant).ok()?))
}

/// The instants of the least and the greatest time of records, which are written in the zone `source`, in Unix
/// milliseconds. None if one is no time.
pub(super) fn instants((least, greatest): &(String, String), source: &Zone) -> Option<(i64, i64)> {
    let read = |text| source.instant_of(text).map(Moment::milliseconds);
    read(least).zip(read(greatest))
}

/// Whether a condition selects one day. In the template of a plan it has no day yet.
fn selects_day(condition: &Condition) -> bool {
    let Condition { data_type, operator, time_unit, .. } = condition;
    data_type == DATETIME && operator == EQUALS && time_unit.as_deref() == Some(TIME_UNIT)
}

/// The instant of a condition that selects one day.
fn day_of(condition: &Condition) -> Option<Moment> {
    condition.value.as_i64().filter(|_| selects_day(condition)).map(Moment::at)
}

/// A day in the caller's zone, in Unix milliseconds; or several, from the first to the last, if groups joined by OR ask
/// for one each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Day {
    /// The first and the last instant that the request names.
    sent: (i64, i64),
    start: i64,
    end: i64,
}

impl Day {
    /// The day that a search asks for with `on(day)`, and the column: the first such one that is among the attributes,
    /// else the first.
    pub(super) fn requested(search: &Search, zone: &Zone) -> Option<(String, Self)> {
        let groups = &search.body.filters.or;
        let columns = groups.first()?.and.iter().filter(|condition| day_of(condition).is_some());
        let mut found: Vec<(&String, Self)> = columns
            .filter_map(|condition| Some((&condition.column, Self::of_groups(groups, &condition.column, zone)?)))
            .collect();
        found.sort_by_key(|(column, _)| !search.attributes.contains(column));
        found.first().map(|(column, day)| ((*column).clone(), *day))
    }

    /// The days of a column of which each record is, whichever group it satisfies.
    fn of_groups(groups: &[Group], column: &str, zone: &Zone) -> Option<Self> {
        let sent = |group: &Group| group.and.iter().filter(|each| each.column == column).find_map(day_of);
        let sent: Vec<Moment> = groups.iter().map(sent).collect::<Option<_>>()?;
        let (first, last) = (*sent.iter().min()?, *sent.iter().max()?);
        let ((start, _), (_, end)) = (bounds(zone, first)?, bounds(zone, last)?);
        let [first, last, start, end] = [first, last, start, end].map(Moment::milliseconds);
        Some(Self { sent: (first, last), start, end })
    }

    /// Its first instant.
    pub(super) fn first(self) -> Moment {
        Moment::at(self.start)
    }

    /// Whether all instants of a range lie in this day.
    fn contains(self, (earliest, latest): (i64, i64)) -> bool {
        self.start <= earliest && latest < self.end
    }
}

/// Collects, over the responses of several days, those with rows outside their day.
#[derive(Debug, Default)]
pub(super) struct OutOfDayRows {
    /// The column with the least and greatest time of the first such response, and the instant that its request names.
    first: Option<(String, i64)>,
    days: u64,
    odd_days: u64,
    /// The zone of times in records.
    source: Zone,
    fit: ZoneFit,
}

impl OutOfDayRows {
    /// Adds the response for a day, with the least and greatest time of its rows. Returns whether some row is outside.
    /// `source` is the zone of these times.
    pub(super) fn add(&mut self, day: Option<&(String, Day)>, times: Option<&(String, String)>, source: &Zone) -> bool {
        let (Some((column, day)), Some(times)) = (day, times) else { return false };
        let (Some(range), Some(written)) = (instants(times, source), instants(times, &Zone::default())) else {
            return false;
        };
        let (least, greatest) = times;
        if self.days == 0 {
            self.source = source.clone();
        }
        self.days += 1;
        self.fit.add(day.sent, written);
        let is_odd = !day.contains(range);
        if is_odd {
            self.odd_days += 1;
            let found = || (format!("{column} {least} to {greatest} ({})", source.name()), day.sent.0);
            self.first.get_or_insert_with(found);
        }
        is_odd
    }

    /// Whether no response was for a day.
    pub(super) const fn is_unused(&self) -> bool {
        self.days == 0
    }

    /// One message for all of them; none if all rows lie in their day.
    pub(super) fn message(&self) -> Option<String> {
        let (first, sent) = self.first.as_ref()?;
        let count = match self.days {
            1 => String::new(),
            days => format!(" in {} of {days} days", self.odd_days),
        };
        Some(format!("rows outside the requested day{count}: {first}; {}", self.fit.advice(*sent, &self.source)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A day of 24 hours in the caller's zone.
    fn day(start: i64) -> Day {
        Day { sent: (start, start), start, end: start + DAY }
    }

    const HOUR: i64 = DAY / 24;
    /// The 15th of January 2024 in UTC.
    const JANUARY_15: i64 = 1_705_276_800_000;

    fn message(responses: &[(Day, &str, &str)]) -> Option<String> {
        let mut rows = OutOfDayRows::default();
        for (day, least, greatest) in responses {
            let times = ((*least).to_owned(), (*greatest).to_owned());
            rows.add(Some(&("allocated_time".to_owned(), *day)), Some(&times), &Zone::default());
        }
        rows.message()
    }

    fn assert_explained(responses: &[(Day, &str, &str)], expected: &str) {
        let message = message(responses).expect("rows outside the day");
        assert!(message.contains(expected), "{message}");
    }

    #[test]
    fn rows_of_the_day_give_no_message() {
        assert_eq!(message(&[(day(JANUARY_15), "2024-01-15 00:00:00", "2024-01-15 23:59:59")]), None);
        assert_eq!(message(&[(day(JANUARY_15), "no time at all", "2024-01-15 23:59:59")]), None);
    }

    #[test]
    fn the_zone_of_the_service_is_inferred_from_its_rows() {
        for (least, greatest, zone) in [
            ("2024-01-14 17:00:00", "2024-01-15 16:59:59", "UTC+07:00"),
            ("2024-01-14 18:15:00", "2024-01-15 18:10:00", "UTC+05:45"),
            ("2024-01-14 05:00:00", "2024-01-15 04:59:59", "UTC-05:00"),
            ("2024-01-10 00:00:00", "2024-01-15 00:00:00", " no "),
        ] {
            assert_explained(&[(day(JANUARY_15), least, greatest)], zone);
        }
    }

    #[test]
    fn the_zone_explains_all_responses() {
        let responses = [
            (day(JANUARY_15), "2024-01-14 17:30:00", "2024-01-15 06:30:00"),
            (day(JANUARY_15 + DAY), "2024-01-15 17:00:00", "2024-01-16 16:00:00"),
        ];
        assert_explained(&responses, "2 of 2");
        assert_explained(&responses, "UTC+07:00");
    }

    #[test]
    fn a_zone_with_summer_time_explains_all_responses() {
        // In Berlin the 31st of March 2024 has 23 hours.
        let march_30 = 1_711_756_800_000;
        let responses = [
            (day(march_30), "2024-03-29 23:00:00", "2024-03-30 22:59:59"),
            (day(march_30 + DAY), "2024-03-30 23:00:00", "2024-03-31 21:59:59"),
            (day(march_30 + 2 * DAY), "2024-03-31 22:00:00", "2024-04-01 21:59:59"),
        ];
        assert_explained(&responses, "UTC+01:00 (Europe/Berlin, ");
    }

    #[test]
    fn the_requested_day_is_that_of_the_callers_zone() {
        // Midnight in Berlin is 23:00 UTC of the day before; a service in UTC takes the day with that instant.
        let berlin = day(JANUARY_15 - HOUR);
        assert_eq!(message(&[(berlin, "2024-01-14 23:00:00", "2024-01-15 22:59:59")]), None);
        assert_explained(&[(berlin, "2024-01-14 00:00:01", "2024-01-14 23:59:59")], "UTC+00:00");
    }
}
