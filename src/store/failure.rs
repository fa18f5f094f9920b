//! Why a store did not do what was asked, without a credential.

use std::error::Error as _;
use std::io;
use std::iter;

use object_store::client::{HttpError, HttpErrorKind};

use super::Bucket;
use crate::error::{Error, Kind, excerpt};

/// Characters of a store's message that an error shows.
const SHOWN: usize = 200;
/// What replaces a credential. Shorter values are names or switches.
const REDACTED: &str = "<redacted>";
const MIN_SECRET: usize = 4;
/// S3 has one status for both kinds of refusals. These are of credentials that it accepts.
const FORBIDDEN: [&str; 3] = ["AccessDenied", "AllAccessDisabled", "AuthorizationPermissionMismatch"];
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
    /// Of a file of this machine.
    errno: Option<i32>,
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
    /// The object exists already, or is not of the expected version.
    Conflict,
    /// The store cannot do it at all.
    Unsupported,
    /// Anything else.
    Other,
}

impl Failure {
    pub(super) fn of(cause: &object_store::Error, bucket: &Bucket) -> Self {
        use object_store::Error as Cause;
        let text = cause.to_string();
        let (code, status) = (between(&text, "<Code>", "</Code>"), status(&text));
        let sources = || iter::successors(cause.source(), |source| (*source).source());
        let transport = sources().find_map(|source| source.downcast_ref::<HttpError>()).map(HttpError::kind);
        let is_unreachable = !matches!(transport, None | Some(HttpErrorKind::Unknown | HttpErrorKind::Decode));
        let is_timeout = transport == Some(HttpErrorKind::Timeout);
        // A failed listing has no variant of its own.
        let reason = match (cause, status) {
            (Cause::NotFound { .. }, _) | (Cause::Generic { .. }, Some("404")) => Reason::Missing,
            (Cause::AlreadyExists { .. } | Cause::Precondition { .. } | Cause::NotModified { .. }, _) => {
                Reason::Conflict
            }
            (Cause::NotImplemented { .. } | Cause::NotSupported { .. }, _) | (_, Some("501")) => Reason::Unsupported,
            (_, Some("401" | "403")) if code.is_some_and(|code| FORBIDDEN.contains(&code)) => Reason::Forbidden,
            (_, Some("401" | "403")) => Reason::Refused,
            _ => Reason::Other,
        };
        let is_busy = status.is_some_and(|status| matches!(status, "408" | "409" | "429") || status.starts_with('5'))
            || code.is_some_and(|code| TRANSIENT.contains(&code));
        let hint = match reason {
            Reason::Refused | Reason::Other if !bucket.has_credentials && !bucket.is_local => {
                Some("no credentials were given: set those of the environment, or set storage_options")
            }
            Reason::Refused | Reason::Forbidden => Some("check the credentials and what they allow"),
            Reason::Missing if code == Some("NoSuchBucket") => Some("create it, or name another one"),
            _ => None,
        };
        let what = match reason {
            Reason::Missing if code == Some("NoSuchBucket") => "the bucket does not exist",
            Reason::Missing => "it does not exist",
            Reason::Refused => "the credentials were refused",
            Reason::Forbidden => "the credentials do not allow it",
            Reason::Conflict => "it was changed meanwhile",
            Reason::Unsupported => "the store does not support it",
            Reason::Other if is_unreachable => "the store cannot be reached",
            Reason::Other => "the store failed",
        };
        // The text of other causes has the URL, which may be signed.
        let detail = match (code, between(&text, "<Message>", "</Message>"), status) {
            (Some(code), Some(message), _) => format!("{code}: {message}"),
            (Some(said), None, _) | (None, Some(said), _) => said.to_owned(),
            (None, None, Some(status)) => format!("HTTP {status}"),
            _ if is_timeout => "no response in time".to_owned(),
            _ if is_unreachable => sources().last().map(ToString::to_string).unwrap_or_default(),
            _ => text.clone(),
        };
        let detail = excerpt(&redact(&detail, &bucket.secrets), SHOWN);
        let is_transient = reason == Reason::Other && (is_unreachable || is_busy);
        let errno = sources().find_map(|source| source.downcast_ref::<io::Error>()?.raw_os_error());
        let errno = errno.filter(|_| bucket.is_local);
        Self { hint, is_transient, is_timeout, errno, ..Self::new(reason, format!("{what} ({detail})")) }
    }

    fn new(reason: Reason, message: String) -> Self {
        Self { reason, message, hint: None, is_transient: false, is_timeout: false, errno: None }
    }

    /// The failure of the system of this machine.
    pub(super) fn of_system(cause: &impl std::fmt::Display) -> Self {
        Self::new(Reason::Other, format!("the system failed ({cause})"))
    }

    /// The failure of an upload whose object is not what it was to replace.
    pub(super) fn conflict() -> Self {
        Self::new(Reason::Conflict, "it was changed meanwhile".to_owned())
    }

    /// Whether the same request may succeed later.
    pub(super) fn is_transient(&self) -> bool {
        self.is_transient
    }

    /// Whether no response came in time.
    pub(super) fn is_timeout(&self) -> bool {
        self.is_timeout
    }

    /// The error of the system, for a file of this machine.
    pub fn errno(&self) -> Option<i32> {
        self.errno
    }

    /// Whether the object is not what a request was to replace. Stores say so in different ways.
    pub fn is_conflict(&self) -> bool {
        matches!(self.reason, Reason::Conflict | Reason::Missing)
    }

    /// Why it failed.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The error for an object that could not be `done`, for example `written`.
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

/// The HTTP status in the text of a cause, whose type is private.
fn status(text: &str) -> Option<&str> {
    text.split_once("status code: ")?.1.get(..3).filter(|status| status.bytes().all(|byte| byte.is_ascii_digit()))
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    text.split_once(begin)?.1.split_once(end).map(|(between, _)| between)
}

/// Removes credentials from a text.
pub(super) fn redact(text: &str, secrets: &[String]) -> String {
    let long = secrets.iter().filter(|secret| secret.len() >= MIN_SECRET);
    long.fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), REDACTED))
}
