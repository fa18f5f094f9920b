//! Injected faults: which requests they affect, and how often they have.
//!
//! A new kind has its form in `kind` and its effect in `apply`.

mod apply;
mod kind;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use memchr::memmem;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

pub(super) use self::apply::respond;
pub use self::kind::Fault;
use self::kind::{Choice, Day, FaultKind, Pattern, Text};
use super::chance;
use super::request::{self, SearchBody};
use super::switches::Switches;

#[derive(Clone, Default)]
pub(super) struct Faults {
    active: Vec<Arc<ActiveFault>>,
    begun: u64,
}

pub(super) struct ActiveFault {
    fault: Fault,
    /// Identifies it among the faults of a sandbox.
    pub(super) id: u64,
    seen: AtomicU64,
    chosen: AtomicU64,
    hits: AtomicU64,
    /// The header with the token that it refuses.
    authorization: OnceLock<HeaderValue>,
    /// Cancelled once the fault has ended.
    ended: CancellationToken,
}

impl ActiveFault {
    /// Whether it affects a request. Counts each request that has its path and pattern.
    fn matches(&self, head: &Parts, body: &[u8], switches: &Switches) -> bool {
        let Choice { pattern, after, times, probability, seed, .. } = &self.fault.choice;
        if !self.fault.choice.has_path(head.uri.path()) || !pattern.matches(body, switches) {
            return false;
        }
        let Some(number) = self.seen.fetch_add(1, Ordering::Relaxed).checked_sub(after.0) else { return false };
        probability.as_ref().is_none_or(|probability| chance::share(seed.0, number) < probability.0)
            && self.refuses_token(&head.headers)
            && times.as_ref().is_none_or(|times| {
                let next = |chosen| (chosen < times.0).then_some(chosen + 1);
                self.chosen.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
            })
    }

    /// Whether it refuses the token of the request; true for faults that are not about tokens.
    fn refuses_token(&self, headers: &HeaderMap) -> bool {
        let refused = |given| self.authorization.get_or_init(|| HeaderValue::clone(given)) == given;
        !matches!(self.fault.kind, FaultKind::ExpiredToken {})
            || headers.get(header::AUTHORIZATION).is_some_and(refused)
    }

    /// Counts a response that it has changed, and returns how many it had changed before.
    fn record_hit(&self) -> u64 {
        self.hits.fetch_add(1, Ordering::Relaxed)
    }

    /// Its form, with `id` and `hits`.
    pub(super) fn to_json(&self) -> Value {
        let mut form = Map::from_iter([("id".to_owned(), self.id.into())]);
        form.extend(self.fault.form.clone());
        form.insert("hits".to_owned(), self.hits.load(Ordering::Relaxed).into());
        form.into()
    }
}

impl Faults {
    /// Activates a fault and returns its form.
    pub(super) fn begin(&mut self, fault: Fault) -> Value {
        self.begun += 1;
        let (seen, chosen, hits, authorization, ended) = Default::default();
        let active = Arc::new(ActiveFault { fault, id: self.begun, seen, chosen, hits, authorization, ended });
        self.active.push(Arc::clone(&active));
        active.to_json()
    }

    /// The forms of these faults, or of the one with this id.
    pub(super) fn forms(&self, id: Option<u64>) -> Vec<Value> {
        let meant = self.active.iter().filter(|each| id.is_none_or(|id| each.id == id));
        meant.map(|each| each.to_json()).collect()
    }

    /// Ends the fault with this id, or all, and returns their forms; stalled responses continue.
    pub(super) fn end(&mut self, id: Option<u64>) -> Vec<Value> {
        let is_meant = |each: &mut Arc<ActiveFault>| id.is_none_or(|id| each.id == id);
        let ended = Self { active: self.active.extract_if(.., is_meant).collect(), begun: 0 };
        ended.cancel();
        ended.forms(None)
    }

    /// Ends the effects of all.
    pub(super) fn cancel(&self) {
        self.active.iter().for_each(|each| each.ended.cancel());
    }

    /// The same faults, begun after others.
    pub(super) fn begun_after(&self, others: &Self) -> Self {
        let mut begun = Self { active: Vec::new(), begun: others.begun };
        for each in &self.active {
            begun.begin(each.fault.clone());
        }
        begun
    }

    /// The first fault that affects a request. With these switches the service reads its days.
    pub(super) fn next_match(&self, head: &Parts, body: &[u8], switches: &Switches) -> Option<Arc<ActiveFault>> {
        self.active.iter().find(|each| each.matches(head, body, switches)).map(Arc::clone)
    }
}

impl Pattern {
    /// Whether the body of a request contains all of it.
    fn matches(&self, body: &[u8], switches: &Switches) -> bool {
        let has_text = |text: &Text| memmem::find(body, text.0.as_bytes()).is_some();
        let has_day = |day: &Day| request::read(body).is_ok_and(|search: SearchBody| search.has_day(day.0, switches));
        self.contains.as_ref().is_none_or(has_text) && self.day.as_ref().is_none_or(has_day)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::contract::condition::DATETIME;
    use crate::sandbox::switches::DayComparison;

    fn fault(form: &Value) -> Fault {
        Fault::from_form(form.as_object().unwrap().clone()).unwrap().remove(0)
    }

    fn next_match(faults: &Faults, token: &str) -> Option<Arc<ActiveFault>> {
        let (head, ()) = Request::post("/a").header(header::AUTHORIZATION, token).body(()).unwrap().into_parts();
        faults.next_match(&head, b"", &Switches::default())
    }

    #[test]
    fn chance_follows_from_the_seed_and_times_counts_what_it_chose() {
        let run = |seed: u64, times: Option<u64>| {
            let mut faults = Faults::default();
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
        let mut faults = Faults::default();
        faults.begin(fault(&json!({"kind": "expired_token", "after": 1})));
        let refused = |token| next_match(&faults, token).is_some();
        let tokens = ["Bearer old", "Bearer old", "Bearer new", "Bearer old", "Bearer new"];
        assert_eq!(tokens.map(refused), [false, true, false, true, false]);
    }

    /// The days from 12 to 18 January 2024 of Ho Chi Minh City that a search with these conditions has.
    fn days(conditions: &[Value], day_comparison: DayComparison) -> Vec<i8> {
        let day_zone = jiff::tz::TimeZone::get("Asia/Ho_Chi_Minh").unwrap();
        let switches = Switches { day_zone, day_comparison, ..Switches::default() };
        let body = json!({"itemTypeId": 1, "itemTypeName": "t", "attrs": [], "filters": {"OR": [{"AND": conditions}]}});
        let body = body.to_string();
        let has = |day: &i8| {
            Pattern { day: Some(Day(jiff::civil::date(2024, 1, *day))), contains: None }
                .matches(body.as_bytes(), &switches)
        };
        (12..=18).filter(has).collect()
    }

    fn time(column: &str, operator: &str, time: &str) -> Value {
        let milliseconds = time.parse::<Timestamp>().unwrap().as_millisecond();
        json!({"column": column, "data_type": DATETIME, "operator": operator, "value": milliseconds})
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
