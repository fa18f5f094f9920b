//! Rows from an Arrow stream, whose columns are found by name. A missing column is null.
//!
//! The stream is read without the interpreter, which its producer may need.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, TimeUnit};
use pyo3::prelude::*;

use super::{BLOCK, Source};
use crate::error::{Error, Kind, Result, excerpt};
use crate::sandbox::{AttributeKind, BusinessObject, Cell};

/// Prefix of the columns that pandas makes of an unnamed index.
const PANDAS_INDEX: &str = "__index_level_";
/// A decimal of up to so many digits survives the conversion to a double and back.
const EXACT_DIGITS: usize = 15;

/// A stream of record batches.
pub(super) struct Batches {
    reader: RecordBatchStreamReader,
    object: BusinessObject,
    /// The index of the column of each attribute.
    positions: Vec<Option<usize>>,
    batch: Vec<Column>,
    /// The next row of the batch, and how many it has.
    row: usize,
    rows: usize,
    count: usize,
}

/// Reads the cell of a row, or returns why it is refused.
type Column = Box<dyn Fn(usize) -> Result<Cell, String> + Send>;

impl Batches {
    /// Rows for an object. Fails for a column that is not an attribute of it.
    pub(super) fn new(reader: RecordBatchStreamReader, object: BusinessObject) -> Result<Self> {
        let schema = reader.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let refused = |name: &str, problem: &str| {
            let problem = format!("object `{}`: column `{}` {problem}", object.name, excerpt(name, 60));
            Err(Error::new(Kind::Sandbox, problem))
        };
        for (index, name) in names.iter().enumerate() {
            if !object.attributes.iter().any(|attribute| attribute.name == *name) && !name.starts_with(PANDAS_INDEX) {
                return refused(name, "is no attribute of it");
            }
            if names.iter().position(|other| other == name) != Some(index) {
                return refused(name, "is there twice");
            }
        }
        let position = |attribute: &str| names.iter().position(|name| *name == attribute);
        let positions = object.attributes.iter().map(|attribute| position(&attribute.name)).collect();
        Ok(Self { reader, object, positions, batch: Vec::new(), row: 0, rows: 0, count: 0 })
    }

    fn read(&mut self) -> Result<Vec<Vec<Cell>>> {
        while self.row == self.rows {
            match self.reader.next() {
                None => return Ok(Vec::new()),
                Some(Ok(batch)) => self.begin_batch(&batch)?,
                Some(Err(cause)) => {
                    return Err(Error::new(
                        Kind::Sandbox,
                        format!("cannot load rows: the Arrow stream raised {cause}"),
                    ));
                }
            }
        }
        let end = self.rows.min(self.row + BLOCK);
        let mut block = Vec::with_capacity(end - self.row);
        for row in self.row..end {
            block.push(self.cells(row)?);
            self.count += 1;
        }
        self.row = end;
        Ok(block)
    }

    fn begin_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut columns = Vec::with_capacity(self.positions.len());
        for (index, attribute) in self.positions.iter().zip(&self.object.attributes) {
            let array = index.and_then(|index| batch.columns().get(index));
            columns.push(match array {
                Some(array) => column(array, attribute.kind).map_err(|problem| {
                    let problem = format!("object `{}`: column `{}`: {problem}", self.object.name, attribute.name);
                    Error::new(Kind::Sandbox, problem)
                })?,
                None => Box::new(|_| Ok(Cell::Null)),
            });
        }
        (self.batch, self.row, self.rows) = (columns, 0, batch.num_rows());
        Ok(())
    }

    fn cells(&self, row: usize) -> Result<Vec<Cell>> {
        let cells = self.batch.iter().zip(&self.object.attributes).map(|(column, attribute)| {
            column(row).map_err(|problem| {
                self.object.refusal(self.count, &format!("attribute `{}`: {problem}", attribute.name))
            })
        });
        cells.collect()
    }
}

impl Source for Batches {
    fn next_block(&mut self) -> PyResult<Result<Vec<Vec<Cell>>>> {
        Ok(self.read())
    }
}

/// The reader of a column, or why its type does not fit the attribute.
fn column(array: &ArrayRef, kind: AttributeKind) -> Result<Column, String> {
    let array_type = array.data_type();
    match (kind, array_type) {
        (_, DataType::Null) => Ok(Box::new(|_| Ok(Cell::Null))),
        (_, DataType::Dictionary(_, values)) => column(&cast(array, values)?, kind),
        (AttributeKind::Text | AttributeKind::Datetime, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => {
            let texts = cast(array, &DataType::LargeUtf8)?.as_string::<i64>().clone();
            Ok(nullable(array, move |row| Ok(texts.value(row).into())))
        }
        (AttributeKind::Number, _) => number(array),
        (AttributeKind::Datetime, _) => time(array),
        (AttributeKind::Text, _) => Err(format!("it holds {array_type}, not strings")),
    }
}

fn number(array: &ArrayRef) -> Result<Column, String> {
    match array.data_type() {
        DataType::UInt64 => {
            let numbers = array.as_primitive::<UInt64Type>().clone();
            Ok(nullable(array, move |row| {
                let number = numbers.value(row);
                i64::try_from(number).map(Cell::Integer).map_err(|_| format!("{number} is beyond 64 bits with a sign"))
            }))
        }
        whole if whole.is_integer() => {
            let numbers = cast(array, &DataType::Int64)?.as_primitive::<Int64Type>().clone();
            Ok(nullable(array, move |row| Ok(Cell::Integer(numbers.value(row)))))
        }
        float if float.is_floating() => {
            let numbers = cast(array, &DataType::Float64)?.as_primitive::<Float64Type>().clone();
            Ok(nullable(array, move |row| Ok(Cell::Number(numbers.value(row)))))
        }
        decimal if decimal.is_decimal() => {
            let decimals = ArrayRef::clone(array);
            Ok(nullable(array, move |row| {
                let options = FormatOptions::new();
                let formatter = ArrayFormatter::try_new(&decimals, &options).map_err(|cause| cause.to_string())?;
                exact(&formatter.value(row).to_string())
            }))
        }
        other => Err(format!("it holds {other}, not numbers")),
    }
}

/// A decimal as a number, if that is exact.
fn exact(decimal: &str) -> Result<Cell, String> {
    let short = if decimal.contains('.') { decimal.trim_end_matches('0').trim_end_matches('.') } else { decimal };
    if let Ok(whole) = short.parse() {
        return Ok(Cell::Integer(whole));
    }
    let digits = short.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit).count();
    match short.parse() {
        Ok(number) if digits <= EXACT_DIGITS => Ok(Cell::Number(number)),
        _ => Err(format!("{decimal} has more digits than a number holds exactly")),
    }
}

fn time(array: &ArrayRef) -> Result<Column, String> {
    let units = match array.data_type() {
        DataType::Date32 => return time(&cast(array, &DataType::Date64)?),
        DataType::Timestamp(TimeUnit::Second, _) => 1,
        DataType::Date64 | DataType::Timestamp(TimeUnit::Millisecond, _) => 1_000,
        DataType::Timestamp(TimeUnit::Microsecond, _) => 1_000_000,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => 1_000_000_000,
        other => return Err(format!("it holds {other}, not times")),
    };
    // A zone says how a time is shown; what is stored is UTC.
    let counts = cast(array, &DataType::Int64)?.as_primitive::<Int64Type>().clone();
    Ok(nullable(array, move |row| {
        let count = counts.value(row);
        if count % units != 0 {
            return Err("is not a time in whole seconds".to_owned());
        }
        Cell::from_unix_seconds(count / units).ok_or_else(|| "is a time outside the years 1 to 9999".to_owned())
    }))
}

/// A reader for a column with nulls; `read` is called for the other rows.
fn nullable(array: &ArrayRef, read: impl Fn(usize) -> Result<Cell, String> + Send + 'static) -> Column {
    let nulls = array.logical_nulls();
    Box::new(move |row| match &nulls {
        Some(nulls) if nulls.is_null(row) => Ok(Cell::Null),
        _ => read(row),
    })
}

fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, String> {
    // A value that does not fit is an error, not a null.
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, to, &options).map_err(|cause| cause.to_string())
}
