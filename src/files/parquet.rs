//! Batches as Parquet: compressed by zstd, with statistics, in row groups of bounded size.

use std::fmt;
use std::io::{self, Write};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::Writer;
use super::atomic::AtomicFile;
use super::written::Written;
use crate::VERSION;
use crate::error::{Error, Kind, Result};

/// Key of the file's metadata under which the package's version stands.
const WRITER: &str = "dataaccess";
/// A row group ends with so many rows,
const GROUP_ROWS: usize = 1 << 20;
/// or with about so many bytes, compressed: it is in memory until then.
const GROUP_BYTES: usize = 16 << 20;

/// Writes batches of one schema.
pub struct Parquet {
    writer: ArrowWriter<WriterSlot>,
}

impl Parquet {
    /// A file of this schema, with these keys and values in its metadata.
    ///
    /// # Errors
    /// Parquet has no such types: a defect, for those of this package.
    pub fn new(file: AtomicFile, schema: &SchemaRef, metadata: &[(&str, &str)]) -> Result<Self> {
        let metadata = [(WRITER, VERSION)].iter().chain(metadata);
        let metadata = metadata.map(|(key, value)| KeyValue::new((*key).to_owned(), (*value).to_owned())).collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES))
            .set_key_value_metadata(Some(metadata))
            .build();
        let writer = ArrowWriter::try_new(WriterSlot(Some(file)), SchemaRef::clone(schema), Some(properties));
        let writer = writer.map_err(|cause| {
            Error::new(Kind::Internal, "this schema makes no Parquet: please report this").with_source(cause)
        })?;
        Ok(Self { writer })
    }

    fn told(&mut self, cause: ParquetError) -> Error {
        match &self.writer.inner_mut().0 {
            Some(file) => file.told(cause),
            None => lost(),
        }
    }

    fn take(&mut self) -> Result<AtomicFile> {
        self.writer.inner_mut().0.take().ok_or_else(lost)
    }
}

impl Writer for Parquet {
    type Batch = RecordBatch;

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|cause| self.told(cause))
    }

    fn finish(mut self) -> Result<Written> {
        self.writer.finish().map_err(|cause| self.told(cause))?;
        self.take()?.finish()
    }
}

impl fmt::Debug for Parquet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Parquet").field("writer", &self.writer).finish_non_exhaustive()
    }
}

/// Only a defect writes on after the end.
fn lost() -> Error {
    Error::new(Kind::Internal, "a Parquet file has no draft: please report this")
}

/// A draft that can be taken out of the library's writer. What that writes on its way out then goes nowhere.
#[derive(Debug)]
struct WriterSlot(Option<AtomicFile>);

impl Write for WriterSlot {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Some(file) => file.write(piece),
            None => Ok(piece.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
