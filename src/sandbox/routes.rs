//! The routes of the service.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Extension, FromRef, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use tokio::task::spawn_blocking;

use super::access::Access;
use super::control;
use super::middleware;
use super::openapi;
use super::options::Limits;
use super::replay::Recording;
use super::reply::{Refusal, SERVER, response};
use super::service::Call;
use super::state::Service;
use super::switches::Switches;
use crate::contract::{DOWNLOAD_PATH, SEARCH_PATH};

/// State of every route.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) service: Arc<Service>,
    pub(super) access: Arc<Access>,
    /// The token of the control routes.
    pub(super) admin: Arc<str>,
    pub(super) limits: Limits,
    /// Responds instead of the service.
    pub(super) recording: Option<Arc<Recording>>,
}

impl FromRef<Shared> for Arc<Service> {
    fn from_ref(shared: &Shared) -> Self {
        Self::clone(&shared.service)
    }
}

/// The switches since the head of the request.
type Now = Extension<Arc<Switches>>;

/// Why the body was not read.
pub(super) type Unread = Option<Extension<Refusal>>;

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
        .route(SEARCH_PATH, operation(Service::search))
        .route(DOWNLOAD_PATH, operation(Service::download))
        // It needs no token, as it holds no data.
        .route(openapi::PATH, get(async || response(StatusCode::OK, openapi::DESCRIPTION)))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
}

/// The recorded response. Any token will do, as a recording has none.
async fn replay(State(shared): State<Shared>, now: Now, uri: Uri, unread: Unread, body: Bytes) -> Response {
    let Some(recording) = shared.recording else { return not_found(now).await };
    let responded = spawn_blocking(move || {
        unread.map_or_else(|| recording.respond(uri.path(), &body), |Extension(refusal)| Err(refusal))
    });
    let responded = responded.await.unwrap_or_else(|_| Err(Refusal::internal()));
    let mut response = responded.unwrap_or_else(|refusal| refusal.reply(&now));
    // A recording is not taken for the service either.
    response.headers_mut().insert(header::SERVER, SERVER);
    response
}

async fn not_found(Extension(now): Now) -> Response {
    let problem = format!("there is no such path; there are {SEARCH_PATH}, {DOWNLOAD_PATH} and {}", openapi::PATH);
    Refusal::Problem(StatusCode::NOT_FOUND, problem).reply(&now)
}

async fn method_not_allowed(Extension(now): Now) -> Response {
    let problem = "the path takes another method, which the header Allow names".to_owned();
    Refusal::Problem(StatusCode::METHOD_NOT_ALLOWED, problem).reply(&now)
}

/// The route of an operation. It runs on a blocking thread, where a panic ends only its own request.
fn operation(operation: fn(&Service, &Call) -> Result<Body, Refusal>) -> MethodRouter<Shared> {
    post(
        async move |State(shared): State<Shared>,
                    Extension(now): Now,
                    uri: Uri,
                    headers: HeaderMap,
                    unread: Unread,
                    body: Bytes| {
            let body = unread.map_or(Ok(body), |Extension(refusal)| Err(refusal));
            let call = Call { switches: Arc::clone(&now), has_query: uri.query().is_some(), headers, body };
            let outcome = spawn_blocking(move || operation(&shared.service, &call)).await;
            let outcome = outcome.unwrap_or_else(|_| Err(Refusal::internal()));
            outcome.map_or_else(|refusal| refusal.reply(&now), |body| response(StatusCode::OK, body))
        },
    )
}
