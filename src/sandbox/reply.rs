//! Responses: the envelope (sections 2.1 and 7) with its HTTP status, and refusals.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::switches::{MalformedRequest, Switches};
use crate::contract::SANDBOX_SERVER;
use crate::contract::envelope::{CODE_PERMISSION, STATUS_PERMISSION};

/// `Server` of every response, so that nobody takes it for production.
pub(super) const SERVER: HeaderValue = HeaderValue::from_static(SANDBOX_SERVER);
/// `message` and `data` of a permission failure.
pub(super) const PERMISSION: (&str, &str) = ("Permission denied", "You don't have permission to access this request!");

#[derive(Serialize)]
pub(super) struct Envelope<'a, T> {
    pub(super) code: i64,
    pub(super) message: &'a str,
    pub(super) data: T,
}

pub(super) fn response(status: StatusCode, body: impl Into<Body>) -> Response {
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json")), (header::SERVER, SERVER)];
    let mut response = (status, headers, body.into()).into_response();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

#[derive(Clone, Debug)]
pub(super) enum Refusal {
    /// The token is missing, invalid, expired or without the scope, which look the same to the client (section 5).
    Permission,
    /// Anything else: an HTTP status, which is also the envelope's code, and a message.
    Problem(StatusCode, String),
}

impl Refusal {
    /// The request breaks a rule of the specification.
    pub(super) fn malformed(problem: impl Into<String>) -> Self {
        Self::Problem(StatusCode::BAD_REQUEST, problem.into())
    }

    /// The service failed. The cause is not sent.
    pub(super) fn internal() -> Self {
        Self::Problem(StatusCode::INTERNAL_SERVER_ERROR, "the sandbox failed to respond; this is a bug in it".into())
    }

    pub(super) fn reply(&self, switches: &Switches) -> Response {
        let Self::Problem(status, message) = self else {
            let status = StatusCode::from_u16(STATUS_PERMISSION).unwrap_or(StatusCode::FORBIDDEN);
            let (message, data) = PERMISSION;
            return response(status, json(&Envelope { code: CODE_PERMISSION, message, data }));
        };
        let is_by_code = switches.malformed_request == MalformedRequest::CodeOnly;
        let shown = if is_by_code && *status == StatusCode::BAD_REQUEST { StatusCode::OK } else { *status };
        // Section 2.1 allows no null in `data`; section 7 shows a string with the problem.
        response(shown, json(&Envelope { code: status.as_u16().into(), message, data: message }))
    }
}

pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
