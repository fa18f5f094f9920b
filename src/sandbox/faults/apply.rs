//! What a fault does with a response: instead of it, before it, with its body.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::TryStreamExt;
use futures_util::stream::try_unfold;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::{sleep, timeout};

use super::ActiveFault;
use super::kind::{FaultKind, Headers, Text, has_no_body};
use crate::contract::envelope::{CODE_PERMISSION, field};
use crate::sandbox::chance;
use crate::sandbox::replay::cut_off;
use crate::sandbox::reply::{Envelope, PERMISSION, Refusal, SERVER, json, response};
use crate::sandbox::server::{Connection, Ending};
use crate::sandbox::switches::Switches;

/// The problem of an envelope that a fault sends.
const REQUESTED: &str = "a fault that was asked for";
/// Time for the client to receive what was sent: a reset discards what is still in flight.
const BEFORE_END: Duration = Duration::from_millis(100);
const GARBAGE: u64 = 512;

/// The response with the effect of a fault. `service` is not run where the fault sends its own.
pub(in crate::sandbox) async fn respond(
    fault: &Arc<ActiveFault>,
    connection: &Arc<Connection>,
    switches: &Switches,
    service: impl Future<Output = Response>,
) -> Response {
    let kind = &fault.fault.kind;
    match kind {
        FaultKind::LateCode { .. } | FaultKind::Shrink { .. } => return rewritten(service.await, fault).await,
        FaultKind::Reset { after_bytes: Some(left) }
        | FaultKind::Cut { after_bytes: Some(left) }
        | FaultKind::Stall { after_bytes: Some(left) } => {
            return in_pieces(service.await, Some(left.0), Arc::clone(fault), Arc::clone(connection));
        }
        FaultKind::Drip { .. } => {
            return in_pieces(service.await, None, Arc::clone(fault), Arc::clone(connection));
        }
        _ => {}
    }
    let (seed, number) = (fault.fault.choice.seed.0, fault.record_hit());
    match kind {
        FaultKind::Reset { .. } => connection.end(Ending::Reset).await,
        FaultKind::Cut { .. } => connection.end(Ending::Close(Bytes::new())).await,
        FaultKind::Garbage {} => connection.end(Ending::Close(garbage(seed, number))).await,
        FaultKind::Stall { .. } => fault.ended.cancelled().await,
        FaultKind::Delay { seconds, max_seconds } => {
            let range = max_seconds.unwrap_or(*seconds).0.saturating_sub(seconds.0).as_secs_f64();
            let more = Duration::try_from_secs_f64(range * chance::share(seed, number)).unwrap_or(Duration::MAX);
            // Ending the fault ends the delay.
            drop(timeout(seconds.0.saturating_add(more), fault.ended.cancelled()).await);
        }
        FaultKind::Status { status, retry_after, body, content_type, headers } => {
            let retry_after = retry_after.as_ref().map(|seconds| seconds.0.into());
            let content_type = content_type.as_ref().map(|text| text.0.clone());
            let own = [(header::RETRY_AFTER, retry_after), (header::CONTENT_TYPE, content_type)];
            return with(self::status(status.0, body.as_ref(), switches), own, headers.as_ref());
        }
        FaultKind::Redirect { status, location, headers } => {
            let status = status.as_ref().map_or(StatusCode::FOUND, |status| status.0);
            let response = (status, [(header::SERVER, SERVER)]).into_response();
            return with(response, [(header::LOCATION, Some(location.0.clone()))], headers.as_ref());
        }
        FaultKind::Code { code, message } => return self::code(code.0, message.as_ref()),
        FaultKind::ExpiredToken {} => return Refusal::Permission.reply(switches),
        _ => {}
    }
    service.await
}

/// Bytes that the seed decides, and that do not begin as a response.
fn garbage(seed: u64, number: u64) -> Bytes {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
    let byte = |index: u64| (chance::share(seed, number * GARBAGE + index) * 256.0) as u8;
    [0].into_iter().chain((1..GARBAGE).map(byte)).collect()
}

/// A response with this status. Without `body` it has an envelope: of 403 the one in section 7.
fn status(status: StatusCode, body: Option<&Text>, switches: &Switches) -> Response {
    let mut response = match body {
        None if has_no_body(status) => (status, [(header::SERVER, SERVER)]).into_response(),
        None if status == StatusCode::FORBIDDEN => Refusal::Permission.reply(switches),
        None => Refusal::Problem(status, REQUESTED.to_owned()).reply(switches),
        Some(text) => (status, [(header::SERVER, SERVER)], text.0.clone()).into_response(),
    };
    response.headers_mut().remove(header::RETRY_AFTER);
    response
}

/// HTTP 200 with a failure in its envelope. The permission failure has the texts of section 7.
fn code(code: i64, message: Option<&Text>) -> Response {
    let message = message.map(|text| text.0.as_str());
    let (default, data) = match code {
        CODE_PERMISSION => PERMISSION,
        _ => (REQUESTED, message.unwrap_or(REQUESTED)),
    };
    response(StatusCode::OK, json(&Envelope { code, message: message.unwrap_or(default), data }))
}

/// The response with headers, each of which replaces one of the same name.
fn with<const N: usize>(
    mut response: Response,
    own: [(HeaderName, Option<HeaderValue>); N],
    others: Option<&Headers>,
) -> Response {
    for (name, value) in own {
        if let Some(value) = value {
            response.headers_mut().insert(name, value);
        }
    }
    response.headers_mut().extend(others.map(|others| others.0.clone()).unwrap_or_default());
    response
}

/// The response with a body that the fault slows down, or stops after `left` bytes.
fn in_pieces(response: Response, left: Option<u64>, fault: Arc<ActiveFault>, connection: Arc<Connection>) -> Response {
    let (mut head, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact() {
        head.headers.insert(header::CONTENT_LENGTH, length.into());
    }
    let start = (body.into_data_stream(), Bytes::new(), 0);
    let pieces = try_unfold(start, move |(mut body, mut rest, sent)| {
        let (fault, connection) = (Arc::clone(&fault), Arc::clone(&connection));
        async move {
            // A fault takes effect only if more bytes follow.
            while rest.is_empty() {
                let Some(more) = body.try_next().await? else { return Ok(None) };
                rest = more;
            }
            let size = next_size(sent, left, &fault, &connection).await;
            let piece = rest.split_to(usize::try_from(size).map_or(rest.len(), |size| size.min(rest.len())));
            let sent = sent + piece.len() as u64;
            Ok::<_, axum::Error>(Some((piece, (body, rest, sent))))
        }
    });
    Response::from_parts(head, Body::from_stream(pieces))
}

/// Waits until more may be sent, and returns how many bytes.
async fn next_size(sent: u64, left: Option<u64>, fault: &ActiveFault, connection: &Connection) -> u64 {
    let left = left.unwrap_or_default().checked_sub(sent).filter(|left| *left > 0);
    match (&fault.fault.kind, left) {
        (FaultKind::Drip { .. } | FaultKind::Stall { .. }, _) if fault.ended.is_cancelled() => return u64::MAX,
        (FaultKind::Drip { chunk_bytes, seconds }, _) => {
            if sent == 0 {
                fault.record_hit();
            } else {
                // Ending the fault ends the pause.
                let _ = timeout(seconds.0, fault.ended.cancelled()).await;
            }
            return chunk_bytes.0;
        }
        (_, Some(left)) => return left,
        _ => {}
    }
    fault.record_hit();
    if let FaultKind::Stall { .. } = fault.fault.kind {
        fault.ended.cancelled().await;
    } else {
        sleep(BEFORE_END).await;
        let is_reset = matches!(fault.fault.kind, FaultKind::Reset { .. });
        connection.end(if is_reset { Ending::Reset } else { Ending::Close(Bytes::new()) }).await;
    }
    u64::MAX
}

/// The response with another body, if it is a success. One that stays the same is no hit.
async fn rewritten(response: Response, fault: &ActiveFault) -> Response {
    let (mut head, body) = response.into_parts();
    if head.status != StatusCode::OK {
        return Response::from_parts(head, body);
    }
    let (mut body, mut arrived) = (body.into_data_stream(), Vec::new());
    loop {
        match body.try_next().await {
            Ok(Some(piece)) => arrived.extend_from_slice(&piece),
            Ok(None) => break,
            // As a recording has it.
            Err(failure) => return Response::from_parts(head, cut_off(arrived.into(), io::Error::other(failure))),
        }
    }
    let changed = match &fault.fault.kind {
        FaultKind::LateCode { code } => late_code(&arrived, code.0),
        // A quarter is less than the half that a refresh of a folder accepts.
        FaultKind::Shrink { keep } => fewer_rows(&arrived, keep.as_ref().map_or(0.25, |keep| keep.0)),
        _ => None,
    };
    let Some(changed) = changed else { return Response::from_parts(head, arrived.into()) };
    fault.record_hit();
    head.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(head, changed.into())
}

/// The members of a JSON object, with their values as they are written.
type Members<'a> = BTreeMap<&'a str, &'a RawValue>;

#[derive(Serialize)]
struct WithCode<'a> {
    #[serde(flatten)]
    members: Members<'a>,
    code: i64,
}

/// The envelope with its `code` changed and moved to the end.
fn late_code(envelope: &[u8], code: i64) -> Option<String> {
    let mut members: Members<'_> = serde_json::from_slice(envelope).ok()?;
    members.remove(field::CODE)?;
    Some(json(&WithCode { members, code }))
}

/// The envelope of a search with this share of its rows; none if it lacks none.
fn fewer_rows(envelope: &[u8], keep: f64) -> Option<String> {
    let mut members: Members<'_> = serde_json::from_slice(envelope).ok()?;
    let mut data: Members<'_> = serde_json::from_str(members.get(field::DATA)?.get()).ok()?;
    let rows: Vec<&RawValue> = serde_json::from_str(data.get(field::RECORDS)?.get()).ok()?;
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
    let kept = rows.get(..(rows.len() as f64 * keep) as usize).filter(|kept| kept.len() < rows.len())?;
    let rows = to_raw_value(kept).ok()?;
    data.insert(field::RECORDS, &rows);
    let data = to_raw_value(&data).ok()?;
    members.insert(field::DATA, &data);
    Some(json(&members))
}
