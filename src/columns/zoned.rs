//! Timestamps in a time zone: the same instants, which other libraries then show by the clocks of that zone.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

use super::assemble;
use crate::error::Result;
use crate::time::Zone;

/// The schema with its timestamps in a zone.
#[must_use]
pub fn zoned_schema(schema: &Schema, zone: &str) -> SchemaRef {
    let data_type = DataType::Timestamp(TimeUnit::Microsecond, Some(zone.into()));
    let field = |field: &Arc<Field>| match field.data_type() {
        DataType::Timestamp(..) => field.as_ref().clone().with_data_type(data_type.clone()),
        _ => field.as_ref().clone(),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

/// The batch with its timestamps in a zone. Copies no values.
///
/// # Errors
/// None for a batch of this package.
pub fn zoned(batch: &RecordBatch, zone: &str) -> Result<RecordBatch> {
    let column = |array: &ArrayRef| match array.data_type() {
        DataType::Timestamp(..) => {
            Arc::new(array.as_primitive::<TimestampMicrosecondType>().clone().with_timezone(zone)) as ArrayRef
        }
        _ => Arc::clone(array),
    };
    let columns = batch.columns().iter().map(column).collect();
    assemble(&zoned_schema(batch.schema_ref(), zone), columns, batch.num_rows())
}

/// The batch with its timestamps in a zone as texts, such as `2024-01-31 12:34:56+01:00`, for files of text.
///
/// # Errors
/// None for a batch of this package.
pub fn zones_as_texts(batch: &RecordBatch) -> Result<RecordBatch> {
    let mut fields = Vec::with_capacity(batch.num_columns());
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let DataType::Timestamp(_, Some(zone)) = field.data_type() else {
            fields.push(Arc::clone(field));
            columns.push(Arc::clone(array));
            continue;
        };
        let zone = Zone::try_new(zone)?;
        let times = array.as_primitive::<TimestampMicrosecondType>();
        let texts: StringArray = times.iter().map(|time| zone.text_of_microseconds(time?)).collect();
        fields.push(Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8)));
        columns.push(Arc::new(texts) as ArrayRef);
    }
    assemble(&Arc::new(Schema::new(fields)), columns, batch.num_rows())
}
