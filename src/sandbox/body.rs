//! Reads the body of a request, with limits on its size and time.

use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, StatusCode, header};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::reply::Refusal;

/// Most bytes of a body; the rest is not read.
pub(super) const BODY_LIMIT: usize = 4 * 1024 * 1024;

/// Reads a body within a time limit.
pub(super) async fn read(headers: &HeaderMap, body: Body, within: Duration) -> Result<Bytes, Refusal> {
    if headers.get(header::CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        let problem = "Content-Encoding: the body must be sent as it is".to_owned();
        return Err(Refusal::Problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem));
    }
    let too_large = || {
        let problem = format!("the body is larger than {BODY_LIMIT} bytes");
        Refusal::Problem(StatusCode::PAYLOAD_TOO_LARGE, problem)
    };
    // A `Content-Length` that is too large is rejected at once; a body without one is counted.
    if body.size_hint().lower() > BODY_LIMIT as u64 {
        return Err(too_large());
    }
    match tokio::time::timeout(within, Limited::new(body, BODY_LIMIT).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(cause)) if cause.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Refusal::malformed("the body was cut off")),
        Err(_) => {
            let problem = format!("the body did not arrive within {} seconds", within.as_secs_f64());
            Err(Refusal::Problem(StatusCode::REQUEST_TIMEOUT, problem))
        }
    }
}
