//! The sink itself: cells to their builders, records to batches.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};

use super::batch::{assemble, field_with_seen};
use super::builder::Builder;
use super::types::{Column, schema};
use crate::decode::{Batch, BatchSink, CellResult, Sink, TypeMismatch};
use crate::error::Result;

/// A batch of more bytes than this is never made, whatever the options say: offsets of texts have 31 bits, and
/// a text that becomes JSON may grow sixfold.
const MAX_BATCH_BYTES: usize = 256 << 20;
/// What a cell counts beside the bytes of its value.
const CELL_BYTES: usize = 8;

/// How batches are made.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Texts as views (`Utf8View`), as polars has them.
    pub views: bool,
    /// A batch has no more rows than this, but one at least.
    pub max_rows: usize,
    /// A batch is full once its values have so many bytes on the wire.
    pub max_bytes: usize,
    /// Whether each batch infers types for itself: such batches are for [`super::unify`] alone. Else the first
    /// batch settles all types, and what does not fit them later is a misfit.
    pub widen: bool,
}

/// Builds record batches.
///
/// A batch ends with the record that fills it, so that the same records make the same batches however their
/// bytes arrive.
#[derive(Debug)]
pub struct ColumnSink {
    names: Vec<String>,
    builders: Vec<Builder>,
    options: Options,
    /// None while types are not settled.
    schema: Option<SchemaRef>,
    /// Complete records in the builders.
    records: usize,
    /// Bytes of the values, and those up to the last complete record.
    bytes: usize,
    kept_bytes: usize,
    full: VecDeque<Result<RecordBatch>>,
}

impl ColumnSink {
    /// A sink without records.
    #[must_use]
    pub fn new(columns: &[Column], options: Options) -> Self {
        Self {
            names: columns.iter().map(|column| column.name.clone()).collect(),
            builders: columns.iter().map(|column| Builder::new(column.kind, options.views)).collect(),
            options: Options { max_bytes: options.max_bytes.min(MAX_BATCH_BYTES), ..options },
            schema: schema(columns, options.views),
            records: 0,
            bytes: 0,
            kept_bytes: 0,
            full: VecDeque::new(),
        }
    }

    /// The schema of the batches, as soon as it is settled.
    #[must_use]
    pub fn schema(&self) -> Option<SchemaRef> {
        self.schema.clone()
    }

    /// All complete records as a batch.
    fn batch(&mut self) -> Result<RecordBatch> {
        let records = std::mem::take(&mut self.records);
        (self.bytes, self.kept_bytes) = (0, 0);
        let mut fields = Vec::with_capacity(self.names.len());
        let mut arrays = Vec::with_capacity(self.names.len());
        for (name, builder) in self.names.iter().zip(&mut self.builders) {
            if !self.options.widen {
                builder.freeze()?;
            }
            let (seen, frozen) = (builder.seen(), builder.column_type());
            let array = builder.finish()?;
            fields.push(match (seen, frozen) {
                (None, Some(frozen)) => frozen.field(name, self.options.views),
                (seen, _) => {
                    field_with_seen(Field::new(name, array.data_type().clone(), true), seen.unwrap_or_default())
                }
            });
            arrays.push(array);
        }
        let schema = self.schema.clone().unwrap_or_else(|| Arc::new(Schema::new(fields)));
        if !self.options.widen {
            self.schema = Some(SchemaRef::clone(&schema));
        }
        assemble(&schema, arrays, records)
    }
}

impl Batch for RecordBatch {
    fn bytes(&self) -> usize {
        self.get_array_memory_size()
    }
}

impl BatchSink for ColumnSink {
    type Batch = RecordBatch;

    fn take_full(&mut self) -> Result<Option<RecordBatch>> {
        self.full.pop_front().transpose()
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        match self.full.pop_front() {
            Some(full) => full.map(Some),
            None if self.records > 0 => self.batch().map(Some),
            None => Ok(None),
        }
    }
}

impl Sink for ColumnSink {
    #[inline]
    fn null(&mut self, column: usize) -> CellResult {
        let Some(builder) = self.builders.get_mut(column) else { return no_column() };
        builder.null();
        Ok(())
    }

    #[inline]
    fn bool(&mut self, column: usize, value: bool) -> CellResult {
        let Some(builder) = self.builders.get_mut(column) else { return no_column() };
        builder.bool(value)
    }

    #[inline]
    fn integer(&mut self, column: usize, digits: &str) -> CellResult {
        let Some(builder) = self.builders.get_mut(column) else { return no_column() };
        self.bytes += digits.len();
        builder.integer(digits)
    }

    #[inline]
    fn number(&mut self, column: usize, text: &str) -> CellResult {
        let Some(builder) = self.builders.get_mut(column) else { return no_column() };
        self.bytes += text.len();
        builder.number(text)
    }

    #[inline]
    fn text(&mut self, column: usize, text: &str) -> CellResult {
        let Some(builder) = self.builders.get_mut(column) else { return no_column() };
        self.bytes += text.len();
        builder.text(text)
    }

    fn nested(&mut self, column: usize, json: &str) -> CellResult {
        let Some(builder) = self.builders.get_mut(column) else { return no_column() };
        self.bytes += json.len();
        builder.nested(json)
    }

    /// No column has a place for it.
    fn extra(&mut self, _name: &str, _json: &str) {}

    #[inline]
    fn end_record(&mut self) {
        self.records += 1;
        self.bytes += self.builders.len() * CELL_BYTES;
        self.kept_bytes = self.bytes;
        if self.records >= self.options.max_rows || self.bytes >= self.options.max_bytes {
            let batch = self.batch();
            self.full.push_back(batch);
        } else if self.records == 1 {
            // Only now it is certain that another batch begins.
            self.builders.iter_mut().for_each(Builder::reserve);
        }
    }

    fn undo_record(&mut self) {
        self.bytes = self.kept_bytes;
        self.builders.iter_mut().for_each(|builder| builder.truncate(self.records));
    }
}

#[cold]
fn no_column() -> CellResult {
    Err(TypeMismatch { expected: "a column that was asked for", suggested_type: None })
}
