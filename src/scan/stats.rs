//! Figures and warnings of one use of a scan.

use std::time::{Instant, SystemTime};

use serde::Serialize;

use super::Scan;
use super::cap::{Count, Suspicion};
use super::data_warning::{self, DataWarning};
use super::day::OutOfDayRows;
use super::ids::Ids;
use super::record_stats::RecordStats;
use super::responses::Outcome;
use crate::client::Completed;
use crate::decode::RecordShape;

/// Figures and warnings of one use of a scan.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Rows delivered.
    pub rows: u64,
    /// Bytes of the responses.
    pub bytes: u64,
    /// From the start to the end of the last response; of a stream including the time of its consumer.
    pub seconds: f64,
    /// Responses that were read.
    pub requests: u64,
    /// Requests sent, retries included.
    pub attempts: u64,
    /// The JSON in place of the records, when there were none.
    pub empty_shape: Option<&'static str>,
    /// Keys that were not requested, and how many records had each.
    pub extra_keys: Vec<(String, u64)>,
    /// Attributes that no record had, if all records were read.
    pub absent: Vec<String>,
    /// Why rows may be missing, as the responses look capped.
    pub reasons: Vec<String>,
    /// The ids that were asked for and are in no row, of a scan by ids whose column is among the attributes.
    pub missing_ids: Option<Vec<String>>,
    /// What is worth knowing about the columns of a collected result.
    pub notes: Vec<String>,
    /// What looks wrong in the data.
    pub warnings: Vec<DataWarning>,
    /// What a response itself reports, if that is another number of rows.
    #[serde(skip)]
    pub other_total: Option<String>,
    /// Why rows may still be missing after requests were split, if any was.
    #[serde(skip)]
    pub split: Option<Vec<String>>,
    /// The least and the greatest time of the rows of a day, as the service writes times.
    #[serde(skip)]
    pub times: Option<(String, String)>,
    /// Which ids were found, of the request of a task.
    #[serde(skip)]
    pub found_ids: Option<String>,
    /// When the first of the requests was sent: by the clock of this machine or of the service, whichever is earlier.
    #[serde(skip)]
    pub requested_at: Option<SystemTime>,
}

impl Stats {
    /// Sets what is known of the ids.
    pub(super) fn set_ids(&mut self, ids: Option<&Ids>) {
        self.missing_ids = ids.and_then(Ids::missing);
        #[cfg(feature = "files")]
        {
            self.found_ids = ids.and_then(Ids::found);
        }
    }
}

/// Adds up the figures of responses.
#[derive(Debug)]
pub(super) struct Figures {
    begun: Instant,
    /// Sums so far; what the records have is in `records`.
    sums: Stats,
    records: RecordStats,
    /// For each attribute, how many records have it.
    present: Vec<u64>,
    counts: Vec<Count>,
    /// Why rows may be missing after responses that looked capped were split.
    after_split: Option<Vec<String>>,
    out_of_day: OutOfDayRows,
}

impl Figures {
    pub(super) fn new(scan: &Scan) -> Self {
        Self {
            begun: Instant::now(),
            sums: Stats::default(),
            records: RecordStats::default(),
            present: vec![0; scan.attributes().len()],
            counts: Vec::new(),
            after_split: None,
            out_of_day: OutOfDayRows::default(),
        }
    }

    /// Adds a complete response.
    pub(super) fn add(&mut self, scan: &Scan, outcome: &Outcome) {
        let Outcome { index, request, completed, records } = outcome;
        let envelope = &completed.envelope;
        self.add_costs(completed);
        for (count, more) in self.present.iter_mut().zip(&envelope.present) {
            *count += more;
        }
        if let RecordShape::Empty(shape) = envelope.record_shape() {
            self.sums.empty_shape.get_or_insert(shape);
        }
        self.out_of_day.add(request.day.as_ref(), records.times.as_ref());
        self.records.add(records.clone());
        // A response that the limit cut says nothing about the service.
        if self.is_below_limit(scan) {
            self.counts.push(request.count(*index, records.rows, data_warning::other_total(completed)));
        }
    }

    /// Adds what a response cost.
    pub(super) fn add_costs(&mut self, completed: &Completed) {
        self.sums.requests += 1;
        self.sums.bytes += completed.envelope.bytes;
        self.sums.attempts += u64::from(completed.attempts);
        let sent = [self.sums.requested_at, Some(completed.requested_at)];
        self.sums.requested_at = sent.into_iter().flatten().min();
    }

    /// Sets why rows may be missing after responses that looked capped were split.
    pub(super) fn resolve(&mut self, reasons: Vec<String>) {
        self.after_split = Some(reasons);
    }

    /// Rows, bytes and seconds so far.
    pub(super) fn so_far(&self) -> (u64, u64, f64) {
        (self.records.rows, self.sums.bytes, self.begun.elapsed().as_secs_f64())
    }

    /// The figures so far.
    pub(super) fn stats(&self, scan: &Scan) -> Stats {
        let rows = self.records.rows;
        let has_all = self.is_below_limit(scan) && rows > 0;
        let present = scan.attributes().iter().zip(&self.present);
        let absent: Vec<_> =
            present.filter(|(_, count)| has_all && **count == 0).map(|(name, _)| name.clone()).collect();
        let suspected = || Suspicion::of(&self.counts, scan.known_row_cap()).reasons;
        let reasons = self.after_split.clone().unwrap_or_else(suspected);
        // All responses, as those of a stream that is still read may have rows.
        let is_empty = rows == 0 && self.sums.requests >= scan.requests() as u64 && !scan.is_task;
        let warnings = [
            data_warning::absent(&absent),
            data_warning::incomplete(&reasons, scan.operation, self.after_split.is_some()),
            data_warning::stray(&self.out_of_day),
            is_empty.then(|| data_warning::empty(scan.plan.template(), scan.days())).flatten(),
        ];
        Stats {
            rows,
            seconds: self.begun.elapsed().as_secs_f64(),
            empty_shape: self.sums.empty_shape.filter(|_| rows == 0),
            extra_keys: self.records.extras.clone(),
            absent,
            reasons,
            split: self.after_split.clone(),
            other_total: self.counts.iter().find_map(|count| count.total.clone()),
            warnings: warnings.into_iter().flatten().collect(),
            times: self.records.times.clone(),
            ..self.sums.clone()
        }
    }

    /// Whether there are fewer rows than the limit, so that all of them were read.
    fn is_below_limit(&self, scan: &Scan) -> bool {
        scan.limit.is_none_or(|limit| self.records.rows < limit)
    }
}
