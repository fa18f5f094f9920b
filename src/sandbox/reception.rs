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
use bytes::Bytes;

use super::answer::Refusal;
use super::faults::{FaultKind, InForce};
use super::line::{Ending, Line};
use super::outgoing::{Mishap, Outgoing};
use super::received::Entry;
use super::routes::Shared;
use super::{body, guard, made_up};

/// Receives a request and sends its answer.
pub(super) async fn receive(
    State(shared): State<Shared>,
    Extension(line): Extension<Arc<Line>>,
    request: Request,
    next: Next,
) -> Response {
    line.has_head();
    let (mut head, body) = request.into_parts();
    let entry = shared.service.log.open(SystemTime::now(), &head);
    let (answer, fault) = match admit(&shared, &line, &entry, &head, body).await {
        Err(refusal) => {
            let mut answer = refusal.answer(&shared.service.switches).into_response();
            // What was not read of the request cannot be told from a next one.
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            (answer, None)
        }
        Ok(body) => {
            let fault = shared.service.faults.meet(head.uri.path());
            if fault.as_ref().is_some_and(|fault| matches!(fault.fault.kind, FaultKind::LateCode(_))) {
                // Its envelope is rewritten, so it has to be readable.
                head.headers.remove(header::ACCEPT_ENCODING);
            }
            let request = Request::from_parts(head, body.into());
            (answer(&shared, &line, fault.as_deref(), next.run(request)).await, fault)
        }
    };
    entry.has_status(answer.status().as_u16());
    let mishap = fault.and_then(|fault| mishap(&fault));
    answer.map(|body| Body::new(Outgoing::new(body, line, mishap)))
}

/// The body of a request that may be answered.
async fn admit(shared: &Shared, line: &Line, entry: &Entry, head: &Parts, body: Body) -> Result<Bytes, Refusal> {
    guard::check(head, &shared.access, line.local)?;
    let body = body::read(&head.headers, body, shared.limits.body).await?;
    entry.has_body(body.clone());
    line.has_request();
    Ok(body)
}

/// The answer of the service, in time, or what a fault makes of it before its first byte.
async fn answer(
    shared: &Shared,
    line: &Line,
    fault: Option<&InForce>,
    service: impl Future<Output = Response>,
) -> Response {
    match fault.map(|fault| (&fault.fault.kind, fault.ended())) {
        Some((FaultKind::Reset { after_bytes: None }, _)) => never(line, Ending::Reset).await,
        Some((FaultKind::Cut { after_bytes: None }, _)) => never(line, Ending::Close).await,
        Some((FaultKind::Stall { after_bytes: None }, ended)) => ended.cancelled().await,
        // A fault that ends early holds nothing up any longer.
        Some((FaultKind::Delay(delay), ended)) => drop(tokio::time::timeout(*delay, ended.cancelled()).await),
        Some((FaultKind::Status { status, retry_after, body }, _)) => {
            return made_up::status(*status, *retry_after, body.clone(), &shared.service.switches);
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
    match fault.map(|fault| &fault.fault.kind) {
        Some(FaultKind::LateCode(code)) => made_up::late_code(answer, *code).await,
        _ => answer,
    }
}

/// Ends the connection instead of answering.
async fn never(line: &Line, ending: Ending) {
    line.end(ending);
    std::future::pending::<()>().await;
}

/// What happens to the body of an answer.
fn mishap(fault: &InForce) -> Option<Mishap> {
    match fault.fault.kind {
        FaultKind::Reset { after_bytes: Some(bytes) } => Some(Mishap::end(bytes, Ending::Reset, fault.ended())),
        FaultKind::Cut { after_bytes: Some(bytes) } => Some(Mishap::end(bytes, Ending::Close, fault.ended())),
        FaultKind::Stall { after_bytes: Some(bytes) } => Some(Mishap::stall(bytes, fault.ended())),
        FaultKind::Drip { chunk_bytes, pause } => Some(Mishap::drip(chunk_bytes, pause, fault.ended())),
        _ => None,
    }
}
