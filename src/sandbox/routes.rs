//! The routes of the service. A panic in an operation ends only its own request.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Extension, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use super::access::Access;
use super::control;
use super::middleware;
use super::openapi;
use super::options::Limits;
use super::replay::Recording;
use super::reply::{Refusal, Reply, SERVER};
use super::request::Interpretation;
use super::state::Service;
use super::switches::QueryString;
use crate::contract::{DOWNLOAD_PATH, SEARCH_PATH};

/// State of every route.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) service: Arc<Service>,
    pub(super) access: Arc<Access>,
    /// The token of the control routes.
    pub(super) admin: Arc<str>,
    pub(super) limits: Limits,
    /// Responds in place of the service.
    pub(super) recording: Option<Arc<Recording>>,
}

/// The switches since the head of the request.
type Now = Extension<Arc<Interpretation>>;

/// An operation of the service.
type Operation = fn(&Service, &Interpretation, &HeaderMap, &[u8]) -> Result<Body, Refusal>;

/// The routes of the specification; everything else is refused with an envelope.
pub(super) fn router(shared: Shared) -> Router {
    let routes = if shared.recording.is_some() { Router::new().fallback(replay) } else { operations() };
    routes
        .merge(control::routes())
        // The middleware reads the body with its own limit.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(shared.clone(), middleware::receive))
        .with_state(shared)
}

fn operations() -> Router<Shared> {
    Router::new()
        .route(SEARCH_PATH, post(|state, now, uri, headers, body| run(state, now, uri, headers, body, Service::search)))
        .route(
            DOWNLOAD_PATH,
            post(|state, now, uri, headers, body| run(state, now, uri, headers, body, Service::download)),
        )
        .route(openapi::PATH, get(description))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
}

/// The recorded response. Any token will do, as a recording has none.
async fn replay(State(shared): State<Shared>, now: Now, uri: Uri, body: Bytes) -> Response {
    let Some(recording) = &shared.recording else { return not_found(now).await.into_response() };
    let refused = |refusal: Refusal| refusal.reply(&now.switches).into_response();
    recording.respond(uri.path(), &body).unwrap_or_else(refused)
}

/// The `OpenAPI` description. It needs no token, as it holds no data.
async fn description() -> impl IntoResponse {
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json")), (header::SERVER, SERVER)];
    (headers, openapi::DESCRIPTION)
}

async fn not_found(Extension(now): Now) -> Reply {
    let problem = format!("there is no such path; there are {SEARCH_PATH}, {DOWNLOAD_PATH} and {}", openapi::PATH);
    Refusal::Problem(StatusCode::NOT_FOUND, problem).reply(&now.switches)
}

async fn method_not_allowed(Extension(now): Now) -> Reply {
    let problem = "the path takes another method, which the header Allow names".to_owned();
    Refusal::Problem(StatusCode::METHOD_NOT_ALLOWED, problem).reply(&now.switches)
}

/// Runs the operation on a blocking thread, where a panic ends only this request.
async fn run(
    State(shared): State<Shared>,
    Extension(now): Now,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
    operation: Operation,
) -> Reply {
    if now.switches.query_string == QueryString::Refused && uri.query().is_some() {
        let problem = "the path: it has a query string; the specification shows none";
        return Refusal::malformed(problem).reply(&now.switches);
    }
    let during = Arc::clone(&now);
    let outcome = tokio::task::spawn_blocking(move || operation(&shared.service, &during, &headers, &body)).await;
    match outcome.unwrap_or_else(|_| Err(Refusal::internal())) {
        Ok(body) => Reply { status: StatusCode::OK, body },
        Err(refusal) => refusal.reply(&now.switches),
    }
}
