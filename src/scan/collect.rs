//! All batches of the answers, kept until they have ended well, with one schema that fits them all.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tokio::sync::mpsc;

use super::answers::both;
use super::watch::Watched;
use super::{Scan, Stats};
use crate::cells::{Block, Cells};
use crate::client::{Client, Event};
use crate::columns::{self, Columns, Options};
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
    pub async fn collect(&self, client: &Client, options: Options) -> Result<Collected> {
        let sink = || Watched::new(Columns::new(&self.columns, options), self.time_column());
        let (mut answers, asking) = self.answers(client.concurrency(), false);
        let mut batches = Vec::new();
        let keeping = async {
            while let Some(event) = answers.next().await? {
                match event {
                    Event::Batch(batch) => batches.push(batch),
                    Event::Restart => batches.clear(),
                }
            }
            Ok(())
        };
        both(asking.ask(client, self, self.collected(), sink), keeping).await?;
        let stats = Arc::new(answers.stats());
        let (schema, batches) = columns::unify(&self.columns, options.views, batches)?;
        Ok(Collected { schema, batches, stats })
    }

    /// Collects the answers as rows, in blocks that go to `events`.
    pub async fn rows(&self, client: &Client, events: mpsc::Sender<Event<Block>>) -> Result<Stats> {
        let sink = || Watched::new(Cells::new(self.attributes().len()), self.time_column());
        let (mut answers, asking) = self.answers(client.concurrency(), false);
        let passing_on = async {
            while let Some(event) = answers.next().await? {
                let sent = events.send(event).await;
                sent.map_err(|_| Error::new(Kind::Internal, "the rows of a scan were abandoned"))?;
            }
            Ok(())
        };
        both(asking.ask(client, self, self.collected(), sink), passing_on).await?;
        Ok(answers.stats())
    }
}
