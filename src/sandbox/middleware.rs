//! Runs around every request: host check, request log, limits and faults.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::body::{Body, HttpBody};
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Frame;
use jiff::Timestamp;
use tokio::time::{sleep, timeout};

use super::control;
use super::faults;
use super::reply::Refusal;
use super::request_log::Entry;
use super::routes::Shared;
use super::server::Connection;
use super::switches::Switches;

/// Most bytes of a body; the rest is not read.
pub(super) const BODY_LIMIT: usize = 4 * 1024 * 1024;

/// Passes a request to its route and returns the response.
pub(super) async fn receive(
    State(shared): State<Shared>,
    Extension(connection): Extension<Arc<Connection>>,
    request: Request,
    next: Next,
) -> Response {
    let switches = shared.service.switches();
    let (mut head, body) = request.into_parts();
    head.extensions.insert(Arc::clone(&switches));
    let checked = shared.access.check_request(&head, connection.local);
    let response = if control::is_control(head.uri.path()) {
        control::respond(&shared, checked, head, body, next).await
    } else if let Err(refusal) = checked {
        // Not logged: foreign pages could push the requests of a test out of the log.
        let mut response = refusal.reply(&switches);
        close_after(&shared, &mut response, body);
        response
    } else {
        let entry = shared.service.log.open(SystemTime::now(), &head);
        let response = serve(&shared, &switches, &connection, &entry, head, body, next).await;
        entry.update(|request| request.status = Some(response.status().as_u16()));
        response.map(|body| {
            let logged = move |frame: &Frame<Bytes>| entry.add_sent(frame.data_ref().map_or(&[], Bytes::as_ref));
            Body::new(body.inspect_frame(logged))
        })
    };
    let mut response = response.map(|body| Body::new(body.inspect_frame(move |_| connection.progress.notify_one())));
    // The service has the clock of the sandbox. Beyond the calendar a time cannot be written.
    let now = shared.service.now();
    if Timestamp::try_from(now).is_ok()
        && let Ok(date) = HeaderValue::from_str(&httpdate::fmt_http_date(now))
    {
        response.headers_mut().entry(header::DATE).or_insert(date);
    }
    response
}

/// The response to a request that passed the host check.
async fn serve(
    shared: &Shared,
    switches: &Switches,
    connection: &Arc<Connection>,
    entry: &Entry,
    mut head: Parts,
    mut body: Body,
    next: Next,
) -> Response {
    let body = match read_body(&head.headers, &mut body, BODY_LIMIT, shared.limits.body).await {
        Ok(body) => body,
        Err(refusal) => {
            // The path, the method and the token are judged first.
            head.extensions.insert(refusal);
            let mut response = next.run(Request::from_parts(head, Body::empty())).await;
            close_after(shared, &mut response, body);
            return response;
        }
    };
    // A copy: a slice would keep the whole read buffer alive.
    entry.update(|request| request.body = Some(Bytes::copy_from_slice(&body)));
    // A copy of the faults: a large body takes a while to parse.
    let faults = shared.service.state().faults.clone();
    let fault = faults.next_match(&head, &body, switches);
    let request = Request::from_parts(head, body.into());
    let response = async {
        // Configured latency does not count towards the time limit.
        sleep(switches.latency).await;
        timeout(shared.limits.response, next.run(request)).await.unwrap_or_else(|_| {
            let problem =
                format!("the sandbox sent no response within {} seconds", shared.limits.response.as_secs_f64());
            Refusal::Problem(StatusCode::SERVICE_UNAVAILABLE, problem).reply(switches)
        })
    };
    let Some(fault) = fault else { return response.await };
    entry.update(|request| request.fault = Some(fault.id));
    faults::respond(&fault, connection, switches, response).await
}

/// Reads a body of at most `limit` bytes within a time limit.
pub(super) async fn read_body(
    headers: &HeaderMap,
    body: &mut Body,
    limit: usize,
    within: Duration,
) -> Result<Bytes, Refusal> {
    if headers.get(header::CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        let problem = "Content-Encoding: the body must be sent as it is".to_owned();
        return Err(Refusal::Problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem));
    }
    let too_large = || {
        let problem = format!("the body is larger than {limit} bytes");
        Refusal::Problem(StatusCode::PAYLOAD_TOO_LARGE, problem)
    };
    // A `Content-Length` that is too large is rejected at once; a body without one is counted.
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    match timeout(within, Limited::new(body, limit).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(cause)) if cause.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Refusal::malformed("the body was cut off")),
        Err(_) => {
            let problem = format!("the body did not arrive within {} seconds", within.as_secs_f64());
            Err(Refusal::Problem(StatusCode::REQUEST_TIMEOUT, problem))
        }
    }
}

/// Closes the connection after a response to a request that was not read to its end.
pub(super) fn close_after(shared: &Shared, response: &mut Response, mut rest: Body) {
    // Unread bytes reset the connection, and a client that is still sending would lose the response.
    let drained = async move { while let Some(Ok(_)) = rest.frame().await {} };
    tokio::spawn(timeout(shared.limits.head, drained));
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
}
