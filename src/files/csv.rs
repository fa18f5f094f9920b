//! Batches as CSV: a header line, null as an empty field, a time as `2024-01-15 10:00:00`.

use std::borrow::Cow;
use std::io::{self, Write as _};

use arrow_array::temporal_conversions::timestamp_us_to_datetime;
use arrow_array::{Array as _, RecordBatch};
use arrow_schema::SchemaRef;
use serde::Deserialize;

use super::Writer;
use super::atomic::Complete;
use super::output::Output;
use crate::columns::Values;
use crate::error::Result;

/// Characters that a spreadsheet may take for the beginning of a formula, also in full width.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
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

    /// Appends the value of a row, which is not null, to `field`.
    fn push(self, field: &mut Vec<u8>, values: Values<'_>, row: usize) -> io::Result<()> {
        match values {
            Values::Nulls(_) => Ok(()),
            Values::Int64(numbers) => write!(field, "{}", numbers.value(row)),
            Values::Float64(numbers) => {
                serde_json::to_writer(&mut *field, &numbers.value(row))?;
                // `1e21`, not `1e+21`.
                field.retain(|byte| *byte != b'+');
                Ok(())
            }
            Values::Bool(values) => write!(field, "{}", values.value(row)),
            Values::Timestamp(times, _) => {
                let time = timestamp_us_to_datetime(times.value(row));
                let time = time.ok_or_else(|| io::Error::other("a time is beyond the calendar"))?;
                write!(field, "{time}")
            }
            Values::Strings(texts) | Values::Names(texts, _) | Values::Json(texts) => {
                field.write_all(self.text(texts.value(row)).as_bytes())
            }
        }
    }
}

impl Writer for Csv {
    type Batch = RecordBatch;

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let (options, mut field) = (self.options, Vec::new());
        let columns = batch.columns().iter().enumerate();
        let columns = columns.map(|(index, array)| Ok((array, Values::of_column(batch, index)?)));
        let columns: Vec<_> = columns.collect::<Result<_>>()?;
        self.put(|lines| {
            for row in 0..batch.num_rows() {
                for (array, values) in &columns {
                    field.clear();
                    if array.is_valid(row) {
                        options.push(&mut field, *values, row)?;
                    }
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
