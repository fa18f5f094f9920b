//! Segment exports: their plans, and their entries at a given time (sections 2.5, 3.2).
//!
//! Nothing runs in the background: the state of an entry is computed from its plan and the clock.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value, json};

use super::options::Seconds;
use super::switches::{ScalarType, Switches, UnknownExport};

/// `exportStatus` of an entry that has started and not ended (3.2): the only specified value.
const STATUS_RUNNING: i64 = 1;
/// The id of the first export that was started without one.
const FIRST_ID: i64 = 1_000_001;

#[derive(Clone)]
pub(super) struct Export {
    pub(super) started: SystemTime,
    pub(super) entries: Vec<Entry>,
}

/// The plan of an entry: it is listed after its delay, and its null fields are set at its end.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub(super) struct Entry {
    /// From the start of the export to its own.
    pub(super) delay: Seconds,
    pub(super) seconds: Seconds,
    /// How many rows it has exported at its end.
    pub(super) rows: u64,
    pub(super) succeeds: bool,
    /// Its `responseCode` at its end; none is 200 or 500.
    pub(super) code: Option<i64>,
    /// Its `responseMessage` at its end; none is the usual one.
    pub(super) message: Option<String>,
}

impl Default for Entry {
    fn default() -> Self {
        let (delay, seconds) = (Seconds(Duration::ZERO), Seconds(Duration::from_secs(1)));
        Self { delay, seconds, rows: 1_000, succeeds: true, code: None, message: None }
    }
}

/// One status entry of an export (2.5). What is null while it is unfinished has no type by 2.4 later.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ExportEntry {
    export_status: i64,
    exported_rows: Value,
    start_time: String,
    end_time: Value,
    durations: Value,
    response_code: Value,
    response_message: Value,
}

#[derive(Clone, Default)]
pub(super) struct Exports(pub(super) BTreeMap<i64, Export>);

impl Exports {
    /// Adds an export with the given id, where it replaces another, or with a free one, and returns the id.
    pub(super) fn start(&mut self, id: Option<i64>, export: Export) -> i64 {
        let id = id.or_else(|| (FIRST_ID..i64::MAX).find(|id| !self.0.contains_key(id))).unwrap_or(FIRST_ID);
        self.0.insert(id, export);
        id
    }

    /// The state of an export at this time, as `data` of a download has it; none for an unknown id, unless a switch says
    /// that it has no entries.
    pub(super) fn at(&self, id: i64, now: SystemTime, switches: &Switches) -> Option<Value> {
        let entries: Vec<ExportEntry> = match self.0.get(&id) {
            Some(Export { started, entries }) => {
                entries.iter().filter_map(|entry| entry.at(*started, now, switches)).collect()
            }
            None if switches.unknown_export == UnknownExport::NoEntries => Vec::new(),
            None => return None,
        };
        Some(json!({"entries": entries, "meta": {"total": entries.len()}}))
    }
}

impl Export {
    pub(super) fn shown(&self, id: i64, now: SystemTime) -> Value {
        let shown = |entry: &Entry| {
            let (starts, ends) = entry.times(self.started);
            let is_over = |time: Option<SystemTime>| time.is_some_and(|time| time <= now);
            let status = match (is_over(starts), is_over(ends)) {
                (false, _) => "waiting",
                (true, false) => "running",
                (true, true) if entry.succeeds => "succeeded",
                (true, true) => "failed",
            };
            let (starts, ends) = (starts.and_then(written), ends.and_then(written));
            json!({"starts": starts, "ends": ends, "rows": entry.rows, "status": status})
        };
        json!({"export_id": id, "entries": self.entries.iter().map(shown).collect::<Vec<_>>()})
    }
}

impl Entry {
    /// When it starts and ends; what is beyond the range of the clock never comes.
    fn times(&self, started: SystemTime) -> (Option<SystemTime>, Option<SystemTime>) {
        let starts = started.checked_add(self.delay.0);
        (starts, starts.and_then(|starts| starts.checked_add(self.seconds.0)))
    }

    /// Its state at this time; none before its start.
    fn at(&self, started: SystemTime, now: SystemTime, switches: &Switches) -> Option<ExportEntry> {
        let (starts, ends) = self.times(started);
        let running = ExportEntry {
            export_status: STATUS_RUNNING,
            start_time: formatted(starts.filter(|starts| *starts <= now)?),
            ..ExportEntry::default()
        };
        let Some(end) = ends.filter(|end| *end <= now) else { return Some(running) };
        let milliseconds = i64::try_from(self.seconds.0.as_millis()).unwrap_or(i64::MAX);
        let (export_status, code, message) = if self.succeeds {
            (switches.finished_status, 200, "OK")
        } else {
            (switches.failed_status, 500, "The destination refused the file")
        };
        Some(ExportEntry {
            export_status,
            exported_rows: typed(self.rows.into(), switches.exported_rows_type),
            end_time: match switches.end_time_type {
                ScalarType::String => formatted(end).into(),
                ScalarType::Number => timestamp(end).as_millisecond().into(),
            },
            durations: typed(milliseconds.into(), switches.finished_types),
            response_code: typed(self.code.unwrap_or(code).into(), switches.finished_types),
            response_message: self.message.as_deref().unwrap_or(message).into(),
            ..running
        })
    }
}

fn typed(number: Number, kind: ScalarType) -> Value {
    match kind {
        ScalarType::Number => number.into(),
        ScalarType::String => number.to_string().into(),
    }
}

/// A time as ISO 8601 in UTC, with microseconds; none beyond the calendar.
pub(super) fn written(time: SystemTime) -> Option<String> {
    Timestamp::try_from(time).ok().map(|time| format!("{time:.6}"))
}

fn timestamp(time: SystemTime) -> Timestamp {
    Timestamp::try_from(time).unwrap_or_default()
}

/// ISO 8601, UTC, with milliseconds.
fn formatted(time: SystemTime) -> String {
    timestamp(time).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
