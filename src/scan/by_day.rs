//! The days of a scan whose requests are for one day each.

use crate::contract::condition::{Condition, DATETIME, EQUALS, TIME_UNIT};
#[cfg(feature = "files")]
use crate::contract::search::Filters;
use crate::contract::search::SearchBody;
use crate::filter::Plan;
use crate::time::{Moment, Zone};

/// Milliseconds of a usual day.
#[cfg(feature = "files")]
const DAY: i64 = 24 * 60 * 60 * 1_000;

/// The condition that selects the day of each request, and the zone in which it is a day.
#[derive(Clone, Debug)]
pub(super) struct ByDay {
    position: usize,
    zone: Zone,
}

impl ByDay {
    /// The days of a plan, if exactly one condition selects a day.
    pub(super) fn of(plan: &Plan, zone: &Zone) -> Option<Self> {
        let filters = &plan.template().body.filters;
        let [group] = filters.or.as_slice() else { return None };
        let mut positions = (0..).zip(&group.and).filter(|(_, condition)| selects_day(condition));
        let (position, _) = positions.next()?;
        positions.next().is_none().then(|| Self { position, zone: zone.clone() })
    }

    /// The day of a request, as `2024-01-15`.
    pub(super) fn day(&self, body: &SearchBody) -> Option<String> {
        Some(self.zone.day_of(self.sent(body)?))
    }

    /// The first instant of the day of a request, and that of the next day.
    #[cfg(feature = "files")]
    pub(super) fn bounds(&self, body: &SearchBody) -> Option<(Moment, Moment)> {
        let start = self.zone.start_of_day(self.sent(body)?).ok()?;
        // An instant of the next day, whether clock changes make this one shorter or longer.
        let next = Moment::at(start.milliseconds() + DAY + DAY / 2);
        Some((start, self.zone.start_of_day(next).ok()?))
    }

    fn sent(&self, body: &SearchBody) -> Option<Moment> {
        body.filters.or.first()?.and.get(self.position)?.value.as_i64().map(Moment::at)
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

fn selects_day(condition: &Condition) -> bool {
    let Condition { data_type, operator, time_unit, .. } = condition;
    data_type == DATETIME && operator == EQUALS && time_unit.as_deref() == Some(TIME_UNIT)
}
