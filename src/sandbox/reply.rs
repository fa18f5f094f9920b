//! Responses: the envelope (sections 2.1 and 7) with its HTTP status, and refusals.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::switches::{MalformedRequest, Switches};
use crate::contract::SANDBOX_SERVER;
use crate::contract::envelope::{CODE_PERMISSION, DATA_PERMISSION, MESSAGE_PERMISSION, STATUS_PERMISSION, field};

/// `Server` of every response, so that nobody takes it for production.
pub(super) const SERVER: HeaderValue = HeaderValue::from_static(SANDBOX_SERVER);

/// A response with a JSON body.
pub(super) fn response(status: StatusCode, body: impl Into<Body>) -> Response {
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json")), (header::SERVER, SERVER)];
    let mut response = (status, headers, body.into()).into_response();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// Why a request is not served.
#[derive(Debug)]
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

    /// The refusal as a response.
    pub(super) fn reply(&self, switches: &Switches) -> Response {
        let Self::Problem(status, problem) = self else {
            let status = StatusCode::from_u16(STATUS_PERMISSION).unwrap_or(StatusCode::FORBIDDEN);
            return response(status, envelope(CODE_PERMISSION, MESSAGE_PERMISSION, json(&DATA_PERMISSION), &[]));
        };
        let is_by_code = switches.malformed_request == MalformedRequest::CodeOnly;
        let shown = if is_by_code && *status == StatusCode::BAD_REQUEST { StatusCode::OK } else { *status };
        // Section 2.1 allows no null in `data`; section 7 shows a string with the problem.
        response(shown, envelope(status.as_u16().into(), problem, json(problem), &[]))
    }
}

/// An envelope with `data` and the members after it.
pub(super) fn envelope(code: i64, message: &str, data: String, after: &[(&str, String)]) -> String {
    let mut members = vec![(field::CODE, json(&code)), (field::MESSAGE, json(&message)), (field::DATA, data)];
    members.extend_from_slice(after);
    object(&members)
}

/// A JSON object of members whose values are JSON already.
pub(super) fn object(members: &[(&str, String)]) -> String {
    let members: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}

/// The beginning of a JSON object up to the value of its last member.
pub(super) fn opened(members: &[(&str, String)], last: &str) -> String {
    let mut opened = object(&[members, &[(last, String::new())]].concat());
    opened.pop();
    opened
}

/// A value as JSON.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
