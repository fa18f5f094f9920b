//! Who may speak to the service at all: only who addresses it by a name of its own, and no foreign web page.
//!
//! A loopback address alone does not stop a page whose name was rebound to it; its `Host` and `Origin` do.

use std::net::IpAddr;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode, header, uri::Authority};

use super::access::Access;
use super::reply::Refusal;

/// Refuses a request that is not addressed to this service; `local` is its end of the connection.
pub(super) fn check(request: &Parts, access: &Access, local: IpAddr) -> Result<(), Refusal> {
    let refused = |problem: &str| Err(Refusal::Problem(StatusCode::FORBIDDEN, problem.to_owned()));
    let is_own = |authority: &Authority| {
        let plain = !authority.as_str().contains('@');
        plain && access.is_own(authority.host(), local)
    };
    let host = only(&request.headers, header::HOST).and_then(|host| host.parse::<Authority>().ok());
    // A proxy's form of the request line names a host too.
    if !host.as_ref().is_some_and(is_own) || !request.uri.authority().is_none_or(is_own) {
        let problem = "Host: the sandbox serves localhost, 127.0.0.1, [::1] and the names it was given only; \
                       host_names= gives it another";
        return refused(problem);
    }
    if !request.headers.contains_key(header::ORIGIN) {
        return Ok(());
    }
    // A page of this service was loaded from the very address that the request names.
    let own = |origin: &str| host.is_some_and(|host| origin.eq_ignore_ascii_case(&format!("http://{host}")));
    match only(&request.headers, header::ORIGIN) {
        Some(origin) if own(origin) => Ok(()),
        _ => refused("Origin: the sandbox serves no web page but its own"),
    }
}

/// The value of a header that is given once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).into_iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}
