//! A scan into one file, which comes to be whole or not at all.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use tokio::task::block_in_place;

use super::answers::both;
use super::watch::Watched;
use super::{Scan, Stats};
use crate::cells::Cells;
use crate::client::{Client, Event, Handing, Manner};
use crate::columns::{self, Column, Columns, Options};
use crate::error::{Kind, Result};
use crate::files::{Csv, Draft, JsonLines, Parquet, Writer, Written};

/// Rows of a batch on its way into a file.
const BATCH_ROWS: usize = 65_536;
/// And bytes.
const BATCH_BYTES: usize = 8 << 20;
/// How batches for files are made: of texts that lie together, and of types that do not change.
const OPTIONS: Options = Options { views: false, max_rows: BATCH_ROWS, max_bytes: BATCH_BYTES, widen: false };

/// The kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Columns, compressed.
    Parquet,
    /// A line of names, then a line a row.
    Csv,
    /// An object a line, with the values as they are on the wire.
    JsonLines,
}

impl Scan {
    /// Writes the rows into a file, in the order of the plan. To be run where blocking for a while is allowed.
    ///
    /// # Errors
    /// `File`, if it cannot be written; otherwise any failure of a search. There is no file then, or the one there was.
    pub async fn write(&self, client: &Client, path: &Path, format: Format) -> Result<Stats> {
        // What cannot be written is told before anything is asked for, and the place is that of now.
        let place = block_in_place(|| Draft::create(path, Kind::File).map(|draft| draft.path().to_path_buf()))?;
        let draft = || Draft::create(&place, Kind::File);
        // A file without rows has columns as well.
        let (empty, _) = columns::unify(&self.columns, false, Vec::new())?;
        match format {
            Format::Parquet => {
                self.columns_into(client, Some(empty), |schema| Parquet::new(draft()?, schema, &[])).await
            }
            Format::Csv => self.columns_into(client, Some(empty), |schema| Csv::new(draft()?, schema)).await,
            Format::JsonLines => self.lines_into(client, draft()?).await,
        }
        .map(|(stats, _)| stats)
    }

    async fn lines_into(&self, client: &Client, draft: Draft) -> Result<(Stats, Option<Written>)> {
        let mut writer = block_in_place(|| JsonLines::new(draft, self.attributes()))?;
        let sink = || Watched::new(Cells::new(self.attributes().len()), self.time_column());
        let (mut answers, asking) = self.answers(client.concurrency(), false);
        let writing = async {
            while let Some(event) = answers.next().await? {
                block_in_place(|| match event {
                    Event::Batch(block) => writer.write(&block),
                    Event::Restart => writer.restart(),
                })?;
            }
            Ok(())
        };
        both(asking.ask(client, self, self.written(), sink), writing).await?;
        let written = block_in_place(|| writer.finish())?;
        Ok((answers.stats(), Some(written)))
    }

    /// Writes columns to what `make` makes of their schema; without rows, of the one for that case, if there is one.
    pub(super) async fn columns_into<W>(
        &self,
        client: &Client,
        empty: Option<SchemaRef>,
        mut make: impl FnMut(&SchemaRef) -> Result<W>,
    ) -> Result<(Stats, Option<Written>)>
    where
        W: Writer<Batch = RecordBatch>,
    {
        let settled = Settled::new(&self.columns);
        let sink = || Watched::new(Columns::new(&settled.columns(), OPTIONS), self.time_column());
        let alone = self.schema(false).is_none();
        let (mut answers, asking) = self.answers::<RecordBatch>(client.concurrency(), alone);
        let writing = async {
            let mut writer = None;
            while let Some(event) = answers.next().await? {
                match event {
                    Event::Batch(batch) => {
                        if writer.is_none() {
                            settled.settle(batch.schema_ref());
                            answers.go_ahead();
                            writer = Some(block_in_place(|| make(batch.schema_ref()))?);
                        }
                        block_in_place(|| writer.as_mut().map_or(Ok(()), |writer| writer.write(&batch)))?;
                    }
                    Event::Restart => {
                        // What is void decides nothing: neither rows nor types.
                        writer = None;
                        settled.forget();
                    }
                }
            }
            match (writer, empty) {
                (None, Some(schema)) => block_in_place(|| make(&schema)).map(Some),
                (writer, _) => Ok(writer),
            }
        };
        let writer = both(asking.ask(client, self, self.written(), sink), writing).await?;
        let written = block_in_place(|| writer.map(Writer::finish).transpose())?;
        Ok((answers.stats(), written))
    }

    /// How its requests are sent when their records go into a file, where they can be taken back from one request.
    fn written(&self) -> Manner {
        match self.requests() {
            1 => Manner { operation: self.operation, handing: Handing::InDoubt, is_part: true },
            _ => self.streamed(),
        }
    }
}

/// The types that columns came to with the first batch, for those that follow.
struct Settled<'a> {
    columns: &'a [Column],
    settled: Mutex<Option<Vec<Column>>>,
}

impl<'a> Settled<'a> {
    fn new(columns: &'a [Column]) -> Self {
        Self { columns, settled: Mutex::default() }
    }

    fn columns(&self) -> Vec<Column> {
        self.state().clone().unwrap_or_else(|| self.columns.to_vec())
    }

    fn settle(&self, schema: &Schema) {
        *self.state() = Some(columns::settled(self.columns, schema));
    }

    fn forget(&self) {
        *self.state() = None;
    }

    fn state(&self) -> MutexGuard<'_, Option<Vec<Column>>> {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
