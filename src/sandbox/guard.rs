//! Who may speak to the service at all: only what was addressed to this machine, and no foreign web page.
//!
//! A loopback address alone does not stop a page whose name was rebound to it; its `Host` and `Origin` do.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header, uri::Authority};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::answer::Refusal;
use super::routes::Shared;

/// The names under which the service may be addressed.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Refuses what is not addressed to this machine, before anything is routed.
pub(super) async fn check(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    match objection(&request, shared.port) {
        None => next.run(request).await,
        Some(problem) => {
            let refusal = Refusal::Problem(StatusCode::FORBIDDEN, problem.to_owned());
            refusal.answer(&shared.service.switches).into_response()
        }
    }
}

fn objection(request: &Request, port: u16) -> Option<&'static str> {
    let host = only(request.headers(), header::HOST).and_then(|host| host.parse::<Authority>().ok());
    // A proxy's form of the request line names a host too.
    let target = request.uri().authority();
    if !host.as_ref().is_some_and(is_local) || !target.is_none_or(is_local) {
        return Some("Host: the sandbox serves localhost, 127.0.0.1 and [::1] only");
    }
    let origin = only(request.headers(), header::ORIGIN);
    if request.headers().contains_key(header::ORIGIN) && !origin.is_some_and(|origin| is_own(origin, port)) {
        return Some("Origin: the sandbox serves no web page but its own");
    }
    None
}

fn is_local(authority: &Authority) -> bool {
    let plain = !authority.as_str().contains('@');
    plain && NAMES.iter().any(|name| authority.host().eq_ignore_ascii_case(name))
}

fn is_own(origin: &str, port: u16) -> bool {
    NAMES.iter().any(|name| origin.eq_ignore_ascii_case(&format!("http://{name}:{port}")))
}

/// The value of a header that is given once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).into_iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}
