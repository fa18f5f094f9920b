//! Responses that a fault makes up or changes.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use serde_json::value::RawValue;

use super::faults::FaultKind;
use super::reply::{Refusal, Reply, SERVER, json, object};
use super::switches::Switches;
use crate::contract::envelope::{CODE_PERMISSION, DATA_PERMISSION, MESSAGE_PERMISSION, field};

/// The problem of an envelope that a fault sends.
const REQUESTED: &str = "a fault that was asked for";

/// The response that a fault sends in place of the service; none of a fault that leaves it to the service.
pub(super) fn response(kind: &FaultKind, switches: &Switches) -> Option<Response> {
    match kind {
        FaultKind::Status { status, retry_after, body, content_type, headers } => {
            let mut response = self::status(*status, body.clone(), switches);
            let retry_after = retry_after.map(|seconds| ("retry-after", seconds.to_string()));
            let content_type = content_type.clone().map(|media_type| ("content-type", media_type));
            set(&mut response, retry_after.iter().chain(&content_type).map(|(name, text)| (*name, text.as_str())));
            set(&mut response, headers.iter().map(|(name, text)| (name.as_str(), text.as_str())));
            Some(response)
        }
        FaultKind::Redirect { status, location, headers } => {
            let mut response = (http_status(*status), [(header::SERVER, SERVER)]).into_response();
            set(&mut response, std::iter::once(("location", location.as_str())));
            set(&mut response, headers.iter().map(|(name, text)| (name.as_str(), text.as_str())));
            Some(response)
        }
        FaultKind::Code { code, message } => Some(self::code(*code, message.as_deref())),
        FaultKind::ExpiredToken => Some(Refusal::Permission.reply(switches).into_response()),
        _ => None,
    }
}

/// A response with this status. Without `body` it has an envelope: of 403 the one in section 7.
fn status(status: u16, body: Option<String>, switches: &Switches) -> Response {
    let status = http_status(status);
    let mut response = match body {
        _ if matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) => {
            (status, [(header::SERVER, SERVER)]).into_response()
        }
        Some(text) => (status, [(header::SERVER, SERVER)], text).into_response(),
        None if status == StatusCode::FORBIDDEN => Refusal::Permission.reply(switches).into_response(),
        None => Refusal::Problem(status, REQUESTED.to_owned()).reply(switches).into_response(),
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
    let members = [(field::CODE, json(&code)), (field::MESSAGE, json(&message)), (field::DATA, json(&data))];
    let body = Body::from(object(&members));
    Reply { status: StatusCode::OK, body }.into_response()
}

fn http_status(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Sets headers, which a fault has checked.
fn set<'a>(response: &mut Response, headers: impl Iterator<Item = (&'a str, &'a str)>) {
    for (name, text) in headers {
        if let (Ok(name), Ok(text)) = (HeaderName::try_from(name), HeaderValue::from_str(text)) {
            response.headers_mut().insert(name, text);
        }
    }
}

/// A success with an envelope that a fault rewrites, and whether it did. Other responses stay the same.
pub(super) async fn rewritten(response: Response, kind: &FaultKind) -> (Response, bool) {
    if response.status() != StatusCode::OK {
        return (response, false);
    }
    let (mut head, body) = response.into_parts();
    let Ok(body) = body.collect().await else {
        return (Refusal::internal().reply(&Switches::default()).into_response(), false);
    };
    let body = body.to_bytes();
    let changed = match kind {
        FaultKind::LateCode(code) => with_late_code(&body, *code),
        FaultKind::Shrink { keep } => with_fewer_rows(&body, *keep),
        _ => None,
    };
    let is_changed = changed.is_some();
    head.headers.remove(header::CONTENT_LENGTH);
    (Response::from_parts(head, changed.map_or_else(|| Body::from(body), Body::from)), is_changed)
}

/// The members of a JSON object, with their values as they are written.
type Members<'a> = BTreeMap<&'a str, &'a RawValue>;

/// The envelope with its `code` changed and moved to the end.
fn with_late_code(envelope: &[u8], code: i64) -> Option<String> {
    let mut members: Members<'_> = serde_json::from_slice(envelope).ok()?;
    members.remove(field::CODE)?;
    Some(with_last(&members, field::CODE, code.to_string()))
}

/// The envelope of a search with this share of its rows; none if it lacks none.
fn with_fewer_rows(envelope: &[u8], keep: f64) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_changed_and_last_wherever_it_was() {
        let expected = r#"{"data":{"status":true,"data":[1]},"message":"m","code":301}"#;
        for envelope in [
            r#"{"code":200,"message":"m","data":{"status":true,"data":[1]}}"#,
            r#"{"data":{"status":true,"data":[1]},"message":"m","code":200}"#,
        ] {
            assert_eq!(with_late_code(envelope.as_bytes(), 301).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_shrunk_search_has_its_first_rows_and_is_still_a_success() {
        let envelope = r#"{"code":200,"message":"m","data":{"status":true,"data":[{"a":1.50},2,3,4,5]}}"#;
        let expected = |rows: &str| format!(r#"{{"code":200,"message":"m","data":{{"status":true,"data":[{rows}]}}}}"#);
        assert_eq!(with_fewer_rows(envelope.as_bytes(), 0.25), Some(expected(r#"{"a":1.50}"#)));
        assert_eq!(with_fewer_rows(envelope.as_bytes(), 0.0), Some(expected("")));
        let empty = r#"{"code":200,"message":"m","data":{"status":true,"data":[]}}"#;
        assert_eq!(with_fewer_rows(empty.as_bytes(), 0.25), None);
    }

    #[test]
    fn other_bodies_are_unchanged() {
        for body in ["", "[1]", "{\"message\":\"m\"}", "{\"code\":400,\"data\":\"no\"}"] {
            assert_eq!(with_fewer_rows(body.as_bytes(), 0.25), None);
        }
        for body in ["", "[1]", "{\"message\":\"m\"}"] {
            assert_eq!(with_late_code(body.as_bytes(), 301), None);
        }
    }
}
