//! The sink: writes cells into the builders of their columns, and builds batches.
#![expect(clippy::inline_always, reason = "what runs for every value: a call would cost as much as the work")]

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Array as _, NullArray, RecordBatch};
use arrow_schema::{Field, Schema};

use super::assemble;
use super::builder::Builder;
use super::column::Column;
use crate::decode::{Batch, BatchSink, Bytes32, Cell, CellResult, Sink};
use crate::error::Result;

/// The upper bound of `max_bytes`: offsets of strings have 31 bits, and a string may become six times as long as JSON.
const MAX_BATCH_BYTES: usize = 256 << 20;
/// What each cell adds to the bytes of its value.
const CELL_BYTES: usize = 8;

/// How batches are built.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Strings as views (`Utf8View`), as polars has them.
    pub views: bool,
    /// A batch has at most this many rows, and at least one.
    pub max_rows: usize,
    /// A batch is full once its values have this many bytes as JSON.
    pub max_bytes: usize,
    /// Whether types are inferred from all batches: these are then input for [`super::unify`] only. Otherwise the
    /// first value freezes a type with its batch, and a later value that does not fit is a [`TypeMismatch`](crate::decode::TypeMismatch).
    pub widen: bool,
}

/// Builds record batches.
///
/// A batch ends with the record that fills it, so the batches do not depend on how the bytes arrive.
#[derive(Debug)]
pub struct ColumnSink {
    builders: Vec<Builder>,
    options: Options,
    /// Complete records in the builders.
    records: usize,
    /// Bytes of the values.
    bytes: usize,
    /// Bytes of the values of complete records.
    kept_bytes: usize,
    /// More than one if the records of one piece of input fill several.
    full: VecDeque<Result<RecordBatch>>,
}

impl ColumnSink {
    /// A sink without records.
    #[must_use]
    pub fn new(columns: &[Column], options: Options) -> Self {
        Self {
            builders: columns
                .iter()
                .map(|column| Column { widens: column.widens && options.widen, ..column.clone() })
                .map(|column| Builder::new(&column, options.views))
                .collect(),
            options: Options { max_bytes: options.max_bytes.min(MAX_BATCH_BYTES), ..options },
            records: 0,
            bytes: 0,
            kept_bytes: 0,
            full: VecDeque::new(),
        }
    }

    /// All complete records as a batch.
    fn batch(&mut self, is_last: bool) -> Result<RecordBatch> {
        let records = std::mem::take(&mut self.records);
        (self.bytes, self.kept_bytes) = (0, 0);
        let mut fields = Vec::with_capacity(self.builders.len());
        let mut arrays = Vec::with_capacity(self.builders.len());
        for builder in &mut self.builders {
            if !self.options.widen {
                builder.freeze(self.options.views)?;
            }
            let array = match builder.finish(is_last)? {
                array if self.options.widen || builder.column.column_type.is_some() => array,
                array => Arc::new(NullArray::new(array.len())),
            };
            let column = &builder.column;
            let field = column.field(self.options.views);
            fields.push(field.unwrap_or_else(|| Field::new(&column.name, array.data_type().clone(), true)));
            arrays.push(array);
        }
        assemble(&Arc::new(Schema::new(fields)), arrays, records)
    }
}

impl Batch for RecordBatch {
    fn bytes(&self) -> usize {
        self.get_array_memory_size()
    }

    fn result_bytes(&self) -> usize {
        // Nulls without a type take no memory before the types of all batches are known.
        self.get_array_memory_size().max(self.num_rows() * self.num_columns() * CELL_BYTES)
    }
}

impl BatchSink for ColumnSink {
    type Batch = RecordBatch;

    fn take_full(&mut self) -> Result<Option<RecordBatch>> {
        self.full.pop_front().transpose()
    }

    fn mixed(&self) -> Vec<String> {
        let mixed = self.builders.iter().filter(|builder| builder.is_mixed());
        mixed.map(|builder| builder.column.name.clone()).collect()
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        match self.full.pop_front() {
            Some(full) => full.map(Some),
            None if self.records > 0 => self.batch(true).map(Some),
            None => Ok(None),
        }
    }
}

impl Sink for ColumnSink {
    #[inline(always)]
    fn cell(&mut self, column: usize, cell: Cell) -> CellResult {
        self.bytes += match cell {
            Cell::Null | Cell::Bool(_) => 0,
            Cell::Integer(text) | Cell::Number(text) | Cell::String(text) | Cell::Nested(text) => text.len(),
        };
        self.builders[column].push(cell)
    }

    #[inline(always)]
    fn short_string(&mut self, column: usize, text: &Bytes32, length: usize) -> bool {
        if self.builders[column].push_short_string(text, length) {
            self.bytes += length;
            return true;
        }
        false
    }

    #[inline(always)]
    fn short_integer(&mut self, column: usize, integer: i32, written: &Bytes32, length: usize) -> bool {
        if self.builders[column].push_short_integer(integer, written, length) {
            self.bytes += length;
            return true;
        }
        false
    }

    fn records_until_full(&self) -> u64 {
        if !self.full.is_empty() {
            return 0;
        }
        let by_bytes = (self.options.max_bytes - self.bytes.min(self.options.max_bytes))
            .div_ceil((self.builders.len() * CELL_BYTES).max(1));
        (self.options.max_rows.saturating_sub(self.records)).min(by_bytes).max(1) as u64
    }

    #[inline]
    fn end_record(&mut self) {
        self.records += 1;
        self.bytes += self.builders.len() * CELL_BYTES;
        self.kept_bytes = self.bytes;
        if self.records >= self.options.max_rows || self.bytes >= self.options.max_bytes {
            let batch = self.batch(false);
            self.full.push_back(batch);
        } else if self.records == 1 {
            // Reserves only when another batch begins for certain.
            self.builders.iter_mut().for_each(Builder::reserve);
        }
    }

    fn undo_record(&mut self) {
        self.bytes = self.kept_bytes;
        self.builders.iter_mut().for_each(|builder| builder.truncate(self.records));
    }
}
