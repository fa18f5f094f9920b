//! Tasks: the requests of a scan, each as a scan of its own with an id.

use super::{Scan, invalid};
use crate::contract::business_object::PROMOTION_CODE_ID;
use crate::contract::condition::VALUE_TYPE;
use crate::error::{Error, Kind, Result};

impl Scan {
    /// The same scan as one request of a larger scan.
    #[must_use]
    pub fn as_task(self) -> Self {
        Self { is_task: true, ..self }
    }

    /// One request as a scan of its own.
    #[must_use]
    pub fn task(&self, index: usize) -> Self {
        let start = self.chosen.start + index;
        Self { chosen: start..start + 1, is_task: true, ..self.clone() }
    }

    /// The id of a task: its day, or the index of its request where it has none, and a checksum of the request. It is
    /// the same whenever the same request is at the same index, or for the same day, of a plan.
    ///
    /// # Errors
    /// `Validation` if the scan has a limit.
    pub fn task_id(&self, index: usize) -> Result<String> {
        if self.limit.is_some() {
            return Err(no_tasks());
        }
        let mut body = self.body(index);
        if body.item_type_id == PROMOTION_CODE_ID {
            // A part of how conditions of codes are written, not of what they select.
            for condition in body.filters.or.iter_mut().flat_map(|group| &mut group.and) {
                condition.value_type.take_if(|value_type| value_type == VALUE_TYPE);
            }
        }
        let json = serde_json::to_vec(&body)
            .map_err(|error| Error::new(Kind::Internal, "the request cannot be encoded as JSON").with_source(error))?;
        let place = self.day(index).unwrap_or_else(|| format!("{:05}", self.chosen.start + index));
        Ok(format!("{place}-{:08x}", crc32fast::hash(&json)))
    }
}

pub(super) fn no_tasks() -> Error {
    invalid(
        "limit",
        "a scan with a limit has no tasks, because no task knows how many rows the others have: leave limit out",
    )
}
