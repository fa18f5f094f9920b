//! A fault: what goes wrong, for which requests, and how often.

use std::fmt;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, header};

use super::pattern::BodyPattern;
use crate::error::{Error, Kind, Result, excerpt};

/// A fault and the requests that it matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What goes wrong.
    pub(in crate::sandbox) kind: FaultKind,
    /// The path it matches; none is every path.
    pub(in crate::sandbox) path: Option<String>,
    /// How many matching requests pass unchanged first.
    pub(in crate::sandbox) after: u64,
    /// How many requests it affects; none is unlimited.
    pub(in crate::sandbox) times: Option<u64>,
    /// What the body of a request must contain.
    pub(in crate::sandbox) pattern: BodyPattern,
    /// The share of the matching requests that it affects.
    pub(in crate::sandbox) probability: f64,
    /// Decides which requests these are, and how long each delay is.
    pub(in crate::sandbox) seed: u64,
}

/// What goes wrong with a response. Bytes are counted in its body; without a number not even its head is sent.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::sandbox) enum FaultKind {
    /// Resets the connection. A response that is no longer than `after_bytes` passes unchanged.
    Reset {
        /// After this number of bytes.
        after_bytes: Option<usize>,
    },
    /// Closes the connection, whatever `Content-Length` says. A shorter response passes unchanged.
    Cut {
        /// After this number of bytes.
        after_bytes: Option<usize>,
    },
    /// Sends nothing more until the fault ends.
    Stall {
        /// After this number of bytes.
        after_bytes: Option<usize>,
    },
    /// Sends this response; the service does not handle the request.
    Status {
        /// HTTP status.
        status: u16,
        /// Seconds for `Retry-After`.
        retry_after: Option<u64>,
        /// The body; none is an envelope, for 403 the permission failure of section 7.
        body: Option<String>,
        /// `Content-Type`; none is JSON for an envelope and plain text for another body.
        content_type: Option<String>,
        /// More headers; each replaces one of the same name.
        headers: Vec<(String, String)>,
    },
    /// Sends a redirect without a body.
    Redirect {
        /// HTTP status: 301, 302, 303, 307 or 308.
        status: u16,
        /// `Location`.
        location: String,
        /// More headers.
        headers: Vec<(String, String)>,
    },
    /// Sends HTTP 200 with a failure in the envelope; the service does not handle the request.
    Code {
        /// `code` of the envelope.
        code: i64,
        /// `message` of the envelope.
        message: Option<String>,
    },
    /// Refuses the token of the first affected request as expired, whenever it is used again.
    ExpiredToken,
    /// Delays the response.
    Delay {
        /// The shortest delay.
        least: Duration,
        /// The longest delay; none is the shortest.
        most: Option<Duration>,
    },
    /// Sends the body in small pieces.
    Drip {
        /// Most bytes of a piece.
        chunk_bytes: usize,
        /// Time between pieces.
        pause: Duration,
    },
    /// Moves the `code` of a success to the end and changes it.
    LateCode(i64),
    /// Leaves out the last rows of a successful search, which stays a success.
    Shrink {
        /// The share of the rows that stay, rounded down.
        keep: f64,
    },
}

impl FaultKind {
    /// Whether it takes effect before the first byte of a response.
    pub(in crate::sandbox) const fn applies_before_response(&self) -> bool {
        matches!(
            self,
            Self::Status { .. }
                | Self::Redirect { .. }
                | Self::Code { .. }
                | Self::ExpiredToken
                | Self::Delay { .. }
                | Self::Reset { after_bytes: None }
                | Self::Cut { after_bytes: None }
                | Self::Stall { after_bytes: None }
        )
    }

    /// Whether the whole envelope is rewritten, which therefore must not be compressed.
    pub(in crate::sandbox) const fn rewrites_envelope(&self) -> bool {
        matches!(self, Self::LateCode(_) | Self::Shrink { .. })
    }
}

impl Fault {
    /// A fault that affects every request.
    pub(super) fn new(kind: FaultKind) -> Self {
        Self { kind, path: None, after: 0, times: None, pattern: BodyPattern::default(), probability: 1.0, seed: 0 }
    }

    /// Rejects a fault that can match nothing or cannot be sent.
    pub(super) fn check(&self) -> Result<()> {
        if let Some(path) = self.path.as_ref().filter(|path| !path.starts_with('/')) {
            return Err(invalid("path", "`search`, `download` or a path that begins with /", &path));
        }
        if self.times == Some(0) {
            return Err(invalid("times", "an integer from 1 on", &0));
        }
        if !(self.probability > 0.0 && self.probability <= 1.0) {
            return Err(invalid("probability", "a number above 0, at most 1", &self.probability));
        }
        match &self.kind {
            FaultKind::Drip { chunk_bytes: 0, .. } => Err(invalid("chunk_bytes", "an integer from 1 on", &0)),
            FaultKind::Delay { least, most: Some(most) } if most < least => {
                let seconds = most.as_secs_f64();
                Err(invalid("max_seconds", "at least seconds", &seconds))
            }
            FaultKind::Shrink { keep } if !(0.0..1.0).contains(keep) => {
                Err(invalid("keep", "a number from 0 to below 1", &keep))
            }
            FaultKind::Redirect { status, .. } if !matches!(status, 301 | 302 | 303 | 307 | 308) => {
                Err(invalid("status", "301, 302, 303, 307 or 308", &status))
            }
            FaultKind::Redirect { location, headers, .. } => {
                value("location", location)?;
                checked_headers(headers)
            }
            FaultKind::Status { status, body, content_type, headers, .. } => {
                if !(200..=599).contains(status) {
                    return Err(invalid("status", "an integer from 200 to 599", &status));
                }
                if matches!(status, 204 | 304) && (body.is_some() || content_type.is_some()) {
                    let option = if body.is_some() { "body" } else { "content_type" };
                    let problem = format!("{option} cannot be sent with status {status}, which has no body");
                    return Err(Error::new(Kind::Config, problem));
                }
                content_type.iter().try_for_each(|given| value("content_type", given))?;
                checked_headers(headers)
            }
            _ => Ok(()),
        }
    }
}

/// The error for an option with an invalid value.
pub(super) fn invalid(option: &str, expected: &str, given: &dyn fmt::Display) -> Error {
    Error::new(Kind::Config, format!("{option} must be {expected}, not {}", excerpt(&given.to_string(), 60)))
}

/// Rejects headers that cannot be sent, and those that frame a response: a fault `cut` breaks the frame.
fn checked_headers(headers: &[(String, String)]) -> Result<()> {
    const FRAMING: [HeaderName; 3] = [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION];
    for (name, text) in headers {
        match HeaderName::try_from(name) {
            Ok(name) if FRAMING.contains(&name) => {
                let problem = format!("headers cannot have {name}, which the sandbox sets");
                return Err(
                    Error::new(Kind::Config, problem).with_hint("a fault `cut` or `reset` breaks off a response")
                );
            }
            Ok(_) => value("headers", text)?,
            Err(_) => return Err(invalid("headers", "a map with names of headers", &format!("`{name}`"))),
        }
    }
    Ok(())
}

/// Rejects the value of a header that cannot be sent.
fn value(option: &str, text: &str) -> Result<()> {
    match HeaderValue::from_str(text) {
        Ok(_) => Ok(()),
        Err(_) => Err(invalid(option, "text that a header can have", &format!("{text:?}"))),
    }
}
