//! What a fault does with a response: instead of it, before it, with its body.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::future::ready;
use futures_util::stream::{once, unfold};
use http_body_util::BodyExt;
use serde_json::value::RawValue;
use tokio::time::{sleep, timeout};

use super::active::ActiveFault;
use super::chance;
use super::kind::FaultKind;
use crate::contract::envelope::{CODE_PERMISSION, DATA_PERMISSION, MESSAGE_PERMISSION, field};
use crate::sandbox::connections::{Connection, Ending};
use crate::sandbox::reply::{Refusal, SERVER, envelope, json, object, response};
use crate::sandbox::switches::Switches;

/// The problem of an envelope that a fault sends.
const REQUESTED: &str = "a fault that was asked for";
/// Time for the client to receive what was sent: a reset discards what is still in flight.
const BEFORE_END: Duration = Duration::from_millis(100);
/// Bytes instead of a response.
const GARBAGE: u64 = 512;

/// The response with the effect of a fault. `service` is not run where the fault sends its own.
pub(in crate::sandbox) async fn respond(
    fault: &Arc<ActiveFault>,
    connection: &Arc<Connection>,
    switches: &Switches,
    service: impl Future<Output = Response>,
) -> Response {
    let kind = &fault.fault.kind;
    if let FaultKind::LateCode { .. }
    | FaultKind::Shrink { .. }
    | FaultKind::Drip { .. }
    | FaultKind::Reset { after_bytes: Some(_) }
    | FaultKind::Cut { after_bytes: Some(_) }
    | FaultKind::Stall { after_bytes: Some(_) } = kind
    {
        return altered(service.await, fault, connection).await;
    }
    let (seed, number) = (fault.fault.choice.seed, fault.record_hit());
    match kind {
        FaultKind::Reset { .. } => connection.end(Ending::Reset).await,
        FaultKind::Cut { .. } => connection.end(Ending::Close(Bytes::new())).await,
        FaultKind::Garbage {} => connection.end(Ending::Close(garbage(seed, number))).await,
        FaultKind::Stall { .. } => fault.ended.cancelled().await,
        FaultKind::Delay { seconds: least, max_seconds } => {
            let most = seconds(max_seconds.unwrap_or(*least));
            // Ending the fault ends the delay.
            drop(timeout(chance::duration(seed, number, seconds(*least), most), fault.ended.cancelled()).await);
        }
        FaultKind::Status { status, retry_after, body, content_type, headers } => {
            let retry_after = retry_after.map(|seconds| seconds.to_string());
            let own = [(header::RETRY_AFTER, retry_after), (header::CONTENT_TYPE, content_type.clone())];
            return with(self::status(*status, body.clone(), switches), own, headers);
        }
        FaultKind::Redirect { status, location, headers } => {
            let response = (http_status(status.unwrap_or(302)), [(header::SERVER, SERVER)]).into_response();
            return with(response, [(header::LOCATION, Some(location.clone()))], headers);
        }
        FaultKind::Code { code, message } => return self::code(*code, message.as_deref()),
        FaultKind::ExpiredToken {} => return Refusal::Permission.reply(switches),
        _ => {}
    }
    service.await
}

/// Seconds; what no duration can hold never ends.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// Bytes that the seed decides, and that do not begin as a response.
fn garbage(seed: u64, number: u64) -> Bytes {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
    let byte = |index: u64| (chance::share(seed, number * GARBAGE + index) * 256.0) as u8;
    [0].into_iter().chain((1..GARBAGE).map(byte)).collect()
}

/// A response with this status. Without `body` it has an envelope: of 403 the one in section 7.
fn status(status: u16, body: Option<String>, switches: &Switches) -> Response {
    let status = http_status(status);
    let is_empty = matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    let mut response = match body {
        None if is_empty => (status, [(header::SERVER, SERVER)]).into_response(),
        None if status == StatusCode::FORBIDDEN => Refusal::Permission.reply(switches),
        None => Refusal::Problem(status, REQUESTED.to_owned()).reply(switches),
        Some(text) => (status, [(header::SERVER, SERVER)], text).into_response(),
    };
    response.headers_mut().remove(header::RETRY_AFTER);
    response
}

/// HTTP 200 with a failure in its envelope. The permission failure has the texts of section 7.
fn code(code: i64, message: Option<&str>) -> Response {
    let (default, data) = match code {
        CODE_PERMISSION => (MESSAGE_PERMISSION, DATA_PERMISSION),
        _ => (REQUESTED, message.unwrap_or(REQUESTED)),
    };
    let message = message.unwrap_or(default);
    response(StatusCode::OK, envelope(code, message, json(&data), &[]))
}

fn http_status(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// The response with headers, which a fault has checked.
fn with<const N: usize>(
    mut response: Response,
    own: [(HeaderName, Option<String>); N],
    others: &HashMap<String, String>,
) -> Response {
    let own = own.into_iter().filter_map(|(name, text)| Some((name, HeaderValue::try_from(text?).ok()?)));
    response.headers_mut().extend(own.collect::<HeaderMap>());
    response.headers_mut().extend(HeaderMap::try_from(others).unwrap_or_default());
    response
}

/// The response with another body, or with one that arrives in part or slowly. One that stays the same is no hit.
async fn altered(response: Response, fault: &Arc<ActiveFault>, connection: &Arc<Connection>) -> Response {
    let (mut head, body) = response.into_parts();
    let body = match body.collect().await {
        Ok(body) => body.to_bytes(),
        // As a recording has it.
        Err(cut_off) => return Response::from_parts(head, Body::from_stream(once(ready(Err::<Bytes, _>(cut_off))))),
    };
    let left = match fault.fault.kind {
        FaultKind::Reset { after_bytes } | FaultKind::Cut { after_bytes } | FaultKind::Stall { after_bytes } => {
            after_bytes
        }
        _ => None,
    };
    let left = left.unwrap_or_default();
    let changed = match &fault.fault.kind {
        FaultKind::LateCode { .. } | FaultKind::Shrink { .. } if head.status != StatusCode::OK => None,
        FaultKind::LateCode { code } => late_code(&body, *code),
        // A quarter is less than the half that a refresh of a folder accepts.
        FaultKind::Shrink { keep } => fewer_rows(&body, keep.unwrap_or(0.25)),
        _ if body.len() > left => {
            head.headers.insert(header::CONTENT_LENGTH, body.len().into());
            return Response::from_parts(head, in_pieces(body, left, Arc::clone(fault), Arc::clone(connection)));
        }
        _ => None,
    };
    let Some(changed) = changed else { return Response::from_parts(head, body.into()) };
    fault.record_hit();
    head.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(head, changed.into())
}

/// A body that the fault slows down, or stops after `left` bytes.
fn in_pieces(body: Bytes, left: usize, fault: Arc<ActiveFault>, connection: Arc<Connection>) -> Body {
    let pieces = unfold((body, 0), move |(mut rest, sent)| {
        let (fault, connection) = (Arc::clone(&fault), Arc::clone(&connection));
        async move {
            // A fault takes effect only if more bytes follow.
            let size = if rest.is_empty() { return None } else { next_size(sent, left, &fault, &connection).await };
            let piece = rest.split_to(size.min(rest.len()));
            let sent = sent + piece.len();
            Some((Ok::<_, Infallible>(piece), (rest, sent)))
        }
    });
    Body::from_stream(pieces)
}

/// Waits until more may be sent, and returns how many bytes.
async fn next_size(sent: usize, left: usize, fault: &ActiveFault, connection: &Connection) -> usize {
    match &fault.fault.kind {
        FaultKind::Drip { .. } | FaultKind::Stall { .. } if fault.ended.is_cancelled() => return usize::MAX,
        FaultKind::Drip { chunk_bytes, seconds } => {
            if sent == 0 {
                fault.record_hit();
            } else {
                // Ending the fault ends the pause.
                let _ = timeout(self::seconds(*seconds), fault.ended.cancelled()).await;
            }
            return chunk_bytes.get();
        }
        _ if sent < left => return left - sent,
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
    usize::MAX
}

/// The members of a JSON object, with their values as they are written.
type Members<'a> = BTreeMap<&'a str, &'a RawValue>;

/// The envelope with its `code` changed and moved to the end.
fn late_code(envelope: &[u8], code: i64) -> Option<String> {
    let mut members: Members<'_> = serde_json::from_slice(envelope).ok()?;
    members.remove(field::CODE)?;
    Some(with_last(&members, field::CODE, code.to_string()))
}

/// The envelope of a search with this share of its rows; none if it lacks none.
fn fewer_rows(envelope: &[u8], keep: f64) -> Option<String> {
    let mut members: Members<'_> = serde_json::from_slice(envelope).ok()?;
    let mut data: Members<'_> = serde_json::from_str(members.remove(field::DATA)?.get()).ok()?;
    let rows: Vec<&RawValue> = serde_json::from_str(data.remove(field::RECORDS)?.get()).ok()?;
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
    let kept = rows.get(..(rows.len() as f64 * keep) as usize).filter(|kept| kept.len() < rows.len())?;
    let kept: Vec<&str> = kept.iter().map(|row| row.get()).collect();
    let data = with_last(&data, field::RECORDS, format!("[{}]", kept.join(",")));
    Some(with_last(&members, field::DATA, data))
}

/// An object of these members and one more.
fn with_last(members: &Members<'_>, name: &str, value: String) -> String {
    let members = members.iter().map(|(name, value)| (*name, value.to_string()));
    object(&members.chain([(name, value)]).collect::<Vec<_>>())
}
