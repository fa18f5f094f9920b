//! Checks `Host` and `Origin` of each request.
//!
//! Listening on loopback does not stop a web page whose name was rebound to it (DNS rebinding); this check does.

use std::net::IpAddr;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode, header, uri::Authority};

use super::access::Access;
use super::reply::Refusal;

/// Rejects a request for another host or of a foreign web page; `local` is the server's address on the connection.
pub(super) fn check(request: &Parts, access: &Access, local: IpAddr) -> Result<(), Refusal> {
    let refused = |problem: &str| Err(Refusal::Problem(StatusCode::FORBIDDEN, problem.to_owned()));
    let is_own_host = |authority: &Authority| {
        let plain = !authority.as_str().contains('@');
        plain && access.is_own_host(authority.host(), local)
    };
    let host = only(&request.headers, header::HOST).and_then(|host| host.parse::<Authority>().ok());
    // A request target in absolute form, as sent to proxies, names a host too.
    if !host.as_ref().is_some_and(is_own_host) || !request.uri.authority().is_none_or(is_own_host) {
        let problem = "Host: the sandbox serves localhost, 127.0.0.1, [::1] and the names it was given only; \
                       host_names= gives it another";
        return refused(problem);
    }
    if !request.headers.contains_key(header::ORIGIN) {
        return Ok(());
    }
    // A page of this service has the same host as the request.
    let own = |origin: &str| host.is_some_and(|host| origin.eq_ignore_ascii_case(&format!("http://{host}")));
    match only(&request.headers, header::ORIGIN) {
        Some(origin) if own(origin) => Ok(()),
        _ => refused("Origin: the sandbox serves no web page but its own"),
    }
}

/// The value of a header that occurs exactly once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).into_iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}
