//! Batches as CSV: a header line, null as an empty field, a time as `2024-01-15 10:00:00`.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_csv::WriterBuilder;
use arrow_schema::{DataType, Schema, SchemaRef};

use super::Writer;
use super::atomic::Complete;
use super::output::Output;
use crate::error::{Result, defect};

/// As the service writes times; a fraction only where there is one.
const TIME: &str = "%Y-%m-%d %H:%M:%S%.f";
/// Characters that a spreadsheet may take for the beginning of a formula, also in full width.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// What is between two fields: an ASCII character.
    pub separator: u8,
    /// Whether a `'` is put before names and strings that a spreadsheet may take for a formula.
    pub escape_formulas: bool,
}

/// Writes batches of one schema.
#[derive(Debug)]
pub struct Csv {
    file: Output,
    options: CsvOptions,
}

impl Csv {
    /// Begins a file with the header line of this schema, whether or not rows follow.
    pub fn new(file: Output, options: CsvOptions, schema: &SchemaRef) -> Result<Self> {
        let mut csv = Self { file, options };
        csv.put(&RecordBatch::new_empty(SchemaRef::clone(schema)), true)?;
        Ok(csv)
    }

    fn put(&mut self, batch: &RecordBatch, header: bool) -> Result<()> {
        let batch = if self.options.escape_formulas { Cow::Owned(escaped(batch)?) } else { Cow::Borrowed(batch) };
        let builder = WriterBuilder::new().with_header(header).with_delimiter(self.options.separator);
        let builder = builder.with_timestamp_format(TIME.to_owned());
        let put = builder.build(&mut self.file).write(&batch);
        put.map_err(|cause| self.file.to_error(cause))
    }
}

/// A batch whose names and strings no spreadsheet takes for formulas.
fn escaped(batch: &RecordBatch) -> Result<RecordBatch> {
    let fields = batch.schema_ref().fields().iter().map(|field| {
        let name = text(field.name()).into_owned();
        field.as_ref().clone().with_name(name)
    });
    let columns = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Utf8 => {
            let texts: StringArray = column.as_string::<i32>().iter().map(|cell| cell.map(text)).collect();
            Arc::new(texts) as ArrayRef
        }
        _ => Arc::clone(column),
    });
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    RecordBatch::try_new_with_options(schema, columns.collect(), &options)
        .map_err(|cause| defect("a batch cannot be escaped").with_source(cause))
}

fn text(text: &str) -> Cow<'_, str> {
    if text.starts_with(FORMULA) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
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
