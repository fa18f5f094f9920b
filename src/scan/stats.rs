//! Figures and warnings of one use of a scan.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::Scan;
use super::cap::{Count, Suspicion};
use super::data_warning::{self, DataWarning};
use super::ids::Ids;
use super::record_stats::RecordStats;
use super::responses::Outcome;
use super::window::Strays;
use crate::client::Completed;
use crate::decode::{NO_DATA, RecordShape};
use crate::time::Moment;

/// Figures of responses: of a task, as its file records them, or of all tasks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_at: Option<u64>,
    /// Attributes that no record had, if all records were read.
    pub absent: Vec<String>,
    /// Those of them that earlier files had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// Keys that were not requested, and how many records had each.
    pub extra_keys: Vec<(String, u64)>,
    /// Columns of strings that had other values too, of a type that nobody declared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mixed: Vec<String>,
    /// Columns without any value, of a file.
    pub empty_columns: Vec<String>,
    /// The least and the greatest time of the rows of a day or a range, as the service writes times.
    pub times: Option<(String, String)>,
    /// Which of the ids that the request of a task asks for were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_ids: Option<String>,
    /// Whether the request of a task explains its number of rows: it has one for each listed value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
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

    /// How many of the listed ids were found, if that is known.
    pub(super) fn found(&self) -> Option<u64> {
        self.found_ids.as_deref().map(super::ids::count)
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
    /// What is worth knowing about the columns of a collected result.
    pub notes: Vec<String>,
    /// What looks wrong in the data.
    pub warnings: Vec<DataWarning>,
    /// What holds instead if each listed id has one row at most.
    #[serde(skip)]
    pub(super) if_unique: Option<IfUnique>,
}

/// Why rows may be missing, with its warning and the warning in whose place it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct IfUnique {
    reasons: Vec<String>,
    warning: Option<DataWarning>,
    instead_of: Option<DataWarning>,
}

impl Stats {
    /// Warns of the columns of strings that had other values: those that are known, and these.
    pub(super) fn with_mixed(mut self, more: Vec<String>) -> Self {
        self.figures.mixed.extend(more);
        self.warnings.extend(data_warning::mixed(&self.figures.mixed));
        self
    }

    /// Warns if a list of ids of customers finds fewer customers.
    pub(super) fn warn_of_missing_ids(&mut self, scan: &Scan) {
        self.warnings.extend(data_warning::missing_ids(scan, self.missing_ids.as_deref(), self.figures.rows));
    }

    /// Sets what is known of the ids.
    pub(super) fn set_ids(&mut self, ids: Option<&Ids>) {
        self.missing_ids = ids.and_then(Ids::missing);
        if let Some(IfUnique { reasons, warning, instead_of }) = self.if_unique.take()
            && ids.and_then(Ids::found_ids) == Some(self.figures.rows)
        {
            self.reasons = reasons;
            self.warnings.retain(|known| instead_of.as_ref() != Some(known));
            self.warnings.extend(warning);
        }
        #[cfg(feature = "files")]
        {
            self.figures.found_ids = ids.and_then(Ids::found);
        }
    }
}

/// Adds up the figures of responses.
#[derive(Debug)]
pub(super) struct StatsBuilder {
    begun: Instant,
    /// Sums so far; what the records have is in `records`.
    sums: Stats,
    records: RecordStats,
    /// For each attribute, how many records have it.
    present: Vec<u64>,
    counts: Vec<Count>,
    /// Whether each of them is explained if each listed value has one row at most.
    if_unique: Vec<bool>,
    /// Why rows may be missing after responses that looked capped were split.
    after_split: Option<Vec<String>>,
    strays: Strays,
    /// The names of the responses that have no `data`.
    without_data: Vec<String>,
}

impl StatsBuilder {
    pub(super) fn new(scan: &Scan) -> Self {
        Self {
            begun: Instant::now(),
            sums: Stats::default(),
            records: RecordStats::default(),
            present: vec![0; scan.attributes().len()],
            counts: Vec::new(),
            if_unique: Vec::new(),
            after_split: None,
            strays: Strays::default(),
            without_data: Vec::new(),
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
            if shape == NO_DATA {
                self.without_data.push(request.name.clone());
            }
        }
        let (zone, source) = (&scan.calendar.zone, scan.source_zone());
        self.strays.add(request.window.as_ref(), records.times.as_ref(), zone, source);
        self.records.add(records.clone());
        // A response that the limit cut says nothing about the service.
        if self.is_below_limit(scan) {
            let count = |found| request.count(*index, records.rows, found, data_warning::other_total(completed));
            self.if_unique.push(count(Some(records.rows)).is_explained);
            self.counts.push(count(None));
        }
    }

    /// Adds what a response cost.
    pub(super) fn add_costs(&mut self, completed: &Completed) {
        self.sums.requests += 1;
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
        let present = scan.attributes().iter().zip(&self.present);
        let absent: Vec<_> =
            present.filter(|(_, count)| has_all && **count == 0).map(|(name, _)| name.clone()).collect();
        let suspected = |counts: &[Count]| Suspicion::of(counts, scan.known_row_cap()).reasons;
        let reasons = self.after_split.clone().unwrap_or_else(|| suspected(&self.counts));
        let warned = |reasons: &[String]| data_warning::incomplete(reasons, scan.operation, self.after_split.is_some());
        let incomplete = warned(&reasons);
        let if_unique =
            (!reasons.is_empty() && self.after_split.is_none() && self.if_unique.contains(&true)).then(|| {
                let mut counts = self.counts.clone();
                counts.iter_mut().zip(&self.if_unique).for_each(|(count, explained)| count.is_explained |= explained);
                let reasons = suspected(&counts);
                IfUnique { warning: warned(&reasons), reasons, instead_of: incomplete.clone() }
            });
        // All responses: while a stream is still read, later responses may have rows.
        let is_whole = self.sums.requests >= scan.requests() as u64 && !scan.is_task;
        let is_empty = rows == 0 && is_whole;
        let warnings = [
            data_warning::absent(&absent),
            incomplete,
            data_warning::without_data(&self.without_data, self.sums.requests),
            data_warning::stray(self.strays.message(
                &scan.calendar,
                scan.source_zone(),
                (is_whole && has_all).then_some(rows),
            )),
            is_empty.then(|| data_warning::empty(scan)).flatten(),
        ];
        let figures = Figures {
            rows,
            seconds: self.begun.elapsed().as_secs_f64(),
            other_total: self.counts.iter().find_map(|count| count.total.clone()),
            split: self.after_split.clone(),
            absent,
            extra_keys: self.records.extras.clone(),
            times: self.records.times.clone(),
            mixed: self.records.mixed.clone(),
            ..self.sums.figures.clone()
        };
        Stats {
            figures,
            empty_shape: self.sums.empty_shape.filter(|_| rows == 0),
            reasons,
            stray_days: self.strays.days.clone(),
            warnings: warnings.into_iter().flatten().collect(),
            if_unique,
            ..self.sums.clone()
        }
    }

    /// Whether there are fewer rows than the limit, so that all of them were read.
    fn is_below_limit(&self, scan: &Scan) -> bool {
        scan.limit.is_none_or(|limit| self.records.rows < limit)
    }
}
