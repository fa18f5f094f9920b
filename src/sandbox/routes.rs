//! The routes of the service and its two operations: from the headers and body of a request to a response.
//!
//! A request is judged in this order: path and method, token, scope, query string, body.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Extension, FromRef, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use serde::Serialize;
use tokio::task::spawn_blocking;

use super::access::Access;
use super::options::Limits;
use super::replay::Recording;
use super::reply::{Envelope, Refusal, SERVER, json, response};
use super::request::{self, SearchBody};
use super::search::Search;
use super::state::Service;
use super::switches::{BearerCase, DownloadOrder, SCOPE_ITEM, Switches, Unlisted};
use super::tokens::{Grant, bearer_token};
use super::{control, middleware, openapi};
use crate::contract::business_object::PROMOTION_CODE_NAME;
use crate::contract::envelope::CODE_SUCCESS;
use crate::contract::{DOWNLOAD_PATH, SEARCH_PATH};

#[derive(Clone)]
pub(super) struct Shared {
    pub(super) service: Arc<Service>,
    pub(super) access: Arc<Access>,
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

pub(super) struct Call {
    /// Since its head arrived.
    pub(super) switches: Arc<Switches>,
    pub(super) has_query: bool,
    pub(super) headers: HeaderMap,
    /// The body, or why it was not read.
    pub(super) body: Result<Bytes, Refusal>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Downloaded<'a> {
    #[serde(flatten)]
    envelope: Envelope<'a, serde_json::Value>,
    code_message: (),
    duration: String,
}

impl Call {
    fn body(&self) -> Result<&[u8], Refusal> {
        if self.has_query && self.switches.query_string == Unlisted::Refused {
            let problem = "the path: it has a query string; the specification shows none";
            return Err(Refusal::malformed(problem));
        }
        self.body.as_deref().map_err(Refusal::clone)
    }
}

impl Service {
    /// The search (sections 4.1 and 4.2).
    pub(super) fn search(&self, call: &Call) -> Result<Body, Refusal> {
        let (grant, switches) = (self.grant(call)?, &*call.switches);
        let generic_scope = &switches.generic_scope;
        if !grant.allows(SCOPE_ITEM) && !grant.allows(generic_scope) {
            return Err(Refusal::Permission);
        }
        let target: SearchBody = request::read(call.body()?)?;
        if target.is_of_promotion_codes() {
            require(&grant, SCOPE_ITEM)?;
            require_json(&call.headers)?;
        } else {
            require(&grant, generic_scope)?;
        }
        let data = self.data();
        let found = target.object(&data.objects)?;
        let search = Search::new(found, target.query(&found.declared, switches)?, switches);
        Ok(Search::body(search.piece()))
    }

    /// The segment download (section 4.3).
    pub(super) fn download(&self, call: &Call) -> Result<Body, Refusal> {
        let started = Instant::now();
        let (grant, switches) = (self.grant(call)?, &*call.switches);
        let scope = || require(&grant, &switches.download_scope);
        if switches.download_order == DownloadOrder::ScopeFirst {
            scope()?;
        }
        let id = request::export_id(call.body()?)?;
        let now = self.now();
        let known = self.state().exports.at(id, now, switches);
        let unknown = || Refusal::Problem(StatusCode::NOT_FOUND, format!("exportId: there is no export {id}"));
        let data = known.ok_or_else(unknown)?;
        scope()?;
        let envelope = Envelope { code: CODE_SUCCESS, message: "Success", data };
        let duration = format!("{}ms", started.elapsed().as_millis());
        Ok(Body::from(json(&Downloaded { envelope, code_message: (), duration })))
    }

    fn grant(&self, Call { headers, switches, .. }: &Call) -> Result<Grant, Refusal> {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (given.next(), given.next()) else { return Err(Refusal::Permission) };
        let token = value.to_str().ok().and_then(bearer_token);
        let token = token.filter(|(scheme, _)| switches.bearer_case == BearerCase::Any || *scheme == "Bearer");
        let now = self.now();
        token.and_then(|(_, token)| self.state().tokens.grant(token, now)).ok_or(Refusal::Permission)
    }
}

fn require(grant: &Grant, scope: &str) -> Result<(), Refusal> {
    if grant.allows(scope) { Ok(()) } else { Err(Refusal::Permission) }
}

/// `Content-Type` is required for the promotion code variant (section 4.1).
fn require_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = given.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let problem = format!("Content-Type: a search of {PROMOTION_CODE_NAME} needs application/json");
    Err(Refusal::Problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem))
}
