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

/// The exports by their id.
#[derive(Default)]
pub(super) struct Exports(RwLock<HashMap<i64, Vec<PlannedEntry>>>);

impl Exports {
    /// Plans an export, in place of one with the same id.
    pub(super) fn plan(&self, id: i64, entries: Vec<PlannedEntry>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(id, entries);
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
