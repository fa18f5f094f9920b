//! Batches as CSV: a line of names, a null as nothing, a time as `2024-01-15 10:00:00`.

use arrow_array::RecordBatch;
use arrow_csv::WriterBuilder;
use arrow_schema::SchemaRef;

use super::Writer;
use super::atomic::AtomicFile;
use super::written::Written;
use crate::error::Result;

/// As the service writes times; a fraction only where there is one.
const TIME: &str = "%Y-%m-%d %H:%M:%S%.f";

/// Writes batches of one schema.
#[derive(Debug)]
pub struct Csv {
    file: AtomicFile,
    schema: SchemaRef,
}

impl Csv {
    /// A file whose first line has the names of this schema, whatever rows follow.
    ///
    /// # Errors
    /// The draft cannot be written.
    pub fn new(file: AtomicFile, schema: &SchemaRef) -> Result<Self> {
        let mut csv = Self { file, schema: SchemaRef::clone(schema) };
        csv.begin()?;
        Ok(csv)
    }

    fn begin(&mut self) -> Result<()> {
        let nothing = RecordBatch::new_empty(SchemaRef::clone(&self.schema));
        self.put(&nothing, true)
    }

    fn put(&mut self, batch: &RecordBatch, header: bool) -> Result<()> {
        let builder = WriterBuilder::new().with_header(header).with_timestamp_format(TIME.to_owned());
        let put = builder.build(&mut self.file).write(batch);
        put.map_err(|cause| self.file.told(cause))
    }
}

impl Writer for Csv {
    type Batch = RecordBatch;

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.put(batch, false)
    }

    fn finish(self) -> Result<Written> {
        self.file.finish()
    }
}
