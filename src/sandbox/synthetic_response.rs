//! Responses that a fault makes up or changes.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use serde_json::value::RawValue;

use super::reply::{Refusal, SERVER, object};
use super::switches::Switches;
use crate::contract::envelope::field;

/// A response with this status. Without `body` it has an envelope: of 403 the one in section 7.
pub(super) fn status(status: u16, retry_after: Option<u64>, body: Option<String>, switches: &Switches) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = match body {
        _ if matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) => {
            (status, [(header::SERVER, SERVER)]).into_response()
        }
        Some(text) => (status, [(header::SERVER, SERVER)], text).into_response(),
        None if status == StatusCode::FORBIDDEN => Refusal::Permission.reply(switches).into_response(),
        None => Refusal::Problem(status, "a fault that was asked for".to_owned()).reply(switches).into_response(),
    };
    response.headers_mut().remove(header::RETRY_AFTER);
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// A success with its `code` changed and moved to the end, and whether it was changed. Other responses stay the same.
pub(super) async fn late_code(response: Response, code: i64) -> (Response, bool) {
    if response.status() != StatusCode::OK {
        return (response, false);
    }
    let (mut head, body) = response.into_parts();
    let Ok(body) = body.collect().await else {
        return (Refusal::internal().reply(&Switches::default()).into_response(), false);
    };
    let body = body.to_bytes();
    let changed = with_late_code(&body, code);
    let is_changed = changed.is_some();
    head.headers.remove(header::CONTENT_LENGTH);
    (Response::from_parts(head, changed.map_or_else(|| Body::from(body), Body::from)), is_changed)
}

fn with_late_code(envelope: &[u8], code: i64) -> Option<String> {
    let mut members: BTreeMap<&str, &RawValue> = serde_json::from_slice(envelope).ok()?;
    members.remove(field::CODE)?;
    let code = (field::CODE, code.to_string());
    let members: Vec<_> = members.iter().map(|(name, value)| (*name, value.to_string())).chain([code]).collect();
    Some(object(&members))
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
    fn other_bodies_are_unchanged() {
        for body in ["", "[1]", "{\"message\":\"m\"}"] {
            assert_eq!(with_late_code(body.as_bytes(), 301), None);
        }
    }
}
