//! The times of results: as the service wrote them, or as instants in a time zone.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::Scan;
use crate::columns;
use crate::error::Result;
use crate::time::Zone;
#[cfg(feature = "files")]
use crate::time::wall_clock_microseconds;

/// The zone of the times in records, and the zone of the times in results.
#[derive(Clone, Debug, Default)]
pub(super) struct ResultTimes {
    pub(super) source: Arc<Zone>,
    pub(super) zone: Option<Arc<Zone>>,
}

impl ResultTimes {
    /// A schema with its timestamps in the zone of results.
    pub(super) fn schema(&self, schema: SchemaRef) -> SchemaRef {
        match &self.zone {
            Some(zone) => columns::zoned_schema(&schema, zone),
            None => schema,
        }
    }

    /// A batch with its timestamps in the zone of results.
    pub(super) fn batch(&self, batch: RecordBatch) -> Result<RecordBatch> {
        match &self.zone {
            Some(zone) => columns::zoned(&batch, zone, &self.source),
            None => Ok(batch),
        }
    }

    /// A time of a record as a text of the zone of results, with its offset. None of a text that stays as it is.
    #[cfg(feature = "files")]
    pub(super) fn text(&self, text: &str) -> Option<String> {
        let zone = self.zone.as_ref()?;
        zone.text_of_microseconds(self.source.instants().instant(wall_clock_microseconds(text)?))
    }
}

impl Scan {
    /// The same scan of records whose times are of the zone `source`. Its results have times of `zone`, or as the service
    /// wrote them.
    #[must_use]
    pub fn with_times(self, source: &Zone, zone: Option<&Zone>) -> Self {
        let times = ResultTimes { source: Arc::new(source.clone()), zone: zone.cloned().map(Arc::new) };
        Self { times, ..self }
    }

    /// The same scan whose results have times of another zone, or as the service wrote them.
    #[must_use]
    pub fn in_zone(&self, zone: Option<&Zone>) -> Self {
        let times = ResultTimes { zone: zone.cloned().map(Arc::new), ..self.times.clone() };
        Self { times, ..self.clone() }
    }

    /// The zone of the times in records.
    pub fn source_zone(&self) -> &Arc<Zone> {
        &self.times.source
    }

    /// The zone of the times in results; none if they stay as the service wrote them.
    pub fn result_zone(&self) -> Option<&Zone> {
        self.times.zone.as_deref()
    }
}
