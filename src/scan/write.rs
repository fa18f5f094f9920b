//! A scan into one file, which appears only when complete.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use serde::Deserialize;

use super::responses::Responses;
use super::typed_batches::TypedBatches;
use super::{Collected, Consumer, Scan, Stats};
use crate::client::{Client, Delivered, Kept, OfAttempt};
use crate::columns::{self, ColumnType, Options};
use crate::decode::Cell;
use crate::error::{Error, Kind, Result};
use crate::files::{
    Complete, Compression, Csv, CsvOptions, JsonLines, Location, Output, Parquet, Rewrite, Writer, blocking,
};
use crate::time::Moment;

/// Batches for files: of plain strings, not views, and of types that do not change.
const OPTIONS: Options = Options { views: false, max_rows: 65_536, max_bytes: 8 << 20, widen: false };

/// The file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "format", rename_all = "lowercase")]
pub enum Format {
    /// Typed columns, compressed.
    Parquet,
    /// A header line, then one line per row.
    Csv {
        /// How values are written.
        #[serde(flatten)]
        options: CsvOptions,
        /// How the file is compressed.
        compression: Compression,
    },
    /// One JSON object per line, with the wire values.
    #[serde(rename = "jsonl")]
    JsonLines {
        /// How the file is compressed.
        compression: Compression,
    },
}

impl Scan {
    /// Writes the rows into a file, in the order of the plan. It appears when the caller publishes it. Blocks its thread
    /// for short times.
    ///
    /// # Errors
    /// `File` if it cannot be written, else any failure of a search. Then the path is as before.
    pub async fn write(&self, client: &Arc<Client>, location: &Location, format: Format) -> Result<(Stats, Complete)> {
        let location = writable(location).await?;
        let file = || location.create(Kind::File);
        // A file without rows has columns too.
        let empty = self.empty_schema(false)?;
        match format {
            Format::Parquet => {
                let create = |schema: &SchemaRef| Parquet::new(file()?, schema, &columns::with_dictionaries(schema));
                self.write_table(client, &empty, create).await
            }
            Format::Csv { options, compression } => {
                let create = |schema: &SchemaRef| {
                    let csv = Csv::new(Output::new(file()?, compression)?, options, &columns::text_schema(schema))?;
                    Ok(TextTimes(csv))
                };
                self.write_table(client, &empty, create).await
            }
            Format::JsonLines { compression } => {
                let create = || {
                    let lines = JsonLines::new(Output::new(file()?, compression)?, self.attributes())?;
                    Ok(match self.texts() {
                        Some(texts) => lines.with_texts(texts),
                        None => lines,
                    })
                };
                self.write_lines(client, create).await
            }
        }
    }

    /// Writes columns into a file. Without rows, it has the schema `empty`.
    async fn write_table<W: Writer<Batch = RecordBatch>>(
        &self,
        client: &Arc<Client>,
        empty: &SchemaRef,
        create: impl Fn(&SchemaRef) -> Result<W>,
    ) -> Result<(Stats, Complete)> {
        let (stats, writer) = self.write_columns(client, |schema, _| create(schema)).await?;
        let complete = blocking(|| writer.map_or_else(|| create(empty), Ok)?.finish())?;
        Ok((stats, complete))
    }

    async fn write_lines(
        &self,
        client: &Arc<Client>,
        create: impl Fn() -> Result<JsonLines>,
    ) -> Result<(Stats, Complete)> {
        if self.splits() {
            let (blocks, stats) = self.blocks_in_parts(client, Kept::Batches).await?;
            let complete = blocking(|| {
                let mut writer = create()?;
                blocks.iter().try_for_each(|block| writer.write(block))?;
                writer.finish()
            })?;
            return Ok((stats, complete));
        }
        let mut responses = Responses::of_cells(self, client, self.mode(Consumer::Writes), client.buffer());
        let mut written = OfAttempt::new(None);
        while let Some(Delivered { attempt, batch: block }) = responses.next().await? {
            blocking(|| begun(written.of(attempt, || None), &create)?.write(&block))?;
        }
        let writer = written.of_last(responses.attempt(), || None);
        let complete = blocking(|| writer.map_or_else(&create, Ok)?.finish())?;
        Ok((responses.stats(), complete))
    }

    /// Writes columns with the writer that `create` makes of their schema and of the time when they were requested, if
    /// there are rows. The caller finishes it.
    pub(super) async fn write_columns<W: Writer<Batch = RecordBatch>>(
        &self,
        client: &Arc<Client>,
        create: impl Fn(&SchemaRef, Moment) -> Result<W>,
    ) -> Result<(Stats, Option<W>)> {
        if self.splits() {
            let collected = self.collect_quietly(client, Options { widen: true, ..OPTIONS });
            let Collected { schema, batches, stats } = collected.await?;
            let write = || {
                let mut writer = create(&schema, stats.figures.requested_at())?;
                batches.iter().try_for_each(|batch| writer.write(batch))?;
                Ok::<_, Error>(writer)
            };
            let writer = (!batches.is_empty()).then(|| blocking(write)).transpose()?;
            return Ok((Arc::unwrap_or_clone(stats), writer));
        }
        let mut batches = TypedBatches::new(self, client, self.mode(Consumer::Writes), OPTIONS);
        let mut written = OfAttempt::new(None);
        while let Some(Delivered { attempt, batch }) = batches.next().await? {
            blocking(|| {
                begun(written.of(attempt, || None), || create(batch.schema_ref(), batches.requested_at()))?
                    .write(&batch)
            })?;
        }
        let writer = written.of_last(batches.attempt(), || None);
        Ok((batches.stats(), writer))
    }
}

/// Writes timestamps of a zone as strings with their offset.
struct TextTimes(Csv);

impl Writer for TextTimes {
    type Batch = RecordBatch;

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.0.write(&columns::with_text_times(batch)?)
    }

    fn finish(self) -> Result<Complete> {
        self.0.finish()
    }
}

impl Scan {
    /// What JSON lines have in place of the times of a column in another zone, and of the numbers of a column of names.
    fn texts(&self) -> Option<Rewrite> {
        let types: Vec<Option<ColumnType>> = self.columns.iter().map(|column| column.column_type).collect();
        let times = self.times.clone();
        let has_zone = times.zone.is_some();
        let has_names = types.iter().any(|column_type| matches!(column_type, Some(ColumnType::Name(_))));
        (has_zone || has_names).then(|| {
            Rewrite(Box::new(move |column, cell| match (types.get(column)?.as_ref()?, cell) {
                (ColumnType::Timestamp, Cell::String(text)) if has_zone => times.text(text),
                (ColumnType::Name(names), Cell::Integer(number)) => {
                    let value: i64 = number.parse().ok()?;
                    names.iter().find(|(_, known)| *known == value).map(|(name, _)| (*name).to_owned())
                }
                _ => None,
            }))
        })
    }
}

/// The writer, which is made for the first rows.
fn begun<W>(writer: &mut Option<W>, create: impl FnOnce() -> Result<W>) -> Result<&mut W> {
    Ok(match writer {
        Some(writer) => writer,
        none => none.insert(create()?),
    })
}

/// Where the file will be, absolutely. A place that cannot be written fails before a request is sent.
async fn writable(location: &Location) -> Result<Location> {
    let file = blocking(|| location.create(Kind::File))?;
    match location {
        Location::Path(_) => Ok(Location::Path(file.path().to_path_buf())),
        Location::Object(object) => {
            let checked = object.check().await;
            checked.map_err(|failure| failure.into_error(Kind::File, object.url(), "written"))?;
            Ok(location.clone())
        }
    }
}
