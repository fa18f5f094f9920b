//! What every request meets on its way in and its answer on the way out: guard, log, limits, faults.
//!
//! It leads a request to its route and back; what an operation means is the service's matter.

use std::sync::Arc;
use std::time::SystemTime;

use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderValue, StatusCode, header, request::Parts};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::connection_state::{ConnectionState, Ending};
use super::fault_body::{Mishap, Outgoing};
use super::faults::{FaultKind, InForce};
use super::reply::Refusal;
use super::request_log::Entry;
use super::routes::Shared;
use super::{body, guard, synthetic_response};

/// Receives a request and sends its answer.
pub(super) async fn receive(
    State(shared): State<Shared>,
    Extension(line): Extension<Arc<ConnectionState>>,
    request: Request,
    next: Next,
) -> Response {
    line.has_head();
    let (head, body) = request.into_parts();
    let (answer, mishap) = if let Err(refusal) = guard::check(&head, &shared.access, line.local) {
        // Nothing of it is written down: strangers could push what a test asks for out of the log.
        (refused(&shared, &refusal), None)
    } else {
        let entry = shared.service.log.open(SystemTime::now(), &head);
        let (answer, mishap) = serve(&shared, &line, &entry, head, body, next).await;
        entry.has_status(answer.status().as_u16());
        (answer, mishap)
    };
    answer.map(|body| Body::new(Outgoing::new(body, line, mishap)))
}

/// The answer to a request that the guard has let in.
async fn serve(
    shared: &Shared,
    line: &ConnectionState,
    entry: &Entry,
    mut head: Parts,
    body: Body,
    next: Next,
) -> (Response, Option<Mishap>) {
    let body = match body::read(&head.headers, body, shared.limits.body).await {
        Ok(body) => body,
        Err(refusal) => return (refused(shared, &refusal), None),
    };
    entry.has_body(&body);
    line.has_request();
    let fault = shared.service.faults.meet(head.uri.path());
    if fault.as_ref().is_some_and(|fault| matches!(fault.fault.kind, FaultKind::LateCode(_))) {
        // Its envelope is rewritten, so it has to be readable.
        head.headers.remove(header::ACCEPT_ENCODING);
    }
    let request = Request::from_parts(head, body.into());
    (answer(shared, line, fault.as_deref(), next.run(request)).await, fault.and_then(mishap))
}

/// The answer to a request that was not read to its end.
fn refused(shared: &Shared, refusal: &Refusal) -> Response {
    let mut answer = refusal.answer(&shared.service.switches).into_response();
    // What was not read of the request looks like the next one.
    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// The answer of the service, in time, or what a fault makes of it before its first byte.
async fn answer(
    shared: &Shared,
    line: &ConnectionState,
    fault: Option<&InForce>,
    service: impl Future<Output = Response>,
) -> Response {
    if let Some(fault) = fault.filter(|fault| fault.fault.kind.is_before_the_answer()) {
        fault.has_changed_one();
    }
    match fault.map(|fault| (&fault.fault.kind, fault.ended())) {
        Some((FaultKind::Reset { after_bytes: None }, _)) => never(line, Ending::Reset).await,
        Some((FaultKind::Cut { after_bytes: None }, _)) => never(line, Ending::Close).await,
        Some((FaultKind::Stall { after_bytes: None }, ended)) => ended.cancelled().await,
        // A fault that ends early holds nothing up any longer.
        Some((FaultKind::Delay(delay), ended)) => drop(tokio::time::timeout(*delay, ended.cancelled()).await),
        Some((FaultKind::Status { status, retry_after, body }, _)) => {
            return synthetic_response::status(*status, *retry_after, body.clone(), &shared.service.switches);
        }
        _ => {}
    }
    // It was asked for, so it does not count as time that the service needs.
    tokio::time::sleep(shared.service.switches.latency).await;
    let answer = tokio::time::timeout(shared.limits.answer, service).await.unwrap_or_else(|_| {
        let problem = format!("the sandbox did not answer within {} seconds", shared.limits.answer.as_secs_f64());
        let refusal = Refusal::Problem(StatusCode::SERVICE_UNAVAILABLE, problem);
        refusal.answer(&shared.service.switches).into_response()
    });
    let Some((fault, FaultKind::LateCode(code))) = fault.map(|fault| (fault, &fault.fault.kind)) else { return answer };
    let (answer, is_changed) = synthetic_response::late_code(answer, *code).await;
    if is_changed {
        fault.has_changed_one();
    }
    answer
}

/// Ends the connection instead of answering.
async fn never(line: &ConnectionState, ending: Ending) {
    line.end(ending);
    std::future::pending::<()>().await;
}

/// What happens to the body of an answer.
fn mishap(fault: Arc<InForce>) -> Option<Mishap> {
    match fault.fault.kind {
        FaultKind::Reset { after_bytes: Some(bytes) } => Some(Mishap::end(bytes, Ending::Reset, fault)),
        FaultKind::Cut { after_bytes: Some(bytes) } => Some(Mishap::end(bytes, Ending::Close, fault)),
        FaultKind::Stall { after_bytes: Some(bytes) } => Some(Mishap::stall(bytes, fault)),
        FaultKind::Drip { chunk_bytes, pause } => Some(Mishap::drip(chunk_bytes, pause, fault)),
        _ => None,
    }
}
