//! Collects the responses of a scan, and asks again, in parts, for those that look capped.
//!
//! The parts of a request replace its response only if they have at least as many rows together. They are split again
//! while their own responses look capped.
#![expect(clippy::indexing_slicing, reason = "a wrong index is a defect: the caller turns the panic into an error")]

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Array as _, RecordBatch};
use arrow_schema::DataType;

use super::cap::{Count, Suspicion};
use super::data_warning;
use super::record_stats::BatchWithStats;
use super::responses::{Outcome, Responses};
use super::stats::StatsBuilder;
use super::{Scan, Stats};
use crate::cells::{Block, Cell};
use crate::client::{Delivered, OfAttempt};
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
    fn has_other_status(&self, column: usize) -> bool;
}

/// A complete response with its rows, and the parts that may replace it.
struct SplitResponse<B> {
    outcome: Outcome,
    batches: Vec<B>,
    name: String,
    /// The indices of its parts; none if it was not split.
    parts: Range<usize>,
    /// Why it was not split although it looks capped.
    why_whole: Option<&'static str>,
}

/// All responses: first the responses of the scan, then the responses of the pieces, level by level.
struct SplitResponses<B>(Vec<SplitResponse<B>>);

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
        let mut figures = StatsBuilder::new(self);
        let mut responses = SplitResponses(fetch(open(self)).await?);
        let requests = responses.0.len();
        let (mut suspects, caps) = self.suspects(&responses.0);
        let is_suspected = !suspects.is_empty();
        let cap = suspects.iter().map(|index| responses.0[*index].rows()).max();
        while !suspects.is_empty() {
            let searches = responses.plan_parts(&suspects, self.attributes());
            if searches.is_empty() {
                break;
            }
            let first = responses.0.len();
            let parts = Self {
                plan: Arc::new(Plan::of_parts(&self.plan, &searches)),
                chosen: 0..searches.len(),
                by_day: None,
                ..self.clone()
            };
            let context = "asking in parts for what looks capped";
            responses.0.extend(fetch(open(&parts)).await.map_err(|error| error.with_prefix(context))?);
            let parts = responses.0.iter_mut().skip(first).zip(searches);
            parts.for_each(|(response, part)| response.name = part.name);
            let is_suspect =
                |response: &SplitResponse<B>| caps.contains(&response.rows()) || response.count().total.is_some();
            let later = responses.0.iter().enumerate().skip(first);
            suspects = later.filter(|(_, response)| is_suspect(response)).map(|(index, _)| index).collect();
        }
        let mut chosen = BTreeSet::new();
        let mut reasons = Vec::new();
        (0..requests).for_each(|index| responses.choose(index, &mut chosen, &mut reasons));
        reasons.extend(responses.whole(&chosen));
        if is_suspected {
            figures.resolve(reasons, cap);
        }
        let mut batches = Vec::new();
        for index in responses.in_order(0..requests, &chosen) {
            batches.append(&mut responses.0[index].batches);
        }
        for (index, SplitResponse { outcome, .. }) in responses.0.into_iter().enumerate() {
            if chosen.contains(&index) {
                figures.add(self, &outcome);
            } else {
                figures.add_costs(&outcome.completed);
            }
        }
        Ok((batches, figures.stats(self)))
    }

    /// The responses that look capped, and the numbers of rows at which they may have been cut.
    fn suspects<B>(&self, responses: &[SplitResponse<B>]) -> (Vec<usize>, BTreeSet<u64>) {
        let counts: Vec<Count> = responses.iter().map(SplitResponse::count).collect();
        let suspicion = Suspicion::of(&counts, self.known_row_cap());
        let caps: BTreeSet<u64> = self.caps.iter().copied().chain(suspicion.cap).collect();
        let is_suspect = |(index, response): &(usize, &SplitResponse<B>)| {
            suspicion.requests.contains(index) || self.caps.contains(&response.rows())
        };
        (responses.iter().enumerate().filter(is_suspect).map(|(index, _)| index).collect(), caps)
    }
}

/// All responses of a scan, in the order of the plan.
async fn fetch<S, B>(mut responses: Responses<S, B>) -> Result<Vec<SplitResponse<B>>>
where
    S: BatchSink<Batch = BatchWithStats<B>> + 'static,
    B: Batch,
{
    responses.keep_outcomes();
    let mut batches: OfAttempt<Vec<Vec<B>>> = OfAttempt::new(Vec::new());
    while let Some(Delivered { attempt, batch }) = responses.next().await? {
        let (index, batches) = (responses.last_index(), batches.of(attempt, Vec::new));
        batches.resize_with(batches.len().max(index + 1), Vec::new);
        batches[index].push(batch);
    }
    let mut batches = batches.of_last(responses.attempt(), Vec::new);
    let mut outcomes = responses.take_outcomes();
    outcomes.sort_by_key(|outcome| outcome.index);
    let response = |outcome: Outcome| SplitResponse {
        // A response without rows has no batches.
        batches: batches.get_mut(outcome.index).map_or_else(Vec::new, std::mem::take),
        name: outcome.request.name.clone(),
        outcome,
        parts: 0..0,
        why_whole: None,
    };
    Ok(outcomes.into_iter().map(response).collect())
}

impl<B> SplitResponse<B> {
    fn rows(&self) -> u64 {
        self.outcome.records.rows
    }

    fn count(&self) -> Count {
        let Outcome { index, request, completed, records } = &self.outcome;
        Count {
            name: self.name.clone(),
            ..request.count(*index, records.rows, None, data_warning::other_total(completed))
        }
    }
}

impl<B: Statuses> SplitResponses<B> {
    /// Plans the parts of these responses, and notes why others have none.
    fn plan_parts(&mut self, suspects: &[usize], attributes: &[String]) -> Vec<SearchPart> {
        let mut planned: Vec<SearchPart> = Vec::new();
        let first = self.0.len();
        let status = attributes.iter().position(|name| name == STATUS);
        for index in suspects {
            let response = &mut self.0[*index];
            let has_other = |column: usize| response.batches.iter().any(|batch| batch.has_other_status(column));
            let parts = match (response.outcome.request.search.parts(), status) {
                (SearchParts::None, _) => Err("nothing is left to split it by"),
                (SearchParts::ByStatus(_), None) => Err("only with code_status among attrs can it be split by status"),
                (SearchParts::ByStatus(_), Some(column)) if has_other(column) => {
                    Err("it has records of another status than the specified ones, which its parts would lose")
                }
                (SearchParts::ByStatus(parts) | SearchParts::Exact(parts), _) => Ok(parts),
            };
            match parts {
                Ok(parts) => {
                    let start = first + planned.len();
                    response.parts = start..start + parts.len();
                    let name =
                        |part: SearchPart| SearchPart { name: format!("{} {}", response.name, part.name), ..part };
                    planned.extend(parts.into_iter().map(name));
                }
                Err(why) => response.why_whole = Some(why),
            }
        }
        planned
    }
}

impl<B> SplitResponses<B> {
    /// The rows of a response, or of the parts that replace it.
    fn rows(&self, index: usize) -> u64 {
        let response = &self.0[index];
        response.rows().max(response.parts.clone().map(|part| self.rows(part)).sum())
    }

    /// Chooses a response, or its parts if no row can be missing from them. Adds why parts were not taken.
    fn choose(&self, index: usize, chosen: &mut BTreeSet<usize>, reasons: &mut Vec<String>) {
        let response = &self.0[index];
        let (own, parts) = (response.rows(), response.parts.clone().map(|part| self.rows(part)).sum::<u64>());
        if response.parts.is_empty() || parts < own {
            chosen.insert(index);
        } else {
            response.parts.clone().for_each(|part| self.choose(part, chosen, reasons));
        }
        if !response.parts.is_empty() && parts < own {
            let name = &response.name;
            reasons
                .push(format!("the parts of {name} have {parts} rows together, fewer than its {own}, which were kept"));
        }
    }

    /// Why some of the chosen responses still look capped.
    fn whole(&self, chosen: &BTreeSet<usize>) -> Vec<String> {
        let whole = |(index, response)| {
            Some((response, SplitResponse::why_whole(response).filter(|_| chosen.contains(&index))?))
        };
        let whole: Vec<(&SplitResponse<B>, &str)> = self.0.iter().enumerate().filter_map(whole).collect();
        let shown = |(response, why): &(&SplitResponse<B>, &str)| {
            format!("{} has {} rows, and {why}", response.name, response.rows())
        };
        let mut reasons: Vec<String> = whole.iter().take(NAMED).map(shown).collect();
        if whole.len() > NAMED {
            reasons.push(format!("{} more cannot be split either", whole.len() - NAMED));
        }
        reasons
    }

    /// The chosen ones of these responses and of their parts, in the order of the plan.
    fn in_order(&self, indices: Range<usize>, chosen: &BTreeSet<usize>) -> Vec<usize> {
        let parts = |index: usize| self.in_order(self.0[index].parts.clone(), chosen);
        let each = |index| if chosen.contains(&index) { vec![index] } else { parts(index) };
        indices.flat_map(each).collect()
    }
}

impl<B> SplitResponse<B> {
    fn why_whole(&self) -> Option<&'static str> {
        self.why_whole
    }
}

impl Statuses for Block {
    fn has_other_status(&self, column: usize) -> bool {
        (0..self.rows()).any(|row| match self.row(row).nth(column) {
            Some(Cell::Integer(digits)) => !is_specified(digits.parse().ok()),
            _ => true,
        })
    }
}

impl Statuses for RecordBatch {
    fn has_other_status(&self, column: usize) -> bool {
        let Some(array) = self.columns().get(column) else { return true };
        // `decode_status=True` makes names of the specified numbers.
        let is_name = |text: &str| STATUSES.iter().any(|(name, _)| *name == text);
        let is_other = |text: Option<&str>| text.is_none_or(|text| !is_name(text) && !is_specified(text.parse().ok()));
        match array.data_type() {
            DataType::Int64 => array.as_primitive::<Int64Type>().iter().any(|status| !is_specified(status)),
            DataType::Utf8 => array.as_string::<i32>().iter().any(is_other),
            DataType::Utf8View => array.as_string_view().iter().any(is_other),
            _ => true,
        }
    }
}

fn is_specified(status: Option<i64>) -> bool {
    STATUSES.iter().any(|(_, specified)| Some(*specified) == status)
}
