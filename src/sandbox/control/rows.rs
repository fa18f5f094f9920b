//! The rows of an object: list, load and clear.

use std::sync::Arc;

use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::answer::{Answer, Failure};
use super::call::Call;
use crate::error::{Error, Kind, excerpt};
use crate::sandbox::objects::{AttributeKind, BusinessObject, Cell};
use crate::sandbox::query::Query;
use crate::sandbox::service::Service;
use crate::sandbox::store::{Load, Table};
use crate::sandbox::switches::RowOrder;

/// Most rows of an answer.
const MOST_LISTED: u64 = 10_000;
/// Rows that are staged at a time.
const BLOCK: usize = 1_000;

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Window {
    limit: u64,
    offset: u64,
    contains: String,
}

impl Default for Window {
    fn default() -> Self {
        Self { limit: 100, offset: 0, contains: String::new() }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Replace {
    replace: bool,
}

/// A window of the rows, of those alone in which a value contains a text.
pub(super) fn list(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let Window { limit, offset, contains } = call.query()?;
    if limit > MOST_LISTED {
        return Err(Failure::malformed(format!("limit: at most {MOST_LISTED} rows are listed, not {limit}")));
    }
    let table = named(service, call)?;
    let attributes = (0..table.object.attributes.len()).collect();
    let query = Query { attributes, groups: vec![Vec::new()], order: RowOrder::Id, limit: None };
    let (ended, wanted) = (call.ended().clone(), contains.to_lowercase());
    let (mut rows, mut total) = (Vec::new(), 0);
    service.store.search(
        &table,
        query,
        move || ended.is_cancelled(),
        |row| {
            let values = values(row, table.object.attributes.len())?;
            if wanted.is_empty() || values.iter().any(|value| text(value).to_lowercase().contains(&wanted)) {
                if (offset..offset.saturating_add(limit)).contains(&total) {
                    let names = table.object.attributes.iter().map(|attribute| attribute.name.clone());
                    rows.push(Value::Object(names.zip(values).collect()));
                }
                total += 1;
            }
            Ok(())
        },
    )?;
    Ok(Answer::ok(json!({"rows": rows, "total": total})))
}

/// Adds the rows of the body, all or none: lines of JSON or an array.
pub(super) fn load(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let Replace { replace } = call.query()?;
    let table = named(service, call)?;
    let mut load = Load::begin(&service.store, &table.object.name, Some(call.ended()))?;
    let (mut block, mut count) = (Vec::with_capacity(BLOCK), 0);
    for row in rows(call.body())? {
        block.push(cells(&table.object, count, row).map_err(|error| Failure::of_body(&error))?);
        count += 1;
        if block.len() == BLOCK {
            load.add(block.drain(..)).map_err(|error| Failure::of_body(&error))?;
        }
    }
    load.add(block).map_err(|error| Failure::of_body(&error))?;
    let rows = load.finish(replace)?;
    Ok(Answer::ok(json!({"rows": rows})))
}

/// Deletes all rows.
pub(super) fn clear(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let rows = service.store.clear(&named(service, call)?.object.name)?;
    Ok(Answer::ok(json!({"rows": rows})))
}

fn named(service: &Service, call: &Call) -> Result<Arc<Table>, Failure> {
    service.store.named(call.parameter()).map_err(|error| Failure::of(axum::http::StatusCode::NOT_FOUND, &error))
}

/// The rows of a body as JSON texts, which are parsed one by one: as values they would need several times its memory.
fn rows(body: &[u8]) -> Result<Vec<&str>, Failure> {
    let body = std::str::from_utf8(body).map_err(|cause| Failure::malformed(format!("body: {cause}")))?;
    if body.trim_start().starts_with('[') {
        let rows: Vec<&RawValue> =
            serde_json::from_str(body).map_err(|cause| Failure::malformed(format!("body: {cause}")))?;
        return Ok(rows.into_iter().map(RawValue::get).collect());
    }
    Ok(body.split('\n').filter(|line| !line.trim().is_empty()).collect())
}

/// The cells of a row; an attribute that it does not have is null.
fn cells(object: &BusinessObject, number: usize, row: &str) -> Result<Vec<Cell>, Error> {
    let refused = |problem: String| object.refusal(number, &problem);
    let mut row: Map<String, Value> =
        serde_json::from_str(row).map_err(|cause| refused(format!("it is not a JSON object: {cause}")))?;
    let cells = object.attributes.iter().map(|attribute| {
        let value = row.shift_remove(&attribute.name).unwrap_or_default();
        cell(value, attribute.kind).map_err(|problem| refused(format!("attribute `{}`: {problem}", attribute.name)))
    });
    let cells = cells.collect::<Result<_, _>>()?;
    match row.keys().next() {
        Some(unknown) => Err(refused(format!("it has no attribute `{}`", excerpt(unknown, 60)))),
        None => Ok(cells),
    }
}

/// The cell of a value. The store checks whether it is valid for its attribute.
fn cell(value: Value, kind: AttributeKind) -> Result<Cell, String> {
    match value {
        Value::Null => Ok(Cell::Null),
        Value::String(text) => Ok(Cell::Text(text)),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Ok(Cell::Integer(integer)),
            None if number.is_u64() => Err(format!("{number} is beyond 64 bits")),
            None => Ok(number.as_f64().map_or(Cell::Null, Cell::Number)),
        },
        other => Err(format!("{} is not a {}", excerpt(&other.to_string(), 60), kind.data_type())),
    }
}

fn values(row: &Row<'_>, width: usize) -> crate::error::Result<Vec<Value>> {
    let value = |index| {
        Ok(match row.get_ref(index)? {
            ValueRef::Null | ValueRef::Blob(_) => Value::Null,
            ValueRef::Integer(number) => number.into(),
            ValueRef::Real(number) => number.into(),
            ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        })
    };
    (0..width)
        .map(value)
        .collect::<rusqlite::Result<_>>()
        .map_err(|cause| Error::new(Kind::Sandbox, format!("a row could not be read: {cause}")).with_source(cause))
}

/// A value as a filter sees it.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}
