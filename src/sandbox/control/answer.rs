//! Answers of control routes: JSON with an HTTP status. An error has a kind, a message and a hint.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::error::{Error, Kind, sanitize};

/// An answer to a call.
#[derive(Debug)]
pub(in crate::sandbox) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Value,
    /// The methods of the route, if the call has another.
    pub(super) allow: Option<String>,
}

impl Answer {
    /// A success.
    pub(super) const fn ok(body: Value) -> Self {
        Self { status: StatusCode::OK, body, allow: None }
    }

    /// A success that made something.
    pub(super) const fn created(body: Value) -> Self {
        Self { status: StatusCode::CREATED, body, allow: None }
    }

    /// Whether the call succeeded.
    pub(super) fn is_ok(&self) -> bool {
        self.status.is_success()
    }

    /// The body as JSON text.
    pub(super) fn text(&self) -> String {
        self.body.to_string()
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        let Failure { status, kind, message, hint, allow } = failure;
        let body = json!({"error": {"kind": kind.class_name(), "message": message, "hint": hint}});
        Self { status, body, allow }
    }
}

/// Why a call is refused.
#[derive(Debug)]
pub(super) struct Failure {
    status: StatusCode,
    kind: Kind,
    message: String,
    hint: Option<String>,
    allow: Option<String>,
}

impl Failure {
    pub(super) fn new(status: StatusCode, kind: Kind, message: impl Into<String>) -> Self {
        let message = sanitize(&message.into());
        Self { status, kind, message, hint: None, allow: None }
    }

    /// The route takes other methods.
    pub(super) fn not_allowed(methods: &[&str]) -> Self {
        let allowed = methods.join(", ");
        let problem = format!("the route takes {allowed}");
        let failure = Self::new(StatusCode::METHOD_NOT_ALLOWED, Kind::Config, problem);
        Self { allow: Some(allowed), ..failure }
    }

    /// The call itself is wrong.
    pub(super) fn malformed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Kind::Config, message)
    }

    /// What the path names does not exist.
    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, Kind::Sandbox, message)
    }

    /// An error about what the body has.
    pub(super) fn of_body(error: &Error) -> Self {
        Self::of(StatusCode::BAD_REQUEST, error)
    }

    pub(super) fn of(status: StatusCode, error: &Error) -> Self {
        let kind = if error.kind() == Kind::Config { Kind::Config } else { Kind::Sandbox };
        let hint = error.hint().map(ToOwned::to_owned);
        Self { status, kind, message: error.message().to_owned(), hint, allow: None }
    }

    #[must_use]
    pub(super) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    #[cfg(test)]
    pub(super) fn status(&self) -> u16 {
        self.status.as_u16()
    }
}

impl From<Error> for Failure {
    /// An invalid argument, else a contradiction to the state of the sandbox.
    fn from(error: Error) -> Self {
        Self::of(if error.kind() == Kind::Config { StatusCode::BAD_REQUEST } else { StatusCode::CONFLICT }, &error)
    }
}
