//! Segment exports: list, start and remove.

use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Answer, Failure};
use super::call::Call;
use super::clock::{duration, written};
use crate::error::excerpt;
use crate::sandbox::exports::{PlannedEntry, Stage, share};
use crate::sandbox::service::Service;

/// Most entries of an export.
const MOST_ENTRIES: usize = 1_000;

/// An export: a number of like entries that end one after another, or a list of entries.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Start {
    export_id: Option<i64>,
    rows: Option<u64>,
    seconds: Option<f64>,
    delay: Option<f64>,
    succeeds: Option<bool>,
    entries: Entries,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "`entries` is a number of entries, or a list of objects with delay, seconds, rows, \
                               succeeds, code and message"
)]
enum Entries {
    Count(u32),
    List(Vec<Entry>),
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Entry {
    delay: f64,
    seconds: f64,
    rows: u64,
    succeeds: bool,
    code: Option<i64>,
    message: Option<String>,
}

impl Default for Entry {
    fn default() -> Self {
        Self { delay: 0.0, seconds: 1.0, rows: 1_000, succeeds: true, code: None, message: None }
    }
}

/// All exports by their ids, with their entries at this time.
pub(super) fn list(service: &Service, _: &Call) -> Result<Answer, Failure> {
    let now = service.clock.now();
    Ok(Answer::ok(service.exports.all().iter().map(|(id, entries)| shown(*id, entries, now)).collect()))
}

/// Starts an export; it replaces one with the same id.
pub(super) fn start(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let start: Start = call.json()?;
    let entries = match start.entries {
        Entries::List(entries) => {
            if [start.rows.is_some(), start.seconds.is_some(), start.delay.is_some(), start.succeeds.is_some()]
                .contains(&true)
            {
                return Err(Failure::malformed(
                    "rows, seconds, delay and succeeds are of each entry in a list of them",
                ));
            }
            entries
        }
        Entries::Count(count) => {
            let usual = Entry::default();
            let (rows, delay) = (start.rows.unwrap_or(usual.rows), start.delay.unwrap_or(usual.delay));
            let seconds = duration("seconds", start.seconds.unwrap_or(usual.seconds))?;
            let entry = |number| Entry {
                delay,
                seconds: share(seconds, number, count).as_secs_f64(),
                rows,
                succeeds: start.succeeds.unwrap_or(usual.succeeds),
                ..Entry::default()
            };
            (1..=count).take(MOST_ENTRIES + 1).map(entry).collect()
        }
    };
    if entries.len() > MOST_ENTRIES {
        return Err(Failure::malformed(format!("entries: an export has at most {MOST_ENTRIES} of them")));
    }
    let now = service.clock.now();
    let mut planned = Vec::with_capacity(entries.len());
    for entry in entries {
        let (delay, takes) = (duration("delay", entry.delay)?, duration("seconds", entry.seconds)?);
        // A start beyond the range of the clock never comes.
        let Some(starts) = now.checked_add(delay) else { continue };
        let Entry { rows, succeeds, code, message, .. } = entry;
        planned.push(PlannedEntry { starts, takes, rows, succeeds, code, message });
    }
    let id = service.exports.start(start.export_id, planned);
    Ok(Answer::created(json!({"export_id": id})))
}

/// Removes an export.
pub(super) fn remove(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let missing = || Failure::not_found(format!("there is no export {}", excerpt(call.parameter(), 60)));
    let id = call.id("export")?;
    let entries = service.exports.remove(id).ok_or_else(missing)?;
    Ok(Answer::ok(shown(id, &entries, service.clock.now())))
}

fn shown(id: i64, entries: &[PlannedEntry], now: std::time::SystemTime) -> Value {
    let entry = |entry: &PlannedEntry| {
        let status = match entry.stage(now) {
            Stage::Waiting => "waiting",
            Stage::Running => "running",
            Stage::Ended(_) if entry.succeeds => "succeeded",
            Stage::Ended(_) => "failed",
        };
        json!({
            "starts": written(entry.starts),
            "ends": entry.ends().and_then(written),
            "rows": entry.rows,
            "status": status,
        })
    };
    json!({"export_id": id, "entries": entries.iter().map(entry).collect::<Vec<_>>()})
}

impl Default for Start {
    fn default() -> Self {
        let entries = Entries::Count(1);
        Self { export_id: None, rows: None, seconds: None, delay: None, succeeds: None, entries }
    }
}
