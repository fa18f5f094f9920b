//! The HTTP surface: which path leads where, and what becomes of a panic.
//!
//! What an operation means is the service's matter, what every request meets the reception's.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::routing::post;

use super::access::Access;
use super::answer::{Answer, Refusal};
use super::limits::Limits;
use super::reception;
use super::service::Service;
use crate::contract::{DOWNLOAD_PATH, SEARCH_PATH};

/// What every route needs.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) service: Arc<Service>,
    pub(super) access: Arc<Access>,
    pub(super) limits: Limits,
}

/// An operation of the service.
type Operation = fn(&Service, &HeaderMap, &[u8]) -> Result<Answer, Refusal>;

/// The routes of the document; everything else is refused with an envelope.
pub(super) fn router(shared: Shared) -> Router {
    Router::new()
        .route(SEARCH_PATH, post(|state, headers, body| run(state, headers, body, Service::search)))
        .route(DOWNLOAD_PATH, post(|state, headers, body| run(state, headers, body, Service::download)))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        // The reception has read the body, with a limit of its own.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(shared.clone(), reception::receive))
        .with_state(shared)
}

async fn not_found(State(shared): State<Shared>) -> Answer {
    let problem = format!("there is no such path; there are {SEARCH_PATH} and {DOWNLOAD_PATH}");
    Refusal::Problem(StatusCode::NOT_FOUND, problem).answer(shared.service.switches.key_order)
}

async fn method_not_allowed(State(shared): State<Shared>) -> Answer {
    let problem = "this path takes POST only".to_owned();
    Refusal::Problem(StatusCode::METHOD_NOT_ALLOWED, problem).answer(shared.service.switches.key_order)
}

/// Runs the operation where it may block.
async fn run(State(shared): State<Shared>, headers: HeaderMap, body: Bytes, operation: Operation) -> Answer {
    let order = shared.service.switches.key_order;
    contained(move || operation(&shared.service, &headers, &body)).await.unwrap_or_else(|refusal| refusal.answer(order))
}

/// Runs work on a thread for searches; a panic ends nothing but the work.
async fn contained(work: impl FnOnce() -> Result<Answer, Refusal> + Send + 'static) -> Result<Answer, Refusal> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_panic| Err(Refusal::internal()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_an_answer_that_tells_nothing_of_it() {
        let refusal = contained(|| panic!("/secret/path: SELECT a0 FROM item_0")).await.err().unwrap();
        let Refusal::Problem(status, text) = refusal else { panic!("no permission failure") };
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert!(!text.contains("secret") && !text.contains("SELECT"), "{text}");
    }
}
