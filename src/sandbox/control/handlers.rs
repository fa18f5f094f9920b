//! The routes of control, in the order of the page of documentation.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::task::{JoinError, spawn_blocking};

use super::{Failure, read};
use crate::error::{Error, Kind, excerpt};
use crate::sandbox::exports::{PlannedEntry, Stage, share};
use crate::sandbox::faults::{ActiveFault, Fault};
use crate::sandbox::objects::{Attribute, AttributeKind, BusinessObject};
use crate::sandbox::request_log::LoggedRequest;
use crate::sandbox::routes::Shared;
use crate::sandbox::state::Object;
use crate::sandbox::table::Row;

/// Most rows of an answer.
const MOST_LISTED: usize = 10_000;
/// Most entries of an export.
const MOST_ENTRIES: usize = 1_000;

type Answer = Result<Json<Value>, Failure>;
/// What was made.
type Made = Result<(StatusCode, Json<Value>), Failure>;
type Name = Result<Path<String>, PathRejection>;
type Asked<T> = Result<Query<T>, QueryRejection>;

/// Address, clock, version, zone, scopes, switches and demo data.
pub(super) async fn state(State(Shared { service, .. }): State<Shared>) -> Answer {
    let switches = service.switches();
    Ok(Json(json!({
        "base_url": service.base_url(),
        "now": written(service.now()),
        "version": crate::VERSION,
        "record_zone": switches.source_timezone.iana_name(),
        "scopes": switches.scopes(),
        "switches": *switches,
        "demo": service.demo.as_ref().map(|demo| json!({"until": demo.until.map(|day| day.to_string())})),
    })))
}

/// Puts data, exports, faults, switches, clock and log back to what they were at the start.
pub(super) async fn reset(state: State<Shared>) -> Answer {
    state.service.reset();
    self::state(state).await
}

/// All objects with their attributes and the number of their rows.
pub(super) async fn objects(State(Shared { service, .. }): State<Shared>) -> Answer {
    let shown = |Object { declared, rows }: &Object| {
        let mut shown = described(declared);
        shown.insert("rows".to_owned(), rows.len().into());
        Value::Object(shown)
    };
    Ok(Json(service.objects().iter().map(shown).collect()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declaration {
    name: String,
    item_type_id: i64,
    attributes: Map<String, Value>,
}

/// Declares an object.
pub(super) async fn declare(State(Shared { service, .. }): State<Shared>, body: Bytes) -> Made {
    let Declaration { name, item_type_id, attributes } = read(&body)?;
    let attributes = attributes.into_iter().map(|(attribute, kind)| {
        let kind = kind.as_str().and_then(AttributeKind::from_name).ok_or_else(|| {
            let shown = kind.as_str().map_or_else(|| kind.to_string(), ToOwned::to_owned);
            Error::new(Kind::Sandbox, format!("object `{name}`: attribute `{attribute}` cannot be `{shown}`"))
                .with_hint(
                    "it is string, int64, float64, timestamp, bool or list, or as the service says number or datetime",
                )
        })?;
        Ok(Attribute { name: attribute, kind })
    });
    let attributes = attributes.collect::<Result<_, Error>>().map_err(|error| Failure::of_body(&error))?;
    let object = BusinessObject { id: item_type_id, name, attributes };
    object.check().map_err(|error| Failure::of_body(&error))?;
    let shown = described(&object);
    service.declare(object)?;
    Ok((StatusCode::CREATED, Json(shown.into())))
}

fn described(object: &BusinessObject) -> Map<String, Value> {
    let kind = |attribute: &Attribute| (attribute.name.clone(), Value::from(attribute.kind.data_type()));
    let attributes: Map<String, Value> = object.attributes.iter().map(kind).collect();
    Map::from_iter([
        ("name".to_owned(), object.name.clone().into()),
        ("item_type_id".to_owned(), object.id.into()),
        ("attributes".to_owned(), attributes.into()),
    ])
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Window {
    limit: usize,
    offset: usize,
    contains: String,
}

impl Default for Window {
    fn default() -> Self {
        Self { limit: 100, offset: 0, contains: String::new() }
    }
}

/// A window of the rows, of those alone in which a value contains a text.
pub(super) async fn rows(State(shared): State<Shared>, name: Name, window: Asked<Window>) -> Answer {
    let Query(Window { limit, offset, contains }) = window?;
    if limit > MOST_LISTED {
        return Err(Failure::malformed(format!("limit: at most {MOST_LISTED} rows are listed, not {limit}")));
    }
    let Object { declared, rows } = named(&shared, name)?;
    let listed = spawn_blocking(move || {
        let members = |row: &Row| -> Map<String, Value> {
            let names = declared.attributes.iter().map(|attribute| attribute.name.clone());
            names.zip(row.iter().map(|cell| json!(cell))).collect()
        };
        let found: Vec<&Row> = rows.containing(&contains).collect();
        let listed: Vec<_> = found.iter().skip(offset).take(limit).map(|row| members(row)).collect();
        json!({"rows": listed, "total": found.len()})
    });
    Ok(Json(listed.await?))
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Load {
    replace: bool,
}

/// Adds the rows of the body, all or none: lines of JSON or an array. A client that has gone adds none.
pub(super) async fn load(State(shared): State<Shared>, name: Name, how: Asked<Load>, body: Bytes) -> Answer {
    let Query(Load { replace }) = how?;
    let Object { declared, .. } = named(&shared, name)?;
    let object = Arc::clone(&declared);
    let rows = spawn_blocking(move || -> Result<Vec<Row>, Failure> {
        let rows = texts(&body)?.into_iter().enumerate().map(|(number, text)| object.row(number, text));
        rows.collect::<Result<_, Error>>().map_err(|error| Failure::of_body(&error))
    });
    let rows = rows.await??;
    spawn_blocking(move || {
        shared.service.load(&declared, &rows, replace)?;
        Ok(Json(json!({"rows": rows.len()})))
    })
    .await?
}

/// The rows of a body as JSON texts, which are parsed one by one: as values they would need several times its memory.
fn texts(body: &[u8]) -> Result<Vec<&str>, Failure> {
    let malformed = |cause: &dyn std::fmt::Display| Failure::malformed(format!("body: {cause}"));
    let body = std::str::from_utf8(body).map_err(|cause| malformed(&cause))?;
    if body.trim_start().starts_with('[') {
        let rows: Vec<&RawValue> = serde_json::from_str(body).map_err(|cause| malformed(&cause))?;
        return Ok(rows.into_iter().map(RawValue::get).collect());
    }
    Ok(body.split('\n').filter(|line| !line.trim().is_empty()).collect())
}

/// Deletes all rows.
pub(super) async fn clear(State(shared): State<Shared>, name: Name) -> Answer {
    let Object { declared, .. } = named(&shared, name)?;
    Ok(Json(json!({"rows": shared.service.clear(&declared.name)?})))
}

fn named(shared: &Shared, name: Name) -> Result<Object, Failure> {
    let Path(name) = name?;
    shared.service.object(&name).map_err(|error| Failure::of(StatusCode::NOT_FOUND, &error))
}

/// All active faults, oldest first.
pub(super) async fn faults(State(Shared { service, .. }): State<Shared>) -> Answer {
    Ok(Json(shown_faults(&service.faults.list())))
}

/// Begins a fault, or the faults of a preset.
pub(super) async fn begin_faults(State(Shared { service, .. }): State<Shared>, body: Bytes) -> Made {
    let form: Map<String, Value> = read(&body)?;
    let is_preset = form.get("preset").is_some_and(|preset| !preset.is_null());
    let begun: Vec<_> = Fault::from_form(form)?.into_iter().map(|fault| service.faults.begin(fault)).collect();
    let shown = match &begun[..] {
        [fault] if !is_preset => fault.to_json().into(),
        _ => shown_faults(&begun),
    };
    Ok((StatusCode::CREATED, Json(shown)))
}

/// Ends all faults.
pub(super) async fn end_faults(State(Shared { service, .. }): State<Shared>) -> Answer {
    Ok(Json(shown_faults(&service.faults.end(None))))
}

/// An active fault.
pub(super) async fn fault(State(Shared { service, .. }): State<Shared>, id: Name) -> Answer {
    let id = number("fault", id)?;
    found(service.faults.get(id), id)
}

/// Ends a fault.
pub(super) async fn end_fault(State(Shared { service, .. }): State<Shared>, id: Name) -> Answer {
    let id = number("fault", id)?;
    found(service.faults.end(Some(id)).pop(), id)
}

fn found(fault: Option<Arc<ActiveFault>>, id: u64) -> Answer {
    let fault = fault.ok_or_else(|| Failure::not_found(format!("there is no fault {id}; it may have ended")))?;
    Ok(Json(fault.to_json().into()))
}

fn shown_faults(faults: &[Arc<ActiveFault>]) -> Value {
    faults.iter().map(|fault| Value::Object(fault.to_json())).collect()
}

/// All exports by their ids, with their entries at this time.
pub(super) async fn exports(State(Shared { service, .. }): State<Shared>) -> Answer {
    let now = service.now();
    Ok(Json(service.state().exports.0.iter().map(|(id, entries)| shown_export(*id, entries, now)).collect()))
}

/// An export: a number of like entries that end one after another, or a list of entries.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Start {
    export_id: Option<i64>,
    rows: Option<u64>,
    seconds: Option<f64>,
    delay: Option<f64>,
    succeeds: Option<bool>,
    entries: Entries,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "`entries` is a number of entries, or a list of objects with delay, seconds, rows, \
                               succeeds, code and message"
)]
enum Entries {
    Count(u32),
    List(Vec<Entry>),
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Entry {
    delay: f64,
    seconds: f64,
    rows: u64,
    succeeds: bool,
    code: Option<i64>,
    message: Option<String>,
}

impl Default for Start {
    fn default() -> Self {
        let entries = Entries::Count(1);
        Self { export_id: None, rows: None, seconds: None, delay: None, succeeds: None, entries }
    }
}

impl Default for Entry {
    fn default() -> Self {
        Self { delay: 0.0, seconds: 1.0, rows: 1_000, succeeds: true, code: None, message: None }
    }
}

/// Starts an export; it replaces one with the same id.
pub(super) async fn start_export(State(Shared { service, .. }): State<Shared>, body: Bytes) -> Made {
    let start: Start = read(&body)?;
    let entries = match start.entries {
        Entries::List(entries) => {
            if [start.rows.is_some(), start.seconds.is_some(), start.delay.is_some(), start.succeeds.is_some()]
                .contains(&true)
            {
                return Err(Failure::malformed(
                    "rows, seconds, delay and succeeds are of each entry in a list of them",
                ));
            }
            entries
        }
        Entries::Count(count) => {
            let usual = Entry::default();
            let (rows, delay) = (start.rows.unwrap_or(usual.rows), start.delay.unwrap_or(usual.delay));
            let seconds = duration("seconds", start.seconds.unwrap_or(usual.seconds))?;
            let entry = |number| Entry {
                delay,
                seconds: share(seconds, number, count).as_secs_f64(),
                rows,
                succeeds: start.succeeds.unwrap_or(usual.succeeds),
                ..Entry::default()
            };
            (1..=count).take(MOST_ENTRIES + 1).map(entry).collect()
        }
    };
    if entries.len() > MOST_ENTRIES {
        return Err(Failure::malformed(format!("entries: an export has at most {MOST_ENTRIES} of them")));
    }
    let now = service.now();
    let mut planned = Vec::with_capacity(entries.len());
    for Entry { delay, seconds, rows, succeeds, code, message } in entries {
        let (delay, takes) = (duration("delay", delay)?, duration("seconds", seconds)?);
        // A start beyond the range of the clock never comes.
        let Some(starts) = now.checked_add(delay) else { continue };
        planned.push(PlannedEntry { starts, takes, rows, succeeds, code, message });
    }
    let id = service.state().exports.start(start.export_id, planned);
    Ok((StatusCode::CREATED, Json(json!({"export_id": id}))))
}

/// Removes an export.
pub(super) async fn remove_export(State(Shared { service, .. }): State<Shared>, id: Name) -> Answer {
    let id = number("export", id)?;
    let now = service.now();
    let removed = service.state().exports.0.remove(&id);
    let entries = removed.ok_or_else(|| Failure::not_found(format!("there is no export {id}")))?;
    Ok(Json(shown_export(id, &entries, now)))
}

fn shown_export(id: i64, entries: &[PlannedEntry], now: SystemTime) -> Value {
    let entry = |entry: &PlannedEntry| {
        let status = match entry.stage(now) {
            Stage::Waiting => "waiting",
            Stage::Running => "running",
            Stage::Ended(_) if entry.succeeds => "succeeded",
            Stage::Ended(_) => "failed",
        };
        json!({
            "starts": written(entry.starts),
            "ends": entry.ends().and_then(written),
            "rows": entry.rows,
            "status": status,
        })
    };
    json!({"export_id": id, "entries": entries.iter().map(entry).collect::<Vec<_>>()})
}

/// All switches with their values.
pub(super) async fn switches(State(Shared { service, .. }): State<Shared>) -> Answer {
    Ok(Json(json!(*service.switches())))
}

/// Changes switches, all or none.
pub(super) async fn switch(state: State<Shared>, body: Bytes) -> Answer {
    let changes: Map<String, Value> = read(&body)?;
    state.service.switch(&changes).map_err(|error| Failure::of_body(&error))?;
    switches(state).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Issue {
    scopes: Option<Vec<String>>,
    expires_in: Option<f64>,
}

/// Issues a token; without scopes it has all of them.
pub(super) async fn issue_token(State(Shared { service, .. }): State<Shared>, body: Bytes) -> Made {
    let Issue { scopes, expires_in } = read(&body)?;
    let expires_in = expires_in.map(|seconds| duration("expires_in", seconds)).transpose()?;
    let known = service.switches().scopes();
    if let Some(unknown) = scopes.iter().flatten().find(|scope| !known.contains(scope)) {
        let problem = format!("scopes: there is no `{}`", excerpt(unknown, 60));
        return Err(Failure::malformed(problem).with_hint(format!("there are {}", known.join(", "))));
    }
    let token = service.tokens.issue(&scopes.unwrap_or(known), service.now(), expires_in)?;
    Ok((StatusCode::CREATED, Json(json!({"token": token}))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Revoke {
    token: String,
}

/// Makes a token invalid.
pub(super) async fn revoke_token(State(Shared { service, .. }): State<Shared>, body: Bytes) -> Answer {
    let Revoke { token } = read(&body)?;
    Ok(Json(json!({"revoked": service.tokens.revoke(&token)})))
}

/// The time of the service.
pub(super) async fn clock(State(Shared { service, .. }): State<Shared>) -> Answer {
    Ok(Json(json!({"now": written(service.now())})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    advance: f64,
}

/// Moves the clock forward.
pub(super) async fn advance(state: State<Shared>, body: Bytes) -> Answer {
    let Advance { advance } = read(&body)?;
    state.service.advance(duration("advance", advance)?)?;
    clock(state).await
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct After {
    after: u64,
}

/// The requests that are kept and have a higher number than `after`.
pub(super) async fn requests(State(Shared { service, .. }): State<Shared>, after: Asked<After>) -> Answer {
    let Query(After { after }) = after?;
    let requests = service.log.after(after);
    let next = requests.last().map_or(after, |(number, _)| *number);
    let requests: Vec<Value> = requests.into_iter().map(|(number, request)| logged(number, &request)).collect();
    Ok(Json(json!({"requests": requests, "next": next})))
}

/// Removes all requests.
pub(super) async fn clear_requests(State(Shared { service, .. }): State<Shared>) -> Answer {
    service.log.clear();
    Ok(Json(json!({})))
}

fn logged(number: u64, request: &LoggedRequest) -> Value {
    let mut headers = Map::new();
    for (name, value) in &request.headers {
        match headers.get_mut(name) {
            Some(Value::String(joined)) => {
                joined.push_str(", ");
                joined.push_str(value);
            }
            _ => drop(headers.insert(name.clone(), value.clone().into())),
        }
    }
    let body = request.body.as_ref().map(|body| match std::str::from_utf8(body) {
        Ok(text) => text.into(),
        Err(_) => json!({"base64": STANDARD.encode(body)}),
    });
    json!({
        "number": number,
        "time": written(request.time),
        "method": request.method,
        "path": request.path,
        "headers": headers,
        "body": body,
        "status": request.status,
        "duration_ms": request.duration.map(|duration| duration.as_secs_f64() * 1e3),
        "bytes": request.sent,
        "fault": request.fault,
        "message": request.message,
    })
}

/// The id in a path.
fn number<T: std::str::FromStr>(what: &str, id: Name) -> Result<T, Failure> {
    let Path(id) = id?;
    id.parse().map_err(|_| Failure::not_found(format!("there is no {what} `{}`", excerpt(&id, 60))))
}

/// A time as ISO 8601 in UTC; none beyond the calendar.
fn written(time: SystemTime) -> Option<String> {
    Timestamp::try_from(time).ok().map(|time| format!("{time:.6}"))
}

/// A number of seconds.
fn duration(name: &str, seconds: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| Failure::malformed(format!("{name} must be a number of seconds from 0 on, not {seconds}")))
}

impl From<PathRejection> for Failure {
    /// A name that is not UTF-8.
    fn from(_: PathRejection) -> Self {
        Self::not_found("the path names nothing that exists")
    }
}

impl From<QueryRejection> for Failure {
    fn from(rejection: QueryRejection) -> Self {
        let QueryRejection::FailedToDeserializeQueryString(rejection) = rejection else {
            return Self::malformed("query: it cannot be read");
        };
        let cause = std::error::Error::source(&rejection).map(ToString::to_string);
        Self::malformed(format!("query: {}", cause.unwrap_or_else(|| rejection.to_string())))
    }
}

impl From<JoinError> for Failure {
    fn from(_: JoinError) -> Self {
        let problem = "the sandbox failed to answer; this is a bug in it";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, Kind::Sandbox, problem)
    }
}
