//! The one error type of the core: a closed kind, one line of text, and fields that are data.
//!
//! Nothing here knows Python or HTTP libraries. A decision is made by `Kind`, never by reading a text.

mod kind;
mod text;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

pub use kind::Kind;
pub use text::{excerpt, is_unsafe_for_terminal, sanitize};

/// A value of a field: plain data that any language can hold.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Field {
    /// A whole number.
    Integer(i64),
    /// Seconds, or another measure.
    Number(f64),
    /// A text; never a token.
    Text(String),
    /// Yes or no.
    Flag(bool),
}

impl From<bool> for Field {
    fn from(value: bool) -> Self {
        Self::Flag(value)
    }
}

impl From<&str> for Field {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Field {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<u16> for Field {
    fn from(value: u16) -> Self {
        Self::Integer(i64::from(value))
    }
}

impl From<i64> for Field {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<u64> for Field {
    fn from(value: u64) -> Self {
        Self::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Field {
    fn from(value: usize) -> Self {
        Self::from(value as u64)
    }
}

impl From<Duration> for Field {
    fn from(value: Duration) -> Self {
        Self::Number(value.as_secs_f64())
    }
}

/// One thing that is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What the caller typed, as `code_status[1]`.
    pub argument: String,
    /// Its place in the body as sent, as `filters.OR[0].AND[2].value`; empty where it has none.
    pub path: String,
    /// What is wrong and what to write instead.
    pub message: String,
    /// The value as the caller would recognise it, shortened.
    pub value: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.argument, self.message)
    }
}

/// What is known of the call in which an error arose.
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
    /// One line for each failed attempt.
    pub history: Vec<String>,
}

/// An error of the core.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: Kind,
    message: String,
    hint: Option<String>,
    most_retries: u32,
    stale: bool,
    fields: Vec<(&'static str, Field)>,
    problems: Vec<Problem>,
    context: Context,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// Result of the core.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// How many arguments the message of several problems names; the problems are in the field.
const ARGUMENTS_SHOWN: usize = 3;

impl Error {
    /// An error that says what happened and where.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: sanitize(&message.into()),
            hint: None,
            most_retries: 0,
            stale: false,
            fields: Vec::new(),
            problems: Vec::new(),
            context: Context::default(),
            source: None,
        }))
    }

    /// The error that tells all that is wrong with a request at once.
    #[must_use]
    pub fn validation(problems: Vec<Problem>) -> Self {
        let message = match problems.as_slice() {
            [problem] => problem.to_string(),
            problems => {
                let mut arguments: Vec<&str> = problems.iter().map(|problem| problem.argument.as_str()).collect();
                arguments.dedup();
                let more = if arguments.len() > ARGUMENTS_SHOWN { ", …" } else { "" };
                arguments.truncate(ARGUMENTS_SHOWN);
                format!("{} problems: {}{more}", problems.len(), arguments.join(", "))
            }
        };
        let mut error = Self::new(Kind::Validation, message);
        error.0.problems = problems;
        error
    }

    /// Says where it happened, before what happened.
    #[must_use]
    pub fn within(mut self, place: &str) -> Self {
        self.0.message = sanitize(&format!("{place}: {}", self.0.message));
        self
    }

    /// Adds what the reader should do.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(sanitize(&hint.into()));
        self
    }

    /// Adds why the failure is final, to what the reader should do.
    #[must_use]
    pub fn with_reason(self, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let hint = self.hint().map(|hint| format!("{hint}; {reason}"));
        self.with_hint(hint.unwrap_or(reason))
    }

    /// Adds a field of the exception class.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Field>) -> Self {
        self.0.fields.push((name, value.into()));
        self
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Says that the same request may succeed later.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.0.most_retries = u32::MAX;
        self
    }

    /// Says that it may have been an accident, and that where the same request fails so twice, it always will.
    #[must_use]
    pub fn retryable_once(mut self) -> Self {
        self.0.most_retries = 1;
        self
    }

    /// Says that the connection was an old one, and lost before an answer began.
    #[must_use]
    pub fn stale(mut self) -> Self {
        self.0.stale = true;
        self
    }

    /// Strikes a secret out of every text: an answer may have repeated it.
    #[must_use]
    pub fn redact(mut self, secret: &str) -> Self {
        let inner = self.0.as_mut();
        let fields = inner.fields.iter_mut().filter_map(|(_, field)| match field {
            Field::Text(text) => Some(text),
            _ => None,
        });
        for text in fields.chain([&mut inner.message]).chain(&mut inner.hint) {
            *text = text::redact(text, secret);
        }
        self
    }

    /// Adds what is known of the call.
    #[must_use]
    pub fn in_context(mut self, context: Context) -> Self {
        self.0.context = context;
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.0.most_retries > 0
    }

    /// How often the same request is worth sending again.
    #[must_use]
    pub fn most_retries(&self) -> u32 {
        self.0.most_retries
    }

    /// Whether the connection was an old one, and lost before an answer began.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.0.stale
    }

    /// One line: what and where.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The whole story in one line: which operation, what and where, after how many requests, what to do.
    #[must_use]
    pub fn summary(&self) -> String {
        let Context { operation, attempts, elapsed, .. } = self.context();
        let mut line = match operation {
            Some(operation) => format!("{operation}: {}", self.message()),
            None => self.message().to_owned(),
        };
        if *attempts > 1 {
            line = format!("{line} (after {attempts} requests in {elapsed:.1} s)");
        }
        match self.hint() {
            Some(hint) => format!("{line}; {hint}"),
            None => line,
        }
    }

    /// What to do.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The fields of the exception class.
    #[must_use]
    pub fn fields(&self) -> &[(&'static str, Field)] {
        &self.0.fields
    }

    /// A field by its name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.0.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value)
    }

    /// All problems of a validation error.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.0.problems
    }

    /// What is known of the call.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.context
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.message)
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
    fn kinds_are_listed_once_each() {
        let names: std::collections::HashSet<_> = Kind::ALL.iter().map(|kind| kind.class_name()).collect();
        assert_eq!(names.len(), Kind::ALL.len());
    }

    #[test]
    fn a_validation_error_of_several_problems_counts_them_and_names_the_first_arguments() {
        let problem = |number: usize| Problem {
            argument: format!("code_status[{number}]"),
            path: String::new(),
            message: "is not a status".to_owned(),
            value: number.to_string(),
        };
        let error = Error::validation((0..12).map(problem).collect());
        assert_eq!(error.message(), "12 problems: code_status[0], code_status[1], code_status[2], …");
        assert_eq!(error.problems().len(), 12);
    }
}
