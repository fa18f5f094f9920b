//! Batches as Parquet: compressed by zstd, with statistics, in row groups of bounded size.

use std::fmt;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::Writer;
use super::atomic::AtomicFile;
use super::written::Written;
use crate::VERSION;
use crate::error::{Error, Kind, Result};

/// Key of the package's version in the file's metadata.
const WRITER: &str = "dataaccess";
/// A row group ends with so many rows,
const GROUP_ROWS: usize = 1 << 20;
/// or with about so many bytes, compressed: it is in memory until then.
const GROUP_BYTES: usize = 16 << 20;

/// Writes batches of one schema.
pub struct Parquet {
    writer: ArrowWriter<AtomicFile>,
}

impl Parquet {
    /// Begins a file of this schema. Fails for types that Parquet does not have, which no column here has.
    pub fn new(file: AtomicFile, schema: &SchemaRef) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES))
            .set_key_value_metadata(Some(vec![KeyValue::new(WRITER.to_owned(), VERSION.to_owned())]))
            .build();
        let writer = ArrowWriter::try_new(file, SchemaRef::clone(schema), Some(properties));
        let writer = writer.map_err(|cause| {
            Error::new(Kind::Internal, "Parquet cannot hold this schema: please report this").with_source(cause)
        })?;
        Ok(Self { writer })
    }
}

impl Writer for Parquet {
    type Batch = RecordBatch;

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|cause| self.writer.inner().to_error(cause))
    }

    fn finish(mut self) -> Result<Written> {
        self.writer.finish().map_err(|cause| self.writer.inner().to_error(cause))?;
        self.writer.inner_mut().finish()
    }
}

impl fmt::Debug for Parquet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Parquet").field("writer", &self.writer).finish_non_exhaustive()
    }
}
