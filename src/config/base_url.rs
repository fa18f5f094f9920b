//! The address of the service: what is refused, and what counts as this machine.

use url::{Host, Url};

use super::{Origin, environment};
use crate::error::{Error, Kind, Result};

/// The address given, or the environment's, checked.
pub(super) fn resolve(given: Option<String>, allow_http: bool, lookup: impl Fn(&str) -> Option<String>) -> Result<Url> {
    let (text, origin) = match given {
        Some(text) => (text, Origin::Argument("base_url")),
        None => match lookup(environment::BASE_URL) {
            Some(text) => (text, Origin::Environment(environment::BASE_URL)),
            None => {
                return Err(Error::new(Kind::Config, "no address of the service").with_hint(format!(
                    "give base_url= or set {}; Client(\"sandbox:demo\") needs neither account nor network",
                    environment::BASE_URL
                )));
            }
        },
    };
    check(&text, origin, allow_http)
}

fn check(text: &str, origin: Origin, allow_http: bool) -> Result<Url> {
    let refuse = |what: &str| Error::new(Kind::Config, format!("the address of the service ({origin}) {what}"));
    let mut url = Url::parse(text.trim()).map_err(|_| refuse("is no URL; write it as https://cdp.example.com"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(refuse("must begin with https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse("holds a user or password; give the token as token="));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refuse("may have no query and no fragment"));
    }
    if url.scheme() == "http" && !allow_http && !is_loopback(&url) {
        return Err(refuse("is plain http, which would show the token to everyone on the way")
            .with_hint("use https://, or allow_http=True in a network you trust"));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

/// Whether the host is this machine by its name or address.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
