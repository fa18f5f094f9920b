//! The routes of control, in the order of the page of documentation.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::task::spawn_blocking;

use super::{Body, Failure};
use crate::error::{Error, Kind, excerpt};
use crate::sandbox::exports::{Entry, Export, written};
use crate::sandbox::faults::Fault;
use crate::sandbox::objects::BusinessObject;
use crate::sandbox::options::Seconds;
use crate::sandbox::routes::Shared;
use crate::sandbox::state::{Object, Service};
use crate::sandbox::table::Row;

const MOST_LISTED: usize = 10_000;
const MOST_ENTRIES: usize = 1_000;

type Of = State<Arc<Service>>;
type Answer = Result<Json<Value>, Failure>;
type Made = Result<(StatusCode, Json<Value>), Failure>;
type Named<T = String> = Result<Path<T>, PathRejection>;
type Asked<T> = Result<Query<T>, QueryRejection>;

fn made(value: Value) -> (StatusCode, Json<Value>) {
    (StatusCode::CREATED, Json(value))
}

pub(super) async fn state(State(service): Of) -> Answer {
    let switches = service.switches();
    Ok(Json(json!({
        "base_url": service.base_url.get(),
        "now": written(service.now()),
        "version": crate::VERSION,
        "record_zone": switches.source_timezone.iana_name(),
        "scopes": switches.scopes(),
        "switches": *switches,
        "demo": service.demo.as_ref().map(|demo| json!({"until": demo.until.map(|day| day.to_string())})),
    })))
}

pub(super) async fn reset(State(service): Of) -> Answer {
    let state = State(Arc::clone(&service));
    spawn_blocking(move || service.reset()).await?;
    self::state(state).await
}

#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    declared: &'a BusinessObject,
    rows: usize,
}

pub(super) async fn objects(State(service): Of) -> Answer {
    let data = service.data();
    let listed = data.objects.iter().map(|Object { declared, rows }| json!(Listed { declared, rows: rows.len() }));
    Ok(Json(listed.collect()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Declaration {
    name: String,
    item_type_id: i64,
    attributes: Map<String, Value>,
}

pub(super) async fn declare(
    State(service): Of,
    Body(Declaration { name, item_type_id, attributes }): Body<Declaration>,
) -> Made {
    let object = BusinessObject::declared(item_type_id, name, attributes)?;
    let shown = json!(object);
    service.declare(&object).map_err(Failure::conflict)?;
    Ok(made(shown))
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Window {
    limit: Option<usize>,
    offset: usize,
    contains: String,
}

/// A window of the rows, of those alone in which a value contains a text.
pub(super) async fn rows(State(service): Of, name: Named, window: Asked<Window>) -> Answer {
    let Query(Window { limit, offset, contains }) = window?;
    let limit = limit.unwrap_or(100);
    if limit > MOST_LISTED {
        return Err(Failure::malformed(format!("limit: at most {MOST_LISTED} rows are listed, not {limit}")));
    }
    let Object { declared, rows } = named(&service, name)?;
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
pub(super) async fn load(State(shared): State<Shared>, name: Named, how: Asked<Load>, body: Bytes) -> Answer {
    let Query(Load { replace }) = how?;
    if shared.recording.is_some() {
        return Err(Failure::conflict(Error::new(Kind::Sandbox, "a replay has no rows: it sends what was recorded")));
    }
    let Object { declared, .. } = named(&shared.service, name)?;
    let object = Arc::clone(&declared);
    let checked = spawn_blocking(move || -> Result<Vec<Row>, Failure> {
        let rows = texts(&body)?.into_iter().enumerate().map(|(number, text)| object.row(number, text));
        Ok(rows.collect::<Result<_, Error>>()?)
    });
    let rows = checked.await??;
    let count = rows.len();
    spawn_blocking(move || shared.service.load(&declared, &rows, replace)).await?.map_err(Failure::conflict)?;
    Ok(Json(json!({"rows": count})))
}

/// The rows of a body as JSON texts, which are parsed one by one: as values they would need several times its memory.
fn texts(body: &[u8]) -> Result<Vec<&str>, Failure> {
    let body = std::str::from_utf8(body).map_err(|cause| Failure::malformed(format!("body: {cause}")))?;
    if body.trim_start().starts_with('[') {
        let rows: Result<Vec<&RawValue>, _> = serde_json::from_str(body);
        let rows = rows.map_err(|cause| Failure::malformed(format!("body: {cause}")))?;
        return Ok(rows.into_iter().map(RawValue::get).collect());
    }
    Ok(body.split('\n').filter(|line| !line.trim().is_empty()).collect())
}

pub(super) async fn clear(State(service): Of, name: Named) -> Answer {
    let id = named(&service, name)?.declared.id;
    let rows = spawn_blocking(move || service.clear(id)).await?;
    Ok(Json(json!({"rows": rows})))
}

fn named(service: &Service, name: Named) -> Result<Object, Failure> {
    let Path(name) = name?;
    service.data().object(&name).cloned().map_err(|error| Failure(StatusCode::NOT_FOUND, error))
}

pub(super) async fn faults(State(service): Of) -> Answer {
    Ok(Json(service.state().faults.forms(None).into()))
}

pub(super) async fn begin_faults(State(service): Of, Body(form): Body<Map<String, Value>>) -> Made {
    let is_preset = form.get("preset").is_some_and(|preset| !preset.is_null());
    let faults = Fault::from_form(form)?;
    let mut state = service.state();
    let mut begun = faults.into_iter().map(|fault| state.faults.begin(fault));
    Ok(made(if is_preset { begun.collect() } else { begun.next().unwrap_or_default() }))
}

pub(super) async fn end_faults(State(service): Of) -> Answer {
    Ok(Json(service.state().faults.end(None).into()))
}

pub(super) async fn fault(State(service): Of, id: Named<u64>) -> Answer {
    let Path(id) = id?;
    found("fault", id, service.state().faults.forms(Some(id)).pop())
}

pub(super) async fn end_fault(State(service): Of, id: Named<u64>) -> Answer {
    let Path(id) = id?;
    found("fault", id, service.state().faults.end(Some(id)).pop())
}

fn found(what: &str, id: impl std::fmt::Display, shown: Option<Value>) -> Answer {
    shown.map(Json).ok_or_else(|| Failure::not_found(format!("there is no {what} {id}; it may have ended")))
}

pub(super) async fn exports(State(service): Of) -> Answer {
    let now = service.now();
    Ok(Json(service.state().exports.0.iter().map(|(id, export)| export.shown(*id, now)).collect()))
}

/// Starts an export, of a number of like entries that end one after another or of a list of entries. It replaces one
/// with the same id.
pub(super) async fn start_export(State(service): Of, Body(mut form): Body<Map<String, Value>>) -> Made {
    form.retain(|_, value| !value.is_null());
    let id = form.shift_remove("export_id").map(|id| super::read("export_id: ", id)).transpose()?;
    let entries: Vec<Entry> = match form.shift_remove("entries").unwrap_or_else(|| 1.into()) {
        Value::Array(list) if form.is_empty() => super::read("entries", Value::Array(list))?,
        Value::Array(_) => {
            return Err(Failure::malformed("rows, seconds, delay and succeeds are of each entry in a list of them"));
        }
        count => {
            let count = count
                .as_u64()
                .and_then(|count| u32::try_from(count).ok())
                .ok_or_else(|| Failure::malformed("entries: it is a number of entries, or a list of what each has"))?;
            let last: Entry = super::read("", form.into())?;
            let share = |number| Seconds(last.seconds.0.saturating_mul(number) / count);
            let like = (1..=count).map(|number| Entry { seconds: share(number), ..last.clone() });
            like.take(MOST_ENTRIES + 1).collect()
        }
    };
    if entries.len() > MOST_ENTRIES {
        return Err(Failure::malformed(format!("entries: an export has at most {MOST_ENTRIES} of them")));
    }
    let export = Export { started: service.now(), entries };
    Ok(made(json!({"export_id": service.state().exports.start(id, export)})))
}

pub(super) async fn remove_export(State(service): Of, id: Named<i64>) -> Answer {
    let (Path(id), now) = (id?, service.now());
    let removed = service.state().exports.0.remove(&id);
    found("export", id, removed.map(|export| export.shown(id, now)))
}

pub(super) async fn switches(State(service): Of) -> Answer {
    Ok(Json(json!(*service.switches())))
}

pub(super) async fn switch(State(service): Of, Body(changes): Body<Map<String, Value>>) -> Answer {
    service.switch(&changes)?;
    switches(State(service)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Issue {
    scopes: Option<Vec<String>>,
    expires_in: Option<Seconds>,
}

/// Issues a token; without scopes it has all of them.
pub(super) async fn issue_token(State(service): Of, Body(Issue { scopes, expires_in }): Body<Issue>) -> Made {
    let known = service.switches().scopes();
    if let Some(unknown) = scopes.iter().flatten().find(|scope| !known.contains(scope)) {
        let problem = format!("scopes: there is no `{}`; there are {}", excerpt(unknown, 60), known.join(", "));
        return Err(Failure::malformed(problem));
    }
    let expires_in = expires_in.map(|seconds| seconds.0);
    let now = service.now();
    let token = service.state().tokens.issue(scopes.unwrap_or(known), now, expires_in)?;
    Ok(made(json!({"token": token})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Revoke {
    token: String,
}

pub(super) async fn revoke_token(State(service): Of, Body(Revoke { token }): Body<Revoke>) -> Answer {
    Ok(Json(json!({"revoked": service.state().tokens.revoke(&token)})))
}

pub(super) async fn clock(State(service): Of) -> Answer {
    Ok(Json(json!({"now": written(service.now())})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Advance {
    advance: Seconds,
}

pub(super) async fn advance(State(service): Of, Body(Advance { advance }): Body<Advance>) -> Answer {
    service.advance(advance.0)?;
    clock(State(service)).await
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct After {
    after: u64,
}

/// The requests that are kept and have a higher number than `after`.
pub(super) async fn requests(State(service): Of, after: Asked<After>) -> Answer {
    let Query(After { after }) = after?;
    Ok(Json(requests_after(&service, after)))
}

fn requests_after(service: &Service, after: u64) -> Value {
    let requests = service.log.after(after);
    let next = requests.last().map_or(after, |request| request.number);
    json!({"requests": requests, "next": next})
}

pub(super) async fn clear_requests(State(service): Of) -> Answer {
    service.log.clear();
    Ok(Json(json!({})))
}

/// What a call returns once the service has ended; none if it needs the service.
pub(in crate::sandbox) fn after_end(service: &Service, method: &str, path: &str) -> Option<Value> {
    match (method, path) {
        ("GET", "/requests") => Some(requests_after(service, 0)),
        ("DELETE", "/requests") => {
            service.log.clear();
            Some(json!({}))
        }
        ("GET", "/faults") => Some(service.state().faults.forms(None).into()),
        _ => service.state().faults.forms(Some(path.strip_prefix("/faults/")?.parse().ok()?)).pop(),
    }
}
