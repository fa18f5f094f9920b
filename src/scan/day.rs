//! The days of a scan, the day that a request asks for, rows outside it, and the time zone of the service that would
//! explain them.

use crate::contract::condition::{Condition, DATETIME, EQUALS, TIME_UNIT};
#[cfg(feature = "files")]
use crate::contract::search::Filters;
use crate::contract::search::{Group, SearchBody};
use crate::error::argument;
use crate::filter::{Plan, Search};
use crate::time::{Moment, Zone, offset_text};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// The UTC offsets in use lie between these, in steps of a quarter of an hour.
const WESTERNMOST: i64 = -12 * HOUR;
const EASTERNMOST: i64 = 14 * HOUR;
const STEP: i64 = 15 * MINUTE;

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

/// The instants of the least and the greatest time of records, in Unix milliseconds. None if one is no time.
pub(super) fn instants((least, greatest): &(String, String)) -> Option<(i64, i64)> {
    Some((instant_of(least)?, instant_of(greatest)?))
}

/// The instant that a record's time means.
fn instant_of(text: &str) -> Option<i64> {
    Zone::default().parse_moment(text).ok().map(Moment::milliseconds)
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

    /// Whether all instants of a range lie in this day.
    fn contains(self, (earliest, latest): (i64, i64)) -> bool {
        self.start <= earliest && latest < self.end
    }

    /// Whether all instants of a range lie in the day of the sent instant at these UTC offsets: at the first one, or
    /// at either where the clock changes within that day.
    fn contains_at(self, offsets: &[i64], (earliest, latest): (i64, i64)) -> bool {
        offsets.iter().any(|begin| {
            let day = |sent: i64| (sent + begin).div_euclid(DAY);
            let is_before_end = |end: &i64| latest < (day(self.sent.1) + 1) * DAY - end;
            day(self.sent.0) * DAY - begin <= earliest && offsets.iter().any(is_before_end)
        })
    }
}

/// Collects, over the responses of several days, those with rows outside their day.
#[derive(Debug, Default)]
pub(super) struct OutOfDayRows {
    /// The column, and the least and greatest time of the first such response, as the service writes times, in UTC.
    first: Option<(String, String, String)>,
    days: u64,
    odd_days: u64,
    /// The UTC offsets of the service that explain all responses: whole hours first, then the nearest to UTC. None
    /// before the first response, as most searches ask for no day.
    offsets: Vec<i64>,
    /// The winter offsets of the zones with an hour of summer time that explain them, in the same order.
    summer_time: Vec<i64>,
}

impl OutOfDayRows {
    /// Adds the response for a day, with the least and greatest time of its rows. Returns whether some row is outside.
    pub(super) fn add(&mut self, day: Option<&(String, Day)>, times: Option<&(String, String)>) -> bool {
        let (Some((column, day)), Some(times)) = (day, times) else { return false };
        let Some(range) = instants(times) else { return false };
        let (least, greatest) = times;
        if self.days == 0 {
            self.offsets = all_offsets();
            self.summer_time.clone_from(&self.offsets);
        }
        self.days += 1;
        self.offsets.retain(|offset| day.contains_at(&[*offset], range));
        self.summer_time.retain(|offset| day.contains_at(&[*offset, offset + HOUR], range));
        let is_odd = !day.contains(range);
        if is_odd {
            self.odd_days += 1;
            self.first.get_or_insert_with(|| (column.clone(), least.clone(), greatest.clone()));
        }
        is_odd
    }

    /// Whether no response was for a day.
    pub(super) const fn is_unused(&self) -> bool {
        self.days == 0
    }

    /// One message for all of them; none if all rows lie in their day.
    pub(super) fn message(&self) -> Option<String> {
        let (column, least, greatest) = self.first.as_ref()?;
        let count = match self.days {
            1 => String::new(),
            days => format!(" in {} of {days} days", self.odd_days),
        };
        let found = format!("rows outside the requested day{count}: {column} {least} to {greatest} (UTC)");
        let zone = match (self.offsets.first(), self.summer_time.first()) {
            (Some(offset), _) => format!("UTC{}", text_of(*offset)),
            (None, Some(winter)) => {
                format!("UTC{}, and UTC{} in summer", text_of(*winter), text_of(winter + HOUR))
            }
            (None, None) => return Some(format!("{found}; no time zone of the service explains them")),
        };
        Some(format!("{found}; the service probably cuts days at {zone}: set {} to such a zone", argument("timezone")))
    }
}

/// All UTC offsets in use: whole hours first, then the nearest to UTC.
fn all_offsets() -> Vec<i64> {
    let steps = 0..=(EASTERNMOST - WESTERNMOST) / STEP;
    let mut offsets: Vec<i64> = steps.map(|step| WESTERNMOST + step * STEP).collect();
    offsets.sort_by_key(|offset| (offset % HOUR != 0, offset.abs()));
    offsets
}

/// `+07:00`, of milliseconds.
fn text_of(offset: i64) -> String {
    offset_text(i32::try_from(offset / 1_000).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A day of 24 hours in the caller's zone.
    fn day(start: i64) -> Day {
        Day { sent: (start, start), start, end: start + DAY }
    }

    /// The 15th of January 2024 in UTC.
    const JANUARY_15: i64 = 1_705_276_800_000;

    fn message(responses: &[(Day, &str, &str)]) -> Option<String> {
        let mut rows = OutOfDayRows::default();
        for (day, least, greatest) in responses {
            rows.add(Some(&("allocated_time".to_owned(), *day)), Some(&((*least).to_owned(), (*greatest).to_owned())));
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
            ("2024-01-10 00:00:00", "2024-01-15 00:00:00", "no time zone"),
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
        assert_explained(&responses, "2 of 2 days");
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
        assert_explained(&responses, "UTC+01:00, and UTC+02:00 in summer");
    }

    #[test]
    fn the_requested_day_is_that_of_the_callers_zone() {
        // Midnight in Berlin is 23:00 UTC of the day before; a service in UTC takes the day with that instant.
        let berlin = day(JANUARY_15 - HOUR);
        assert_eq!(message(&[(berlin, "2024-01-14 23:00:00", "2024-01-15 22:59:59")]), None);
        assert_explained(&[(berlin, "2024-01-14 00:00:01", "2024-01-14 23:59:59")], "UTC+00:00");
    }
}
