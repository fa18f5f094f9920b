//! The batches of a scan in columns whose inferred types the first batch decides for all later ones.

use std::sync::Arc;
#[cfg(feature = "files")]
use std::time::SystemTime;

use arc_swap::ArcSwap;
use arrow_array::RecordBatch;
use tokio_util::sync::CancellationToken;

use super::record_stats::WithStats;
use super::responses::Responses;
use super::{Scan, Stats};
use crate::client::{BufferBudget, Client, Event, SearchMode};
use crate::columns::{self, Column, ColumnSink, Options};
use crate::error::Result;

pub(super) struct TypedBatches {
    responses: Responses<WithStats<ColumnSink>, RecordBatch>,
    columns: Vec<Column>,
    /// The columns of the attempts that begin now.
    frozen: Arc<ArcSwap<Vec<Column>>>,
    is_frozen: bool,
}

impl TypedBatches {
    /// While types must be inferred, only one request is in flight.
    pub(super) fn new(scan: &Scan, client: &Arc<Client>, mode: SearchMode, options: Options) -> Self {
        let frozen = Arc::new(ArcSwap::from_pointee(scan.columns.clone()));
        let (columns, time_column) = (Arc::clone(&frozen), scan.time_column());
        let sink = move || WithStats::new(ColumnSink::new(&columns.load(), options), time_column);
        let mut responses = Responses::new(scan, client, mode, client.buffer(), sink);
        responses.set_concurrent(scan.schema(options.views).is_some());
        Self { responses, columns: scan.columns.clone(), frozen, is_frozen: false }
    }

    /// The next event; `None` when all responses are complete. Cancel-safe.
    pub(super) async fn next(&mut self) -> Result<Option<Event<RecordBatch>>> {
        let event = self.responses.next().await?;
        match &event {
            Some(Event::Batch(batch)) if !self.is_frozen => {
                self.frozen.store(Arc::new(columns::frozen(&self.columns, &columns::types(batch.schema_ref())?)));
                self.is_frozen = true;
                self.responses.set_concurrent(true);
            }
            Some(Event::Restart) => {
                // Void batches decide no types.
                self.frozen.store(Arc::new(self.columns.clone()));
                self.is_frozen = false;
            }
            _ => {}
        }
        Ok(event)
    }

    /// Sends the first requests. Must be called inside a runtime.
    pub(super) fn send_requests(&mut self) {
        self.responses.send_requests();
    }

    /// Cancels the requests in flight, from any thread.
    pub(super) fn cancellation(&self) -> CancellationToken {
        self.responses.cancellation()
    }

    /// The buffer that the responses share.
    pub(super) fn budget(&self) -> Arc<BufferBudget> {
        self.responses.budget()
    }

    /// When the response of the last event was requested.
    #[cfg(feature = "files")]
    pub(super) fn requested_at(&self) -> Option<SystemTime> {
        self.responses.requested_at()
    }

    /// The figures of the responses that are complete.
    pub(super) fn stats(&self) -> Stats {
        self.responses.stats()
    }
}
