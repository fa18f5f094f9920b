//! The active faults: which requests they affect, and how often they have.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use axum::http::{HeaderMap, HeaderValue, header};
use jiff::civil::Date;
use jiff::{Timestamp, Zoned};
use memchr::memmem;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::chance;
use super::kind::{Choice, Fault, FaultKind, Pattern};
use crate::contract::condition::{AFTER_DATE, BEFORE_DATE, DATETIME, EQUALS};
use crate::sandbox::switches::{DayComparison, DayEquals, Switches};

/// The active faults, oldest first.
#[derive(Default)]
pub(in crate::sandbox) struct Faults {
    active: Mutex<Vec<Arc<ActiveFault>>>,
    begun: AtomicU64,
}

/// An active fault with its counters.
pub(in crate::sandbox) struct ActiveFault {
    pub(in crate::sandbox) fault: Fault,
    /// Identifies it among the faults of a sandbox.
    pub(in crate::sandbox) id: u64,
    seen: AtomicU64,
    chosen: AtomicU64,
    hits: AtomicU64,
    /// The header with the token that it refuses.
    authorization: OnceLock<HeaderValue>,
    /// Cancelled once the fault has ended.
    pub(super) ended: CancellationToken,
}

/// A request, as faults match it, and how the service reads its days.
#[derive(Clone, Copy)]
pub(in crate::sandbox) struct Received<'a> {
    pub(in crate::sandbox) path: &'a str,
    pub(in crate::sandbox) headers: &'a HeaderMap,
    pub(in crate::sandbox) body: &'a [u8],
    pub(in crate::sandbox) switches: &'a Switches,
}

impl ActiveFault {
    /// Whether it affects a request. Counts each request that has its path and pattern.
    fn matches(&self, received: &Received<'_>) -> bool {
        let Choice { pattern, after, times, probability, seed, .. } = &self.fault.choice;
        if !self.fault.choice.has_path(received.path) || !pattern.matches(received) {
            return false;
        }
        let Some(number) = self.seen.fetch_add(1, Ordering::Relaxed).checked_sub(*after) else { return false };
        probability.is_none_or(|probability| chance::share(*seed, number) < probability)
            && self.refuses_token(received)
            && times.map(NonZeroU64::get).is_none_or(|times| {
                let next = |chosen| (chosen < times).then_some(chosen + 1);
                self.chosen.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
            })
    }

    /// Whether it refuses the token of the request; true for faults that are not about tokens.
    fn refuses_token(&self, received: &Received<'_>) -> bool {
        let refused = |given| self.authorization.get_or_init(|| HeaderValue::clone(given)) == given;
        !matches!(self.fault.kind, FaultKind::ExpiredToken {})
            || received.headers.get(header::AUTHORIZATION).is_some_and(refused)
    }

    /// Counts a response that it has changed, and returns how many it had changed before.
    pub(super) fn record_hit(&self) -> u64 {
        self.hits.fetch_add(1, Ordering::Relaxed)
    }

    /// Its form, with `id` and `hits`.
    pub(in crate::sandbox) fn to_json(&self) -> Map<String, Value> {
        let mut form = self.fault.form.clone();
        form.shift_insert(0, "id".to_owned(), self.id.into());
        form.insert("hits".to_owned(), self.hits.load(Ordering::Relaxed).into());
        form
    }
}

impl Faults {
    /// Activates a fault.
    pub(in crate::sandbox) fn begin(&self, fault: Fault) -> Arc<ActiveFault> {
        let id = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let (seen, chosen, hits, authorization, ended) = Default::default();
        let active = Arc::new(ActiveFault { fault, id, seen, chosen, hits, authorization, ended });
        self.lock().push(Arc::clone(&active));
        active
    }

    /// The active faults, oldest first.
    pub(in crate::sandbox) fn list(&self) -> Vec<Arc<ActiveFault>> {
        self.lock().clone()
    }

    /// The active fault with this id.
    pub(in crate::sandbox) fn get(&self, id: u64) -> Option<Arc<ActiveFault>> {
        self.lock().iter().find(|each| each.id == id).map(Arc::clone)
    }

    /// Ends the fault with this id, or all, and returns what ended; stalled responses continue.
    pub(in crate::sandbox) fn end(&self, id: Option<u64>) -> Vec<Arc<ActiveFault>> {
        let is_meant = |each: &mut Arc<ActiveFault>| id.is_none_or(|id| each.id == id);
        let ended: Vec<_> = self.lock().extract_if(.., is_meant).collect();
        for each in &ended {
            each.ended.cancel();
        }
        ended
    }

    /// The first fault that affects a request.
    pub(in crate::sandbox) fn next_match(&self, received: &Received<'_>) -> Option<Arc<ActiveFault>> {
        // A copy of the list: a large body takes a while to parse.
        self.list().into_iter().find(|each| each.matches(received))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<ActiveFault>>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pattern {
    /// Whether the body of a request contains all of it.
    fn matches(&self, received: &Received<'_>) -> bool {
        let has_text = |text: &String| memmem::find(received.body, text.as_bytes()).is_some();
        self.contains.as_ref().is_none_or(has_text) && self.day.as_ref().is_none_or(|day| has_day(received, day))
    }
}

/// Whether, in one group of conditions, those on the times of one column include a time of the day.
fn has_day(received: &Received<'_>, day: &str) -> bool {
    let day = day.parse().and_then(|day: Date| day.to_zoned(received.switches.day_zone.clone()));
    let day = day.ok().and_then(|day| seconds_of(&day));
    let body: Option<Value> = serde_json::from_slice(received.body).ok();
    let (Some(day), Some(body)) = (day, body) else { return false };
    let groups = body.pointer("/filters/OR").and_then(Value::as_array);
    groups.into_iter().flatten().filter_map(|group| group.get("AND")?.as_array()).any(|group| {
        let mut columns: BTreeMap<&str, Range<i64>> = BTreeMap::new();
        for condition in group {
            let Some((column, span)) = span(condition, received) else { continue };
            let left = columns.entry(column).or_insert_with(|| day.clone());
            *left = left.start.max(span.start)..left.end.min(span.end);
        }
        columns.values().any(|left| !left.is_empty())
    })
}

/// The column and the seconds for which a condition on a time holds, as records have whole seconds.
fn span<'a>(condition: &'a Value, received: &Received<'_>) -> Option<(&'a str, Range<i64>)> {
    let text = |name| condition.get(name)?.as_str();
    let (column, operator) = (text("column")?, text("operator")?);
    let milliseconds = condition.get("value")?.as_i64().filter(|_| text("data_type") == Some(DATETIME))?;
    let day =
        seconds_of(&Timestamp::from_millisecond(milliseconds).ok()?.to_zoned(received.switches.day_zone.clone()))?;
    // The first second that is not before the value.
    let second = -(-milliseconds).div_euclid(1_000);
    let Switches { day_comparison, day_equals, .. } = received.switches;
    let span = match (operator, day_comparison) {
        (EQUALS, _) if *day_equals == DayEquals::Window => second..second + 24 * 3_600,
        (EQUALS, _) => day,
        (BEFORE_DATE, DayComparison::Exclusive) => i64::MIN..day.start,
        (BEFORE_DATE, DayComparison::Inclusive) => i64::MIN..day.end,
        (BEFORE_DATE, DayComparison::Instants) => i64::MIN..second,
        (AFTER_DATE, DayComparison::Exclusive) => day.end..i64::MAX,
        (AFTER_DATE, DayComparison::Inclusive) => day.start..i64::MAX,
        (AFTER_DATE, DayComparison::Instants) => milliseconds.div_euclid(1_000) + 1..i64::MAX,
        _ => return None,
    };
    Some((column, span))
}

/// The Unix seconds of the day of a time.
fn seconds_of(time: &Zoned) -> Option<Range<i64>> {
    // A clock change may skip midnight.
    let start = time.start_of_day().ok()?;
    let end = start.tomorrow().ok()?.start_of_day().ok()?;
    Some(start.timestamp().as_second()..end.timestamp().as_second())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fault(form: &Value) -> Fault {
        Fault::from_form(form.as_object().unwrap().clone()).unwrap().remove(0)
    }

    fn next_match(faults: &Faults, token: &str) -> Option<Arc<ActiveFault>> {
        let headers = HeaderMap::from_iter([(header::AUTHORIZATION, token.parse().unwrap())]);
        let switches = &Switches::default();
        faults.next_match(&Received { path: "/a", headers: &headers, body: b"", switches })
    }

    #[test]
    fn chance_follows_from_the_seed_and_times_counts_what_it_chose() {
        let run = |seed: u64, times: Option<u64>| {
            let faults = Faults::default();
            let form = json!({"kind": "late_code", "code": 1, "times": times, "probability": 0.3, "seed": seed});
            faults.begin(fault(&form));
            (0..100).map(|_| next_match(&faults, "Bearer a").is_some()).collect::<Vec<_>>()
        };
        let hits = |run: &[bool]| run.iter().filter(|hit| **hit).count();
        let first = run(7, None);
        assert_eq!(first, run(7, None));
        assert_ne!(first, run(8, None));
        assert!((20..40).contains(&hits(&first)), "{first:?}");
        assert_eq!(hits(&run(7, Some(5))), 5);
    }

    #[test]
    fn an_expired_token_is_the_first_one_and_stays_expired() {
        let faults = Faults::default();
        faults.begin(fault(&json!({"kind": "expired_token", "after": 1})));
        let refused = |token| next_match(&faults, token).is_some();
        let tokens = ["Bearer old", "Bearer old", "Bearer new", "Bearer old", "Bearer new"];
        assert_eq!(tokens.map(refused), [false, true, false, true, false]);
    }

    /// The days from 12 to 18 January 2024 of Ho Chi Minh City that a search with these conditions has.
    fn days(conditions: &[Value], day_comparison: DayComparison) -> Vec<i8> {
        let day_zone = jiff::tz::TimeZone::get("Asia/Ho_Chi_Minh").unwrap();
        let (headers, switches) = (&HeaderMap::new(), &Switches { day_zone, day_comparison, ..Switches::default() });
        let body = json!({"filters": {"OR": [{"AND": conditions}]}}).to_string();
        let received = Received { path: "/", headers, body: body.as_bytes(), switches };
        let has = |day: &i8| {
            let day = Some(format!("2024-01-{day}"));
            Pattern { day, contains: None }.matches(&received)
        };
        (12..=18).filter(has).collect()
    }

    fn time(column: &str, operator: &str, time: &str) -> Value {
        let milliseconds = time.parse::<Timestamp>().unwrap().as_millisecond();
        json!({"column": column, "data_type": "datetime", "operator": operator, "value": milliseconds})
    }

    #[test]
    fn a_day_is_in_the_range_of_a_column_as_the_service_reads_it() {
        let range =
            [time("t", "after_date", "2024-01-14T16:59:59.999Z"), time("t", "before_date", "2024-01-15T17:00:00Z")];
        assert_eq!(days(&range, DayComparison::Exclusive), [15]);
        assert_eq!(days(&range, DayComparison::Inclusive), [14, 15, 16]);
        assert_eq!(days(&range, DayComparison::Instants), [15]);
        assert_eq!(days(&range[..1], DayComparison::Exclusive), [15, 16, 17, 18]);
        // 18:00 in UTC is the next day in Ho Chi Minh City. Of two columns each has its own range.
        let two = [time("t", "equals", "2024-01-12T18:00:00Z"), time("u", "equals", "2024-01-17T00:00:00Z")];
        assert_eq!(days(&two, DayComparison::Exclusive), [13, 17]);
        assert!(days(&[], DayComparison::Exclusive).is_empty());
    }
}
