//! Failures of the HTTP library told in our own kinds, by their types and never by their texts.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use crate::error::{Error, Kind};

/// A client that could not be set up.
pub(super) fn setup(error: reqwest::Error, what: &str) -> Error {
    let cause = innermost(&error);
    Error::new(Kind::Config, format!("{what} cannot be used: {cause}")).with_source(error.without_url())
}

/// A time-out of ours.
pub(super) fn timed_out(phase: &'static str, what: &str, limit: Duration) -> Error {
    Error::new(Kind::RequestTimeout, format!("{what} within {} s", limit.as_secs_f64()))
        .with("phase", phase)
        .retryable()
}

/// A request that got no answer.
pub(super) fn sending(error: reqwest::Error, uses_proxy: bool, authority: &str) -> Error {
    let cause = innermost(&error);
    let told = if let Some(tls) = find::<rustls::Error>(&error) {
        Error::new(Kind::Tls, format!("no trusted connection to {authority}: {tls}"))
            .with("phase", "tls")
            .with_hint("a private authority is trusted with ca_bundle=; a wrong clock also makes certificates invalid")
    } else if error.is_dns() {
        Error::new(Kind::Connect, format!("the host of {authority} is not known: {cause}"))
            .with("phase", "dns")
            .retryable()
    } else if error.is_connect() && error.is_timeout() {
        timed_out("connect", &format!("no connection to {authority}"), super::CONNECT_TIMEOUT)
    } else if error.is_connect() && uses_proxy {
        Error::new(Kind::Proxy, format!("no connection through the proxy: {cause}")).with("phase", "proxy").retryable()
    } else if error.is_connect() {
        Error::new(Kind::Connect, format!("no connection to {authority}: {cause}")).with("phase", "tcp").retryable()
    } else {
        receiving_cause(&error, 0, "answer")
    };
    told.with_source(error.without_url())
}

/// A body that broke off; `what` says of what the bytes are.
pub(super) fn receiving(error: reqwest::Error, received: u64, what: &str) -> Error {
    receiving_cause(&error, received, what).with_source(error.without_url())
}

fn receiving_cause(error: &reqwest::Error, received: u64, what: &str) -> Error {
    let cause = innermost(error);
    let lost = |kind| {
        let message = match received {
            0 => format!("the connection was lost before the answer: {cause}"),
            _ => format!("the connection was lost after {received} bytes of the {what}: {cause}"),
        };
        Error::new(kind, message).with("received", received).retryable()
    };
    if find::<rustls::Error>(error).is_some() {
        return lost(Kind::ConnectionLost);
    }
    match find::<hyper::Error>(error) {
        Some(hyper) if hyper.is_parse() => {
            Error::new(Kind::MalformedHttp, format!("the answer is not HTTP as agreed: {cause}"))
                .with("received", received)
        }
        Some(hyper) if hyper.is_incomplete_message() && received > 0 => lost(Kind::TruncatedResponse),
        _ => match find::<io::Error>(error).map(io::Error::kind) {
            // What hyper calls a body's missing end.
            Some(io::ErrorKind::UnexpectedEof) => lost(Kind::TruncatedResponse),
            Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => {
                Error::new(Kind::MalformedHttp, format!("the answer's body is not HTTP as agreed: {cause}"))
                    .with("received", received)
                    .retryable_once()
            }
            _ => lost(Kind::ConnectionLost),
        },
    }
}

/// The cause of a type, however deep; errors of TLS hide inside those of I/O.
fn find<'a, T: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a T> {
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
fn innermost(error: &(dyn StdError + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
