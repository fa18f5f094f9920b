//! Figures and warnings of one use of a scan.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::Scan;
use super::data_warning::{self, DataWarning};
use super::ids::Ids;
use super::judge::{About, Seen, judge};
use super::record_stats::RecordStats;
use super::responses::Outcome;
use crate::client::{Completed, Headers};
use crate::decode::{NO_DATA, RecordShape};
use crate::time::Moment;

/// Figures of responses: of a task, as its file records them, or of all tasks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Figures {
    /// Rows.
    pub rows: u64,
    /// Bytes of the responses.
    pub bytes: u64,
    /// Requests sent, retries included.
    pub attempts: u64,
    /// From the start to the end of the last response; of a stream including the time of its consumer.
    pub seconds: f64,
    /// What a response itself reports, if that is another number of rows.
    pub other_total: Option<String>,
    /// Why rows may still be missing after requests were split, if any was.
    pub split: Option<Vec<String>>,
    /// The rows at which a response looked capped that was split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split_at: Option<u64>,
    /// Attributes that no record had, if all records were read.
    pub absent: Vec<String>,
    /// Keys that were not requested, and how many records had each.
    pub extra_keys: Vec<(String, u64)>,
    /// Columns of strings that had other values too, of a type that nobody declared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mixed: Vec<String>,
    /// Columns without any value, of a file.
    pub empty_columns: Vec<String>,
    /// The least and the greatest time of the rows of a day or a range, as the service writes times.
    pub times: Option<(String, String)>,
    /// Whether the request of a task explains its number of rows: it has one for each listed value.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_explained: bool,
    /// When the first request was sent, in Unix milliseconds: by the clock of this machine or of the service, whichever
    /// is earlier. 0 if none was.
    pub requested_at: i64,
    /// When the run began that requested a task, or that the run resumed: the files of a scan without days belong
    /// together.
    pub snapshot: i64,
}

#[cfg(feature = "files")]
impl Figures {
    pub(super) fn requested_at(&self) -> Moment {
        Moment::at(self.requested_at)
    }

    /// The rows of the response, for comparison with others: of one that was split, those at which it looked capped.
    /// None if that is not known.
    pub(super) fn compared(&self) -> Option<u64> {
        if self.split.is_some() { self.split_at } else { Some(self.rows) }
    }
}

/// Figures and warnings of one use of a scan.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// The figures of all responses.
    #[serde(flatten)]
    pub figures: Figures,
    /// Responses that were read.
    pub requests: u64,
    /// The JSON in place of the records, when there were none.
    pub empty_shape: Option<&'static str>,
    /// Why rows may be missing, as the responses look capped.
    pub reasons: Vec<String>,
    /// The ids that were asked for and are in no row, of a scan by ids whose column is among the attributes.
    #[serde(skip)]
    pub missing_ids: Option<Vec<String>>,
    /// The days whose responses have rows of others.
    pub stray_days: Vec<String>,
    /// Headers of the last response.
    #[serde(skip)]
    pub headers: Option<Headers>,
    /// What is worth knowing about the columns of a collected result.
    pub notes: Vec<String>,
    /// What looks wrong in the data.
    pub warnings: Vec<DataWarning>,
}

impl Stats {
    /// Warns of the columns of strings that had other values: those that are known, and these.
    pub(super) fn with_mixed(mut self, more: Vec<String>) -> Self {
        self.figures.mixed.extend(more);
        self.warnings.extend(data_warning::mixed(&self.figures.mixed));
        self
    }

    /// Sets which ids have no row.
    pub(super) fn set_ids(&mut self, ids: Option<&Ids>) {
        self.missing_ids = ids.and_then(Ids::missing);
    }

    /// Warns if a list of ids of customers finds fewer customers.
    pub(super) fn warn_of_missing_ids(&mut self, scan: &Scan) {
        self.warnings.extend(data_warning::missing_ids(scan, self.missing_ids.as_deref(), self.figures.rows));
    }
}

impl Outcome {
    /// The response, as the judge sees it.
    pub(super) fn seen(&self, scan: &Scan) -> Seen {
        let Self { request, completed, records, .. } = self;
        let present = scan.attributes().iter().zip(&completed.envelope.present);
        let figures = Figures {
            rows: records.rows,
            other_total: data_warning::other_total(completed),
            absent: present.filter(|(_, count)| **count == 0).map(|(name, _)| name.clone()).collect(),
            extra_keys: records.extras.clone(),
            times: records.times.clone(),
            is_explained: request.explains(records.rows),
            ..Figures::default()
        };
        let (name, window) = (request.name.clone(), request.window.clone());
        Seen { name, window, compared: Some(records.rows), figures, ..Seen::default() }
    }
}

/// Adds up the figures of responses.
#[derive(Debug)]
pub(super) struct StatsBuilder {
    begun: Instant,
    /// Sums so far; what the records have is in `records`.
    sums: Stats,
    records: RecordStats,
    /// Each response, as the judge sees it.
    seen: Vec<Seen>,
    /// Why rows may be missing after responses that looked capped were split.
    after_split: Option<Vec<String>>,
    /// The names of the responses that have no `data`.
    without_data: Vec<String>,
}

impl StatsBuilder {
    pub(super) fn new() -> Self {
        Self {
            begun: Instant::now(),
            sums: Stats::default(),
            records: RecordStats::default(),
            // Most uses have one response.
            seen: Vec::with_capacity(1),
            after_split: None,
            without_data: Vec::new(),
        }
    }

    /// Adds a complete response.
    pub(super) fn add(&mut self, scan: &Scan, outcome: &Outcome) {
        let Outcome { request, completed, records, .. } = outcome;
        let envelope = &completed.envelope;
        self.add_costs(completed);
        if let RecordShape::Empty(shape) = envelope.record_shape() {
            self.sums.empty_shape.get_or_insert(shape);
            if shape == NO_DATA {
                self.without_data.push(request.name.clone());
            }
        }
        self.records.add(records.clone());
        let seen = outcome.seen(scan);
        self.seen.push(Seen { compared: seen.compared.filter(|_| self.after_split.is_none()), ..seen });
        if !self.is_below_limit(scan) {
            // A response that the limit cut says nothing about the service, and not all records were read.
            self.seen.last_mut().into_iter().for_each(|last| last.compared = None);
            self.seen.iter_mut().for_each(|seen| seen.figures.absent.clear());
        }
    }

    /// Adds what a response cost.
    pub(super) fn add_costs(&mut self, completed: &Completed) {
        self.sums.requests += 1;
        self.sums.headers.clone_from(&completed.headers);
        let figures = &mut self.sums.figures;
        figures.bytes += completed.envelope.bytes;
        figures.attempts += u64::from(completed.attempts);
        let sent = Moment::from(completed.requested_at).milliseconds();
        figures.requested_at = if self.sums.requests == 1 { sent } else { figures.requested_at.min(sent) };
    }

    /// Sets why rows may be missing after responses that looked capped were split.
    pub(super) fn resolve(&mut self, reasons: Vec<String>, cap: Option<u64>) {
        self.after_split = Some(reasons);
        self.sums.figures.split_at = cap;
    }

    /// Rows, bytes and seconds so far.
    pub(super) fn so_far(&self) -> (u64, u64, f64) {
        (self.records.rows, self.sums.figures.bytes, self.begun.elapsed().as_secs_f64())
    }

    /// The figures so far.
    pub(super) fn stats(&self, scan: &Scan) -> Stats {
        let rows = self.records.rows;
        let has_all = self.is_below_limit(scan) && rows > 0;
        // All responses: while a stream is still read, later responses may have rows.
        let is_whole = self.sums.requests >= scan.requests() as u64 && !scan.is_task;
        let seen: Vec<&Seen> = self.seen.iter().collect();
        let about = About { splits: self.after_split.is_some(), ..scan.about(is_whole && has_all, 1) };
        let mut found = judge(&seen, &about);
        if let Some(reasons) = &self.after_split {
            found.reasons.clone_from(reasons);
            found.warnings.extend(data_warning::incomplete(reasons, scan.operation, true));
        }
        found.warnings.extend(data_warning::without_data(&self.without_data, self.sums.requests));
        found.warnings.extend((rows == 0 && is_whole).then(|| data_warning::empty(scan)).flatten());
        let figures = Figures {
            rows,
            seconds: self.begun.elapsed().as_secs_f64(),
            other_total: self.seen.iter().find_map(|seen| seen.figures.other_total.clone()),
            split: self.after_split.clone(),
            absent: found.absent,
            extra_keys: self.records.extras.clone(),
            times: self.records.times.clone(),
            mixed: self.records.mixed.clone(),
            ..self.sums.figures.clone()
        };
        Stats {
            figures,
            empty_shape: self.sums.empty_shape.filter(|_| rows == 0),
            reasons: found.reasons,
            stray_days: found.stray_days,
            warnings: found.warnings,
            ..self.sums.clone()
        }
    }

    /// Whether there are fewer rows than the limit, so that all of them were read.
    fn is_below_limit(&self, scan: &Scan) -> bool {
        scan.limit.is_none_or(|limit| self.records.rows < limit)
    }
}
