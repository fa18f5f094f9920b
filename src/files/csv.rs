//! Batches as CSV: a header line, null as an empty field, a time as `2024-01-15 10:00:00`.

use std::borrow::Cow;
use std::io::{self, Write as _};

use arrow_array::cast::AsArray as _;
use arrow_array::temporal_conversions::timestamp_us_to_datetime;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef};

use super::Writer;
use super::atomic::Complete;
use super::output::Output;
use crate::error::Result;

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
pub struct Csv {
    file: Output,
    options: CsvOptions,
}

impl Csv {
    /// Begins a file with the header line of this schema, whether or not rows follow.
    pub fn new(file: Output, options: CsvOptions, schema: &SchemaRef) -> Result<Self> {
        let mut csv = Self { file, options };
        csv.put(|lines| {
            lines.write_record(schema.fields().iter().map(|field| options.text(field.name()).into_owned()))
        })?;
        Ok(csv)
    }

    fn put(&mut self, write: impl FnOnce(&mut csv::Writer<&mut Output>) -> csv::Result<()>) -> Result<()> {
        let mut lines = csv::WriterBuilder::new().delimiter(self.options.separator).from_writer(&mut self.file);
        let put = write(&mut lines).map_err(io::Error::from).and_then(|()| lines.flush());
        drop(lines);
        put.map_err(|cause| self.file.to_error(cause))
    }
}

impl CsvOptions {
    fn text(self, text: &str) -> Cow<'_, str> {
        let is_formula = self.escape_formulas && text.starts_with(FORMULA);
        if is_formula { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
    }

    /// Replaces `field` by the value of a row. A column has one of the types of columns.
    fn set(self, field: &mut Vec<u8>, column: &ArrayRef, row: usize) -> io::Result<()> {
        field.clear();
        if column.is_null(row) {
            return Ok(());
        }
        match column.data_type() {
            DataType::Null => Ok(()),
            DataType::Int64 => write!(field, "{}", column.as_primitive::<Int64Type>().value(row)),
            DataType::Float64 => {
                serde_json::to_writer(&mut *field, &column.as_primitive::<Float64Type>().value(row))?;
                // `1e21`, not `1e+21`.
                field.retain(|byte| *byte != b'+');
                Ok(())
            }
            DataType::Boolean => write!(field, "{}", column.as_boolean().value(row)),
            DataType::Timestamp(..) => {
                let time = timestamp_us_to_datetime(column.as_primitive::<TimestampMicrosecondType>().value(row));
                let time = time.ok_or_else(|| io::Error::other("a time is beyond the calendar"))?;
                write!(field, "{time}")
            }
            DataType::Utf8View => field.write_all(self.text(column.as_string_view().value(row)).as_bytes()),
            DataType::Utf8 => field.write_all(self.text(column.as_string::<i32>().value(row)).as_bytes()),
            other => Err(io::Error::other(format!("no column is of type {other}"))),
        }
    }
}

impl Writer for Csv {
    type Batch = RecordBatch;

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let (options, mut field) = (self.options, Vec::new());
        self.put(|lines| {
            for row in 0..batch.num_rows() {
                for column in batch.columns() {
                    options.set(&mut field, column, row)?;
                    lines.write_field(&field)?;
                }
                lines.write_record(None::<&[u8]>)?;
            }
            Ok(())
        })
    }

    fn finish(mut self) -> Result<Complete> {
        self.file.finish()
    }
}
