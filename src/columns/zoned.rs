//! Timestamps in a time zone: instants, which other libraries then show by the clocks of that zone.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array as _, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow_schema::{DataType, Schema, SchemaRef, TimeUnit};

use super::{with_arrays, with_data_types};
use crate::error::{Result, defect};
use crate::time::Zone;

/// The time zone of this type.
pub fn zone_of(data_type: &DataType) -> Option<&str> {
    match data_type {
        DataType::Timestamp(_, zone) => zone.as_deref(),
        _ => None,
    }
}

/// The schema with its timestamps in a zone.
pub fn zoned_schema(schema: &Schema, zone: &Zone) -> SchemaRef {
    let data_type = DataType::Timestamp(TimeUnit::Microsecond, Some(zone.name().into()));
    with_data_types(schema, |field| matches!(field.data_type(), DataType::Timestamp(..)).then(|| data_type.clone()))
}

/// The batch with its timestamps in a zone. Times without one are local times of `source`. Copies no values of a zone or
/// of UTC.
///
/// # Errors
/// None for a batch of this package.
pub fn zoned(batch: &RecordBatch, zone: &Zone, source: &Zone) -> Result<RecordBatch> {
    with_arrays(batch, &zoned_schema(batch.schema_ref(), zone), |_, array| {
        let Some(times) = array.as_primitive_opt::<TimestampMicrosecondType>() else { return Ok(None) };
        let times = if times.timezone().is_some() || source.is_utc() {
            times.clone()
        } else {
            let mut instants = source.instants();
            let values = times.values().iter().map(|local| instants.instant(*local)).collect();
            TimestampMicrosecondArray::new(values, times.nulls().cloned())
        };
        Ok(Some(Arc::new(times.with_timezone(zone.name()))))
    })
}

/// The schema with timestamps of a zone as strings.
pub fn text_schema(schema: &Schema) -> SchemaRef {
    with_data_types(schema, |field| zone_of(field.data_type()).map(|_| DataType::Utf8))
}

/// The batch with timestamps of a zone as strings with their offset, as `2024-01-31 12:34:56+01:00`.
///
/// # Errors
/// None for a batch of this package.
pub fn with_text_times(batch: &RecordBatch) -> Result<RecordBatch> {
    with_arrays(batch, &text_schema(batch.schema_ref()), |_, array| {
        let Some(zone) = zone_of(array.data_type()) else { return Ok(None) };
        let zone = Zone::try_new(zone)?;
        let text = |time: Option<i64>| match time {
            None => Ok(None),
            Some(time) => zone.text_of_microseconds(time).map(Some).ok_or_else(|| defect("a time is out of range")),
        };
        let times = array.as_primitive::<TimestampMicrosecondType>();
        Ok(Some(Arc::new(times.iter().map(text).collect::<Result<StringArray>>()?)))
    })
}
