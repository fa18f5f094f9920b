//! Arguments from Python as checked requests. Sends nothing.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use pythonize::pythonize;

use super::clock::now;
use super::input::input;
use super::raise::raise;
use crate::columns::ColumnType;
use crate::error::Result;
use crate::filter::codes::{self, CodesArguments};
use crate::filter::items::{self, ItemsArguments};
use crate::filter::{InputValue, Plan, Search};
use crate::scan::Scan;
use crate::time::{Calendar, DayComparison, Zone};

fn argument(arguments: &Bound<'_, PyDict>, name: &Bound<'_, PyString>) -> PyResult<InputValue> {
    arguments.get_item(name)?.map_or(Ok(InputValue::Null), |value| input(&value))
}

/// A promotion code search.
pub(super) fn codes(arguments: &Bound<'_, PyDict>, calendar: &Calendar) -> PyResult<Search> {
    codes::check(codes_arguments(arguments)?, calendar).map_err(|error| raise(arguments.py(), error))
}

/// The request of a promotion code search, or one for each day of a range.
pub(super) fn search_of_codes(arguments: &Bound<'_, PyDict>, calendar: &Calendar) -> PyResult<Plan> {
    let given = codes_arguments(arguments)?;
    let is_range = match &given.allocated_time {
        InputValue::Comparison(comparison) => matches!(comparison.value, InputValue::Days(_)),
        time => matches!(time, InputValue::Days(_)),
    };
    let plan = if is_range { codes::plan(given, calendar) } else { codes::check(given, calendar).map(Plan::from) };
    plan.map_err(|error| raise(arguments.py(), error))
}

/// A search of any business object.
pub(super) fn items(arguments: &Bound<'_, PyDict>, calendar: &Calendar) -> PyResult<Search> {
    items::check(items_arguments(arguments)?, calendar).map_err(|error| raise(arguments.py(), error))
}

/// The requests of a scan of promotion codes, or their problems.
pub(super) fn plan_of_codes(arguments: &Bound<'_, PyDict>, calendar: &Calendar) -> PyResult<Result<Plan>> {
    Ok(codes::plan_in_parts(codes_arguments(arguments)?, values_per_request(), calendar))
}

/// The requests of a scan of any business object, or their problems.
pub(super) fn plan_of_items(arguments: &Bound<'_, PyDict>, calendar: &Calendar) -> PyResult<Result<Plan>> {
    Ok(items::plan_in_parts(items_arguments(arguments)?, values_per_request(), calendar))
}

/// The one request of a task, whatever its lists.
pub(super) fn plan_of_task(arguments: &Bound<'_, PyDict>, calendar: &Calendar) -> PyResult<Result<Plan>> {
    Ok(items::plan_in_parts(items_arguments(arguments)?, usize::MAX, calendar))
}

/// The most values of a list in one request.
fn values_per_request() -> usize {
    #[cfg(feature = "testing")]
    return super::testing::values_per_request();
    #[cfg(not(feature = "testing"))]
    return crate::filter::VALUES_PER_REQUEST;
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

/// A scan of a plan. Raises the problems of the plan and of the schema together.
pub(super) fn scan(
    operation: &'static str,
    plan: Result<Plan>,
    schema: &Bound<'_, PyAny>,
    calendar: &Calendar,
) -> PyResult<Scan> {
    Scan::try_new(operation, plan, &input(schema)?, calendar).map_err(|error| raise(schema.py(), error))
}

/// The checked body of a promotion code search, as a dict.
#[pyfunction]
pub(super) fn validate_codes<'py>(
    arguments: &Bound<'py, PyDict>,
    timezone: &str,
    day_comparison: &str,
    code_value_type: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    body(arguments.py(), &codes(arguments, &calendar(arguments.py(), timezone, day_comparison, code_value_type)?)?)
}

/// The checked body of an item search, as a dict.
#[pyfunction]
pub(super) fn validate_items<'py>(
    arguments: &Bound<'py, PyDict>,
    timezone: &str,
    day_comparison: &str,
    code_value_type: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    body(arguments.py(), &items(arguments, &calendar(arguments.py(), timezone, day_comparison, code_value_type)?)?)
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

pub(super) fn zone(py: Python<'_>, name: &str) -> PyResult<Zone> {
    Zone::try_new(name).map_err(|error| raise(py, error))
}

/// The calendar of checked settings.
fn calendar(
    py: Python<'_>,
    timezone: &str,
    day_comparison: &str,
    code_value_type: Option<String>,
) -> PyResult<Calendar> {
    let comparison = DayComparison::read(day_comparison).unwrap_or_default();
    Ok(Calendar { zone: zone(py, timezone)?, comparison, now: now(), code_value_type })
}

fn body<'py>(py: Python<'py>, search: &Search) -> PyResult<Bound<'py, PyAny>> {
    Ok(pythonize(py, &search.body)?)
}
