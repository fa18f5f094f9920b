//! Maps the errors of reqwest to our own kinds, by their types and not by their texts.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use super::{route, tls};
use crate::config::Connection;
use crate::error::{Error, Kind, Phase, Retry};

/// Text of hyper's error for a response that does not begin as HTTP does, such as an alert of TLS. Its type is private;
/// a test fails when the text changes.
const NO_HTTP: &str = "invalid HTTP version parsed";

pub(super) fn setup(error: reqwest::Error, what: &str) -> Error {
    let cause = innermost(&error);
    Error::new(Kind::Config, format!("{what} cannot be used: {cause}")).with_source(error.without_url())
}

/// A request failed before its response headers arrived. `refused` is the status with which a proxy refused a tunnel.
pub(super) fn sending(error: reqwest::Error, settings: &Connection, refused: Option<u16>) -> Error {
    if error.is_builder() {
        return setup(error, "the request");
    }
    let failure = if error.is_connect() {
        route::connect_error(settings, &error, refused)
    } else if let Some(refusal) = tls::late_refusal(&error) {
        tls::refused(refusal, &route::service(settings), &settings.trust)
    } else {
        let lost = receiving_cause(&error, None, "response");
        let is_other = lost.kind() == Kind::ConnectionLost || innermost(&error) == NO_HTTP;
        let hint = "if that port speaks TLS, base_url must begin with https://";
        if route::is_plain(settings) && is_other { lost.with_hint(hint) } else { lost }
    };
    failure.with_source(error.without_url())
}

/// A request was handed to a connection that closed before it began to send.
pub(super) fn never_sent() -> Error {
    Error::new(Kind::ConnectionLost, "the connection was lost before the request was sent")
        .with(|details| details.received = Some(0))
        .retried(Retry::AtOnce)
}

pub(super) fn connecting(error: &reqwest::Error, peer: &str, limit: Duration) -> Error {
    let cause = innermost(error);
    if error.is_timeout() {
        return Error::timed_out(Phase::Connect, &format!("no connection to {peer}"), limit);
    }
    let (phase, message) = if error.is_dns() {
        (Phase::Dns, format!("cannot resolve {peer}: {cause}"))
    } else {
        (Phase::Tcp, format!("cannot connect to {peer}: {cause}"))
    };
    Error::new(Kind::Connect, message).with(|details| details.phase = Some(phase)).retryable()
}

/// A body was cut off; `what` names its bytes.
pub(super) fn receiving(error: reqwest::Error, received: u64, what: &str) -> Error {
    receiving_cause(&error, Some(received), what).with_source(error.without_url())
}

/// The bytes of a compressed body cannot be decompressed.
pub(super) fn decompressing(error: io::Error, encoding: &str, received: u64) -> Error {
    let is_cut_off = error.kind() == io::ErrorKind::UnexpectedEof;
    let (kind, message) = match received {
        0 if is_cut_off => (Kind::TruncatedResponse, "the response has no body".to_owned()),
        _ if is_cut_off => {
            let place = format!("after {received} bytes, before the end of its {encoding}");
            (Kind::TruncatedResponse, format!("the compressed response was cut off {place}"))
        }
        _ => (Kind::MalformedHttp, format!("the compressed response is not valid {encoding}: {error}")),
    };
    let failure = Error::new(kind, message).with(|details| details.received = Some(received)).with_source(error);
    failure.retried(if is_cut_off && received > 0 { Retry::Any } else { Retry::One })
}

/// `received` counts the bytes of the body; nothing if the headers did not arrive.
fn receiving_cause(error: &reqwest::Error, received: Option<u64>, what: &str) -> Error {
    let cause = innermost(error);
    // Without headers there is no response to be truncated.
    let ended = if received.is_some() { Kind::TruncatedResponse } else { Kind::ConnectionLost };
    let received = received.unwrap_or_default();
    let lost = |kind| {
        let place = if received == 0 {
            "before the response".to_owned()
        } else {
            format!("after {received} bytes of the {what}")
        };
        Error::new(kind, format!("the connection was lost {place}: {cause}"))
            .with(|details| details.received = Some(received))
            .retryable()
    };
    if find::<rustls::Error>(error).is_some() {
        return lost(Kind::ConnectionLost);
    }
    match find::<hyper::Error>(error) {
        Some(hyper) if hyper.is_parse() => {
            Error::new(Kind::MalformedHttp, format!("the response is not valid HTTP: {cause}"))
                .with(|details| details.received = Some(received))
        }
        Some(hyper) if hyper.is_incomplete_message() => lost(ended),
        _ => match find::<io::Error>(error).map(io::Error::kind) {
            // hyper: the body has no end; rustls: the connection closed without `close_notify`.
            Some(io::ErrorKind::UnexpectedEof) => lost(ended),
            Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => {
                Error::new(Kind::MalformedHttp, format!("the response body is not valid HTTP: {cause}"))
                    .with(|details| details.received = Some(received))
                    .retried(Retry::One)
            }
            _ => lost(Kind::ConnectionLost),
        },
    }
}

/// The first cause of type `T`; TLS errors are inside I/O errors.
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

/// The text of the last cause, which is the most specific.
pub(super) fn innermost(error: &(dyn StdError + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
