//! A scan into one file, which appears only when complete.

use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tokio::task::block_in_place;
use tokio_util::sync::CancellationToken;

use super::responses::Responses;
use super::typed_batches::TypedBatches;
use super::{Scan, Stats};
use crate::client::{Client, DeliveryMode, Event, SearchMode};
use crate::columns::{self, Options};
use crate::error::{Kind, Result};
use crate::files::{AtomicFile, Csv, JsonLines, Parquet, Writer, Written};

/// Batches for files: of plain strings, not views, and of types that do not change.
const OPTIONS: Options = Options { views: false, max_rows: 65_536, max_bytes: 8 << 20, widen: false };

/// The file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Typed columns, compressed.
    Parquet,
    /// A header line, then one line per row.
    Csv,
    /// One JSON object per line, with the wire values.
    JsonLines,
}

impl Scan {
    /// Writes the rows into a file, in the order of the plan. Blocks its thread for short times.
    ///
    /// # Errors
    /// `File` if it cannot be written, else any failure of a search. Then the path is as before. Once `abandoned` is
    /// cancelled, the file does not appear either.
    pub async fn write(
        &self,
        client: &Arc<Client>,
        path: &Path,
        format: Format,
        abandoned: &CancellationToken,
    ) -> Result<Stats> {
        // A path that cannot be written fails before a request is sent. It is made absolute now.
        let path = block_in_place(|| AtomicFile::create(path, Kind::File).map(|file| file.path().to_path_buf()))?;
        let file = || AtomicFile::create(&path, Kind::File).map(|file| file.unless(abandoned));
        // A file without rows has columns too.
        let (empty, _) = columns::unify(&self.columns, false, Vec::new())?;
        match format {
            Format::Parquet => self
                .write_columns(client, Some(empty), |schema| Parquet::new(file()?, schema))
                .await
                .map(|(stats, _)| stats),
            Format::Csv => self
                .write_columns(client, Some(empty), |schema| Csv::new(file()?, schema))
                .await
                .map(|(stats, _)| stats),
            Format::JsonLines => self.write_lines(client, || JsonLines::new(file()?, self.attributes())).await,
        }
    }

    async fn write_lines(&self, client: &Arc<Client>, create: impl Fn() -> Result<JsonLines>) -> Result<Stats> {
        let mut responses = Responses::of_cells(self, client, self.written(), client.max_buffered_bytes());
        let mut writer = block_in_place(&create)?;
        while let Some(event) = responses.next().await? {
            block_in_place(|| match event {
                Event::Batch(block) => writer.write(&block),
                Event::Restart => create().map(|restarted| writer = restarted),
            })?;
        }
        block_in_place(|| writer.finish())?;
        Ok(responses.stats())
    }

    /// Writes columns with the writer that `create` makes of their schema. Without rows, a file of the schema `empty`
    /// is written, or none.
    pub(super) async fn write_columns<W: Writer<Batch = RecordBatch>>(
        &self,
        client: &Arc<Client>,
        empty: Option<SchemaRef>,
        mut create: impl FnMut(&SchemaRef) -> Result<W>,
    ) -> Result<(Stats, Option<Written>)> {
        let mut batches = TypedBatches::new(self, client, self.written(), OPTIONS);
        let mut writer = None;
        while let Some(event) = batches.next().await? {
            match event {
                Event::Batch(batch) => block_in_place(|| {
                    let writer = match &mut writer {
                        Some(writer) => writer,
                        none => none.insert(create(batch.schema_ref())?),
                    };
                    writer.write(&batch)
                })?,
                Event::Restart => writer = None,
            }
        }
        let written = block_in_place(|| match (writer, empty) {
            (None, Some(schema)) => create(&schema)?.finish().map(Some),
            (writer, _) => writer.map(Writer::finish).transpose(),
        })?;
        Ok((batches.stats(), written))
    }

    /// How the requests for a file are sent: the rows of a single one can be written anew after a retry.
    fn written(&self) -> SearchMode {
        match self.requests() {
            1 => SearchMode { delivery: DeliveryMode::Provisional, is_scan_request: true, ..self.streamed() },
            _ => self.streamed(),
        }
    }
}
