//! The demo data of a running service. Each search asks what is due by the clock; nothing runs in the background.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::{Demo, codes};
use crate::contract::business_object::PROMOTION_CODE_NAME;
use crate::error::Result;
use crate::sandbox::days::Zones;
use crate::sandbox::exports::Exports;
use crate::sandbox::store::Store;

/// Most days that are added at once, when the clock moves far: the last ones.
const MOST_DAYS: u32 = 366;

/// The demo data, and how far the store has it.
pub(in crate::sandbox) struct DemoData {
    settings: Demo,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The codes that are allocated before this time (UTC) are in the store.
    end: Option<DateTime>,
    /// The codes that are sent and will be used, with the times of it.
    to_be_used: BTreeSet<(DateTime, u32)>,
    /// Whether the user has removed the codes.
    is_stopped: bool,
}

impl DemoData {
    /// Demo data that is not loaded yet.
    pub(in crate::sandbox) fn new(settings: Demo) -> Self {
        Self { settings, state: Mutex::default() }
    }

    /// The last day, if it was given.
    pub(in crate::sandbox) fn until(&self) -> Option<Date> {
        self.settings.until
    }

    /// Loads all rows and plans the exports of a service that starts now.
    pub(in crate::sandbox) fn fill(
        &self,
        store: &Arc<Store>,
        exports: &Exports,
        zones: &Zones,
        now: SystemTime,
    ) -> Result<()> {
        self.settings.fill(store, exports, now)?;
        *self.lock() = State::default();
        self.refresh(store, zones, now)
    }

    /// Writes what is due: the codes of days that ended, and the codes that were used.
    ///
    /// If the store is busy, the next search writes it.
    pub(in crate::sandbox) fn refresh(&self, store: &Store, zones: &Zones, now: SystemTime) -> Result<()> {
        let Ok(time) = Timestamp::try_from(now) else { return Ok(()) };
        let now = TimeZone::UTC.to_datetime(time);
        let mut state = self.lock();
        let end = self.end(time, zones);
        let added = due(state.end, end);
        let used: Vec<(DateTime, u32)> = state.to_be_used.range(..=(now, u32::MAX)).copied().collect();
        if state.is_stopped || (added.is_empty() && used.is_empty()) {
            return Ok(());
        }
        let rows = added.iter().map(|number| codes::row(*number, now, zones));
        let before = |(time, number)| codes::row(number, time, zones);
        let changed = used.iter().map(|(time, number)| {
            let sent = time.saturating_sub(1.second());
            (before((sent, *number)), before((now, *number)))
        });
        match store.update(PROMOTION_CODE_NAME, rows, changed) {
            Err(error) if error.is_retryable() => return Ok(()),
            outcome => outcome?,
        }
        state.end = state.end.max(Some(end));
        for due in used {
            state.to_be_used.remove(&due);
        }
        let times = added.into_iter().filter_map(|number| Some((codes::used(number)?, number)));
        state.to_be_used.extend(times.filter(|(time, _)| *time > now));
        Ok(())
    }

    /// Adds and changes nothing more, as the user has removed the codes.
    pub(in crate::sandbox) fn stop(&self) {
        self.lock().is_stopped = true;
    }

    /// The end of the last day (UTC): the given one, else yesterday by the clock, as the service cuts days.
    fn end(&self, now: Timestamp, zones: &Zones) -> DateTime {
        if let Some(until) = self.settings.until {
            return until.saturating_add(1.day()).at(0, 0, 0, 0);
        }
        let today = now.to_zoned(zones.days.clone());
        let start = today.start_of_day().unwrap_or(today);
        TimeZone::UTC.to_datetime(start.timestamp())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The codes that are allocated before `end` and that the store, which has those before `known`, does not have yet.
fn due(known: Option<DateTime>, end: DateTime) -> Vec<u32> {
    let days = if known.is_some() { MOST_DAYS } else { codes::DAYS };
    let earliest = end.saturating_sub(i64::from(days).days());
    let start = known.map_or(earliest, |known| known.max(earliest));
    if start >= end {
        return Vec::new();
    }
    let first = start.date().max(codes::FIRST_DAY);
    let days = first.series(1.day()).take_while(|day| *day <= end.date());
    days.flat_map(codes::of_day)
        .filter(|number| {
            let allocated = codes::allocated(*number);
            start <= allocated && allocated < end
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::civil::date;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::sandbox::objects::BusinessObject;
    use crate::sandbox::query::Query;
    use crate::sandbox::switches::RowOrder;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn at(time: &str) -> SystemTime {
        time.parse::<Timestamp>().unwrap().into()
    }

    fn zones() -> Zones {
        Zones { days: TimeZone::UTC, records: TimeZone::UTC }
    }

    fn loaded(until: Option<Date>, now: SystemTime) -> (DemoData, Store) {
        let store = Store::open(None, CancellationToken::new()).unwrap();
        store.declare(&BusinessObject::promotion_code()).unwrap();
        let data = DemoData::new(Demo { until, ..Demo::default() });
        data.refresh(&store, &zones(), now).unwrap();
        (data, store)
    }

    /// Id, allocation and status of all rows.
    fn rows(store: &Store) -> Vec<(String, Option<String>, i64)> {
        let query = Query { attributes: vec![0, 4, 7], groups: vec![vec![]], order: RowOrder::Id, limit: None };
        let mut rows = Vec::new();
        let table = store.named(PROMOTION_CODE_NAME).unwrap();
        let read = |row: &rusqlite::Row<'_>| {
            rows.push((row.get(0).unwrap(), row.get(1).unwrap(), row.get(2).unwrap()));
            Ok(())
        };
        store.search(&table, query, || false, read).unwrap();
        rows
    }

    #[test]
    fn midnight_adds_the_day_that_ended_and_a_long_time_adds_a_year() {
        let (data, store) = loaded(None, at("2026-05-20T23:59:59Z"));
        let latest = |store: &Store| rows(store).iter().filter_map(|row| row.1.clone()).max();
        assert_eq!(latest(&store).as_deref(), Some("2026-05-19 23:59:59"));
        let count = rows(&store).len();
        data.refresh(&store, &zones(), at("2026-05-21T00:00:00Z")).unwrap();
        assert_eq!(latest(&store).as_deref(), Some("2026-05-20 23:59:59"));
        assert_eq!(rows(&store).len(), count + codes::of_day(date(2026, 5, 20)).count());
        data.refresh(&store, &zones(), at("2026-08-29T00:00:00Z")).unwrap();
        let days = date(2026, 3, 21).series(1.day()).take(161);
        assert_eq!(rows(&store).len(), days.flat_map(codes::of_day).count(), "no day is left out");
        let count = rows(&store).len();
        data.refresh(&store, &zones(), at("2926-05-21T00:00:00Z")).unwrap();
        assert!((36_500..36_700).contains(&(rows(&store).len() - count)));
    }

    #[test]
    fn the_last_day_is_yesterday_where_the_service_cuts_days() {
        for (zone, now, end) in [
            ("Asia/Ho_Chi_Minh", "2026-05-20T19:43:00Z", "2026-05-20 17:00:00"),
            ("Asia/Ho_Chi_Minh", "2026-05-20T10:00:00Z", "2026-05-19 17:00:00"),
            ("America/Sao_Paulo", "2026-05-20T02:00:00Z", "2026-05-19 03:00:00"),
            ("America/Sao_Paulo", "2026-05-20T12:00:00Z", "2026-05-20 03:00:00"),
        ] {
            let zones = Zones { days: TimeZone::get(zone).unwrap(), records: TimeZone::UTC };
            let store = Store::open(None, CancellationToken::new()).unwrap();
            store.declare(&BusinessObject::promotion_code()).unwrap();
            let data = DemoData::new(Demo::default());
            data.refresh(&store, &zones, at(now)).unwrap();
            let allocated: Vec<String> = rows(&store).into_iter().filter_map(|row| row.1).collect();
            let last = allocated.iter().max().unwrap();
            assert!(last.as_str() < end, "{zone}: {last}");
            let hours = 6;
            let before =
                DateTime::strptime(crate::sandbox::objects::TIME_FORMAT, end).unwrap().saturating_sub(hours.hours());
            assert!(last.as_str() > before.strftime(crate::sandbox::objects::TIME_FORMAT).to_string().as_str());
        }
    }

    #[test]
    fn all_days_of_a_block_have_all_of_its_codes() {
        let (_, store) = loaded(Some(date(2024, 2, 29)), at("2024-05-20T12:00:00Z"));
        let mut ids: Vec<String> = rows(&store).into_iter().map(|row| row.0).collect();
        ids.dedup();
        let first_and_last = (ids.first().map(String::as_str), ids.last().map(String::as_str));
        assert_eq!((ids.len(), first_and_last), (6_000, (Some("demo-code-00001"), Some("demo-code-06000"))));
    }

    #[test]
    fn the_rows_at_a_time_do_not_depend_on_when_they_were_written() {
        let start = at("2024-02-20T06:00:00Z");
        for until in [None, Some(date(2024, 2, 24))] {
            let (data, store) = loaded(until, start);
            for day in 1..=20 {
                data.refresh(&store, &zones(), start + DAY * day + DAY / 3).unwrap();
                let (_, other) = loaded(until, start + DAY * day + DAY / 3);
                // The data of the second sandbox begins later by as many days.
                let of_other = rows(&other);
                let ids: BTreeSet<&str> = of_other.iter().map(|row| row.0.as_str()).collect();
                let mut all = rows(&store);
                all.retain(|row| ids.contains(row.0.as_str()));
                assert_eq!(all, of_other, "{until:?} {day}");
            }
        }
    }

    #[test]
    fn what_the_user_changed_or_removed_stays() {
        let (data, store) = loaded(Some(date(2024, 2, 29)), at("2024-01-01T00:00:00Z"));
        let number = (1..=6_000).find(|number| codes::used(*number).is_some()).unwrap();
        let id = format!("demo-code-{number:05}");
        let mut row = codes::row(number, DateTime::MIN, &zones());
        if let Some(name) = row.get_mut(1) {
            *name = "mine".into();
        }
        let store = Arc::new(store);
        let mut load = crate::sandbox::store::Load::begin(&store, PROMOTION_CODE_NAME, &store.stopping).unwrap();
        load.add([row]).unwrap();
        load.finish(true).unwrap();
        data.refresh(&store, &zones(), at("2024-06-01T00:00:00Z")).unwrap();
        let found = rows(&store);
        assert!(found.iter().filter(|row| row.2 == 4).count() > 1_000);
        assert_eq!(found.iter().find(|row| row.0 == id).map(|row| row.2), Some(3));
    }

    #[test]
    fn codes_that_were_removed_do_not_return() {
        let (data, store) = loaded(None, at("2026-05-20T12:00:00Z"));
        store.clear(PROMOTION_CODE_NAME).unwrap();
        data.stop();
        data.refresh(&store, &zones(), at("2026-05-21T12:00:00Z")).unwrap();
        assert_eq!(rows(&store), []);
    }

    #[test]
    fn a_day_has_the_same_rows_for_each_end_that_includes_it() {
        let now = at("2026-05-20T12:00:00Z");
        let of_day = |until: Date| {
            let mut rows = rows(&loaded(Some(until), now).1);
            rows.retain(|row| row.1.as_ref().is_some_and(|time| time.starts_with("2025-03-02")));
            rows
        };
        let rows = of_day(date(2025, 3, 2));
        assert!(rows.len() > 60, "{}", rows.len());
        for until in [date(2025, 3, 3), date(2025, 3, 30), date(2025, 4, 30)] {
            assert_eq!(of_day(until), rows, "{until}");
        }
        assert_eq!(of_day(date(2025, 5, 1)), []);
    }

    #[test]
    fn days_before_the_first_have_no_codes() {
        assert_eq!(rows(&loaded(None, at("2024-01-03T12:00:00Z")).1).len(), 200);
        assert_eq!(rows(&loaded(None, at("1980-01-03T12:00:00Z")).1), []);
    }
}
