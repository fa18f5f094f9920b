//! Rows from an Arrow stream, whose columns are found by name. A missing column is null.
//!
//! The stream is read without the interpreter, which its producer may need.

use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{RecordBatch, RecordBatchReader};
use pyo3::prelude::*;

use super::readers::{Reader, reader};
use super::{BLOCK, Source};
use crate::error::{Error, Kind, Result, excerpt};
use crate::sandbox::{BusinessObject, Cell};

/// Prefix of the columns that pandas makes of an unnamed index.
const PANDAS_INDEX: &str = "__index_level_";

/// A stream of record batches.
pub(super) struct Batches {
    reader: RecordBatchStreamReader,
    object: BusinessObject,
    /// The index of the column of each attribute.
    positions: Vec<Option<usize>>,
    batch: Vec<Reader>,
    /// The next row of the batch, and how many it has.
    row: usize,
    rows: usize,
    count: usize,
}

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
                Some(array) => reader(array, attribute.kind).map_err(|problem| {
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
