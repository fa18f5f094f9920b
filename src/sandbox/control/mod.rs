//! Control of a running sandbox: data, faults, exports, tokens, the clock and the log, as JSON under `/__sandbox`.
//!
//! [`respond`] is around every call: who may call, the limits of a body, and the form of a refusal. [`handlers`] are the
//! routes.

mod handlers;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::Next;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, delete, get, post};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::middleware::{close_after, read_body};
use super::reply::{Refusal, SERVER};
use super::routes::Shared;
use super::tokens::{bearer_token, random};
use crate::error::{Error, Kind, sanitize};

/// The prefix of all routes but the health check.
const PREFIX: &str = "/__sandbox";
/// The health check.
const HEALTH: &str = "/healthz";
const HEALTHY: &str = concat!(r#"{"status":"ok","version":""#, env!("CARGO_PKG_VERSION"), "\"}");
/// The header of a call that belongs to the start of the sandbox, such as a call of a scenario file: a reset keeps it.
const OF_START: &str = "sandbox-start";
/// Most bytes of a body.
const BODY_LIMIT: usize = 1024 * 1024;
/// Most bytes of a body of rows.
const ROWS_LIMIT: usize = 1024 * 1024 * 1024;
/// Rows may take this many times longer to arrive than other bodies.
const ROWS_TAKE: u32 = 20;
/// The page to look at; each `{nonce}` is replaced by a random text.
const PAGE: &str = include_str!("page.html");

/// The routes of control.
pub(super) fn routes() -> Router<Shared> {
    let control = Router::new()
        .route("/state", takes("GET", get(handlers::state)))
        .route("/reset", takes("POST", post(handlers::reset)))
        .route("/objects", takes("GET, POST", get(handlers::objects).post(handlers::declare)))
        .route(
            "/objects/{name}/rows",
            takes("GET, POST, DELETE", get(handlers::rows).post(handlers::load).delete(handlers::clear)),
        )
        .route(
            "/faults",
            takes("GET, POST, DELETE", get(handlers::faults).post(handlers::begin_faults).delete(handlers::end_faults)),
        )
        .route("/faults/{id}", takes("GET, DELETE", get(handlers::fault).delete(handlers::end_fault)))
        .route("/exports", takes("GET, POST", get(handlers::exports).post(handlers::start_export)))
        .route("/exports/{id}", takes("DELETE", delete(handlers::remove_export)))
        .route("/switches", takes("GET, PATCH", get(handlers::switches).patch(handlers::switch)))
        .route("/tokens", takes("POST", post(handlers::issue_token)))
        .route("/tokens/revoke", takes("POST", post(handlers::revoke_token)))
        .route("/clock", takes("GET, POST", get(handlers::clock).post(handlers::advance)))
        .route("/requests", takes("GET, DELETE", get(handlers::requests).delete(handlers::clear_requests)))
        .fallback(|| async {
            Failure::new(StatusCode::NOT_FOUND, Kind::Config, "there is no such route")
                .with_hint("docs/sandbox.md lists the routes")
        });
    let page = takes("GET", get(|| async { page() }));
    Router::new()
        .route(HEALTH, takes("GET", get(|| async { HEALTHY })))
        .route(PREFIX, page.clone())
        .route("/__sandbox/", page)
        .nest(PREFIX, control)
}

/// A route that refuses other methods and names its own.
fn takes(methods: &'static str, route: MethodRouter<Shared>) -> MethodRouter<Shared> {
    route.fallback(move || async move {
        let problem = format!("the route takes {methods}");
        ([(header::ALLOW, methods)], Failure::new(StatusCode::METHOD_NOT_ALLOWED, Kind::Config, problem))
    })
}

/// Whether the path is one of control.
pub(super) fn is_control(path: &str) -> bool {
    path == HEALTH || path.strip_prefix(PREFIX).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The response to a request whose `Host` and `Origin` were checked.
pub(super) async fn respond(
    shared: &Shared,
    checked: Result<(), Refusal>,
    head: Parts,
    mut body: Body,
    next: Next,
) -> Response<Body> {
    // The health check and the page need no token, as they hold no data.
    let is_open = matches!(head.uri.path().strip_prefix(PREFIX), None | Some("" | "/"));
    let received = match checked {
        Err(refusal) => Err(refusal.into()),
        Ok(()) if is_open => Ok(Bytes::new()),
        Ok(()) => receive(shared, &head, &mut body).await,
    };
    let mut response = match received {
        Ok(received) => {
            let is_of_start = head.method != Method::GET && head.headers.contains_key(OF_START);
            let response = next.run(Request::from_parts(head, received.into())).await;
            if is_of_start && response.status().is_success() {
                shared.service.keep_start();
            }
            response
        }
        Err(failure) => {
            let mut response = failure.into_response();
            close_after(shared, &mut response, body);
            response
        }
    };
    let headers = response.headers_mut();
    if !headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html")) {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::SERVER, SERVER);
    response
}

/// The body of a call whose sender may control the sandbox.
async fn receive(shared: &Shared, head: &Parts, body: &mut Body) -> Result<Bytes, Failure> {
    let mut given = head.headers.get_all(header::AUTHORIZATION).iter();
    let token = given.next().and_then(|value| value.to_str().ok()).and_then(bearer_token);
    if given.next().is_some() || !token.is_some_and(|(_, token)| shared.admin.is(token)) {
        return Err(Failure::new(StatusCode::UNAUTHORIZED, Kind::Config, "the admin token is missing or wrong")
            .with_hint("send Authorization: Bearer with the token that the sandbox printed at its start"));
    }
    let is_rows = head.uri.path().ends_with("/rows");
    let (limit, times) = if is_rows { (ROWS_LIMIT, ROWS_TAKE) } else { (BODY_LIMIT, 1) };
    let body = read_body(&head.headers, body, limit, shared.limits.body.saturating_mul(times)).await?;
    if !body.is_empty() && !is_json(&head.headers, is_rows) {
        let problem = "Content-Type: the body must be application/json";
        let lines = if is_rows { ", or application/x-ndjson for lines of JSON" } else { "" };
        return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Kind::Config, format!("{problem}{lines}")));
    }
    Ok(body)
}

/// Whether the body is sent as JSON: a form of another site can send only other types without being asked.
fn is_json(headers: &HeaderMap, is_rows: bool) -> bool {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let lines = ["application/x-ndjson", "application/jsonl", "application/x-jsonlines"];
    media_type == "application/json" || (is_rows && lines.contains(&media_type.as_str()))
}

/// The page. It holds no data: its scripts ask for the admin token, and its policy lets nothing run or load but what is
/// in it.
fn page() -> Result<Response<Body>, Failure> {
    let nonce = random("")?;
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let fixed: [(HeaderName, &str); 4] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, &policy),
    ];
    Ok((fixed, PAGE.replace("{nonce}", &nonce)).into_response())
}

/// A body as JSON of this type; without a body it is `{}`.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    let body = if body.is_empty() { b"{}" } else { body };
    // An array would be read as the members in their order.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(Failure::malformed("body: must be a JSON object"));
    }
    serde_json::from_slice(body).map_err(|cause| Failure::malformed(format!("body: {cause}")))
}

/// Why a call is refused. The response has a kind, a message and a hint.
#[derive(Debug)]
struct Failure {
    status: StatusCode,
    kind: Kind,
    message: String,
    hint: Option<String>,
}

impl Failure {
    fn new(status: StatusCode, kind: Kind, message: impl Into<String>) -> Self {
        Self { status, kind, message: sanitize(&message.into()), hint: None }
    }

    /// The call itself is wrong.
    fn malformed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Kind::Config, message)
    }

    /// What the path names does not exist.
    fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, Kind::Sandbox, message)
    }

    fn of(status: StatusCode, error: &Error) -> Self {
        let kind = if error.kind() == Kind::Config { Kind::Config } else { Kind::Sandbox };
        Self { status, kind, message: error.message().to_owned(), hint: error.hint().map(ToOwned::to_owned) }
    }

    /// An error about what the body has.
    fn of_body(error: &Error) -> Self {
        Self::of(StatusCode::BAD_REQUEST, error)
    }

    fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl From<Error> for Failure {
    /// An invalid argument, else a contradiction to the state of the sandbox.
    fn from(error: Error) -> Self {
        Self::of(if error.kind() == Kind::Config { StatusCode::BAD_REQUEST } else { StatusCode::CONFLICT }, &error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let Refusal::Problem(status, message) = refusal else { return Self::malformed("the request was refused") };
        Self::new(status, Kind::Config, message)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response<Body> {
        let Self { status, kind, message, hint } = self;
        let body = json!({"error": {"kind": kind.class_name(), "message": message, "hint": hint}});
        let mut response = (status, body.to_string()).into_response();
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_one_file_that_names_no_other_host() {
        assert_eq!(PAGE.matches("{nonce}").count(), 2);
        for loaded in ["http://", "https://", "src=", "@import", "url(", "innerHTML", "style=", " onclick"] {
            assert!(!PAGE.contains(loaded), "{loaded}");
        }
    }
}
