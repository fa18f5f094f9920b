//! Segment exports: their plans, and their entries at a given time (sections 2.5, 3.2).
//!
//! Nothing runs in the background: the state of an entry is computed from its plan and the clock.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::switches::Switches;
use crate::contract::export::{ExportData, ExportEntry, ExportMeta, STATUS_RUNNING};

/// The id of the first export that was started without one.
const FIRST_ID: i64 = 1_000_001;

/// One planned entry of an export: it is listed from its start on, and its null fields are set at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedEntry {
    /// When it starts and is listed.
    pub starts: SystemTime,
    /// How long it runs.
    pub takes: Duration,
    /// How many rows it has exported at its end.
    pub rows: u64,
    /// Whether it succeeds.
    pub succeeds: bool,
}

/// An export whose entries start together and end one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportPlan {
    /// Time until the entries are listed.
    pub delay: Duration,
    /// Time from then until the last entry ends.
    pub takes: Duration,
    /// How many entries it has.
    pub entries: u32,
    /// How many rows each entry has exported at its end.
    pub rows: u64,
    /// Whether the entries succeed.
    pub succeeds: bool,
}

impl ExportPlan {
    fn entries(&self, now: SystemTime) -> Vec<PlannedEntry> {
        let Self { delay, takes, entries, rows, succeeds } = *self;
        // A start beyond the range of the clock never comes.
        let Some(starts) = now.checked_add(delay) else { return Vec::new() };
        let share = |number| takes.checked_mul(number).map_or(takes, |sum| sum / entries);
        (1..=entries).map(|number| PlannedEntry { starts, takes: share(number), rows, succeeds }).collect()
    }
}

/// The exports by their id.
#[derive(Default)]
pub(super) struct Exports(RwLock<HashMap<i64, Vec<PlannedEntry>>>);

impl Exports {
    /// Plans an export; it replaces one with the same id.
    pub(super) fn plan(&self, id: i64, entries: Vec<PlannedEntry>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(id, entries);
    }

    /// Starts an export with the given id or a free one, and returns the id.
    pub(super) fn start(&self, id: Option<i64>, plan: &ExportPlan, now: SystemTime) -> i64 {
        let mut plans = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let id = id.or_else(|| (FIRST_ID..i64::MAX).find(|id| !plans.contains_key(id))).unwrap_or(FIRST_ID);
        plans.insert(id, plan.entries(now));
        id
    }

    /// The state of an export at this time; none for an unknown id.
    pub(super) fn at(&self, id: i64, now: SystemTime, switches: &Switches) -> Option<ExportData> {
        let plans = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let started = plans.get(&id)?.iter().filter(|entry| entry.starts <= now);
        Some(export_data(started.map(|entry| entry.at(now, switches)).collect()))
    }
}

/// Entries with their count.
pub(super) fn export_data(entries: Vec<ExportEntry>) -> ExportData {
    let meta = ExportMeta { total: entries.len() };
    ExportData { entries, meta }
}

impl PlannedEntry {
    fn at(&self, now: SystemTime, switches: &Switches) -> ExportEntry {
        // An end beyond the range of the clock never comes.
        match self.starts.checked_add(self.takes).filter(|end| *end <= now) {
            None => ExportEntry {
                export_status: STATUS_RUNNING,
                exported_rows: None,
                start_time: formatted(self.starts),
                end_time: None,
                durations: Value::Null,
                response_code: Value::Null,
                response_message: Value::Null,
            },
            Some(end) => {
                let milliseconds = u64::try_from(self.takes.as_millis()).unwrap_or(u64::MAX);
                let (export_status, code, message) = if self.succeeds {
                    (switches.finished_status, 200, "OK")
                } else {
                    (switches.failed_status, 500, "The destination refused the file")
                };
                ExportEntry {
                    export_status,
                    exported_rows: Some(self.rows),
                    start_time: formatted(self.starts),
                    end_time: Some(formatted(end)),
                    durations: milliseconds.into(),
                    response_code: code.into(),
                    response_message: message.into(),
                }
            }
        }
    }
}

/// ISO 8601, UTC, with milliseconds.
fn formatted(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or_default().to_zoned(TimeZone::UTC);
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
