//! Segment exports: what is planned for them, and what their entries look like at a given time (sections 2.5, 3.2).
//!
//! Nothing runs here: an entry is a plan, and its stage follows from the clock that is passed in.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::switches::{FinishedTypes, Switches};
use crate::contract::export::{ExportData, ExportEntry, ExportMeta, STATUS_RUNNING};

/// The id of the first export that was started without one.
const FIRST_ID: i64 = 1_000_001;

/// The course of one entry of an export: it appears when it starts, and its null fields are set when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedEntry {
    /// When it starts; before that the entry is not listed.
    pub starts: SystemTime,
    /// How long it runs.
    pub takes: Duration,
    /// How many rows it has exported at its end.
    pub rows: u64,
    /// Whether it ends well.
    pub succeeds: bool,
}

/// An export as a test wants it: its entries start together and end one after another, the last one at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportPlan {
    /// How long it takes until the entries are listed.
    pub delay: Duration,
    /// How long it takes from then on until the last entry has ended.
    pub takes: Duration,
    /// How many entries it has.
    pub entries: u32,
    /// How many rows each entry has exported at its end.
    pub rows: u64,
    /// Whether the entries end well.
    pub succeeds: bool,
}

impl ExportPlan {
    fn entries(&self, now: SystemTime) -> Vec<PlannedEntry> {
        let Self { delay, takes, entries, rows, succeeds } = *self;
        // A start beyond the end of time never comes.
        let Some(starts) = now.checked_add(delay) else { return Vec::new() };
        let share = |number| takes.checked_mul(number).map_or(takes, |sum| sum / entries);
        (1..=entries).map(|number| PlannedEntry { starts, takes: share(number), rows, succeeds }).collect()
    }
}

/// The exports by their id.
#[derive(Default)]
pub(super) struct Exports(RwLock<HashMap<i64, Vec<PlannedEntry>>>);

impl Exports {
    /// Plans an export, in place of one with the same id.
    pub(super) fn plan(&self, id: i64, entries: Vec<PlannedEntry>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(id, entries);
    }

    /// Starts an export, with an id that no other has if none is given; the id is the answer.
    pub(super) fn start(&self, id: Option<i64>, plan: &ExportPlan, now: SystemTime) -> i64 {
        let mut plans = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let id = id.or_else(|| (FIRST_ID..i64::MAX).find(|id| !plans.contains_key(id))).unwrap_or(FIRST_ID);
        plans.insert(id, plan.entries(now));
        id
    }

    /// What is known of an export at this time; none for an id that was never planned.
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
        // An end beyond the end of time never comes.
        match self.starts.checked_add(self.takes).filter(|end| *end <= now) {
            None => ExportEntry {
                export_status: STATUS_RUNNING,
                exported_rows: None,
                start_time: written(self.starts),
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
                    start_time: written(self.starts),
                    end_time: Some(written(end)),
                    durations: shaped(milliseconds, "ms", switches),
                    response_code: shaped(code, "", switches),
                    response_message: message.into(),
                }
            }
        }
    }
}

/// A number, or the text of it with its unit.
fn shaped(number: u64, unit: &str, switches: &Switches) -> Value {
    match switches.finished_types {
        FinishedTypes::Plain => number.into(),
        FinishedTypes::Text => format!("{number}{unit}").into(),
    }
}

/// ISO 8601, UTC, with milliseconds.
fn written(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or_default().to_zoned(TimeZone::UTC);
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
