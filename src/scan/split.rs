//! Collects the responses of a scan, and asks again, in parts, for those that look capped.
//!
//! The parts of a request replace its response only if they have at least as many rows together. They are split again
//! while their own responses look capped.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::RecordBatch;

use super::data_warning;
use super::judge::{Seen, judge};
use super::record_stats::BatchWithStats;
use super::responses::{Outcome, Responses};
use super::stats::StatsBuilder;
use super::{Scan, Stats};
use crate::cells::{Block, Cell};
use crate::client::{Completed, Delivered, OfAttempt};
use crate::columns::Values;
use crate::contract::codes::{POSITIONS, STATUSES};
use crate::decode::{Batch, BatchSink};
use crate::error::Result;
use crate::filter::{Plan, SearchPart, SearchParts};

const STATUS: &str = POSITIONS[2];
/// Requests that cannot be split and are named; a count stands for the others.
const NAMED: usize = 3;

/// Records in which a status can be looked up.
pub(super) trait Statuses {
    /// Whether the status of some record, in this column, is none of those that the API specification lists.
    fn has_other_status(&self, column: usize) -> Result<bool>;
}

/// A complete response with its rows, and the parts that may replace it.
struct SplitResponse<B> {
    outcome: Outcome,
    batches: Vec<B>,
    name: String,
    parts: Vec<Self>,
    /// Why it was not split although it looks capped.
    why_whole: Option<&'static str>,
}

/// What is taken of all responses.
struct Taken<B> {
    responses: Vec<SplitResponse<B>>,
    /// Responses that are replaced by their parts, or are parts that replace nothing: what they cost.
    others: Vec<Completed>,
    /// Why rows may still be missing.
    reasons: Vec<String>,
}

impl Scan {
    /// All rows, with the requests split whose responses look capped.
    pub(super) async fn collect_in_parts<S, B>(
        &self,
        open: impl Fn(&Self) -> Responses<S, B>,
    ) -> Result<(Vec<B>, Stats)>
    where
        S: BatchSink<Batch = BatchWithStats<B>> + 'static,
        B: Batch + Statuses,
    {
        let mut responses = fetch(open(self)).await?;
        let seen: Vec<Seen> = responses.iter().map(|response| response.outcome.seen(self)).collect();
        let found = judge(&seen.iter().collect::<Vec<_>>(), &self.about(true, 1));
        let is_suspect = |(index, response): &(usize, &mut SplitResponse<B>)| {
            found.suspects.contains(index) || self.caps.contains(&response.rows())
        };
        let suspects: Vec<_> =
            responses.iter_mut().enumerate().filter(is_suspect).map(|(_, response)| response).collect();
        let cap = suspects.iter().map(|response| response.rows()).max();
        let caps = self.caps.iter().copied().chain(found.cap).collect();
        self.split(suspects, &caps, open).await?;
        let mut taken = Taken { responses: Vec::new(), others: Vec::new(), reasons: Vec::new() };
        for response in responses {
            taken.take(response);
        }
        taken.reasons.extend(taken.whole());
        let mut figures = StatsBuilder::new();
        if cap.is_some() {
            figures.resolve(taken.reasons, cap);
        }
        taken.others.iter().for_each(|completed| figures.add_costs(completed));
        let mut batches = Vec::new();
        for mut response in taken.responses {
            figures.add(self, &response.outcome);
            batches.append(&mut response.batches);
        }
        Ok((batches, figures.stats(self)))
    }

    /// Asks in parts for these responses, and in parts of the parts while they look capped: all of a level at once.
    async fn split<S, B>(
        &self,
        mut suspects: Vec<&mut SplitResponse<B>>,
        caps: &BTreeSet<u64>,
        open: impl Fn(&Self) -> Responses<S, B>,
    ) -> Result<()>
    where
        S: BatchSink<Batch = BatchWithStats<B>> + 'static,
        B: Batch + Statuses,
    {
        loop {
            let (mut parts, mut split) = (Vec::new(), Vec::new());
            for response in suspects {
                match response.planned(self.attributes())? {
                    Ok(mut planned) => {
                        split.push((response, planned.len()));
                        parts.append(&mut planned);
                    }
                    Err(why) => response.why_whole = Some(why),
                }
            }
            if parts.is_empty() {
                return Ok(());
            }
            let plan = Arc::new(Plan::of_parts(&self.plan, &parts));
            let scan = Self { plan, chosen: 0..parts.len(), by_day: None, ..self.clone() };
            let context = "asking in parts for what looks capped";
            let fetched = fetch(open(&scan)).await.map_err(|error| error.with_prefix(context))?;
            let mut fetched =
                fetched.into_iter().zip(parts).map(|(response, part)| SplitResponse { name: part.name, ..response });
            suspects = Vec::new();
            for (response, count) in split {
                response.parts = fetched.by_ref().take(count).collect();
                let is_suspect = |part: &&mut SplitResponse<B>| caps.contains(&part.rows()) || part.reports_more();
                suspects.extend(response.parts.iter_mut().filter(is_suspect));
            }
        }
    }
}

/// All responses of a scan, in the order of the plan.
async fn fetch<S, B>(mut responses: Responses<S, B>) -> Result<Vec<SplitResponse<B>>>
where
    S: BatchSink<Batch = BatchWithStats<B>> + 'static,
    B: Batch,
{
    responses.keep_outcomes();
    let mut batches: OfAttempt<BTreeMap<usize, Vec<B>>> = OfAttempt::new(BTreeMap::new());
    while let Some(Delivered { attempt, batch }) = responses.next().await? {
        let index = responses.last_index();
        batches.of(attempt, BTreeMap::new).entry(index).or_default().push(batch);
    }
    let mut batches = batches.of_last(responses.attempt(), BTreeMap::new);
    let mut outcomes = responses.take_outcomes();
    outcomes.sort_by_key(|outcome| outcome.index);
    let response = |outcome: Outcome| SplitResponse {
        // A response without rows has no batches.
        batches: batches.remove(&outcome.index).unwrap_or_default(),
        name: outcome.request.name.clone(),
        outcome,
        parts: Vec::new(),
        why_whole: None,
    };
    Ok(outcomes.into_iter().map(response).collect())
}

impl<B> SplitResponse<B> {
    fn rows(&self) -> u64 {
        self.outcome.records.rows
    }

    /// Its rows, or those of the parts that replace it.
    fn most_rows(&self) -> u64 {
        self.rows().max(self.parts.iter().map(Self::most_rows).sum())
    }

    /// Whether the response itself reports another number of rows.
    fn reports_more(&self) -> bool {
        data_warning::other_total(&self.outcome.completed).is_some()
    }
}

impl<B: Statuses> SplitResponse<B> {
    /// The requests for its parts, or why it has none.
    fn planned(&self, attributes: &[String]) -> Result<std::result::Result<Vec<SearchPart>, &'static str>> {
        let status = attributes.iter().position(|name| name == STATUS);
        let named = |part: SearchPart| SearchPart { name: format!("{} {}", self.name, part.name), ..part };
        let parts = match (self.outcome.request.search.parts(), status) {
            (SearchParts::None, _) => Err("nothing is left to split it by"),
            (SearchParts::ByStatus(_), None) => Err("only with code_status among attrs can it be split by status"),
            (SearchParts::ByStatus(parts), Some(column)) => {
                let others = self.batches.iter().map(|batch| batch.has_other_status(column));
                if others.collect::<Result<Vec<_>>>()?.contains(&true) {
                    Err("it has records of another status than the specified ones, which its parts would lose")
                } else {
                    Ok(parts)
                }
            }
            (SearchParts::Exact(parts), _) => Ok(parts),
        };
        Ok(parts.map(|parts| parts.into_iter().map(named).collect()))
    }
}

impl<B> Taken<B> {
    /// Takes a response, or its parts if no row can be missing from them.
    fn take(&mut self, mut response: SplitResponse<B>) {
        let parts = std::mem::take(&mut response.parts);
        let (own, together) = (response.rows(), parts.iter().map(SplitResponse::most_rows).sum::<u64>());
        if !parts.is_empty() && together >= own {
            self.others.push(response.outcome.completed);
            return parts.into_iter().for_each(|part| self.take(part));
        }
        if !parts.is_empty() {
            self.reasons.push(format!(
                "the parts of {} have {together} rows together, fewer than its {own}, which were kept",
                response.name
            ));
        }
        for part in parts {
            self.leave(part);
        }
        self.responses.push(response);
    }

    /// Leaves a part, and its parts.
    fn leave(&mut self, part: SplitResponse<B>) {
        self.others.push(part.outcome.completed);
        part.parts.into_iter().for_each(|part| self.leave(part));
    }

    /// Why some of the responses still look capped.
    fn whole(&self) -> Vec<String> {
        let whole = self.responses.iter().filter_map(|response| Some((response, response.why_whole?)));
        let mut reasons: Vec<String> =
            whole.map(|(response, why)| format!("{} has {} rows, and {why}", response.name, response.rows())).collect();
        let more = reasons.len().saturating_sub(NAMED);
        reasons.truncate(NAMED);
        if more > 0 {
            reasons.push(format!("{more} more cannot be split either"));
        }
        reasons
    }
}

impl Statuses for Block {
    fn has_other_status(&self, column: usize) -> Result<bool> {
        Ok((0..self.rows()).any(|row| match self.row(row).nth(column) {
            Some(Cell::Integer(digits)) => !is_specified(digits.parse().ok()),
            _ => true,
        }))
    }
}

impl Statuses for RecordBatch {
    fn has_other_status(&self, column: usize) -> Result<bool> {
        // `decode_status=True` makes names of the specified numbers.
        let is_name = |text: &str| STATUSES.iter().any(|(name, _)| *name == text);
        let is_other = |text: Option<&str>| text.is_none_or(|text| !is_name(text) && !is_specified(text.parse().ok()));
        let mut has_other = false;
        let is_known = Values::of_column(self, column)?.each_written(|text| has_other |= is_other(text));
        Ok(has_other || !is_known)
    }
}

fn is_specified(status: Option<i64>) -> bool {
    STATUSES.iter().any(|(_, specified)| Some(*specified) == status)
}
