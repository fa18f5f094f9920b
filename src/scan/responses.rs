//! The responses of a scan in flight: a task for each request, and their batches in the order of the plan.
//!
//! How many requests are open follows from `concurrency=` and from the bytes that wait for the consumer
//! (`max_buffered_bytes=`): once responses show their size, no more are requested than fit.

use std::collections::{BTreeSet, VecDeque};
use std::future::poll_fn;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::record_stats::{BatchWithStats, RecordStats};
use super::stats::Figures;
use super::{PlannedRequest, Scan, Stats};
use crate::client::{BufferBudget, Client, Completed, Delivery, Event, SearchMode};
use crate::decode::{Batch, BatchSink};
use crate::error::{Error, Kind, Result};
use crate::filter::Search;
use crate::observe::{self, Observer};

/// All responses of a scan. Dropped, it ends the requests in flight and their connections.
pub(super) struct Responses<G: BatchSink<Batch = BatchWithStats<B>>, B: Batch> {
    scan: Scan,
    client: Arc<Client>,
    mode: SearchMode,
    /// Makes a sink for one attempt of a request.
    sink: Arc<dyn Fn() -> G + Send + Sync>,
    observer: Option<Observer>,
    /// Requests that were not sent yet, and those whose response was dropped for want of room.
    unsent: Range<usize>,
    dropped: BTreeSet<usize>,
    /// In the order of the plan.
    open: VecDeque<Response<B>>,
    most_open: usize,
    budget: Arc<BufferBudget>,
    sizes: Sizes,
    /// Records that are still wanted, where there is a limit.
    wanted: u64,
    figures: Figures,
    cancelled: CancellationToken,
    _cancels: DropGuard,
}

/// One request whose response was not taken to its end.
struct Response<B: Batch> {
    index: usize,
    part: PlannedRequest,
    delivery: Arc<Delivery<BatchWithStats<B>>>,
    task: JoinHandle<Result<Completed>>,
    stats: RecordStats,
}

/// How large responses are, by those that are complete.
#[derive(Default)]
struct Sizes {
    bytes: usize,
    responses: usize,
}

impl<G, B> Responses<G, B>
where
    G: BatchSink<Batch = BatchWithStats<B>> + 'static,
    B: Batch,
{
    /// Nothing is sent before it is polled. At most so many bytes wait for the consumer.
    pub(super) fn new(
        scan: &Scan,
        client: &Arc<Client>,
        mode: SearchMode,
        most_bytes: usize,
        sink: impl Fn() -> G + Send + Sync + 'static,
    ) -> Self {
        let cancelled = CancellationToken::new();
        Self {
            figures: Figures::new(scan),
            most_open: if scan.limit.is_some() { 1 } else { client.concurrency().max(1) as usize },
            wanted: scan.limit.unwrap_or(u64::MAX),
            unsent: 0..scan.requests(),
            scan: scan.clone(),
            client: Arc::clone(client),
            mode,
            sink: Arc::new(sink),
            observer: observe::observer(),
            dropped: BTreeSet::new(),
            open: VecDeque::new(),
            budget: Arc::new(BufferBudget::new(most_bytes, client.timeouts().unread)),
            sizes: Sizes::default(),
            _cancels: cancelled.clone().drop_guard(),
            cancelled,
        }
    }

    /// The next event; nothing when all responses are complete. May be dropped at any time.
    pub(super) async fn next(&mut self) -> Result<Option<Event<B>>> {
        // A consumer whose next batch is always there would never yield, and could not be cancelled.
        tokio::task::yield_now().await;
        poll_fn(|context| self.poll(context)).await
    }

    /// Requests are sent one by one, until [`Responses::open_all`].
    pub(super) fn one_by_one(mut self) -> Self {
        self.most_open = 1;
        self
    }

    /// As many requests as `concurrency=` allows are open from now on.
    pub(super) fn open_all(&mut self) {
        if self.scan.limit.is_none() {
            self.most_open = self.client.concurrency().max(1) as usize;
        }
    }

    /// Cancels the requests in flight, from any thread.
    pub(super) fn cancellation(&self) -> CancellationToken {
        self.cancelled.clone()
    }

    /// What its responses share.
    pub(super) fn budget(&self) -> Arc<BufferBudget> {
        Arc::clone(&self.budget)
    }

    /// The figures, to be asked for at the end.
    pub(super) fn stats(&self) -> Stats {
        self.figures.stats(&self.scan)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Event<B>>>> {
        loop {
            self.drop_evicted();
            self.send_requests();
            if self.open.is_empty() {
                return Poll::Ready(Ok(None));
            }
            let polled = if self.scan.is_ordered { 1 } else { self.open.len() };
            let mut events = self.open.iter_mut().take(polled).enumerate();
            let next = events.find_map(|(place, response)| match response.poll(context) {
                Poll::Ready(next) => Some((place, next)),
                Poll::Pending => None,
            });
            match next {
                Some((_, Next::Event(event))) => return Poll::Ready(Ok(Some(event))),
                Some((place, Next::Ended(outcome))) => {
                    let Some(response) = self.open.remove(place) else { continue };
                    if response.delivery.is_evicted() {
                        self.dropped.insert(response.index);
                    } else if let Err(error) = self.ended(response, outcome) {
                        self.stop();
                        return Poll::Ready(Err(error));
                    }
                }
                None => return Poll::Pending,
            }
        }
    }

    /// Sends as many requests as may be open now. To be called inside a runtime.
    pub(super) fn send_requests(&mut self) {
        while let Some(index) = self.next_index().filter(|index| self.may_open(*index)) {
            if self.dropped.pop_first().is_none() {
                self.unsent.next();
            }
            let part = self.scan.part(index, self.scan.limit.map(|_| self.wanted));
            let delivery = Arc::new(Delivery::new(index, self.mode.delivery, Arc::clone(&self.budget)));
            let task = self.spawn(part.search.clone(), Arc::clone(&delivery));
            let place = self.open.partition_point(|response| response.index < index);
            self.open.insert(place, Response { index, part, delivery, task, stats: RecordStats::default() });
            self.mark_open();
        }
    }

    /// A task of its own: a response is read whatever the consumer does meanwhile.
    fn spawn(&self, search: Search, delivery: Arc<Delivery<BatchWithStats<B>>>) -> JoinHandle<Result<Completed>> {
        let (client, sink, mode) = (Arc::clone(&self.client), Arc::clone(&self.sink), self.mode);
        let cancelled = self.cancelled.clone();
        tokio::spawn(observe::observed(self.observer.clone(), async move {
            tokio::select! {
                biased;
                () = cancelled.cancelled() => Err(lost()),
                completed = client.search(mode, &search, &*sink, &delivery) => completed,
            }
        }))
    }

    /// The next request to send: one whose response was dropped comes before those that were not sent yet.
    fn next_index(&self) -> Option<usize> {
        if self.wanted == 0 {
            return None;
        }
        self.dropped.first().copied().or_else(|| self.unsent.clone().next())
    }

    /// Whether a request may be sent now. The one whose response is next in the plan always may.
    fn may_open(&self, index: usize) -> bool {
        let Some(first) = self.open.front() else { return true };
        index < first.index || (self.open.len() < self.most_open && self.has_room())
    }

    /// Whether one more response fits into the buffer, if it and those that are open become as large as the others.
    fn has_room(&self) -> bool {
        let open = self.open.iter().map(|response| response.delivery.total_bytes());
        let expected = self.sizes.mean().unwrap_or_else(|| open.clone().max().unwrap_or(0));
        let to_come: usize = open.map(|bytes| expected.saturating_sub(bytes)).sum();
        self.budget.used() + to_come + expected <= self.budget.limit()
    }

    /// Takes the responses that were dropped for want of room out of those that are open.
    fn drop_evicted(&mut self) {
        for place in (0..self.open.len()).rev() {
            if self.open.get(place).is_some_and(|response| response.delivery.is_evicted())
                && let Some(response) = self.open.remove(place)
            {
                self.dropped.insert(response.index);
                self.mark_open();
            }
        }
    }

    fn mark_open(&self) {
        if let (Some(first), Some(last)) = (self.open.front(), self.open.back()) {
            self.budget.set_open(first.index, last.index);
        }
    }

    fn ended(&mut self, response: Response<B>, outcome: Result<Completed>) -> Result<()> {
        let completed = outcome.map_err(|error| match self.scan.requests() {
            1 => error,
            requests => error.with_prefix(&format!("request {} of {requests}", response.index + 1)),
        })?;
        self.wanted -= response.stats.rows.min(self.wanted);
        self.sizes.add(response.delivery.total_bytes());
        self.figures.add(&self.scan, &response.part, &completed, response.stats);
        self.mark_open();
        Ok(())
    }

    fn stop(&mut self) {
        self.cancelled.cancel();
        (self.unsent, self.dropped) = (0..0, BTreeSet::new());
        self.open.clear();
    }
}

/// What a response gives next.
enum Next<B> {
    Event(Event<B>),
    Ended(Result<Completed>),
}

impl<B: Batch> Response<B> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Next<B>> {
        match self.delivery.poll(context) {
            Poll::Ready(Some(Event::Batch(BatchWithStats { batch, stats }))) => {
                self.stats.add(stats);
                return Poll::Ready(Next::Event(Event::Batch(batch)));
            }
            Poll::Ready(Some(Event::Restart)) => {
                self.stats = RecordStats::default();
                return Poll::Ready(Next::Event(Event::Restart));
            }
            Poll::Ready(None) | Poll::Pending => {}
        }
        Pin::new(&mut self.task).poll(context).map(|ended| Next::Ended(ended.unwrap_or_else(|_| Err(lost()))))
    }
}

impl Sizes {
    fn add(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.responses += 1;
    }

    fn mean(&self) -> Option<usize> {
        self.bytes.checked_div(self.responses)
    }
}

/// A request was ended by a defect, which is reported on standard error.
pub(super) fn lost() -> Error {
    Error::new(Kind::Internal, "a defect of dataaccess ended the stream")
        .with_hint("please report it with the steps that led here; the client stays usable")
}
