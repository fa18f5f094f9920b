//! Writes the part of a task: its rows, and when they were requested; counts how many differ from an older part.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch, TimestampMicrosecondArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

use crate::columns::with_dictionaries;
use crate::error::{Result, defect};
use crate::files::{AtomicFile, Complete, Parquet, Writer};
use crate::time::Moment;

/// The name of the column with the time of the request, where a run has one.
pub(super) const REQUESTED_AT: &str = "requested_at";

/// Writes the rows of one task.
pub(super) struct PartWriter {
    parquet: Parquet,
    /// The columns without the time of the request.
    schema: SchemaRef,
    requested_at: Option<i64>,
    rows: Option<RowHashes>,
}

impl PartWriter {
    /// Begins a part. With `requested_at` it has the column [`REQUESTED_AT`]; with `counts_changes` its rows are compared
    /// later.
    pub(super) fn new(
        file: AtomicFile,
        schema: &SchemaRef,
        requested_at: Option<Moment>,
        counts_changes: bool,
    ) -> Result<Self> {
        let requested_at = requested_at.map(|time| time.milliseconds() * 1_000);
        let with_time = requested_at.map(|_| {
            let fields = schema.fields().iter().cloned().chain([Arc::new(field())]);
            Arc::new(Schema::new(fields.collect::<Vec<_>>()))
        });
        let written = with_time.as_ref().unwrap_or(schema);
        Ok(Self {
            parquet: Parquet::new(file, written, &with_dictionaries(written))?,
            schema: SchemaRef::clone(schema),
            requested_at,
            rows: counts_changes.then(RowHashes::default),
        })
    }

    /// The columns without the time of the request.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The columns without any value so far.
    pub(super) fn empty_columns(&self) -> Vec<String> {
        self.parquet.empty_columns()
    }

    /// The rows that were written.
    pub(super) fn take_rows(&mut self) -> Option<RowHashes> {
        self.rows.take()
    }

    /// Completes the part with its record.
    pub(super) fn finish_part(self, record: &serde_json::Value) -> Result<Complete> {
        self.parquet.finish_part(record)
    }
}

impl Writer for PartWriter {
    type Batch = RecordBatch;

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if let Some(rows) = &mut self.rows {
            rows.add(batch);
        }
        let Some(requested_at) = self.requested_at else { return self.parquet.write(batch) };
        let times = TimestampMicrosecondArray::from_value(requested_at, batch.num_rows()).with_timezone("UTC");
        let columns = batch.columns().iter().cloned().chain([Arc::new(times) as ArrayRef]).collect();
        let batch = RecordBatch::try_new(SchemaRef::clone(self.parquet.schema()), columns)
            .map_err(|cause| defect("a batch takes no other column").with_source(cause))?;
        self.parquet.write(&batch)
    }

    fn finish(self) -> Result<Complete> {
        self.parquet.finish()
    }
}

/// The column: an instant.
fn field() -> Field {
    Field::new(REQUESTED_AT, DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), false)
}

/// Rows as hashes, in any order.
#[derive(Debug, Default)]
pub(super) struct RowHashes(Vec<u64>);

impl RowHashes {
    /// The most rows that are compared: 8 MB of hashes, and an older part that fits into memory.
    pub(super) const MOST: u64 = 1_000_000;

    /// Adds the rows of a batch, without the time of their request.
    pub(super) fn add(&mut self, batch: &RecordBatch) {
        let mut hashes = vec![0; batch.num_rows()];
        for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            if *field.as_ref() != self::field() {
                hash_column(column, &mut hashes);
            }
        }
        self.0.append(&mut hashes);
    }

    /// The least number of rows that were added, removed or changed since `before`, which had each as often as it occurs.
    pub(super) fn changes(mut self, mut before: Self) -> u64 {
        self.0.sort_unstable();
        before.0.sort_unstable();
        let mut others = before.0.iter().peekable();
        let is_new = |row: &&u64| {
            while others.next_if(|other| other < row).is_some() {}
            others.next_if_eq(row).is_none()
        };
        let new = self.0.iter().filter(is_new).count();
        let kept = self.0.len() - new;
        // A changed row is a new one and one that is gone.
        new.max(before.0.len() - kept) as u64
    }
}

/// Mixes each value of a column into the hash of its row. A column has one of the types of columns.
fn hash_column(column: &ArrayRef, hashes: &mut [u64]) {
    let mut mix = |row: usize, value: &dyn Fn(&mut DefaultHasher)| {
        if let Some(hash) = hashes.get_mut(row) {
            let mut mixed = DefaultHasher::new();
            (*hash, column.is_valid(row)).hash(&mut mixed);
            if column.is_valid(row) {
                value(&mut mixed);
            }
            *hash = mixed.finish();
        }
    };
    for row in 0..column.len() {
        match column.data_type() {
            DataType::Utf8 => mix(row, &|hasher| column.as_string::<i32>().value(row).hash(hasher)),
            DataType::Int64 => mix(row, &|hasher| column.as_primitive::<Int64Type>().value(row).hash(hasher)),
            DataType::Float64 => {
                mix(row, &|hasher| column.as_primitive::<Float64Type>().value(row).to_bits().hash(hasher));
            }
            DataType::Boolean => mix(row, &|hasher| column.as_boolean().value(row).hash(hasher)),
            DataType::Timestamp(..) => {
                mix(row, &|hasher| column.as_primitive::<TimestampMicrosecondType>().value(row).hash(hasher));
            }
            _ => debug_assert!(false, "a part has other columns"),
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Int64Array, StringArray};

    use super::*;

    fn rows(values: &[(Option<&str>, i64)]) -> RowHashes {
        let (texts, numbers): (Vec<_>, Vec<_>) = values.iter().copied().unzip();
        let columns: [(&str, ArrayRef); 2] =
            [("text", Arc::new(StringArray::from(texts))), ("number", Arc::new(Int64Array::from(numbers)))];
        let mut rows = RowHashes::default();
        rows.add(
            &RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap(),
        );
        rows
    }

    #[test]
    fn rows_that_were_added_removed_or_changed_are_counted_in_any_order() {
        let before = || rows(&[(Some("a"), 1), (Some("b"), 2), (None, 3), (Some("a"), 1)]);
        assert_eq!(before().changes(before()), 0);
        assert_eq!(rows(&[(None, 3), (Some("a"), 1)]).changes(before()), 2);
        assert_eq!(rows(&[(Some("a"), 1), (Some("a"), 1), (Some("a"), 1)]).changes(before()), 2);
        assert_eq!(rows(&[(Some("b"), 1), (Some(""), 3), (None, 3)]).changes(before()), 3);
        assert_eq!(rows(&[(None, 9), (None, 8)]).changes(rows(&[])), 2);
    }
}
