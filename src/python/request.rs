//! Arguments from Python as checked requests, and the zones and days that they may name. Sends nothing.

use std::time::SystemTime;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::input::input;
use super::raise::raise;
use crate::columns::ColumnType;
use crate::filter::codes::{self, CodesArguments};
use crate::filter::items::{self, ItemsArguments};
use crate::filter::{InputValue, Plan, Search, VALUES_PER_REQUEST};
use crate::scan::Scan;
use crate::time::{Calendar, Moment, Zone, all_zones};

fn argument(arguments: &Bound<'_, PyDict>, name: &Bound<'_, PyString>) -> PyResult<InputValue> {
    arguments.get_item(name)?.map_or(Ok(InputValue::Null), |value| input(&value))
}

/// Whether a call is one for promotion codes, and not for any business object.
fn is_of_codes(call: &str) -> bool {
    call.ends_with("_codes")
}

pub(super) fn search(call: &str, arguments: &Bound<'_, PyDict>, calendar: &Calendar) -> PyResult<Search> {
    let checked = if is_of_codes(call) {
        codes::check(codes_arguments(arguments)?, calendar)
    } else {
        items::check(items_arguments(arguments)?, calendar)
    };
    checked.map_err(|error| raise(arguments.py(), error))
}

/// The public name of a search and its request, or one for each day of a range of promotion codes.
pub(super) fn plan(call: &str, arguments: &Bound<'_, PyDict>, calendar: &Calendar) -> PyResult<(&'static str, Plan)> {
    if !is_of_codes(call) {
        return Ok(("search_items", search(call, arguments, calendar)?.into()));
    }
    let given = codes_arguments(arguments)?;
    let is_range = match &given.allocated_time {
        InputValue::Comparison(comparison) => matches!(comparison.value, InputValue::Days(_)),
        time => matches!(time, InputValue::Days(_)),
    };
    let plan = if is_range {
        codes::plan(given, VALUES_PER_REQUEST, calendar)
    } else {
        codes::check(given, calendar).map(Plan::from)
    };
    Ok(("search_codes", plan.map_err(|error| raise(arguments.py(), error))?))
}

/// A scan. Raises the problems of its arguments and of the schema together. The request of a task has as many values as the
/// task has.
pub(super) fn scan(
    call: &str,
    arguments: &Bound<'_, PyDict>,
    schema: &Bound<'_, PyAny>,
    calendar: &Calendar,
    is_task: bool,
) -> PyResult<Scan> {
    let is_of_codes = is_of_codes(call);
    let operation = if is_of_codes { "scan_codes" } else { "scan_items" };
    let most = if is_task { usize::MAX } else { values_per_request() };
    let plan = if is_of_codes && !is_task {
        codes::plan(codes_arguments(arguments)?, most, calendar)
    } else {
        items::plan(items_arguments(arguments)?, most, calendar)
    };
    let scan = Scan::try_new(operation, plan, &input(schema)?, calendar).map_err(|error| raise(schema.py(), error))?;
    Ok(if is_task { scan.as_task() } else { scan })
}

/// The most values of a list in one request: tests set another number.
fn values_per_request() -> usize {
    #[cfg(feature = "testing")]
    return super::testing::values_per_request();
    #[cfg(not(feature = "testing"))]
    VALUES_PER_REQUEST
}

fn codes_arguments(arguments: &Bound<'_, PyDict>) -> PyResult<CodesArguments> {
    let py = arguments.py();
    Ok(CodesArguments {
        attrs: argument(arguments, intern!(py, "attrs"))?,
        allocated_time: argument(arguments, intern!(py, "allocated_time"))?,
        audience_type: argument(arguments, intern!(py, "audience_type"))?,
        allocated_audience: argument(arguments, intern!(py, "allocated_audience"))?,
        code_status: argument(arguments, intern!(py, "code_status"))?,
        limit: argument(arguments, intern!(py, "limit"))?,
        known_row_cap: argument(arguments, intern!(py, "known_row_cap"))?,
    })
}

fn items_arguments(arguments: &Bound<'_, PyDict>) -> PyResult<ItemsArguments> {
    let py = arguments.py();
    Ok(ItemsArguments {
        item_type_name: argument(arguments, intern!(py, "item_type_name"))?,
        attrs: argument(arguments, intern!(py, "attrs"))?,
        where_clause: argument(arguments, intern!(py, "where"))?,
        item_type_id: argument(arguments, intern!(py, "item_type_id"))?,
        attrs_format: argument(arguments, intern!(py, "attrs_format"))?,
        known_attributes: argument(arguments, intern!(py, "known_attributes"))?,
        limit: argument(arguments, intern!(py, "limit"))?,
        known_row_cap: argument(arguments, intern!(py, "known_row_cap"))?,
    })
}

/// The IANA name of a time zone as it is usually written; None if there is no such zone.
#[pyfunction]
pub(super) fn zone_name(name: &str) -> Option<String> {
    Zone::try_new(name).ok().map(|zone| zone.name().to_owned())
}

/// The day that it is now in a time zone, as `2024-01-15`.
#[pyfunction]
pub(super) fn today(py: Python<'_>, timezone: &str) -> PyResult<String> {
    Ok(zone(py, timezone)?.day_of(now()))
}

/// The column type that a name means, by its own name; None if it means none.
#[pyfunction]
pub(super) fn column_type(name: &str) -> Option<&'static str> {
    ColumnType::from_name(name).map(ColumnType::name)
}

fn zone(py: Python<'_>, name: &str) -> PyResult<Zone> {
    Zone::try_new(name).map_err(|error| raise(py, error))
}

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

/// Now, or the time that a test set.
pub(super) fn now() -> Moment {
    #[cfg(feature = "testing")]
    if let Some(now) = super::testing::now() {
        return now;
    }
    Moment::from(SystemTime::now())
}
