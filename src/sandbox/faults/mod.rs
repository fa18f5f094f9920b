//! Injected faults: which are active, which requests they match, and how often.
//!
//! The middleware and `fault_body` apply them. `form` is the JSON form of a fault.

mod chance;
mod fault;
mod form;
mod members;
mod pattern;
mod presets;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

pub use fault::Fault;
pub(super) use fault::FaultKind;

pub(super) use pattern::Received;

use crate::error::{Error, Kind, Result};

/// Most active faults.
const MOST_FAULTS: usize = 1_000;

/// The active faults, oldest first.
#[derive(Debug, Default)]
pub(super) struct Faults {
    active: Mutex<Vec<Arc<ActiveFault>>>,
    begun: AtomicU64,
}

/// An active fault with its counters.
#[derive(Debug)]
pub(super) struct ActiveFault {
    pub(super) fault: Fault,
    id: u64,
    seen: AtomicU64,
    chosen: AtomicU64,
    delays: AtomicU64,
    hits: AtomicU64,
    /// A hash of the token that it refuses.
    token: OnceLock<u64>,
    ended: CancellationToken,
}

impl ActiveFault {
    pub(super) fn new(id: u64, fault: Fault) -> Self {
        let (seen, chosen, delays, hits, token, ended) = Default::default();
        Self { fault, id, seen, chosen, delays, hits, token, ended }
    }

    /// Whether it affects a request. Counts each request that has its path and pattern.
    fn matches(&self, received: &Received<'_>) -> bool {
        let Fault { path, after, times, pattern, probability, seed, .. } = &self.fault;
        if path.as_ref().is_some_and(|wanted| wanted != received.path) || !pattern.matches(received) {
            return false;
        }
        let Some(number) = self.seen.fetch_add(1, Ordering::Relaxed).checked_sub(*after) else { return false };
        chance::share(*seed, number) < *probability
            && self.refuses_token(received)
            && times.is_none_or(|times| {
                let next = |chosen| (chosen < times).then_some(chosen + 1);
                self.chosen.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
            })
    }

    /// Whether it refuses the token of the request; true for faults that are not about tokens.
    fn refuses_token(&self, received: &Received<'_>) -> bool {
        if self.fault.kind != FaultKind::ExpiredToken {
            return true;
        }
        received.authorization().is_some_and(|authorization| {
            let mut hasher = DefaultHasher::new();
            authorization.hash(&mut hasher);
            let hash = hasher.finish();
            *self.token.get_or_init(|| hash) == hash
        })
    }

    /// Identifies it among the faults of a sandbox.
    pub(super) const fn id(&self) -> u64 {
        self.id
    }

    /// How many responses it has changed.
    pub(super) fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// Counts a response that it has changed.
    pub(super) fn record_hit(&self) {
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    /// The delay of the next response.
    pub(super) fn next_delay(&self) -> Duration {
        let FaultKind::Delay { least, most } = self.fault.kind else { return Duration::ZERO };
        let number = self.delays.fetch_add(1, Ordering::Relaxed);
        most.map_or(least, |most| chance::duration(self.fault.seed, number, least, most))
    }

    /// Its form, with `id` and `hits`.
    pub(super) fn to_json(&self) -> Map<String, Value> {
        let mut form = self.fault.form();
        form.shift_insert(0, "id".to_owned(), self.id.into());
        form.insert("hits".to_owned(), self.hits().into());
        form
    }

    /// Cancelled once the fault has ended.
    pub(super) fn ended(&self) -> &CancellationToken {
        &self.ended
    }
}

impl Faults {
    /// Activates a fault.
    pub(super) fn begin(&self, fault: Fault) -> Result<Arc<ActiveFault>> {
        fault.check()?;
        let mut faults = self.lock();
        if faults.len() >= MOST_FAULTS {
            let problem = format!("this sandbox has {MOST_FAULTS} faults, which is the limit");
            return Err(Error::new(Kind::Sandbox, problem).with_hint("end those that are not needed"));
        }
        let id = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let active = Arc::new(ActiveFault::new(id, fault));
        faults.push(Arc::clone(&active));
        Ok(active)
    }

    /// The active faults, oldest first.
    pub(super) fn list(&self) -> Vec<Arc<ActiveFault>> {
        self.lock().clone()
    }

    /// The active fault with this id.
    pub(super) fn get(&self, id: u64) -> Option<Arc<ActiveFault>> {
        self.lock().iter().find(|each| each.id == id).map(Arc::clone)
    }

    /// Ends a fault and returns it; stalled responses continue.
    pub(super) fn end(&self, id: u64) -> Option<Arc<ActiveFault>> {
        let mut active = self.lock();
        let index = active.iter().position(|each| each.id == id)?;
        let ended = active.remove(index);
        ended.ended.cancel();
        Some(ended)
    }

    /// Ends all faults.
    pub(super) fn end_all(&self) -> Vec<Arc<ActiveFault>> {
        let ended = std::mem::take(&mut *self.lock());
        for each in &ended {
            each.ended.cancel();
        }
        ended
    }

    /// The first fault that affects a request.
    pub(super) fn next_match(&self, received: &Received<'_>) -> Option<Arc<ActiveFault>> {
        // A copy of the list: a large body takes a while to parse.
        self.list().into_iter().find(|each| each.matches(received))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<ActiveFault>>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use serde_json::json;

    use super::*;
    use crate::sandbox::days::Zones;
    use crate::sandbox::request::Interpretation;
    use crate::sandbox::switches::Switches;

    fn fault(form: &Value) -> Fault {
        serde_json::from_value(form.clone()).unwrap()
    }

    fn next_match(faults: &Faults, path: &str, token: &str) -> Option<Arc<ActiveFault>> {
        let zones = Zones { days: jiff::tz::TimeZone::UTC, records: jiff::tz::TimeZone::UTC };
        let switches = Switches::default();
        let headers = HeaderMap::from_iter([(axum::http::header::AUTHORIZATION, token.parse().unwrap())]);
        let interpretation = Interpretation { switches, zones };
        faults.next_match(&Received::new(path, &headers, b"", &interpretation)).inspect(|each| each.record_hit())
    }

    /// The codes of the faults of requests for these paths; 0 is none.
    fn matched(faults: &Faults, paths: &[&str]) -> Vec<i64> {
        let code = |fault: Arc<ActiveFault>| match fault.fault.kind {
            FaultKind::LateCode(code) => code,
            _ => -1,
        };
        paths.iter().map(|path| next_match(faults, path, "Bearer a").map_or(0, code)).collect()
    }

    #[test]
    fn a_fault_passes_over_requests_before_after_and_beyond_times() {
        let faults = Faults::default();
        let late = json!({"kind": "late_code", "code": 301, "path": "/a", "after": 1, "times": 2});
        let begun = faults.begin(fault(&late)).unwrap();
        assert_eq!(matched(&faults, &["/a", "/b", "/a", "/a", "/a"]), [0, 0, 301, 301, 0]);
        assert_eq!(begun.hits(), 2);
    }

    #[test]
    fn the_first_fault_wins_and_the_next_counts_only_the_rest() {
        let faults = Faults::default();
        let outer = faults.begin(fault(&json!({"kind": "late_code", "code": 1, "times": 1}))).unwrap();
        let inner = faults.begin(fault(&json!({"kind": "late_code", "code": 2, "after": 1}))).unwrap();
        assert_eq!(matched(&faults, &["/a", "/a", "/a"]), [1, 0, 2]);
        faults.end(inner.id());
        assert_eq!(matched(&faults, &["/a"]), [0]);
        assert_eq!(outer.hits(), 1);
    }

    #[test]
    fn chance_follows_from_the_seed_and_times_counts_what_it_chose() {
        let run = |seed: u64, times: Option<u64>| {
            let faults = Faults::default();
            let form = json!({"kind": "late_code", "code": 1, "times": times, "probability": 0.3, "seed": seed});
            faults.begin(fault(&form)).unwrap();
            matched(&faults, &["/a"; 100])
        };
        let first = run(7, None);
        assert_eq!(first, run(7, None));
        assert_ne!(first, run(8, None));
        let hits: i64 = first.iter().sum();
        assert!((20..40).contains(&hits), "{hits}");
        assert_eq!(run(7, Some(5)).iter().sum::<i64>(), 5);
    }

    #[test]
    fn delays_vary_within_their_range_as_the_seed_decides() {
        let delays = |seed: u64| {
            let fault = fault(&json!({"kind": "delay", "seconds": 1, "max_seconds": 2, "seed": seed}));
            let active = ActiveFault::new(1, fault);
            (0..20).map(|_| active.next_delay()).collect::<Vec<_>>()
        };
        let first = delays(3);
        assert!(first.iter().all(|each| (1.0..=2.0).contains(&each.as_secs_f64())), "{first:?}");
        assert_eq!(first, delays(3));
        assert_ne!(first, delays(4));
        let fixed = ActiveFault::new(1, fault(&json!({"kind": "delay", "seconds": 1e19})));
        assert_eq!(fixed.next_delay(), Duration::from_secs(10_000_000_000_000_000_000));
    }

    #[test]
    fn an_expired_token_is_the_first_one_and_stays_expired() {
        let faults = Faults::default();
        faults.begin(fault(&json!({"kind": "expired_token", "after": 1}))).unwrap();
        let refused = |token| next_match(&faults, "/a", token).is_some();
        let tokens = ["Bearer old", "Bearer old", "Bearer new", "Bearer old", "Bearer new"];
        assert_eq!(tokens.map(refused), [false, true, false, true, false]);
    }

    #[test]
    fn active_faults_are_listed_and_ended_by_id() {
        let faults = Faults::default();
        let first = faults.begin(fault(&json!({"kind": "late_code", "code": 1}))).unwrap();
        let second = faults.begin(fault(&json!({"kind": "reset", "path": "search"}))).unwrap();
        assert_eq!((first.id(), second.id()), (1, 2));
        assert_eq!(
            faults.list().iter().map(|each| each.to_json()).collect::<Value>(),
            json!([{"id": 1, "kind": "late_code", "code": 1, "hits": 0},
                   {"id": 2, "kind": "reset", "path": "search", "hits": 0}])
        );
        assert_eq!(faults.get(2).map(|found| found.id()), Some(2));
        assert!(faults.end(2).is_some_and(|ended| ended.ended().is_cancelled()));
        assert!(faults.end(2).is_none() && faults.get(2).is_none());
        assert_eq!(faults.end_all().len(), 1);
        assert!(faults.list().is_empty());
    }

    #[test]
    fn impossible_faults_are_refused() {
        let late = json!({"kind": "late_code", "code": 1});
        let impossible = [
            ("path", json!("searches")),
            ("times", json!(0)),
            ("probability", json!(0)),
            ("kind", json!("drip")),
            ("code", json!(200)),
        ];
        for (member, value) in impossible {
            let mut form = late.as_object().unwrap().clone();
            form.insert(member.to_owned(), value);
            assert_eq!(Fault::from_form(form).unwrap_err().kind(), Kind::Config, "{member}");
        }
    }
}
