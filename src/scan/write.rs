//! A scan into one file, which comes to be whole or not at all.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tokio::task::block_in_place;
use tokio_util::sync::CancellationToken;

use super::record_stats::WithStats;
use super::responses::Responses;
use super::{Scan, Stats};
use crate::cells::Cells;
use crate::client::{Client, DeliveryMode, Event, SearchMode};
use crate::columns::{self, Column, ColumnSink, Options};
use crate::error::{Kind, Result};
use crate::files::{AtomicFile, Csv, JsonLines, Parquet, Writer, Written};

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
    /// `File`, if it cannot be written; otherwise any failure of a search. There is no file then, or the one there was;
    /// nor will one come late, once `abandoned` is cancelled.
    pub async fn write(
        &self,
        client: &Arc<Client>,
        path: &Path,
        format: Format,
        abandoned: &CancellationToken,
    ) -> Result<Stats> {
        // What cannot be written is told before anything is asked for, and the place is that of now.
        let place = block_in_place(|| AtomicFile::create(path, Kind::File).map(|file| file.path().to_path_buf()))?;
        let file = || AtomicFile::create(&place, Kind::File).map(|file| file.unless(abandoned));
        // A file without rows has columns as well.
        let (empty, _) = columns::unify(&self.columns, false, Vec::new())?;
        match format {
            Format::Parquet => {
                self.columns_into(client, Some(empty), |schema| Parquet::new(file()?, schema, &[])).await
            }
            Format::Csv => self.columns_into(client, Some(empty), |schema| Csv::new(file()?, schema)).await,
            Format::JsonLines => self.lines_into(client, || JsonLines::new(file()?, self.attributes())).await,
        }
        .map(|(stats, _)| stats)
    }

    async fn lines_into(
        &self,
        client: &Arc<Client>,
        mut make: impl FnMut() -> Result<JsonLines>,
    ) -> Result<(Stats, Option<Written>)> {
        let (columns, time_column) = (self.attributes().len(), self.time_column());
        let sink = move || WithStats::new(Cells::new(columns), time_column);
        let mut responses = Responses::new(self, client, self.written(), client.max_buffered_bytes(), sink);
        let mut writer = block_in_place(&mut make)?;
        while let Some(event) = responses.next().await? {
            block_in_place(|| match event {
                Event::Batch(block) => writer.write(&block),
                Event::Restart => make().map(|anew| writer = anew),
            })?;
        }
        let written = block_in_place(|| writer.finish())?;
        Ok((responses.stats(), Some(written)))
    }

    /// Writes columns to what `make` makes of their schema; without rows, of the one for that case, if there is one.
    pub(super) async fn columns_into<W>(
        &self,
        client: &Arc<Client>,
        empty: Option<SchemaRef>,
        mut make: impl FnMut(&SchemaRef) -> Result<W>,
    ) -> Result<(Stats, Option<Written>)>
    where
        W: Writer<Batch = RecordBatch>,
    {
        // The types that are inferred from the first batch hold for those that follow.
        let types = Arc::new(Mutex::new(self.columns.clone()));
        let set_types = |columns: Vec<Column>| *types.lock().unwrap_or_else(PoisonError::into_inner) = columns;
        let (known, time_column) = (Arc::clone(&types), self.time_column());
        let sink = move || {
            WithStats::new(ColumnSink::new(&known.lock().unwrap_or_else(PoisonError::into_inner), OPTIONS), time_column)
        };
        let mut responses = Responses::new(self, client, self.written(), client.max_buffered_bytes(), sink);
        if self.schema(false).is_none() {
            responses = responses.one_by_one();
        }
        let mut writer = None;
        while let Some(event) = responses.next().await? {
            match event {
                Event::Batch(batch) => {
                    if writer.is_none() {
                        set_types(columns::frozen(&self.columns, batch.schema_ref()));
                        responses.open_all();
                        writer = Some(block_in_place(|| make(batch.schema_ref()))?);
                    }
                    block_in_place(|| writer.as_mut().map_or(Ok(()), |writer| writer.write(&batch)))?;
                }
                Event::Restart => {
                    // What is void decides nothing: neither rows nor types.
                    writer = None;
                    set_types(self.columns.clone());
                }
            }
        }
        let written = block_in_place(|| match (writer, empty) {
            (None, Some(schema)) => make(&schema)?.finish().map(Some),
            (writer, _) => writer.map(Writer::finish).transpose(),
        })?;
        Ok((responses.stats(), written))
    }

    /// How its requests are sent when their records go into a file, where they can be taken back from one request.
    fn written(&self) -> SearchMode {
        match self.requests() {
            1 => SearchMode { delivery: DeliveryMode::Provisional, is_scan_request: true, ..self.streamed() },
            _ => self.streamed(),
        }
    }
}
