//! Batches as CSV: a header line, null as an empty field, a time as `2024-01-15 10:00:00`.

use arrow_array::RecordBatch;
use arrow_csv::WriterBuilder;
use arrow_schema::SchemaRef;

use super::Writer;
use super::atomic::Complete;
use super::output::Output;
use crate::error::Result;

/// As the service writes times; a fraction only where there is one.
const TIME: &str = "%Y-%m-%d %H:%M:%S%.f";

/// Writes batches of one schema.
#[derive(Debug)]
pub struct Csv {
    file: Output,
    separator: u8,
}

impl Csv {
    /// Begins a file with the header line of this schema, whether or not rows follow.
    pub fn new(file: Output, separator: u8, schema: &SchemaRef) -> Result<Self> {
        let mut csv = Self { file, separator };
        csv.put(&RecordBatch::new_empty(SchemaRef::clone(schema)), true)?;
        Ok(csv)
    }

    fn put(&mut self, batch: &RecordBatch, header: bool) -> Result<()> {
        let builder = WriterBuilder::new().with_header(header).with_delimiter(self.separator);
        let builder = builder.with_timestamp_format(TIME.to_owned());
        let put = builder.build(&mut self.file).write(batch);
        put.map_err(|cause| self.file.to_error(cause))
    }
}

impl Writer for Csv {
    type Batch = RecordBatch;

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.put(batch, false)
    }

    fn finish(mut self) -> Result<Complete> {
        self.file.finish()
    }
}
