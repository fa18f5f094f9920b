//! The batches of a scan in columns whose inferred types the first batch decides for all later ones.

use std::sync::Arc;

use arc_swap::ArcSwap;
use arrow_array::RecordBatch;
use tokio_util::sync::CancellationToken;

use super::record_stats::WithStats;
use super::responses::Responses;
use super::result_times::ResultTimes;
use super::{Scan, Stats};
use crate::client::{Client, Delivered, SearchMode};
use crate::columns::{self, Column, ColumnSink, Options};
use crate::error::Result;
use crate::time::Moment;

pub(super) struct TypedBatches {
    responses: Responses<WithStats<ColumnSink>, RecordBatch>,
    columns: Vec<Column>,
    times: ResultTimes,
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
        // A batch of the only request may be void: it decides no types of a later attempt.
        let (columns, times) = (scan.columns.clone(), scan.times.clone());
        Self { responses, columns, times, frozen, is_frozen: scan.requests() == 1 }
    }

    /// The next batch; `None` when all responses are complete. Cancel-safe.
    pub(super) async fn next(&mut self) -> Result<Option<Delivered<RecordBatch>>> {
        let delivered = self.responses.next().await?;
        if let Some(Delivered { batch, .. }) = &delivered
            && !self.is_frozen
        {
            self.frozen.store(Arc::new(columns::frozen(&self.columns, &columns::types(batch.schema_ref())?)));
            self.is_frozen = true;
            self.responses.set_concurrent(true);
        }
        let in_zone = |Delivered { attempt, batch }| Ok(Delivered { attempt, batch: self.times.batch(batch)? });
        delivered.map(in_zone).transpose()
    }

    /// The number of the last attempt: batches of others are void.
    #[cfg(feature = "files")]
    pub(super) fn attempt(&self) -> u32 {
        self.responses.attempt()
    }

    /// Sends the first requests. Must be called inside a runtime.
    pub(super) fn send_requests(&mut self) {
        self.responses.send_requests();
    }

    /// Cancels the requests in flight, from any thread.
    pub(super) fn cancellation(&self) -> CancellationToken {
        self.responses.cancellation()
    }

    /// When the response of the last batch was requested.
    pub(super) fn requested_at(&self) -> Moment {
        self.responses.requested_at()
    }

    /// The figures of the responses that are complete.
    pub(super) fn stats(&self) -> Stats {
        self.responses.stats()
    }
}
