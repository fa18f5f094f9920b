//! Control of a running sandbox: data, faults, exports, tokens, the clock and the log, as JSON under `/__sandbox`.
//!
//! [`respond`] is around every call: who may call, and the limits of a body. [`handlers`] are the routes.

mod handlers;

pub(super) use handlers::after_end;

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::body::{Body as HttpBody, Bytes};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, Request};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::Next;
use axum::response::IntoResponse;
use axum::routing::{delete, get, post};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::task::{JoinError, spawn_blocking};

use super::middleware::{close_after, read_body};
use super::reply::{Refusal, SERVER};
use super::routes::Shared;
use super::tokens::{bearer_token, is_same, random};
use crate::error::{Error, Kind};

/// The prefix of all routes but the health check.
const PREFIX: &str = "/__sandbox";
const HEALTH: &str = "/healthz";
/// The header of a call that belongs to the start of the sandbox, such as a call of a scenario file: a reset keeps it.
const OF_START: &str = "sandbox-start";
const BODY_LIMIT: usize = 1024 * 1024;
const ROWS_LIMIT: usize = 1024 * 1024 * 1024;
/// Rows may take this many times longer to arrive than other bodies.
const ROWS_TAKE: u32 = 20;
/// The page to look at; each `{nonce}` is replaced by a random text.
const PAGE: &str = include_str!("page.html");

pub(super) fn routes() -> Router<Shared> {
    let control = Router::new()
        .route("/state", get(handlers::state))
        .route("/reset", post(handlers::reset))
        .route("/objects", get(handlers::objects).post(handlers::declare))
        .route("/objects/{name}/rows", get(handlers::rows).post(handlers::load).delete(handlers::clear))
        .route("/faults", get(handlers::faults).post(handlers::begin_faults).delete(handlers::end_faults))
        .route("/faults/{id}", get(handlers::fault).delete(handlers::end_fault))
        .route("/exports", get(handlers::exports).post(handlers::start_export))
        .route("/exports/{id}", delete(handlers::remove_export))
        .route("/switches", get(handlers::switches).patch(handlers::switch))
        .route("/tokens", post(handlers::issue_token))
        .route("/tokens/revoke", post(handlers::revoke_token))
        .route("/clock", get(handlers::clock).post(handlers::advance))
        .route("/requests", get(handlers::requests).delete(handlers::clear_requests))
        .method_not_allowed_fallback(not_allowed)
        .fallback(|| async {
            Failure(
                StatusCode::NOT_FOUND,
                Error::new(Kind::Config, "there is no such route").with_hint("docs/sandbox.md lists the routes"),
            )
        });
    Router::new()
        .route(HEALTH, get(|| async { Json(json!({"status": "ok", "version": crate::VERSION})) }))
        .route(PREFIX, get(page))
        .route("/__sandbox/", get(page))
        .method_not_allowed_fallback(not_allowed)
        .nest(PREFIX, control)
}

async fn not_allowed() -> Failure {
    let problem = "the route takes another method, which the header Allow names";
    Failure(StatusCode::METHOD_NOT_ALLOWED, Error::new(Kind::Config, problem))
}

pub(super) fn is_control(path: &str) -> bool {
    path == HEALTH || path.strip_prefix(PREFIX).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The response to a request whose `Host` and `Origin` were checked.
pub(super) async fn respond(
    shared: &Shared,
    checked: Result<(), Refusal>,
    head: Parts,
    mut body: HttpBody,
    next: Next,
) -> Response<HttpBody> {
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
                let service = Arc::clone(&shared.service);
                drop(spawn_blocking(move || service.keep_start()).await);
            }
            response
        }
        Err(failure) => {
            let mut response = failure.into_response();
            close_after(shared, &mut response, body);
            response
        }
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(header::SERVER, SERVER);
    response
}

/// The body of a call whose sender may control the sandbox. Its type needs no check: no form of a foreign page has the
/// token.
async fn receive(shared: &Shared, head: &Parts, body: &mut HttpBody) -> Result<Bytes, Failure> {
    let mut given = head.headers.get_all(header::AUTHORIZATION).iter();
    let token = given.next().and_then(|value| value.to_str().ok()).and_then(bearer_token);
    if given.next().is_some() || !token.is_some_and(|(_, token)| is_same(&shared.admin, token)) {
        let error = Error::new(Kind::Config, "the admin token is missing or wrong")
            .with_hint("send Authorization: Bearer with the token that the sandbox printed at its start");
        return Err(Failure(StatusCode::UNAUTHORIZED, error));
    }
    let is_rows = head.uri.path().ends_with("/rows");
    let (limit, times) = if is_rows { (ROWS_LIMIT, ROWS_TAKE) } else { (BODY_LIMIT, 1) };
    Ok(read_body(&head.headers, body, limit, shared.limits.body.saturating_mul(times)).await?)
}

/// The page. It holds no data: its scripts ask for the admin token, and its policy lets nothing run or load but what is
/// in it.
async fn page() -> Result<impl IntoResponse, Failure> {
    let nonce = random("")?;
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let fixed: [(HeaderName, String); 4] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    Ok((fixed, PAGE.replace("{nonce}", &nonce)))
}

/// A body that is a JSON object; without a body it is `{}`.
struct Body<T>(T);

impl<T: DeserializeOwned> FromRequest<Shared> for Body<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &Shared) -> Result<Self, Failure> {
        let body = Bytes::from_request(request, state).await;
        let body = body.map_err(|rejection| Failure::unread("body", &rejection))?;
        let body = if body.is_empty() { b"{}" } else { &*body };
        // An array would be read as the members in their order.
        if !body.trim_ascii_start().starts_with(b"{") {
            return Err(Failure::malformed("body: must be a JSON object"));
        }
        let read = Json::from_bytes(body).map_err(|rejection| Failure::unread("body", &rejection));
        read.map(|Json(read)| Self(read))
    }
}

fn read<T: DeserializeOwned>(at: &str, value: Value) -> Result<T, Failure> {
    serde_path_to_error::deserialize(value).map_err(|cause| Failure::malformed(format!("body: {at}{cause}")))
}

/// Why a call is refused: the status, and kind, message and hint of the answer.
#[derive(Debug)]
struct Failure(StatusCode, Error);

impl Failure {
    fn malformed(message: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, Error::new(Kind::Config, message))
    }

    fn not_found(message: impl Into<String>) -> Self {
        Self(StatusCode::NOT_FOUND, Error::new(Kind::Sandbox, message))
    }

    fn conflict(error: Error) -> Self {
        Self(StatusCode::CONFLICT, error)
    }

    /// A part of the call cannot be read, for the innermost cause.
    fn unread(part: &str, rejection: &dyn std::error::Error) -> Self {
        let causes = std::iter::successors(Some(rejection), |cause| cause.source());
        Self::malformed(format!("{part}: {}", causes.last().unwrap_or(rejection)))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(StatusCode::BAD_REQUEST, error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let Refusal::Problem(status, message) = refusal else { return Self::malformed("the request was refused") };
        Self(status, Error::new(Kind::Config, message))
    }
}

impl From<PathRejection> for Failure {
    fn from(_: PathRejection) -> Self {
        Self::not_found("the path names nothing that exists")
    }
}

impl From<QueryRejection> for Failure {
    fn from(rejection: QueryRejection) -> Self {
        Self::unread("query", &rejection)
    }
}

impl From<JoinError> for Failure {
    fn from(_: JoinError) -> Self {
        Refusal::internal().into()
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response<HttpBody> {
        let Self(status, error) = self;
        let kind = if error.kind() == Kind::Config { Kind::Config } else { Kind::Sandbox }.class_name();
        let body = json!({"error": {"kind": kind, "message": error.message(), "hint": error.hint()}});
        let mut response = (status, Json(body)).into_response();
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
