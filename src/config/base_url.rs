//! The base URL of the service: which URLs are refused, their origin, and what counts as loopback.

use std::net::IpAddr;

use hyper::Uri;
use rustls::pki_types::ServerName;
use url::{Host, ParseError, Url};

use crate::contract::{DOWNLOAD_PATH, SEARCH_PATH};
use crate::error::{Error, Kind, Result, excerpt};

/// What users copy from the API specification into the base URL.
const OPERATIONS: [&str; 2] = [SEARCH_PATH, DOWNLOAD_PATH];

/// Parses and checks the setting.
pub(super) fn resolve(given: Option<&str>, allow_http: bool) -> Result<Url> {
    let missing = || {
        Error::new(Kind::Config, "base_url is not set")
            .with_hint("give base_url or set DATAACCESS_BASE_URL; \"sandbox:demo\" needs neither account nor network")
    };
    check(given.ok_or_else(missing)?, allow_http)
}

/// Scheme, host and port of a base URL, as a client would send to it; None for a URL that no client accepts.
pub fn origin(text: &str) -> Option<String> {
    check(text, true).ok().map(|url| url.origin().ascii_serialization())
}

/// Whether a base URL is of this machine, where no proxy of the environment or of a profile is used.
pub fn is_of_this_machine(text: &str) -> bool {
    check(text, true).is_ok_and(|url| is_here(&url))
}

fn check(text: &str, allow_http: bool) -> Result<Url> {
    let text = text.trim();
    let refuse = |what: &str| Error::new(Kind::Config, format!("base_url {}{what}", shown(text)));
    if let Some(hint) = instead_of(text) {
        return Err(refuse("is not a URL").with_hint(hint));
    }
    if let Some(what) = ambiguity(text) {
        return Err(refuse(what));
    }
    let mut url = Url::parse(text).map_err(|error| match error {
        ParseError::InvalidPort => refuse("has an invalid port; ports are 1 to 65535"),
        _ => refuse("is not a URL; write it as https://cdp.example.com"),
    })?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(refuse("must begin with https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse("has a user or password; set token instead"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refuse("may not have a query or fragment"));
    }
    if !is_sendable(&url) {
        return Err(refuse("has a host that no request can be sent to; replace placeholders, such as {tenant}"));
    }
    if url.scheme() == "http" && !allow_http && !is_loopback(&url) {
        return Err(refuse("is plain http, which would send the token unencrypted")
            .with_hint("use https://, or set allow_http in a network you trust"));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    if let Some(base) = OPERATIONS.iter().find_map(|operation| path.strip_suffix(operation)) {
        url.set_path(base);
        let right = url.as_str().trim_end_matches('/');
        return Err(refuse("ends with the path of an operation, which the client adds itself")
            .with_hint(format!("write {right}")));
    }
    url.set_path(&path);
    Ok(url)
}

/// What to write for the host alone, such as `localhost:18080`, and for `sandbox`.
fn instead_of(text: &str) -> Option<String> {
    if text.eq_ignore_ascii_case("sandbox") {
        return Some("the sandbox is base_url \"sandbox:demo\"".to_owned());
    }
    if text.contains("://") || text.contains(['@', '\\']) || text.contains(char::is_control) || shown(text).is_empty() {
        return None;
    }
    let mut url = Url::parse(&format!("http://{text}")).ok()?;
    let is_here = is_loopback(&url);
    // Another text may be a token.
    if !is_here && !url.host_str()?.contains('.') {
        return None;
    }
    url.set_query(None);
    url.set_fragment(None);
    let rest = url.as_str().strip_prefix("http")?.trim_end_matches('/');
    Some(format!("write {}{rest}", if is_here { "http" } else { "https" }))
}

/// What lets another program read another host in a URL than this one: browsers and the crate `url` take `\` for `/`,
/// drop tabs and line breaks, and need no `//`.
pub(super) fn ambiguity(text: &str) -> Option<&'static str> {
    if text.contains('\\') {
        return Some("has a backslash; write / between the parts of its path");
    }
    if text.contains(char::is_control) {
        return Some("has a tab, a line break or another control character");
    }
    let (_, rest) = text.split_once(':')?;
    let has_host = rest.strip_prefix("//").is_some_and(|host| !host.starts_with('/'));
    (!has_host).then_some("must begin with https:// and a host")
}

/// Characters of a base URL that an error shows.
const SHOWN: usize = 200;
/// A longer text without `://` may be a token.
const LONGEST_HOST: usize = 64;

/// Ways to write `@`: some are read as one only by programs that decode or normalize the host.
const AT: [&str; 4] = ["@", "%40", "\u{ff20}", "\u{fe6b}"];

/// A refused base URL in an error: without user, password, query and fragment, and not at all if it may be a token.
fn shown(text: &str) -> String {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    if scheme.is_none() && (text.len() > LONGEST_HOST || !text.contains(['.', ':'])) {
        return String::new();
    }
    let after_user = AT.iter().filter_map(|at| Some(text.rfind(at)? + at.len())).max();
    let host = scheme.map_or(0, |scheme| scheme.len() + 3).max(after_user.unwrap_or_default());
    let (before, rest) = text.split_at(host);
    let before = match (after_user, scheme) {
        (None, _) => before.to_owned(),
        (Some(_), Some(scheme)) if !AT.iter().any(|at| scheme.contains(at)) => format!("{scheme}://…@"),
        (Some(_), _) => "…@".to_owned(),
    };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    // What is no port may be a password, and what is encoded an `@`.
    let port = authority.split_once(':').filter(|(host, _)| !host.starts_with('['));
    let end = match port {
        _ if authority.contains('%') => Some(0),
        Some((host, port)) if !port.bytes().all(|byte| byte.is_ascii_digit()) => Some(host.len() + 1),
        _ => rest.find(['?', '#']).map(|end| end + 1),
    };
    let cut = end.and_then(|end| rest.get(..end)).map_or_else(|| rest.to_owned(), |kept| format!("{kept}…"));
    format!("`{}` ", excerpt(&format!("{before}{cut}"), SHOWN))
}

/// Whether an address never leaves this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Whether an address is of this machine in any spelling. No proxy leads there. The name of a resolver may still lead
/// elsewhere, so plain http must be allowed.
pub(super) fn is_here(url: &Url) -> bool {
    let is_here = |address: IpAddr| address.is_loopback() || address.is_unspecified();
    match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.').rsplit('.').next() == Some("localhost"),
        Some(Host::Ipv4(address)) => is_here(address.into()),
        Some(Host::Ipv6(address)) => is_here(IpAddr::V6(address).to_canonical()),
        None => false,
    }
}

/// Whether a request can be sent to the host: asks the libraries that send it.
pub(super) fn is_sendable(url: &Url) -> bool {
    let is_host = match url.host() {
        Some(Host::Domain(name)) => ServerName::try_from(name).is_ok(),
        host => host.is_some(),
    };
    is_host && url.as_str().parse::<Uri>().is_ok()
}
