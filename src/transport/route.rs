//! How the service is reached, directly or through a proxy, and which of the two a failure to connect is about.

use std::error::Error as StdError;

use reqwest::ClientBuilder;

use super::{failure, tls};
use crate::config::{Connection, Proxy};
use crate::error::{Error, Kind, Phase, Result};

/// Text of hyper-util's error when a proxy opens no tunnel. Its type is private, so these texts decide where
/// otherwise types do; a test fails when they change.
const TUNNEL: &str = "tunnel error: ";
/// The rest of that text when the proxy responds with another status than 200 and 407.
const REFUSED: &str = "unsuccessful";
/// The rest of that text when the proxy wants a user and password.
const PASSWORD: &str = "proxy authorization required";

/// Host and port of the service, for messages.
pub(super) fn service(settings: &Connection) -> String {
    let host = settings.base_url.host_str().unwrap_or_default();
    settings.base_url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Whether the service is reached without TLS.
pub(super) fn is_plain(settings: &Connection) -> bool {
    settings.base_url.scheme() == "http"
}

/// Sets the proxy of the settings or none: reqwest must not read the environment again.
pub(super) fn configure(builder: ClientBuilder, settings: &Connection) -> Result<ClientBuilder> {
    let builder = builder.no_proxy();
    let Some(proxy) = &settings.proxy else { return Ok(builder) };
    let parsed = reqwest::Proxy::all(proxy.url.clone());
    Ok(builder.proxy(parsed.map_err(|error| failure::setup(error, &proxy.to_string()))?))
}

/// The error of a connection that could not be opened. `status` is that with which a proxy refused a tunnel.
pub(super) fn connect_error(settings: &Connection, error: &reqwest::Error, status: Option<u16>) -> Error {
    let (service, limit) = (service(settings), settings.timeouts.connect);
    let refusal = failure::find::<rustls::Error>(error);
    let Some(proxy) = &settings.proxy else {
        return match refusal {
            Some(refusal) => tls::refused(refusal, &service, &settings.trust),
            None => failure::connecting(error, &service, limit),
        };
    };
    let tunnel = tunnel(error);
    // Through an open tunnel the peer is the service, and else the proxy.
    let is_open = !is_plain(settings) && tunnel.is_none();
    match (refusal, tunnel) {
        (Some(refusal), _) if is_open => tls::refused(refusal, &service, &settings.trust),
        (Some(refusal), _) => as_proxy_error(&tls::refused(refusal, &proxy.to_string(), &settings.trust)),
        (None, Some((what, None))) => refused(settings, proxy, &what, status),
        _ if is_open => as_proxy_error(&failure::connecting(error, &format!("{service} through {proxy}"), limit)),
        _ => as_proxy_error(&failure::connecting(error, &proxy.to_string(), limit)),
    }
}

/// The error of a response that comes from the proxy and not from the service.
pub(super) fn proxy_error(settings: &Connection, status: u16) -> Option<Error> {
    let proxy = settings.proxy.as_ref().filter(|_| is_plain(settings) && status == 407)?;
    Some(refused(settings, proxy, PASSWORD, None))
}

/// Whether a proxy responded to the request for a tunnel, with a status that the error does not have.
pub(super) fn is_refused(error: &reqwest::Error) -> bool {
    tunnel(error).is_some_and(|(what, cause)| what == REFUSED && cause.is_none())
}

/// The error of a proxy that responded but opened no tunnel.
fn refused(settings: &Connection, proxy: &Proxy, what: &str, status: Option<u16>) -> Error {
    let service = service(settings);
    let status = if what == PASSWORD { Some(407) } else { status };
    let failed = |message: String| {
        Error::new(Kind::Proxy, message).with(|details| (details.phase, details.status) = (Some(Phase::Proxy), status))
    };
    match status {
        Some(407) => failed(format!(
            "{proxy} refused the {} {service}: it wants another user and password (HTTP 407)",
            if is_plain(settings) { "request to" } else { "tunnel to" }
        ))
        .with_hint("write user and password into the proxy's URL, as http://user:password@proxy:3128")
        .of_all(),
        Some(status @ (408 | 429 | 500..)) => failed(format!("{proxy} opened no tunnel to {service} (HTTP {status})"))
            .with_hint("the proxy is busy, or cannot reach the service")
            .retryable(),
        Some(status) => failed(format!("{proxy} refused the tunnel to {service} (HTTP {status})"))
            .with_hint("the proxy forbids the tunnel, or is no proxy")
            .of_all(),
        None => failed(format!("{proxy} opened no tunnel to {service}: {what}"))
            .with_hint("the proxy forbids the tunnel, cannot reach the service, or is no proxy")
            .retryable(),
    }
}

/// Turns an error of the connection into one of the proxy.
fn as_proxy_error(error: &Error) -> Error {
    let failure = Error::new(Kind::Proxy, error.message()).with(|details| details.phase = Some(Phase::Proxy));
    let failure = failure.retried(error.retry());
    match error.hint() {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// The text of the error that opened no tunnel, and its cause unless that is a response of the proxy.
fn tunnel(error: &reqwest::Error) -> Option<(String, Option<&(dyn StdError + 'static)>)> {
    let mut next: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = next {
        next = error.source();
        if let Some(what) = error.to_string().strip_prefix(TUNNEL) {
            return Some((what.to_owned(), next));
        }
    }
    None
}
