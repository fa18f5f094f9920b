//! Figures and warnings of one use of a scan.

use std::time::Instant;

use serde::Serialize;

use super::data_warning::{self, DataWarning};
use super::day::OutOfDayRows;
use super::record_stats::RecordStats;
use super::{PlannedRequest, Scan};
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
    /// What looks wrong in the data.
    pub warnings: Vec<DataWarning>,
    /// The least and the greatest time of the rows of a day, as the service writes times.
    #[serde(skip)]
    pub times: Option<(String, String)>,
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
    incomplete: Option<DataWarning>,
    out_of_day: OutOfDayRows,
}

impl Figures {
    pub(super) fn new(scan: &Scan) -> Self {
        Self {
            begun: Instant::now(),
            sums: Stats::default(),
            records: RecordStats::default(),
            present: vec![0; scan.attributes().len()],
            incomplete: None,
            out_of_day: OutOfDayRows::default(),
        }
    }

    /// Adds a complete response and the counts of its records.
    pub(super) fn add(&mut self, scan: &Scan, request: &PlannedRequest, completed: &Completed, records: RecordStats) {
        let envelope = &completed.envelope;
        self.sums.requests += 1;
        self.sums.bytes += envelope.bytes;
        self.sums.attempts += u64::from(completed.attempts);
        for (count, more) in self.present.iter_mut().zip(&envelope.present) {
            *count += more;
        }
        if let RecordShape::Empty(shape) = envelope.record_shape() {
            self.sums.empty_shape.get_or_insert(shape);
        }
        self.out_of_day.add(request.day, records.times.as_ref());
        self.records.add(records);
        if self.incomplete.is_none() && self.is_below_limit(scan) {
            self.incomplete = data_warning::incomplete(completed);
        }
    }

    /// The figures so far.
    pub(super) fn stats(&self, scan: &Scan) -> Stats {
        let rows = self.records.rows;
        let has_all = self.is_below_limit(scan) && rows > 0;
        let present = scan.attributes().iter().zip(&self.present);
        let absent: Vec<_> =
            present.filter(|(_, count)| has_all && **count == 0).map(|(name, _)| name.clone()).collect();
        let warnings = [data_warning::absent(&absent), self.incomplete.clone(), data_warning::stray(&self.out_of_day)];
        Stats {
            rows,
            seconds: self.begun.elapsed().as_secs_f64(),
            empty_shape: self.sums.empty_shape.filter(|_| rows == 0),
            extra_keys: self.records.extras.clone(),
            absent,
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
