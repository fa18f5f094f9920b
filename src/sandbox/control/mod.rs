//! Control of a running sandbox: data, faults, exports, tokens, the clock and the log, as JSON under `/__sandbox`.
//!
//! `http` reads a call, and [`handle`] answers it.

#![expect(clippy::unnecessary_wraps, reason = "all handlers have one type")]

mod answer;
mod call;
mod clock;
mod exports;
mod faults;
mod http;
mod objects;
mod page;
mod requests;
mod rows;
mod state;
mod switches;
mod token;
mod tokens;

use axum::http::StatusCode;

use self::answer::{Answer, Failure};
pub(super) use self::call::Call;
pub(super) use self::http::{is_control, respond};
pub(super) use self::token::AdminToken;
use super::service::Service;
use crate::error::Kind;

/// The prefix of all routes but the health check.
pub(super) const PREFIX: &str = "/__sandbox";

/// What a route does for a method.
type Handler = fn(&Service, &Call) -> Result<Answer, Failure>;

/// The routes with their methods. `{}` is a segment that the call keeps as a parameter.
const ROUTES: &[(&str, &[(&str, Handler)])] = &[
    ("/state", &[("GET", state::show)]),
    ("/reset", &[("POST", state::reset)]),
    ("/objects", &[("GET", objects::list), ("POST", objects::declare)]),
    ("/objects/{}/rows", &[("GET", rows::list), ("POST", rows::load), ("DELETE", rows::clear)]),
    ("/faults", &[("GET", faults::list), ("POST", faults::begin), ("DELETE", faults::end_all)]),
    ("/faults/{}", &[("GET", faults::show), ("DELETE", faults::end)]),
    ("/exports", &[("GET", exports::list), ("POST", exports::start)]),
    ("/exports/{}", &[("DELETE", exports::remove)]),
    ("/switches", &[("GET", switches::show), ("PATCH", switches::change)]),
    ("/tokens", &[("POST", tokens::issue)]),
    ("/tokens/revoke", &[("POST", tokens::revoke)]),
    ("/clock", &[("GET", clock::show), ("POST", clock::advance)]),
    ("/requests", &[("GET", requests::list), ("DELETE", requests::clear)]),
];

/// Answers a call whose sender may control the sandbox.
fn handle(service: &Service, mut call: Call) -> Answer {
    let Some((methods, parameter)) = ROUTES.iter().find_map(|(route, methods)| {
        let parameter = parameter(route, call.path())?;
        Some((methods, parameter))
    }) else {
        return Failure::new(StatusCode::NOT_FOUND, Kind::Config, "there is no such route")
            .with_hint("docs/sandbox.md lists the routes")
            .into();
    };
    let Some((_, handler)) = methods.iter().find(|(method, _)| *method == call.method()) else {
        let allowed: Vec<&str> = methods.iter().map(|(method, _)| *method).collect();
        return Failure::not_allowed(&allowed).into();
    };
    call.set_parameter(parameter);
    handler(service, &call).unwrap_or_else(Answer::from)
}

/// The parameter of a path that matches the route, empty for a route without one.
fn parameter(route: &str, path: &str) -> Option<String> {
    let (mut route, mut path) = (route.split('/'), path.split('/'));
    let mut parameter = String::new();
    loop {
        match (route.next(), path.next()) {
            (None, None) => return Some(parameter),
            (Some("{}"), Some(given)) => parameter = call::decoded(given, false)?,
            (Some(wanted), Some(given)) if wanted == given => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_has_its_parameter() {
        assert_eq!(parameter("/faults/{}", "/faults/1").as_deref(), Some("1"));
        assert_eq!(parameter("/objects/{}/rows", "/objects/a%2Fb/rows").as_deref(), Some("a/b"));
        assert_eq!(parameter("/state", "/state").as_deref(), Some(""));
        for path in ["/faults", "/faults/1/2", "/faults/%", "faults/1", ""] {
            assert_eq!(parameter("/faults/{}", path), None, "{path}");
        }
    }
}
