//! The responses of a scan in flight: a task for each request reads its response, and their batches come in the order of
//! the plan.
//!
//! How many requests are in flight follows from `concurrency=` and from the bytes that wait for the consumer
//! (32 MiB): once responses show their size, no more are requested than fit.

use std::collections::{BTreeSet, VecDeque};
use std::future::poll_fn;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::SystemTime;

use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::progress::Progress;
use super::record_stats::{BatchWithStats, RecordStats, WithStats};
use super::request::PlannedRequest;
use super::stats::StatsBuilder;
use super::{Scan, Stats};
use crate::cells::{Block, Cells};
use crate::client::{BufferBudget, Client, Completed, Delivered, Delivery, OfAttempt, SearchMode};
use crate::decode::{Batch, BatchSink};
use crate::error::{Error, Kind, Result, defect};
use crate::filter::Search;
use crate::observe::{self, Observer};
use crate::time::Moment;

/// All responses of a scan. Dropped, it cancels the requests in flight and closes their connections.
pub(super) struct Responses<S: BatchSink<Batch = BatchWithStats<B>>, B: Batch> {
    scan: Scan,
    client: Arc<Client>,
    mode: SearchMode,
    /// Makes a sink for one attempt of a request.
    sink: Arc<dyn Fn() -> S + Send + Sync>,
    observer: Option<Observer>,
    /// Requests that were not sent yet, and those whose response was evicted from the buffer.
    unsent: Range<usize>,
    evicted: BTreeSet<usize>,
    /// The requests in flight, in the order of the plan.
    open: VecDeque<OpenResponse<B>>,
    max_open: usize,
    budget: Arc<BufferBudget>,
    /// How many responses are complete, and their bytes in memory.
    completed: usize,
    completed_bytes: usize,
    /// Records below the limit that did not arrive yet.
    missing: u64,
    figures: StatsBuilder,
    /// The index of the response whose batch came last.
    last: usize,
    /// The number of the last attempt of a scan of one request.
    attempt: u32,
    /// The complete responses, if they are kept instead of added up.
    outcomes: Option<Vec<Outcome>>,
    cancelled: CancellationToken,
    _cancel_on_drop: DropGuard,
}

impl Responses<WithStats<Cells>, Block> {
    /// Responses whose records become cells, with their values as they are on the wire.
    pub(super) fn of_cells(scan: &Scan, client: &Arc<Client>, mode: SearchMode, buffer: BufferBudget) -> Self {
        let (columns, time_column) = (scan.attributes().len(), scan.time_column());
        Self::new(scan, client, mode, buffer, move || WithStats::new(Cells::new(columns), time_column))
    }
}

impl<S, B> Responses<S, B>
where
    S: BatchSink<Batch = BatchWithStats<B>> + 'static,
    B: Batch,
{
    /// Responses that share a buffer. Sends nothing before the first poll.
    pub(super) fn new(
        scan: &Scan,
        client: &Arc<Client>,
        mode: SearchMode,
        buffer: BufferBudget,
        sink: impl Fn() -> S + Send + Sync + 'static,
    ) -> Self {
        let cancelled = CancellationToken::new();
        let responses = Self {
            figures: StatsBuilder::new(),
            max_open: if scan.limit.is_some() { 1 } else { client.concurrency() },
            missing: scan.limit.unwrap_or(u64::MAX),
            unsent: 0..scan.requests(),
            scan: scan.clone(),
            client: Arc::clone(client),
            mode,
            sink: Arc::new(sink),
            observer: observe::observer(),
            evicted: BTreeSet::new(),
            open: VecDeque::new(),
            budget: Arc::new(buffer),
            completed: 0,
            completed_bytes: 0,
            last: 0,
            attempt: 0,
            outcomes: None,
            _cancel_on_drop: cancelled.clone().drop_guard(),
            cancelled,
        };
        if let Some(reporter) = &responses.scan.reporter {
            reporter.task(responses.progress());
        }
        responses
    }

    /// The next batch; `None` when all responses are complete. Cancel-safe.
    pub(super) async fn next(&mut self) -> Result<Option<Delivered<B>>> {
        // Batches that are always ready would never yield, so the call could not be cancelled.
        tokio::task::yield_now().await;
        poll_fn(|context| self.poll(context)).await
    }

    /// Limits the requests in flight to one, or to `concurrency=`.
    pub(super) fn set_concurrent(&mut self, is_concurrent: bool) {
        let is_concurrent = is_concurrent && self.scan.limit.is_none();
        self.max_open = if is_concurrent { self.client.concurrency() } else { 1 };
    }

    /// Cancels the requests in flight, from any thread.
    pub(super) fn cancellation(&self) -> CancellationToken {
        self.cancelled.clone()
    }

    /// Keeps the complete responses, for [`Self::take_outcomes`]; they do not count in the figures.
    pub(super) fn keep_outcomes(&mut self) {
        self.outcomes = Some(Vec::new());
    }

    /// The complete responses, in the order in which they were completed.
    pub(super) fn take_outcomes(&mut self) -> Vec<Outcome> {
        self.outcomes.take().unwrap_or_default()
    }

    /// The number of the last attempt: batches of others are void. Only a scan of one request has several.
    pub(super) fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The index of the request to whose response the last batch belongs.
    pub(super) fn last_index(&self) -> usize {
        self.last
    }

    /// When the response of the last batch was requested.
    pub(super) fn requested_at(&self) -> Moment {
        let of_last = self.open.iter().find(|response| response.index == self.last);
        let requested_at = of_last.and_then(|response| response.delivery.requested_at());
        Moment::from(requested_at.unwrap_or_else(SystemTime::now))
    }

    /// The figures of the responses that are complete.
    pub(super) fn stats(&self) -> Stats {
        self.figures.stats(&self.scan)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Delivered<B>>>> {
        loop {
            self.remove_evicted();
            self.send_requests();
            // Rows come in the order of the plan.
            let Some(response) = self.open.front_mut() else { return Poll::Ready(Ok(None)) };
            match response.poll(context) {
                Poll::Ready(Arrival::Batch(batch)) => {
                    self.last = response.index;
                    if let Some(reporter) = &self.scan.reporter {
                        reporter.batch(|| self.progress());
                    }
                    return Poll::Ready(Ok(Some(batch)));
                }
                Poll::Ready(Arrival::End(outcome)) => {
                    let Some(response) = self.open.pop_front() else {
                        return Poll::Ready(Err(defect("an open response is missing")));
                    };
                    if let Err(error) = self.ended(response, outcome) {
                        self.stop();
                        return Poll::Ready(Err(error));
                    }
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Sends as many requests as may be in flight now. Must be called inside a runtime.
    pub(super) fn send_requests(&mut self) {
        while let Some(index) = self.next_index().filter(|index| self.may_send(*index)) {
            if self.evicted.pop_first().is_none() {
                self.unsent.next();
            }
            let request = self.scan.request(index, self.scan.limit.map(|_| self.missing));
            let delivery = Arc::new(Delivery::new(index, self.mode.delivery, Arc::clone(&self.budget)));
            let task = self.spawn(index, Arc::clone(&request.search), Arc::clone(&delivery));
            let position = self.open.partition_point(|response| response.index < index);
            self.open.insert(position, OpenResponse::new(index, request, delivery, task));
            self.update_budget();
        }
    }

    /// Runs in a task of its own, so that a response is read while the consumer is busy.
    fn spawn(&self, index: usize, search: Arc<Search>, delivery: Arc<Delivery<BatchWithStats<B>>>) -> RequestTask {
        let (client, sink, mode) = (Arc::clone(&self.client), Arc::clone(&self.sink), self.mode.clone());
        let cancelled = self.cancelled.clone();
        let observer = self.observer.clone().map(|observer| observer.for_day(self.scan.day(index)));
        tokio::spawn(observe::observed(observer, async move {
            tokio::select! {
                biased;
                () = cancelled.cancelled() => Err(Error::new(Kind::Internal, "the scan was cancelled")),
                completed = client.search(mode, &search, &*sink, &delivery) => completed,
            }
        }))
    }

    /// The next request to send: evicted ones come before those that were not sent yet.
    fn next_index(&self) -> Option<usize> {
        let next = self.evicted.first().copied().or_else(|| self.unsent.clone().next());
        next.filter(|_| self.missing > 0)
    }

    /// Whether a request may be sent now. The one whose response is next in the plan always may.
    fn may_send(&self, index: usize) -> bool {
        let Some(first) = self.open.front() else { return true };
        index < first.index || (self.open.len() < self.max_open && self.fits())
    }

    /// Whether one more response fits into the buffer if all in flight grow to the size of the completed ones.
    fn fits(&self) -> bool {
        let sizes = self.open.iter().map(|response| response.delivery.total_bytes());
        let mean = self.completed_bytes.checked_div(self.completed);
        let expected = mean.unwrap_or_else(|| sizes.clone().max().unwrap_or(0));
        let to_come: usize = sizes.map(|bytes| expected.saturating_sub(bytes)).sum();
        self.budget.used() + to_come + expected <= self.budget.limit()
    }

    /// Notes the evicted responses, to request them again.
    fn remove_evicted(&mut self) {
        let open = self.open.len();
        let evicted = &mut self.evicted;
        self.open.retain(|response| {
            let is_evicted = response.delivery.is_evicted();
            if is_evicted {
                evicted.insert(response.index);
            }
            !is_evicted
        });
        if self.open.len() < open {
            self.update_budget();
        }
    }

    fn update_budget(&self) {
        if let (Some(first), Some(last)) = (self.open.front(), self.open.back()) {
            self.budget.set_open(first.index, last.index);
        }
    }

    fn ended(&mut self, response: OpenResponse<B>, outcome: Result<Completed>) -> Result<()> {
        if response.delivery.is_evicted() {
            self.evicted.insert(response.index);
            return Ok(());
        }
        let completed = outcome.map_err(|error| self.scan.error_of(response.index, error))?;
        self.attempt = response.delivery.attempt();
        self.completed += 1;
        self.completed_bytes += response.delivery.total_bytes();
        let OpenResponse { index, request, stats, .. } = response;
        let records = stats.of_last(self.attempt, RecordStats::default);
        self.missing = self.missing.saturating_sub(records.rows);
        let outcome = Outcome { index, request, completed, records };
        match &mut self.outcomes {
            Some(outcomes) => outcomes.push(outcome),
            None => self.figures.add(&self.scan, &outcome),
        }
        self.update_budget();
        if let Some(reporter) = &self.scan.reporter {
            reporter.task(self.progress());
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        let in_flight: u64 = self.open.iter().map(|response| response.stats.last().rows).sum();
        let (rows, bytes, seconds) = self.figures.so_far();
        Progress {
            tasks: self.scan.requests(),
            done: self.completed,
            failed: 0,
            rows: rows + in_flight,
            bytes,
            seconds,
            ended: None,
        }
    }

    fn stop(&mut self) {
        self.cancelled.cancel();
        (self.unsent, self.evicted) = (0..0, BTreeSet::new());
        self.open.clear();
    }
}

/// A complete response.
pub(super) struct Outcome {
    pub(super) index: usize,
    pub(super) request: PlannedRequest,
    pub(super) completed: Completed,
    pub(super) records: RecordStats,
}

/// The task of a request.
type RequestTask = JoinHandle<Result<Completed>>;

/// A response in flight.
struct OpenResponse<B: Batch, T = RequestTask> {
    index: usize,
    request: PlannedRequest,
    delivery: Arc<Delivery<BatchWithStats<B>>>,
    task: T,
    /// What the task returned, until its last batch was taken.
    outcome: Option<Result<Completed>>,
    stats: OfAttempt<RecordStats>,
}

/// What arrives of a response.
enum Arrival<B> {
    Batch(Delivered<B>),
    End(Result<Completed>),
}

impl<B: Batch, T> OpenResponse<B, T> {
    fn new(index: usize, request: PlannedRequest, delivery: Arc<Delivery<BatchWithStats<B>>>, task: T) -> Self {
        Self { index, request, delivery, task, outcome: None, stats: OfAttempt::new(RecordStats::default()) }
    }
}

impl<B: Batch, T: Future<Output = Result<Result<Completed>, JoinError>> + Unpin> OpenResponse<B, T> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Arrival<B>> {
        // The task first: a batch that it sends just before it ends is then in the delivery, and is not lost.
        if self.outcome.is_none()
            && let Poll::Ready(ended) = Pin::new(&mut self.task).poll(context)
        {
            self.outcome = Some(ended.unwrap_or_else(|_| Err(panicked())));
        }
        if let Poll::Ready(Some(Delivered { attempt, batch: BatchWithStats { batch, stats } })) =
            self.delivery.poll(context)
        {
            self.stats.of(attempt, RecordStats::default).add(stats);
            return Poll::Ready(Arrival::Batch(Delivered { attempt, batch }));
        }
        self.outcome.take().map_or(Poll::Pending, |outcome| Poll::Ready(Arrival::End(outcome)))
    }
}

/// The error for a task that panicked. The panic message may hold anything, so none of it is repeated.
pub(crate) fn panicked() -> Error {
    Error::new(Kind::Internal, "a bug in dataaccess ended the call")
        .with_hint("please report it with the steps that led here; the client stays usable")
}

#[cfg(test)]
mod tests;
