//! One response of a scan in flight: the task that reads it, and its batches.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::task::{JoinError, JoinHandle};

use super::record_stats::{BatchWithStats, RecordStats};
use super::request::PlannedRequest;
use crate::client::{Completed, Delivery, Event};
use crate::decode::Batch;
use crate::error::{Error, Kind, Result};

/// The task of a request.
pub(super) type RequestTask = JoinHandle<Result<Completed>>;

/// A request in flight.
pub(super) struct Response<B: Batch, T = RequestTask> {
    pub(super) index: usize,
    pub(super) request: PlannedRequest,
    pub(super) delivery: Arc<Delivery<BatchWithStats<B>>>,
    pub(super) task: T,
    /// What the task returned, until its last batch was taken.
    pub(super) outcome: Option<Result<Completed>>,
    pub(super) stats: RecordStats,
}

/// What a response gives next.
pub(super) enum Next<B> {
    Event(Event<B>),
    Ended(Result<Completed>),
}

impl<B: Batch, T: Future<Output = Result<Result<Completed>, JoinError>> + Unpin> Response<B, T> {
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Next<B>> {
        // The task first: a batch that it sends just before it ends is then in the delivery, and is not lost.
        if self.outcome.is_none()
            && let Poll::Ready(ended) = Pin::new(&mut self.task).poll(context)
        {
            self.outcome = Some(ended.unwrap_or_else(|_| Err(panicked())));
        }
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
        self.outcome.take().map_or(Poll::Pending, |outcome| Poll::Ready(Next::Ended(outcome)))
    }
}

/// The error for a task that panicked. The panic message may hold anything, so none of it is repeated.
pub(crate) fn panicked() -> Error {
    Error::new(Kind::Internal, "a bug in dataaccess ended the call")
        .with_hint("please report it with the steps that led here; the client stays usable")
}

#[cfg(test)]
mod tests {
    use std::task::Waker;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::client::{BufferBudget, DeliveryMode};
    use crate::contract::search::{Attributes, Filters, SearchBody};
    use crate::decode::Envelope;
    use crate::filter::Search;

    struct Rows;

    impl Batch for Rows {
        fn bytes(&self) -> usize {
            1
        }
    }

    fn any_request() -> PlannedRequest {
        let body = SearchBody {
            item_type_id: 7,
            item_type_name: "store".to_owned(),
            attrs: Attributes::Names(Arc::from(["n".to_owned()])),
            filters: Filters { or: Vec::new() },
        };
        PlannedRequest {
            search: Arc::new(Search {
                body,
                attributes: Arc::from(["n".to_owned()]),
                limit: None,
                known_row_cap: None,
            }),
            day: None,
            name: String::new(),
        }
    }

    #[test]
    fn a_batch_that_is_sent_as_the_task_ends_is_not_lost() {
        let budget = Arc::new(BufferBudget::new(100, Duration::from_secs(4)));
        let delivery = Arc::new(Delivery::new(0, DeliveryMode::Streamed { held: 1 }, budget));
        let sender = Arc::clone(&delivery);
        // Ends while it is polled, as a task on another thread may.
        let task = Box::pin(async move {
            let batch = BatchWithStats { batch: Rows, stats: RecordStats::default() };
            sender.push(batch).expect("no limit");
            sender.complete();
            let (elapsed, requested_at) = (Duration::ZERO, SystemTime::UNIX_EPOCH);
            Ok(Ok(Completed { envelope: Envelope::default(), attempts: 1, elapsed, requested_at }))
        });
        let request = any_request();
        let mut response = Response { index: 0, request, delivery, task, outcome: None, stats: RecordStats::default() };
        let mut context = Context::from_waker(Waker::noop());
        assert!(matches!(response.poll(&mut context), Poll::Ready(Next::Event(Event::Batch(Rows)))));
        assert!(matches!(response.poll(&mut context), Poll::Ready(Next::Ended(Ok(_)))));
    }
}
