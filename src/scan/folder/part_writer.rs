//! Writes the part of a task: its rows, and when they were requested.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, TimestampMicrosecondArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

use super::refusal::UniqueIds;
use crate::columns::with_dictionaries;
use crate::error::{Result, defect};
use crate::files::{AtomicFile, Complete, Parquet, Writer};
use crate::scan::data_warning::DataWarning;
use crate::time::Moment;

/// The name of the column with the time of the request, where a run has one.
pub(super) const REQUESTED_AT: &str = "requested_at";

/// Writes the rows of one task.
pub(super) struct PartWriter {
    parquet: Parquet,
    /// The columns without the time of the request.
    schema: SchemaRef,
    requested_at: Option<i64>,
    ids: Option<UniqueIds>,
}

impl PartWriter {
    /// Begins a part. With `requested_at` it has the column [`REQUESTED_AT`]. `id` is the position of a column of ids.
    pub(super) fn new(
        file: AtomicFile,
        schema: &SchemaRef,
        requested_at: Option<Moment>,
        id: Option<usize>,
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
            ids: id.map(UniqueIds::new),
        })
    }

    /// What looks wrong in its rows.
    pub(super) fn doubt(&self) -> Option<DataWarning> {
        self.ids.as_ref().and_then(UniqueIds::doubt)
    }

    /// The columns without the time of the request.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The columns without any value so far.
    pub(super) fn empty_columns(&self) -> Vec<String> {
        self.parquet.empty_columns()
    }

    /// Completes the part with its record.
    pub(super) fn finish_part(self, record: &serde_json::Value) -> Result<Complete> {
        self.parquet.finish_part(record)
    }
}

impl Writer for PartWriter {
    type Batch = RecordBatch;

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if let Some(ids) = &mut self.ids {
            ids.add(batch)?;
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
