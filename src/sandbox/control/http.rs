//! The control routes over HTTP: who may call, the limits of a body, and the response.

use std::sync::Arc;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};

use tokio_util::sync::CancellationToken;

use super::answer::{Answer, Failure};
use super::call::Call;
use super::page::page;
use super::{PREFIX, handle};
use crate::error::Kind;
use crate::sandbox::middleware::{close_after, read_body};
use crate::sandbox::reply::{Refusal, SERVER};
use crate::sandbox::routes::Shared;
use crate::sandbox::tokens::bearer_token;

/// The health check.
const HEALTH: &str = "/healthz";
/// The header of a call that belongs to the start of the sandbox, such as a call of a scenario file: a reset repeats it.
const OF_START: &str = "sandbox-start";
/// Most bytes of a body.
const BODY_LIMIT: usize = 1024 * 1024;
/// Most bytes of a body of rows.
const ROWS_LIMIT: usize = 1024 * 1024 * 1024;
/// Rows may take this many times longer to arrive than other bodies.
const ROWS_TAKE: u32 = 20;

/// Whether the path is one of control.
pub(in crate::sandbox) fn is_control(path: &str) -> bool {
    path == HEALTH || path.strip_prefix(PREFIX).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The response to a request whose `Host` and `Origin` were checked.
pub(in crate::sandbox) async fn respond(
    shared: &Shared,
    checked: Result<(), Refusal>,
    head: Parts,
    mut body: Body,
) -> Response<Body> {
    let answered = match checked {
        Ok(()) => match open(head.uri.path()) {
            Some(opened) if matches!(head.method, Method::GET | Method::HEAD) => {
                return with_headers(opened);
            }
            Some(_) => Err(Failure::not_allowed(&["GET"])),
            None => call(shared, &head, &mut body).await,
        },
        Err(refusal) => Err(refused(&refusal)),
    };
    let (answer, is_read) = match answered {
        Ok(answer) => (answer, true),
        Err(failure) => (failure.into(), false),
    };
    let mut response = response(answer.status, answer.text().into());
    let headers = response.headers_mut();
    if let Some(Ok(allow)) = answer.allow.as_deref().map(HeaderValue::from_str) {
        headers.insert(header::ALLOW, allow);
    }
    if answer.status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if !is_read {
        close_after(shared, &mut response, body);
    }
    response
}

/// What needs no token, as it holds no data.
fn open(path: &str) -> Option<Response<Body>> {
    const HEALTHY: &str = concat!(r#"{"status":"ok","version":""#, env!("CARGO_PKG_VERSION"), "\"}");
    match (path, path.strip_prefix(PREFIX)) {
        (HEALTH, _) => Some(Response::new(HEALTHY.into())),
        (_, Some("" | "/")) => page(),
        _ => None,
    }
}

fn response(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    with_headers(response)
}

/// The response with the headers of all; its type is JSON if it has none.
fn with_headers(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::SERVER, SERVER);
    response
}

/// The answer; an error if the body was not read.
async fn call(shared: &Shared, head: &Parts, body: &mut Body) -> Result<Answer, Failure> {
    let path = head.uri.path();
    let method = if head.method == Method::HEAD { "GET" } else { head.method.as_str() };
    if !may_control(shared, &head.headers) {
        return Err(Failure::new(StatusCode::UNAUTHORIZED, Kind::Config, "the admin token is missing or wrong")
            .with_hint("send Authorization: Bearer with the token that the sandbox printed at its start"));
    }
    let is_rows = path.ends_with("/rows");
    let (limit, times) = if is_rows { (ROWS_LIMIT, ROWS_TAKE) } else { (BODY_LIMIT, 1) };
    let within = shared.limits.body.saturating_mul(times);
    let body = read_body(&head.headers, body, limit, within).await.map_err(|refusal| refused(&refusal))?;
    if !body.is_empty() && !is_json(&head.headers, is_rows) {
        let problem = "Content-Type: the body must be application/json";
        let lines = if is_rows { ", or application/x-ndjson for lines of JSON" } else { "" };
        let failure = Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Kind::Config, format!("{problem}{lines}"));
        return Ok(failure.into());
    }
    let query = head.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let target = format!("{}{query}", path.strip_prefix(PREFIX).unwrap_or_default());
    let call = Call::new(method, &target, body, shared.service.store.stopping.child_token());
    // The future is dropped when the client goes.
    let _gone = call.cancel_on_drop();
    let service = Arc::clone(&shared.service);
    let is_of_start = method != "GET" && head.headers.contains_key(OF_START);
    let answer = tokio::task::spawn_blocking(move || {
        let kept = is_of_start.then(|| call.again(CancellationToken::new()));
        let answer = handle(&service, call);
        if let Some(kept) = kept.filter(|_| answer.is_ok()) {
            service.keep(kept);
        }
        answer
    });
    let answer = answer.await;
    Ok(answer.unwrap_or_else(|_| {
        let problem = "the sandbox failed to answer; this is a bug in it";
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, Kind::Sandbox, problem).into()
    }))
}

/// Whether the one `Authorization` header has the admin token.
fn may_control(shared: &Shared, headers: &HeaderMap) -> bool {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return false };
    value.to_str().ok().and_then(bearer_token).is_some_and(|(_, token)| shared.admin.is(token))
}

/// Whether the body is sent as JSON: a form of another site can send only other types without being asked.
fn is_json(headers: &HeaderMap, is_rows: bool) -> bool {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let lines = ["application/x-ndjson", "application/jsonl", "application/x-jsonlines"];
    media_type == "application/json" || (is_rows && lines.contains(&media_type.as_str()))
}

fn refused(refusal: &Refusal) -> Failure {
    let Refusal::Problem(status, message) = refusal else { return Failure::malformed("the request was refused") };
    Failure::new(*status, Kind::Config, message.clone())
}
