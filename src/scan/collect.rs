//! All batches of the answers, kept until they have ended well, with one schema that fits them all.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tokio::sync::mpsc;

use super::record_stats::WithStats;
use super::responses::Responses;
use super::{Scan, Stats};
use crate::cells::{Block, Cells};
use crate::client::{Client, Event};
use crate::columns::{self, ColumnSink, Options};
use crate::error::{Error, Kind, Result};

/// Whole answers in columns.
#[derive(Debug)]
pub struct Collected {
    /// The types of the columns, which fit all rows.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Vec<RecordBatch>,
    /// How it was come by.
    pub stats: Arc<Stats>,
}

impl Scan {
    /// Collects the answers in columns.
    pub async fn collect(&self, client: &Arc<Client>, options: Options) -> Result<Collected> {
        let (columns, time_column) = (self.columns.clone(), self.time_column());
        let sink = move || WithStats::new(ColumnSink::new(&columns, options), time_column);
        let mut responses = Responses::new(self, client, self.collected(), usize::MAX, sink);
        let mut batches = Vec::new();
        while let Some(event) = responses.next().await? {
            match event {
                Event::Batch(batch) => batches.push(batch),
                Event::Restart => batches.clear(),
            }
        }
        let stats = Arc::new(responses.stats());
        let (schema, batches) = columns::unify(&self.columns, options.views, batches)?;
        Ok(Collected { schema, batches, stats })
    }

    /// Collects the answers as rows, in blocks that go to `events`.
    pub async fn rows(&self, client: &Arc<Client>, events: mpsc::Sender<Event<Block>>) -> Result<Stats> {
        let (columns, time_column) = (self.attributes().len(), self.time_column());
        let sink = move || WithStats::new(Cells::new(columns), time_column);
        // All rows are wanted in the end: those of one response wait for the consumer, not the response for them.
        let most_bytes = if self.requests() > 1 { usize::MAX } else { client.max_buffered_bytes() };
        let mut responses = Responses::new(self, client, self.collected(), most_bytes, sink);
        while let Some(event) = responses.next().await? {
            let sent = events.send(event).await;
            sent.map_err(|_| Error::new(Kind::Internal, "the rows of a scan were abandoned"))?;
        }
        Ok(responses.stats())
    }
}
