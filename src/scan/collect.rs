//! All batches of an answer, kept until it has ended well, with one schema that fits them all.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tokio::sync::mpsc;

use super::watch::Watched;
use super::{Scan, Seen, Stats, Taken};
use crate::cells::{Block, Cells};
use crate::client::{Answered, Client, Event};
use crate::columns::{self, Columns, Options};
use crate::error::Result;

/// Batches that may wait to be kept.
const BATCHES_AHEAD: usize = 2;

/// A whole answer in columns.
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
    /// Collects an answer in columns.
    pub async fn collect(&self, client: &Client, options: Options) -> Result<Collected> {
        let sink = || Watched::new(Columns::new(&self.columns, options), self.time_column());
        let (events, mut received) = mpsc::channel(BATCHES_AHEAD);
        let keeping = async {
            let mut kept = Kept::default();
            while let Some(event) = received.recv().await {
                kept.take(event);
            }
            kept
        };
        let asking = client.search(self.operation, &self.search, sink, events);
        let (answered, Kept { batches, seen }) = tokio::join!(asking, keeping);
        let answered = answered?;
        let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        let stats = Arc::new(Stats::new(self, &answered, rows, seen));
        let (schema, batches) = columns::unify(&self.columns, options.views, batches)?;
        Ok(Collected { schema, batches, stats })
    }

    /// Collects an answer as rows, in blocks that go to `events`; their figures are for [`Stats::new`].
    pub async fn rows(&self, client: &Client, events: mpsc::Sender<Event<Taken<Block>>>) -> Result<Answered> {
        let sink = || Watched::new(Cells::new(self.attributes().len()), self.time_column());
        client.search(self.operation, &self.search, sink, events).await
    }
}

/// What has come so far.
#[derive(Debug, Default)]
struct Kept {
    batches: Vec<RecordBatch>,
    seen: Seen,
}

impl Kept {
    fn take(&mut self, event: Event<Taken<RecordBatch>>) {
        match event {
            Event::Batch(Taken { batch, seen }) => {
                self.batches.push(batch);
                self.seen.add(seen);
            }
            Event::Restart => *self = Self::default(),
        }
    }
}
