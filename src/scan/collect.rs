//! A complete result: all batches with one schema that fits them, or all rows.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tokio::sync::mpsc;

use super::record_stats::WithStats;
use super::responses::Responses;
use super::{Consumer, Scan, Stats};
use crate::cells::Block;
use crate::client::{Client, Delivered, Kept, OfAttempt};
use crate::columns::{self, ColumnSink, Options};
use crate::error::{Error, Kind, Result};

/// The complete result of a scan in columns.
#[derive(Debug)]
pub struct Collected {
    /// The types of the columns, which fit all rows.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Vec<RecordBatch>,
    /// Figures and warnings.
    pub stats: Arc<Stats>,
}

/// The end of a result in rows.
#[derive(Debug)]
pub struct LastRows {
    /// The last rows.
    pub blocks: Vec<Block>,
    /// The number of the last attempt: blocks of others are void.
    pub attempt: u32,
    /// Figures and warnings.
    pub stats: Stats,
}

impl Scan {
    /// Sends the requests and collects the rows in columns, whose types fit all rows.
    pub async fn collect(&self, client: &Arc<Client>, options: Options) -> Result<Collected> {
        let mut collected = self.collect_quietly(client, options).await?;
        Arc::make_mut(&mut collected.stats).warn_of_missing_ids(self);
        Ok(collected)
    }

    /// As [`Self::collect`], without the warning for ids that were not found.
    pub(super) async fn collect_quietly(&self, client: &Arc<Client>, options: Options) -> Result<Collected> {
        let (columns, time_column) = (self.columns.clone(), self.time_column());
        let sink = move || WithStats::new(ColumnSink::new(&columns, options), time_column);
        let buffer = client.result_buffer(Kept::Records);
        let open =
            |scan: &Self| Responses::new(scan, client, scan.mode(Consumer::Collects), buffer.anew(), sink.clone());
        let (batches, mut stats) = if self.splits() {
            self.collect_in_parts(open).await?
        } else {
            let (mut responses, mut batches) = (open(self), OfAttempt::new(Vec::new()));
            while let Some(Delivered { attempt, batch }) = responses.next().await? {
                batches.of(attempt, Vec::new).push(batch);
            }
            (batches.of_last(responses.attempt(), Vec::new), responses.stats())
        };
        let (schema, batches, mixed) = columns::unify(&self.columns, options.views, batches)?;
        let schema = self.times.schema(schema);
        let batches = batches.into_iter().map(|batch| self.times.batch(batch)).collect::<Result<Vec<_>>>()?;
        let mut ids = self.ids();
        if let Some(ids) = &mut ids {
            for batch in &batches {
                ids.add(batch)?;
            }
        }
        stats.set_ids(ids.as_ref());
        Ok(Collected { schema, batches, stats: Arc::new(stats.with_mixed(mixed)) })
    }

    /// Sends the requests and passes the rows in blocks to `blocks`, while there are more. Returns what is left: all rows
    /// of a small result.
    pub async fn rows(&self, client: &Arc<Client>, blocks: &mpsc::Sender<Delivered<Box<Block>>>) -> Result<LastRows> {
        let mut last = self.rows_quietly(client, blocks).await?;
        last.stats.warn_of_missing_ids(self);
        Ok(last)
    }

    async fn rows_quietly(
        &self,
        client: &Arc<Client>,
        blocks: &mpsc::Sender<Delivered<Box<Block>>>,
    ) -> Result<LastRows> {
        if self.splits() {
            let (last, mut stats) = self.blocks_in_parts(client, Kept::Records).await?;
            let mut ids = self.ids();
            if let Some(ids) = &mut ids {
                for block in &last {
                    ids.add_block(block);
                }
            }
            stats.set_ids(ids.as_ref());
            return Ok(LastRows { blocks: last, attempt: 0, stats });
        }
        if self.is_one_plain_request() {
            return self.rows_of_one_request(client, blocks).await;
        }
        let buffer = client.result_buffer(Kept::Records);
        let mut responses = Responses::of_cells(self, client, self.mode(Consumer::Collects), buffer);
        let mut ids = OfAttempt::new(self.ids());
        while let Some(block) = responses.next().await? {
            if let Some(ids) = ids.of(block.attempt, || self.ids()) {
                ids.add_block(&block.batch);
            }
            blocks.send(block.boxed()).await.map_err(|_| cancelled())?;
        }
        let mut stats = responses.stats();
        stats.set_ids(ids.of_last(responses.attempt(), || self.ids()).as_ref());
        Ok(LastRows { blocks: Vec::new(), attempt: responses.attempt(), stats })
    }

    /// All rows in blocks, with the requests split whose responses look capped.
    pub(super) async fn blocks_in_parts(&self, client: &Arc<Client>, kept: Kept) -> Result<(Vec<Block>, Stats)> {
        let buffer = client.result_buffer(kept);
        let open = |scan: &Self| Responses::of_cells(scan, client, scan.mode(Consumer::Collects), buffer.anew());
        self.collect_in_parts(open).await
    }
}

pub(super) fn cancelled() -> Error {
    Error::new(Kind::Internal, "the scan was cancelled: its row receiver was dropped")
}
