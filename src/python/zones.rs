//! Zones and their days, for advice about the zone of a service. Sends nothing.

use pyo3::prelude::*;

use super::request::zone;
use crate::time::{Moment, Zone, all_zones};

/// The zones in which a day begins at an instant (Unix milliseconds): well-known ones first, fixed offsets last.
#[pyfunction]
pub(super) fn zones_beginning_day(instant: i64) -> Vec<&'static str> {
    let begins = all_zones().iter().filter(|zone| zone.begins_day_at(Moment::at(instant)));
    begins.map(Zone::name).collect()
}

/// The first instant of the day of an instant in a zone, in Unix milliseconds; None at the ends of the calendar.
#[pyfunction]
pub(super) fn start_of_day(py: Python<'_>, timezone: &str, instant: i64) -> PyResult<Option<i64>> {
    Ok(zone(py, timezone)?.start_of_day(Moment::at(instant)).ok().map(Moment::milliseconds))
}

/// The instant of a time `YYYY-MM-DD HH:MM:SS` of a zone, in Unix milliseconds; None for a text that is no such time.
#[pyfunction]
pub(super) fn instant_in(py: Python<'_>, timezone: &str, text: &str) -> PyResult<Option<i64>> {
    Ok(zone(py, timezone)?.instant_of(text).map(Moment::milliseconds))
}
