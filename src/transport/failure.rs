//! Failures of the HTTP library told in our own kinds, by their types and not by their texts.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use super::route::Route;
use super::tls;
use crate::error::{Error, Kind, Phase};

/// A client that could not be set up.
pub(super) fn setup(error: reqwest::Error, what: &str) -> Error {
    let cause = innermost(&error);
    Error::new(Kind::Config, format!("{what} cannot be used: {cause}")).with_source(error.without_url())
}

/// A time-out of ours.
pub(super) fn timed_out(phase: Phase, what: &str, limit: Duration) -> Error {
    Error::new(Kind::RequestTimeout, format!("{what} within {} s", limit.as_secs_f64()))
        .with(|details| details.phase = Some(phase))
        .retryable()
}

/// A request that got no answer.
pub(super) fn sending(error: reqwest::Error, route: &Route) -> Error {
    let told = if error.is_connect() {
        route.connect_error(&error)
    } else if let Some(refusal) = tls::late_refusal(&error) {
        tls::refused(refusal, &route.service, &route.trust)
    } else {
        let told = receiving_cause(&error, None, "answer");
        let is_other = matches!(told.kind(), Kind::MalformedHttp | Kind::ConnectionLost);
        let hint = "if that port speaks TLS, base_url= must begin with https://";
        if route.is_plain && is_other { told.with_hint(hint) } else { told }
    };
    told.with_source(error.without_url())
}

/// A request that was handed to a connection which ended before it began to send.
pub(super) fn unsent() -> Error {
    Error::new(Kind::ConnectionLost, "the connection was lost before the request was sent")
        .with(|details| details.received = Some(0))
        .retryable()
        .stale()
}

/// Nobody was reached at the other end, who is called `whom`.
pub(super) fn connecting(error: &reqwest::Error, whom: &str, limit: Duration) -> Error {
    let cause = innermost(error);
    if error.is_timeout() {
        return timed_out(Phase::Connect, &format!("no connection to {whom}"), limit);
    }
    let (phase, message) = if error.is_dns() {
        (Phase::Dns, format!("the host of {whom} is not known: {cause}"))
    } else {
        (Phase::Tcp, format!("no connection to {whom}: {cause}"))
    };
    Error::new(Kind::Connect, message).with(|details| details.phase = Some(phase)).retryable()
}

/// A body that broke off; `what` says of what the bytes are.
pub(super) fn receiving(error: reqwest::Error, received: u64, what: &str) -> Error {
    receiving_cause(&error, Some(received), what).with_source(error.without_url())
}

/// `received` counts the bytes of the body, if its head came.
fn receiving_cause(error: &reqwest::Error, received: Option<u64>, what: &str) -> Error {
    let cause = innermost(error);
    // Without its head nothing of an answer is there to be cut short.
    let ended = if received.is_some() { Kind::TruncatedResponse } else { Kind::ConnectionLost };
    let received = received.unwrap_or_default();
    let lost = |kind| {
        let message = match received {
            0 => format!("the connection was lost before the answer: {cause}"),
            _ => format!("the connection was lost after {received} bytes of the {what}: {cause}"),
        };
        Error::new(kind, message).with(|details| details.received = Some(received)).retryable()
    };
    if find::<rustls::Error>(error).is_some() {
        return lost(Kind::ConnectionLost);
    }
    match find::<hyper::Error>(error) {
        Some(hyper) if hyper.is_parse() => {
            Error::new(Kind::MalformedHttp, format!("the answer is not HTTP as agreed: {cause}"))
                .with(|details| details.received = Some(received))
        }
        Some(hyper) if hyper.is_incomplete_message() => lost(ended),
        _ => match find::<io::Error>(error).map(io::Error::kind) {
            // What hyper calls a body's missing end, and rustls the end of a connection that was not said.
            Some(io::ErrorKind::UnexpectedEof) => lost(ended),
            Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => {
                Error::new(Kind::MalformedHttp, format!("the answer's body is not HTTP as agreed: {cause}"))
                    .with(|details| details.received = Some(received))
                    .retryable_once()
            }
            _ => lost(Kind::ConnectionLost),
        },
    }
}

/// The cause of a type, however deep; errors of TLS hide inside those of I/O.
pub(super) fn find<'a, T: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        if let Some(inner) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref)
            && let Some(found) = find::<T>(inner)
        {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// The last cause, which is the one that says what happened.
pub(super) fn innermost(error: &(dyn StdError + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
