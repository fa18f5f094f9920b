//! Why a store did not do what was asked, without a credential.

use std::error::Error as _;

use object_store::client::{HttpError, HttpErrorKind};

use super::Bucket;
use crate::error::{Error, Kind, excerpt};

/// Characters of a store's message that an error shows.
const SHOWN: usize = 200;
/// What replaces a credential. Shorter values are names or switches.
const REDACTED: &str = "<redacted>";
const MIN_SECRET: usize = 4;
/// What S3 says in a response that has another status, or none.
const TRANSIENT: [&str; 4] = ["InternalError", "SlowDown", "ServiceUnavailable", "RequestTimeout"];

/// A failure of a request to a store.
#[derive(Clone, Debug)]
pub struct Failure {
    reason: Reason,
    message: String,
    hint: Option<&'static str>,
    /// Whether the same request may succeed later.
    is_transient: bool,
    /// Whether no response came in time.
    is_timeout: bool,
}

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The bucket or the object does not exist.
    Missing,
    /// The credentials are refused.
    Refused,
    /// The credentials are accepted, and do not allow it.
    Forbidden,
    /// The object exists already.
    Exists,
    /// The object is not of the expected version.
    Changed,
    /// The store cannot do it at all.
    Unsupported,
    /// No connection, or no response in time.
    Unreachable,
    /// Anything else.
    Other,
}

impl Failure {
    pub(super) fn of(cause: &object_store::Error, bucket: &Bucket) -> Self {
        let text = cause.to_string();
        let code = between(&text, "<Code>", "</Code>");
        let transport = transport(cause);
        let reason = match (reason(cause, &text, transport), code) {
            // S3 has one status for both.
            (Reason::Refused, Some("AccessDenied" | "AllAccessDisabled" | "AuthorizationPermissionMismatch")) => {
                Reason::Forbidden
            }
            (reason, _) => reason,
        };
        let said = match (code, between(&text, "<Message>", "</Message>")) {
            (Some(code), Some(message)) => Some(format!("{code}: {message}")),
            (code, message) => code.or(message).map(ToOwned::to_owned),
        };
        let what = match reason {
            Reason::Missing if code == Some("NoSuchBucket") => "the bucket does not exist",
            Reason::Missing => "it does not exist",
            Reason::Refused => "the credentials were refused",
            Reason::Forbidden => "the credentials do not allow it",
            Reason::Exists => "it exists already",
            Reason::Changed => "it was changed meanwhile",
            Reason::Unsupported => "the store does not support it",
            Reason::Unreachable => "the store cannot be reached",
            Reason::Other => "the store failed",
        };
        let is_timeout = transport == Some(HttpErrorKind::Timeout);
        let status = status(&text);
        let is_busy = status
            .is_some_and(|it| matches!(it, "408" | "409" | "429") || it.starts_with('5') && it != "501")
            || code.is_some_and(|code| TRANSIENT.contains(&code));
        // The text of other causes has the URL, which may be signed.
        let detail = said.or_else(|| status.map(|status| format!("HTTP {status}"))).or_else(|| match reason {
            Reason::Unreachable if is_timeout => Some("no response in time".to_owned()),
            Reason::Unreachable => Some(innermost(cause)),
            Reason::Other => Some(text.clone()),
            _ => None,
        });
        let detail = detail.map(|detail| format!(" ({})", excerpt(&redact(&detail, &bucket.secrets), SHOWN)));
        let hint = match reason {
            Reason::Refused | Reason::Unreachable | Reason::Other if !bucket.has_credentials => {
                Some("no credentials were given: set those of the environment, or set storage_options")
            }
            Reason::Refused | Reason::Forbidden => Some("check the credentials and what they allow"),
            Reason::Missing if code == Some("NoSuchBucket") => Some("create it, or name another one"),
            _ => None,
        };
        let is_transient = reason == Reason::Unreachable || reason == Reason::Other && is_busy;
        Self { reason, message: format!("{what}{}", detail.unwrap_or_default()), hint, is_transient, is_timeout }
    }

    /// The failure of the system of this machine.
    pub(super) fn of_system(cause: &impl std::fmt::Display) -> Self {
        let message = format!("the system failed ({cause})");
        Self { reason: Reason::Other, message, hint: None, is_transient: false, is_timeout: false }
    }

    /// The failure of an upload whose object is not what it was to replace.
    pub(super) fn conflict(reason: Reason) -> Self {
        let message = "it was changed meanwhile".to_owned();
        Self { reason, message, hint: None, is_transient: false, is_timeout: false }
    }

    /// Whether the same request may succeed later.
    pub(super) fn is_transient(&self) -> bool {
        self.is_transient
    }

    /// Whether no response came in time.
    pub(super) fn is_timeout(&self) -> bool {
        self.is_timeout
    }

    /// Whether the object is not what a request was to replace. Stores say so in different ways.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        matches!(self.reason, Reason::Changed | Reason::Exists | Reason::Missing)
    }

    /// Why it failed.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The error for an object that could not be `done`, for example `written`.
    #[must_use]
    pub fn into_error(self, kind: Kind, url: &str, done: &str) -> Error {
        let error = Error::new(kind, format!("`{url}` cannot be {done}: {}", self.message));
        let error = error.with_path(std::path::Path::new(url));
        let error = if self.is_transient { error.retryable() } else { error };
        match self.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

/// The reason of a failure. The variants of a listing have no status of their own.
fn reason(cause: &object_store::Error, text: &str, transport: Option<HttpErrorKind>) -> Reason {
    use object_store::Error as Cause;
    match cause {
        Cause::NotFound { .. } => return Reason::Missing,
        Cause::AlreadyExists { .. } => return Reason::Exists,
        Cause::Precondition { .. } | Cause::NotModified { .. } => return Reason::Changed,
        Cause::NotImplemented { .. } | Cause::NotSupported { .. } => return Reason::Unsupported,
        Cause::PermissionDenied { .. } | Cause::Unauthenticated { .. } => return Reason::Refused,
        _ => {}
    }
    match transport {
        Some(HttpErrorKind::Unknown | HttpErrorKind::Decode) => return Reason::Other,
        Some(_) => return Reason::Unreachable,
        None => {}
    }
    match status(text) {
        Some("404") => Reason::Missing,
        Some("401" | "403") => Reason::Refused,
        Some("501") => Reason::Unsupported,
        _ => Reason::Other,
    }
}

/// What happened to the connection, if it is the cause.
fn transport(cause: &object_store::Error) -> Option<HttpErrorKind> {
    let mut next = cause.source();
    while let Some(source) = next {
        if let Some(error) = source.downcast_ref::<HttpError>() {
            return Some(error.kind());
        }
        next = source.source();
    }
    None
}

/// The HTTP status in the text of a cause, whose type is private.
fn status(text: &str) -> Option<&str> {
    text.split_once("status code: ")?.1.get(..3).filter(|status| status.bytes().all(|byte| byte.is_ascii_digit()))
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    text.split_once(begin)?.1.split_once(end).map(|(between, _)| between)
}

fn innermost(cause: &object_store::Error) -> String {
    let mut last: &dyn std::error::Error = cause;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

/// Removes credentials from a text.
pub(super) fn redact(text: &str, secrets: &[String]) -> String {
    let long = secrets.iter().filter(|secret| secret.len() >= MIN_SECRET);
    long.fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), REDACTED))
}
