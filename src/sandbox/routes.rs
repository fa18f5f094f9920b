//! The HTTP surface: which path leads where, how much of a body is read, and what becomes of a panic.
//!
//! What an operation means is the service's matter.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::routing::post;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::answer::{Answer, Refusal};
use super::guard;
use super::outlet::Outlet;
use super::service::Service;
use super::switches::Gzip;
use crate::contract::{DOWNLOAD_PATH, SEARCH_PATH};

/// Most bytes of a body, counted as they are read.
const BODY_LIMIT: usize = 4 * 1024 * 1024;
/// Longest time for a whole body to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// What every route needs.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) service: Arc<Service>,
    pub(super) port: u16,
}

/// An operation of the service.
type Operation = fn(&Service, &HeaderMap, &[u8], &mut Outlet) -> Result<(), Refusal>;

/// The routes of the document; everything else is refused with an envelope.
pub(super) fn router(service: Arc<Service>, port: u16) -> Router {
    let shared = Shared { service, port };
    Router::new()
        .route(SEARCH_PATH, post(|state, request| run(state, request, Service::search)))
        .route(DOWNLOAD_PATH, post(|state, request| run(state, request, Service::download)))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        .layer(from_fn_with_state(shared.clone(), guard::check))
        .with_state(shared)
}

async fn not_found(State(shared): State<Shared>) -> Answer {
    let problem = format!("there is no such path; there are {SEARCH_PATH} and {DOWNLOAD_PATH}");
    Refusal::Problem(StatusCode::NOT_FOUND, problem).answer(&shared.service.switches)
}

async fn method_not_allowed(State(shared): State<Shared>) -> Answer {
    let problem = "this path takes POST only".to_owned();
    Refusal::Problem(StatusCode::METHOD_NOT_ALLOWED, problem).answer(&shared.service.switches)
}

/// Reads the body, then runs the operation where it may block and where a panic ends only itself.
async fn run(State(shared): State<Shared>, request: Request, operation: Operation) -> Answer {
    let service = shared.service;
    let (parts, body) = request.into_parts();
    let body = match read(&parts.headers, body).await {
        Ok(body) => body,
        Err(refusal) => return refusal.answer(&service.switches),
    };
    tokio::time::sleep(service.switches.latency).await;
    let (mut outlet, awaited) = Outlet::new(service.switches.gzip == Gzip::On && takes_gzip(&parts.headers));
    let runs = Arc::clone(&service);
    tokio::task::spawn_blocking(move || {
        let outcome = operation(&runs, &parts.headers, &body, &mut outlet);
        // Once the reader has gone there is nobody to tell.
        let _ = outlet.close(outcome, &runs.switches);
    });
    awaited.answer().await.unwrap_or_else(|| Refusal::internal().answer(&service.switches))
}

/// Whether the client asks for compressed answers.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let asked = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    asked.flat_map(|value| value.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.trim().parse::<f32>().ok());
        name.trim().eq_ignore_ascii_case("gzip") && weight.is_none_or(|weight| weight > 0.0)
    })
}

async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, Refusal> {
    if headers.get(header::CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        let problem = "Content-Encoding: the body must be sent as it is".to_owned();
        return Err(Refusal::Problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem));
    }
    match tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, BODY_LIMIT).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(cause)) if cause.is::<LengthLimitError>() => {
            let problem = format!("the body is larger than {BODY_LIMIT} bytes");
            Err(Refusal::Problem(StatusCode::PAYLOAD_TOO_LARGE, problem))
        }
        Ok(Err(_)) => Err(Refusal::malformed("the body broke off")),
        Err(_) => {
            let problem = format!("the body did not arrive within {} seconds", BODY_TIMEOUT.as_secs());
            Err(Refusal::Problem(StatusCode::REQUEST_TIMEOUT, problem))
        }
    }
}
