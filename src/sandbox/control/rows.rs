//! The rows of an object: list, load and clear.

use std::sync::PoisonError;

use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::answer::{Answer, Failure};
use super::call::Call;
use crate::sandbox::objects::BusinessObject;
use crate::sandbox::service::Service;
use crate::sandbox::store::Load;

/// Most rows of an answer.
const MOST_LISTED: usize = 10_000;
/// Rows that are staged at a time.
const BLOCK: usize = 1_000;

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Window {
    limit: usize,
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
    let object = named(service, call)?;
    service.refresh_demo()?;
    // SQLite counts with 63 bits.
    let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(usize::MAX / 2);
    let (rows, total) = service.store.rows(&object.name, limit, offset, &contains)?;
    Ok(Answer::ok(json!({"rows": rows, "total": total})))
}

/// Adds the rows of the body, all or none: lines of JSON or an array.
pub(super) fn load(service: &Service, call: &Call) -> Result<Answer, Failure> {
    let Replace { replace } = call.query()?;
    let object = named(service, call)?;
    let _no_reset_meanwhile = service.loading.read().unwrap_or_else(PoisonError::into_inner);
    let mut load = Load::begin(&service.store, &object.name, call.ended())?;
    let (mut block, mut count) = (Vec::with_capacity(BLOCK), 0);
    for row in rows(call.body())? {
        let problem = |cause| object.refusal(count, &format!("it is not JSON: {cause}"));
        let cells = serde_json::from_str(row).map_err(problem).and_then(|row| object.cells(count, row));
        block.push(cells.map_err(|error| Failure::of_body(&error))?);
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
    let rows = service.clear(&named(service, call)?.name)?;
    Ok(Answer::ok(json!({"rows": rows})))
}

fn named(service: &Service, call: &Call) -> Result<BusinessObject, Failure> {
    service.store.named(call.parameter()).map_err(|error| Failure::of(StatusCode::NOT_FOUND, &error))
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
