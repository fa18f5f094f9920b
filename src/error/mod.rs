//! The error type of the core: a kind, one line of text, and typed details.
//!
//! Code decides by [`Kind`] and [`Details`], never by reading a text.

mod details;
mod kind;
mod problem;
mod redaction;
mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

pub(crate) use details::{Details, Phase};
pub use kind::Kind;
pub(crate) use problem::Problem;
pub(crate) use redaction::{hide, redact};
pub use text::is_unsafe_for_terminal;
pub(crate) use text::{excerpt, sanitize};

/// Which retry of a failed request may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// None.
    None,
    /// One: a second failure of the same kind is permanent.
    One,
    /// Any.
    Any,
    /// One at once: a reused connection was lost before the response began.
    AtOnce,
}

/// The call in which an error occurred.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Context {
    /// Public name of the operation.
    pub operation: Option<&'static str>,
    /// Requests sent.
    pub attempts: u32,
    /// Seconds since the call began.
    pub elapsed: f64,
    /// `X-Request-Id` of the last request.
    pub request_id: Option<String>,
    /// Headers of the last response that help to find the request in the logs of the service.
    pub response_headers: BTreeMap<String, String>,
    /// One line for each failed attempt.
    pub history: Vec<String>,
}

/// An error of the core.
#[derive(Clone, Debug)]
#[must_use]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: Kind,
    message: String,
    hint: Option<String>,
    retry: Retry,
    is_of_all: bool,
    details: Details,
    problems: Vec<Problem>,
    context: Context,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// Result of the core.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error for a broken invariant of this package.
pub fn defect(what: &str) -> Error {
    Error::new(Kind::Internal, format!("{what}: this is a defect of dataaccess, please report it"))
}

impl Error {
    /// An error that says what happened and where.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: sanitize(&message.into()),
            hint: None,
            retry: Retry::None,
            is_of_all: kind.is_of_all(),
            details: Details::default(),
            problems: Vec::new(),
            context: Context::default(),
            source: None,
        }))
    }

    /// The error of what took longer than its limit, such as "no connection".
    pub fn timed_out(phase: Phase, missing: &str, limit: Duration) -> Self {
        Self::new(Kind::RequestTimeout, format!("{missing} within {} s", limit.as_secs_f64()))
            .with(|details| details.phase = Some(phase))
            .retryable()
    }

    /// The error that reports all invalid settings; a single one as it is.
    #[must_use]
    pub fn settings(mut refused: Vec<Self>) -> Option<Self> {
        let lines = |error: &Self| error.details().problems.clone().unwrap_or_else(|| vec![error.summary()]);
        let lines: Vec<String> = refused.iter().flat_map(lines).collect();
        let last = refused.pop()?;
        if refused.is_empty() {
            return Some(last.with(|details| details.problems = Some(lines)));
        }
        let numbered = lines.iter().enumerate().map(|(index, line)| format!("({}) {line}", index + 1));
        let message = format!("{} settings are invalid: {}", lines.len(), numbered.collect::<Vec<_>>().join(" "));
        Some(Self::new(Kind::Config, message).with(|details| details.problems = Some(lines)))
    }

    /// Puts where it happened before what happened.
    pub fn with_prefix(mut self, prefix: &str) -> Self {
        self.0.message = sanitize(&format!("{prefix}: {}", self.0.message));
        self
    }

    /// Replaces what the user should do.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(sanitize(&hint.into()));
        self
    }

    /// Adds why the failure is final to what the user should do.
    pub fn with_reason(self, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let hint = self.hint().map(|hint| format!("{hint}; {reason}"));
        self.with_hint(hint.unwrap_or(reason))
    }

    /// Sets details.
    pub fn with(mut self, set: impl FnOnce(&mut Details)) -> Self {
        set(&mut self.0.details);
        self
    }

    /// Sets the file or folder.
    pub fn with_path(self, path: &Path) -> Self {
        self.with(|details| details.path = Some(path.to_string_lossy().into_owned()))
    }

    /// Sets the cause.
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Marks a failure that a retry may fix.
    pub fn retryable(self) -> Self {
        self.retried(Retry::Any)
    }

    /// Sets which retry may succeed.
    pub fn retried(mut self, retry: Retry) -> Self {
        self.0.retry = retry;
        self
    }

    /// Marks a failure that every other request and task would meet too.
    pub fn of_all(mut self) -> Self {
        self.0.is_of_all = true;
        self
    }

    /// Removes a secret from every text: a response may have repeated it.
    pub fn redact(mut self, secret: &str) -> Self {
        let inner = self.0.as_mut();
        for text in inner.details.texts_mut().chain([&mut inner.message]).chain(&mut inner.hint) {
            *text = redaction::redact(text, secret);
        }
        self
    }

    /// Sets the call in which the error occurred.
    pub fn with_context(mut self, context: Context) -> Self {
        self.0.context = context;
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Whether a retry may succeed.
    pub fn is_retryable(&self) -> bool {
        self.0.retry != Retry::None
    }

    /// Which retry may succeed.
    pub(crate) fn retry(&self) -> Retry {
        self.0.retry
    }

    /// Whether every other request and task would fail too.
    pub fn is_of_all(&self) -> bool {
        self.0.is_of_all
    }

    /// One line: what happened and where.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// One line: the operation, the message, the number of requests, and the hint.
    pub(crate) fn summary(&self) -> String {
        let Context { operation, attempts, elapsed, .. } = self.context();
        let mut line = match operation {
            Some(operation) => format!("{operation}: {}", self.0.message),
            None => self.0.message.clone(),
        };
        if *attempts > 1 {
            line = format!("{line} (after {attempts} requests in {elapsed:.1} s)");
        }
        match self.hint() {
            Some(hint) => format!("{line}; {hint}"),
            None => line,
        }
    }

    /// What the user should do.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The attributes of the exception class.
    pub fn details(&self) -> &Details {
        &self.0.details
    }

    /// All problems of a validation error.
    pub fn problems(&self) -> &[Problem] {
        &self.0.problems
    }

    /// The call in which the error occurred.
    pub(crate) fn context(&self) -> &Context {
        &self.0.context
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.message())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_redacted_in_every_text() {
        let text = || Some("it was tok-0123456789".to_owned());
        let error = Error::new(Kind::Api, "it was tok-0123456789").with_hint("it was tok-0123456789").with(|details| {
            (details.api_message, details.body_excerpt, details.location_host) = (text(), text(), text());
            (details.field, details.path) = (text(), text());
            (details.column, details.value) = (text(), text());
            (details.data, details.code_message) = (text(), text());
        });
        let shown = format!("{:?}", error.redact("tok-0123456789"));
        assert!(!shown.contains("tok-") && shown.matches("<redacted>").count() == 11, "{shown}");
    }
}
