//! Timestamps in a time zone: instants, which other libraries then show by the clocks of that zone.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array as _, ArrayRef, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

use super::assemble;
use crate::error::{Result, defect};
use crate::time::Zone;

/// The time zone of this type.
#[must_use]
pub fn zone_of(data_type: &DataType) -> Option<&str> {
    match data_type {
        DataType::Timestamp(_, zone) => zone.as_deref(),
        _ => None,
    }
}

/// The schema with its timestamps in a zone.
#[must_use]
pub fn zoned_schema(schema: &Schema, zone: &Zone) -> SchemaRef {
    let data_type = DataType::Timestamp(TimeUnit::Microsecond, Some(zone.name().into()));
    retyped(schema, |of| matches!(of, DataType::Timestamp(..)), &data_type)
}

/// The batch with its timestamps in a zone. Times without one are local times of `source`. Copies no values of a zone or
/// of UTC.
///
/// # Errors
/// None for a batch of this package.
pub fn zoned(batch: &RecordBatch, zone: &Zone, source: &Zone) -> Result<RecordBatch> {
    let column = |array: &ArrayRef| match array.as_primitive_opt::<TimestampMicrosecondType>() {
        Some(times) => {
            let times = if times.timezone().is_some() || source.is_utc() {
                times.clone()
            } else {
                let mut instants = source.instants();
                let values = times.values().iter().map(|local| instants.instant(*local)).collect();
                TimestampMicrosecondArray::new(values, times.nulls().cloned())
            };
            Arc::new(times.with_timezone(zone.name())) as ArrayRef
        }
        None => Arc::clone(array),
    };
    let columns = batch.columns().iter().map(column).collect();
    assemble(&zoned_schema(batch.schema_ref(), zone), columns, batch.num_rows())
}

/// The schema with timestamps of a zone as strings.
#[must_use]
pub fn text_schema(schema: &Schema) -> SchemaRef {
    retyped(schema, |of| zone_of(of).is_some(), &DataType::Utf8)
}

/// The batch with timestamps of a zone as strings with their offset, as `2024-01-31 12:34:56+01:00`.
///
/// # Errors
/// None for a batch of this package.
pub fn with_text_times(batch: &RecordBatch) -> Result<RecordBatch> {
    let column = |array: &ArrayRef| match zone_of(array.data_type()) {
        Some(zone) => {
            let zone = Zone::try_new(zone)?;
            let text = |time: Option<i64>| match time {
                None => Ok(None),
                Some(time) => zone.text_of_microseconds(time).map(Some).ok_or_else(|| defect("a time is out of range")),
            };
            let times = array.as_primitive::<TimestampMicrosecondType>();
            Ok(Arc::new(times.iter().map(text).collect::<Result<StringArray>>()?) as ArrayRef)
        }
        None => Ok(Arc::clone(array)),
    };
    let columns = batch.columns().iter().map(column).collect::<Result<_>>()?;
    assemble(&text_schema(batch.schema_ref()), columns, batch.num_rows())
}

/// The schema with another type for some of its columns.
fn retyped(schema: &Schema, is_changed: impl Fn(&DataType) -> bool, data_type: &DataType) -> SchemaRef {
    let field = |field: &Arc<Field>| match field.data_type() {
        known if is_changed(known) => field.as_ref().clone().with_data_type(data_type.clone()),
        _ => field.as_ref().clone(),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}
