//! Responses: the envelope (sections 2.1 and 7) with its HTTP status, and refusals.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use serde::Serialize;

use super::switches::{MalformedRequest, Switches};
use crate::contract::SANDBOX_SERVER;
use crate::contract::envelope::{
    CODE_PERMISSION, CODE_SUCCESS, DATA_PERMISSION, MESSAGE_PERMISSION, STATUS_PERMISSION, field,
};

/// `Server` of every response, so that nobody takes it for production.
pub(super) const SERVER: HeaderValue = HeaderValue::from_static(SANDBOX_SERVER);

/// A response, ready to be sent.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) body: Body,
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response<Body> {
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::SERVER, SERVER);
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
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
    pub(super) fn reply(&self, switches: &Switches) -> Reply {
        let (status, envelope) = self.envelope(switches);
        Reply { status, body: Body::from(envelope) }
    }

    /// The refusal as a status and an envelope.
    pub(super) fn envelope(&self, switches: &Switches) -> (StatusCode, String) {
        let (status, code, message, data) = match self {
            Self::Permission => {
                let status = StatusCode::from_u16(STATUS_PERMISSION).unwrap_or(StatusCode::FORBIDDEN);
                (status, CODE_PERMISSION, MESSAGE_PERMISSION, json(&DATA_PERMISSION))
            }
            Self::Problem(status, message) => {
                let code = i64::from(status.as_u16());
                let by_code = switches.malformed_request == MalformedRequest::CodeOnly;
                let status = if by_code && *status == StatusCode::BAD_REQUEST { StatusCode::OK } else { *status };
                // Section 2.1 allows no null here; section 7 shows a string with the problem.
                (status, code, message.as_str(), json(&message))
            }
        };
        let members = [(field::CODE, json(&code)), (field::MESSAGE, json(&message)), (field::DATA, data)];
        (status, object(&members))
    }
}

/// The envelope of a success with `data` and the members after it.
pub(super) fn success(message: &str, data: String, after: &[(&str, String)]) -> String {
    let mut members = vec![(field::CODE, json(&CODE_SUCCESS)), (field::MESSAGE, json(&message)), (field::DATA, data)];
    members.extend_from_slice(after);
    object(&members)
}

/// A JSON object of members whose values are JSON already.
pub(super) fn object(members: &[(&str, String)]) -> String {
    format!("{{{}}}", joined(members))
}

/// The beginning of a JSON object up to the value of its last member.
pub(super) fn opened(members: &[(&str, String)], last: &str) -> String {
    format!("{{{},\"{last}\":", joined(members))
}

fn joined(members: &[(&str, String)]) -> String {
    members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect::<Vec<_>>().join(",")
}

/// A value as JSON.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
