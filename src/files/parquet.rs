//! Batches as Parquet: compressed by zstd, with statistics, in row groups of bounded size.

use std::io::{self, Write};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use crc32fast::Hasher;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ArrowWriter, add_encoded_arrow_schema_to_metadata};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use serde_json::Value;

use super::Writer;
use super::atomic::{AtomicFile, Complete};
use super::footer;
use crate::VERSION;
use crate::error::{Error, Result, defect};

/// Key of the package's version in the file's metadata.
const WRITER: &str = "dataaccess";
/// Most rows of a row group.
const GROUP_ROWS: usize = 1 << 20;
/// Most bytes of a row group, compressed and approximately: it is in memory until it ends.
const GROUP_BYTES: usize = 16 << 20;

/// Writes batches of one schema.
pub struct Parquet {
    schema: SchemaRef,
    writer: ArrowWriter<Output>,
    /// Which columns have a value.
    has_values: Vec<bool>,
}

/// The file, and the length and checksum of its data, which its footer records.
struct Output {
    file: AtomicFile,
    data_bytes: u64,
    data_hash: Hasher,
    /// The footer of a part, which is sealed before it is written.
    tail: Option<Vec<u8>>,
}

impl Parquet {
    /// Begins a file of this schema. Readers that know Arrow see the schema `shown`, in which strings may be
    /// dictionaries. Fails for types that Parquet does not have, which no column here has.
    pub fn new(file: AtomicFile, schema: &SchemaRef, shown: &Schema) -> Result<Self> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES))
            // No index of pages: row groups are small.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_key_value_metadata(Some(vec![KeyValue::new(WRITER.to_owned(), VERSION.to_owned())]))
            .build();
        add_encoded_arrow_schema_to_metadata(shown, &mut properties);
        let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let output = Output { file, data_bytes: 0, data_hash: Hasher::new(), tail: None };
        let writer = ArrowWriter::try_new_with_options(output, SchemaRef::clone(schema), options);
        let writer = writer.map_err(|cause| defect("Parquet cannot hold this schema").with_source(cause))?;
        Ok(Self { schema: SchemaRef::clone(schema), writer, has_values: vec![false; schema.fields().len()] })
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The columns without any value so far.
    pub fn empty_columns(&self) -> Vec<String> {
        let columns = self.schema.fields().iter().zip(&self.has_values);
        columns.filter(|(_, has_values)| !**has_values).map(|(field, _)| field.name().clone()).collect()
    }

    /// As [`Writer::finish`], with a record and checksums in the metadata, which [`footer::Footer`] reads.
    pub fn finish_part(mut self, record: &Value) -> Result<Complete> {
        self.writer.flush().map_err(|cause| self.to_error(cause))?;
        self.writer.sync().map_err(|cause| self.to_error(cause))?;
        let output = self.writer.inner_mut();
        let seal = footer::seal(record, output.data_bytes, output.data_hash.clone().finalize());
        output.tail = Some(Vec::new());
        self.writer.append_key_value_metadata(KeyValue::new(footer::KEY.to_owned(), seal));
        self.writer.finish().map_err(|cause| self.to_error(cause))?;
        let output = self.writer.inner_mut();
        let mut tail = output.tail.take().ok_or_else(|| defect("the footer of a part was not kept"))?;
        footer::close(&mut tail)?;
        output.write_all(&tail).map_err(|cause| self.to_error(cause))?;
        self.writer.inner_mut().file.finish()
    }

    fn to_error(&self, cause: impl std::error::Error + Send + Sync + 'static) -> Error {
        self.writer.inner().file.to_error(cause)
    }
}

impl Writer for Parquet {
    type Batch = RecordBatch;

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        for (has_values, column) in self.has_values.iter_mut().zip(batch.columns()) {
            *has_values |= column.null_count() < column.len();
        }
        self.writer.write(batch).map_err(|cause| self.to_error(cause))
    }

    fn finish(mut self) -> Result<Complete> {
        self.writer.finish().map_err(|cause| self.to_error(cause))?;
        self.writer.inner_mut().file.finish()
    }
}

impl Write for Output {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if let Some(tail) = &mut self.tail {
            tail.extend_from_slice(piece);
            return Ok(piece.len());
        }
        let written = self.file.write(piece)?;
        self.data_bytes += written as u64;
        self.data_hash.update(piece.get(..written).unwrap_or(piece));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
