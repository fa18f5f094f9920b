//! Segment exports: their plans, and their entries at a given time (sections 2.5, 3.2).
//!
//! Nothing runs in the background: the state of an entry is computed from its plan and the clock.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Number, Value};

use super::switches::{ScalarType, Switches};
use crate::contract::export::{ExportData, ExportEntry, ExportMeta, STATUS_RUNNING};

/// The id of the first export that was started without one.
const FIRST_ID: i64 = 1_000_001;

/// One planned entry of an export: it is listed from its start on, and its null fields are set at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedEntry {
    /// When it starts and is listed.
    pub starts: SystemTime,
    /// How long it runs.
    pub takes: Duration,
    /// How many rows it has exported at its end.
    pub rows: u64,
    /// Whether it succeeds.
    pub succeeds: bool,
    /// Its `responseCode` at its end; none is 200 or 500.
    pub code: Option<i64>,
    /// Its `responseMessage` at its end; none is the usual one.
    pub message: Option<String>,
}

/// How far an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It is not listed yet.
    Waiting,
    /// Its null fields are not set yet.
    Running,
    /// It ended at this time.
    Ended(SystemTime),
}

/// The time that the entry of a number takes, of `count` entries that end one after another.
pub(super) fn share(takes: Duration, number: u32, count: u32) -> Duration {
    takes.checked_mul(number).map_or(takes, |sum| sum / count.max(1))
}

/// The exports by their id.
#[derive(Clone, Default)]
pub(super) struct Exports(pub(super) BTreeMap<i64, Vec<PlannedEntry>>);

impl Exports {
    /// Plans an export with the given id, where it replaces another, or with a free one, and returns the id.
    pub(super) fn start(&mut self, id: Option<i64>, entries: Vec<PlannedEntry>) -> i64 {
        let id = id.or_else(|| (FIRST_ID..i64::MAX).find(|id| !self.0.contains_key(id))).unwrap_or(FIRST_ID);
        self.0.insert(id, entries);
        id
    }

    /// All exports, later.
    pub(super) fn later(&mut self, by: Duration) {
        for entry in self.0.values_mut().flatten() {
            entry.starts = entry.starts.checked_add(by).unwrap_or(entry.starts);
        }
    }

    /// The state of an export at this time; none for an unknown id.
    pub(super) fn at(&self, id: i64, now: SystemTime, switches: &Switches) -> Option<ExportData> {
        let entries = self.0.get(&id)?.iter().filter_map(|entry| entry.at(now, switches));
        Some(export_data(entries.collect()))
    }
}

/// Entries with their count.
pub(super) fn export_data(entries: Vec<ExportEntry>) -> ExportData {
    let meta = ExportMeta { total: entries.len() };
    ExportData { entries, meta }
}

impl PlannedEntry {
    /// When it ends; an end beyond the range of the clock never comes.
    pub(super) fn ends(&self) -> Option<SystemTime> {
        self.starts.checked_add(self.takes)
    }

    /// How far it is at this time.
    pub(super) fn stage(&self, now: SystemTime) -> Stage {
        match self.ends().filter(|end| *end <= now) {
            Some(end) => Stage::Ended(end),
            None if self.starts <= now => Stage::Running,
            None => Stage::Waiting,
        }
    }

    /// Its state at this time; none before its start.
    fn at(&self, now: SystemTime, switches: &Switches) -> Option<ExportEntry> {
        Some(match self.stage(now) {
            Stage::Waiting => return None,
            Stage::Running => ExportEntry {
                export_status: STATUS_RUNNING,
                exported_rows: Value::Null,
                start_time: formatted(self.starts),
                end_time: Value::Null,
                durations: Value::Null,
                response_code: Value::Null,
                response_message: Value::Null,
            },
            Stage::Ended(end) => {
                let milliseconds = i64::try_from(self.takes.as_millis()).unwrap_or(i64::MAX);
                let (export_status, code, message) = if self.succeeds {
                    (switches.finished_status, 200, "OK")
                } else {
                    (switches.failed_status, 500, "The destination refused the file")
                };
                ExportEntry {
                    export_status,
                    exported_rows: typed(self.rows.into(), switches.exported_rows_type),
                    start_time: formatted(self.starts),
                    end_time: match switches.end_time_type {
                        ScalarType::String => formatted(end).into(),
                        ScalarType::Number => timestamp(end).as_millisecond().into(),
                    },
                    durations: typed(milliseconds.into(), switches.finished_types),
                    response_code: typed(self.code.unwrap_or(code).into(), switches.finished_types),
                    response_message: self.message.as_deref().unwrap_or(message).into(),
                }
            }
        })
    }
}

/// A number with the type that a switch chooses.
fn typed(number: Number, kind: ScalarType) -> Value {
    match kind {
        ScalarType::Number => number.into(),
        ScalarType::String => number.to_string().into(),
    }
}

fn timestamp(time: SystemTime) -> Timestamp {
    Timestamp::try_from(time).unwrap_or_default()
}

/// ISO 8601, UTC, with milliseconds.
fn formatted(time: SystemTime) -> String {
    timestamp(time).to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
