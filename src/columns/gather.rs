//! The sink itself: cells to their builders, records to batches.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Field, Schema, SchemaRef};

use super::batch::{assemble, defect, field_with_seen};
use super::builder::Builder;
use super::types::{Column, schema};
use crate::decode::{Fit, Gather, Misfit, Sink};
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
pub struct Columns {
    names: Vec<String>,
    builders: Vec<Builder>,
    options: Options,
    /// None while types are not settled.
    schema: Option<SchemaRef>,
    /// Records in the builders, those given up among them.
    records: usize,
    /// Which of them were given up. Arrow's builders cannot be cut back: such rows are left out of the batch.
    given_up: Vec<usize>,
    /// Bytes of the values, and those up to the last complete record.
    bytes: usize,
    kept_bytes: usize,
    full: VecDeque<Result<RecordBatch>>,
}

impl Columns {
    /// A sink without records.
    #[must_use]
    pub fn new(columns: &[Column], options: Options) -> Self {
        Self {
            names: columns.iter().map(|column| column.name.clone()).collect(),
            builders: columns.iter().map(|column| Builder::new(column.kind, options.views)).collect(),
            options: Options { max_bytes: options.max_bytes.min(MAX_BATCH_BYTES), ..options },
            schema: schema(columns, options.views),
            records: 0,
            given_up: Vec::new(),
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

    #[inline]
    fn builder(&mut self, column: usize) -> Result<&mut Builder, Misfit> {
        self.builders.get_mut(column).ok_or(Misfit { expected: "a column that was asked for", mend: None })
    }

    fn rows(&self) -> usize {
        self.records - self.given_up.len()
    }

    /// All complete records as a batch.
    fn batch(&mut self) -> Result<RecordBatch> {
        let (records, given_up) = (std::mem::take(&mut self.records), std::mem::take(&mut self.given_up));
        (self.bytes, self.kept_bytes) = (0, 0);
        let batch = self.assemble(records)?;
        if given_up.is_empty() {
            return Ok(batch);
        }
        let mut counts = vec![true; records];
        for record in given_up {
            if let Some(counts) = counts.get_mut(record) {
                *counts = false;
            }
        }
        filter_record_batch(&batch, &BooleanArray::from(counts))
            .map_err(|error| defect("rows cannot be left out").with_source(error))
    }

    fn assemble(&mut self, records: usize) -> Result<RecordBatch> {
        let not_as_seen = |_| defect("a value does not fit what was seen");
        let mut fields = Vec::with_capacity(self.names.len());
        let mut arrays = Vec::with_capacity(self.names.len());
        for (name, builder) in self.names.iter().zip(&mut self.builders) {
            if !self.options.widen {
                builder.settle().map_err(not_as_seen)?;
            }
            let (seen, settled) = (builder.seen(), builder.column_type());
            let array = builder.finish().map_err(not_as_seen)?;
            fields.push(match (seen, settled) {
                (None, Some(settled)) => settled.field(name, self.options.views),
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

impl Gather for Columns {
    type Batch = RecordBatch;

    fn take_full(&mut self) -> Result<Option<RecordBatch>> {
        self.full.pop_front().transpose()
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        match self.full.pop_front() {
            Some(full) => full.map(Some),
            None if self.rows() > 0 => self.batch().map(Some),
            None => Ok(None),
        }
    }
}

impl Sink for Columns {
    #[inline]
    fn null(&mut self, column: usize) -> Fit {
        self.builder(column)?.null();
        Ok(())
    }

    #[inline]
    fn bool(&mut self, column: usize, value: bool) -> Fit {
        self.builder(column)?.bool(value)
    }

    #[inline]
    fn integer(&mut self, column: usize, digits: &str) -> Fit {
        self.bytes += digits.len();
        self.builder(column)?.integer(digits)
    }

    #[inline]
    fn number(&mut self, column: usize, text: &str) -> Fit {
        self.bytes += text.len();
        self.builder(column)?.number(text)
    }

    #[inline]
    fn text(&mut self, column: usize, text: &str) -> Fit {
        self.bytes += text.len();
        self.builder(column)?.text(text)
    }

    #[inline]
    fn nested(&mut self, column: usize, json: &str) -> Fit {
        self.bytes += json.len();
        self.builder(column)?.nested(json)
    }

    /// No column has a place for it.
    fn extra(&mut self, _name: &str, _json: &str) {}

    #[inline]
    fn end_record(&mut self) {
        self.records += 1;
        self.bytes += self.builders.len() * CELL_BYTES;
        self.kept_bytes = self.bytes;
        if self.rows() >= self.options.max_rows || self.bytes >= self.options.max_bytes {
            let batch = self.batch();
            self.full.push_back(batch);
        }
    }

    fn undo_record(&mut self) {
        self.bytes = self.kept_bytes;
        if self.builders.iter().any(|builder| builder.len() > self.records) {
            for builder in &mut self.builders {
                builder.give_up(self.records);
            }
            self.given_up.push(self.records);
            self.records += 1;
        }
    }
}
