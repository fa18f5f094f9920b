//! What is told of a scan whose answers ended well.

use std::time::Instant;

use serde::Serialize;

use super::data_warning::{self, DataWarning};
use super::day::OutOfDayRows;
use super::record_stats::RecordStats;
use super::{PlannedRequest, Scan};
use crate::client::Completed;
use crate::decode::RecordShape;

/// Figures of one use of a scan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// Rows handed on.
    pub rows: u64,
    /// Bytes of the answers.
    pub bytes: u64,
    /// From the start to the end of the last answer; of a stream with the time its consumer took.
    pub seconds: f64,
    /// Answers that were read.
    pub requests: u64,
    /// Requests sent, those that were sent again among them.
    pub attempts: u64,
    /// What stood in place of the records, when there were none.
    pub empty_shape: Option<&'static str>,
    /// Keys nobody asked for, and how many records had each.
    pub extra_keys: Vec<(String, u64)>,
    /// Attributes that no record had, where the whole answer was read.
    pub absent: Vec<String>,
    /// What may not be what it seems.
    pub warnings: Vec<DataWarning>,
    /// The least and the greatest time of the rows of a day, as the document writes times.
    #[serde(skip)]
    pub times: Option<(String, String)>,
}

/// What is known of the answers so far.
#[derive(Debug)]
pub(super) struct Figures {
    begun: Instant,
    requests: u64,
    bytes: u64,
    attempts: u64,
    empty_shape: Option<&'static str>,
    seen: RecordStats,
    /// For each attribute, how many records had it.
    present: Vec<u64>,
    incomplete: Option<DataWarning>,
    out_of_day: OutOfDayRows,
}

impl Figures {
    pub(super) fn new(scan: &Scan) -> Self {
        Self {
            begun: Instant::now(),
            requests: 0,
            bytes: 0,
            attempts: 0,
            empty_shape: None,
            seen: RecordStats::default(),
            present: vec![0; scan.attributes().len()],
            incomplete: None,
            out_of_day: OutOfDayRows::default(),
        }
    }

    /// Adds an answer that ended well, and what was seen in its records.
    pub(super) fn add(&mut self, scan: &Scan, part: &PlannedRequest, answered: &Completed, seen: RecordStats) {
        let envelope = &answered.envelope;
        self.requests += 1;
        self.bytes += envelope.bytes;
        self.attempts += u64::from(answered.attempts);
        for (count, more) in self.present.iter_mut().zip(&envelope.present) {
            *count += more;
        }
        if let RecordShape::Empty(shape) = envelope.record_shape() {
            self.empty_shape.get_or_insert(shape);
        }
        self.out_of_day.add(part.day, seen.times.as_ref());
        self.seen.add(seen);
        if self.is_whole(scan) {
            self.incomplete = self.incomplete.take().or_else(|| data_warning::incomplete(answered));
        }
    }

    /// The figures of a scan whose answers are all there.
    pub(super) fn stats(&self, scan: &Scan) -> Stats {
        let rows = self.seen.rows;
        let is_told = self.is_whole(scan) && rows > 0;
        let present = scan.attributes().iter().zip(&self.present);
        let absent = present.filter(|(_, count)| is_told && **count == 0).map(|(name, _)| name.clone());
        let absent: Vec<String> = absent.collect();
        let warnings = [data_warning::absent(&absent), self.incomplete.clone(), data_warning::stray(&self.out_of_day)];
        Stats {
            rows,
            bytes: self.bytes,
            seconds: self.begun.elapsed().as_secs_f64(),
            requests: self.requests,
            attempts: self.attempts,
            empty_shape: self.empty_shape.filter(|_| rows == 0),
            extra_keys: self.seen.extras.clone(),
            absent,
            warnings: warnings.into_iter().flatten().collect(),
            times: self.seen.times.clone(),
        }
    }

    /// As many rows as the limit: there may have been more.
    fn is_whole(&self, scan: &Scan) -> bool {
        scan.limit.is_none_or(|limit| self.seen.rows < limit)
    }
}
