//! The proxy to the service: of the setting or the environment, with the hosts that `NO_PROXY` exempts.

use std::fmt;

use hyper::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use percent_encoding::percent_decode_str;
use url::Url;

use super::{Origin, base_url, environment};
use crate::error::{Error, Kind, Result};

/// An HTTP proxy. Its URL may hold a password, so only host and port are shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Has a host, and the scheme `http` or `https`.
    pub url: Url,
    /// Which setting names it.
    pub origin: Origin,
}

impl Proxy {
    /// The proxy of the environment for the scheme of the service, but none to this machine.
    pub(super) fn of_environment(service: &Url, lookup: impl Fn(&str) -> Option<String>) -> Result<Option<Self>> {
        let first = |names: &[&'static str]| names.iter().find_map(|name| Some((*name, lookup(name)?)));
        let names = match service.scheme() {
            "https" => environment::HTTPS_PROXY.as_slice(),
            // In a CGI program the sender of a request chooses the value of `HTTP_PROXY`.
            _ if lookup(environment::REQUEST_METHOD).is_some() => environment::ALL_PROXY.as_slice(),
            _ => environment::HTTP_PROXY.as_slice(),
        };
        let Some((name, text)) = first(names).filter(|_| !base_url::is_here(service)) else { return Ok(None) };
        if first(&environment::NO_PROXY).is_some_and(|(_, list)| is_exempt(service, &list)) {
            return Ok(None);
        }
        // Variables may leave out the scheme.
        let text = if text.contains("://") { text } else { format!("http://{text}") };
        Self::try_new(&text, Origin::Environment(name)).map(Some)
    }

    /// The proxy of the setting.
    pub(super) fn of_setting(text: Option<&str>) -> Result<Option<Self>> {
        text.map(|text| Self::try_new(text, Origin::Setting("proxy"))).transpose()
    }

    /// Host and port.
    pub(super) fn address(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        format!("{host}:{}", self.url.port_or_known_default().unwrap_or_default())
    }

    /// The password, decoded.
    pub(super) fn password(&self) -> Option<String> {
        let password = percent_decode_str(self.url.password()?).decode_utf8_lossy();
        Some(password.into_owned()).filter(|password| !password.is_empty())
    }

    fn try_new(text: &str, origin: Origin) -> Result<Self> {
        let text = text.trim();
        let is_address = |url: &Url| {
            let is_host_alone = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
            matches!(url.scheme(), "http" | "https") && is_host_alone && base_url::is_sendable(url)
        };
        let source = origin.source();
        match Url::parse(text).ok().filter(|url| base_url::ambiguity(text).is_none() && is_address(url)) {
            Some(url) => Ok(Self { url, origin }),
            // The URL may hold a password: it is never quoted.
            None => Err(Error::new(
                Kind::Config,
                format!("proxy must be an http:// or https:// URL without a path, such as http://proxy:3128{source}"),
            )
            .with_hint("in a user or password, write @ as %40, # as %23, / as %2F, ? as %3F and \\ as %5C")),
        }
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the proxy {} ({})", self.address(), self.origin)
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// Whether a `NO_PROXY` list exempts the service: its host or a parent domain, an address, a network, or `*`.
///
/// hyper-util's [`Matcher`] decides. It takes neither spaces, ports, `*.` nor `*` for addresses, as other programs do.
fn is_exempt(service: &Url, list: &str) -> bool {
    let port = service.port_or_known_default();
    let entries = list.split([',', ' ']).map(split_port);
    let entries = entries.filter(|(_, wanted)| wanted.is_none_or(|wanted| Some(wanted) == port));
    let hosts: Vec<_> = entries.map(|(host, _)| host.trim_matches(['[', ']']).trim_end_matches('.')).collect();
    let list = hosts.iter().map(|host| host.trim_start_matches("*.")).collect::<Vec<_>>().join(",");
    let matcher = Matcher::builder().all("http://proxy").no(list).build();
    let host = service.host_str().unwrap_or_default().trim_end_matches('.');
    let is_matched = |uri: Uri| matcher.intercept(&uri).is_none();
    hosts.contains(&"*") || format!("http://{host}").parse().is_ok_and(is_matched)
}

fn split_port(entry: &str) -> (&str, Option<u16>) {
    match entry.rsplit_once(':') {
        // An IPv6 address without brackets has no port.
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            port.parse().map_or((entry, None), |port| (host, Some(port)))
        }
        _ => (entry, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_proxy_is_read_as_other_programs_read_it() {
        for (list, host, exempt) in [
            ("*", "https://cdp.example.com", true),
            ("example.com", "https://example.com", true),
            ("example.com", "https://cdp.example.com", true),
            (".example.com", "https://cdp.example.com", true),
            ("*.example.com", "https://cdp.example.com", true),
            ("EXAMPLE.com", "https://cdp.Example.com.", true),
            ("example.com", "https://badexample.com", false),
            ("cdp.example.com", "https://example.com", false),
            ("a.com, example.com", "https://cdp.example.com", true),
            ("a.com example.com", "https://cdp.example.com", true),
            (",, ,", "https://cdp.example.com", false),
            (".", "https://cdp.example.com", false),
            ("example.com:443", "https://cdp.example.com", true),
            ("example.com:8443", "https://cdp.example.com", false),
            ("example.com:8443", "https://cdp.example.com:8443", true),
            ("10.1.2.3", "https://10.1.2.3", true),
            ("10.1.2.3", "https://10.1.2.4", false),
            ("10.1.2.3:443", "https://10.1.2.3", true),
            ("10.1.2.3:80", "https://10.1.2.3", false),
            ("10.0.0.0/8", "https://10.200.0.1", true),
            ("10.0.0.0/8", "https://11.0.0.1", false),
            ("10.0.0.0/0", "https://11.0.0.1", true),
            ("10.0.0.0/eight", "https://10.0.0.1", false),
            ("10.0.0.0/33", "https://10.0.0.0", false),
            ("10.0.0.0/8", "https://ten.example.com", false),
            ("fd00::/8", "https://[fdab::1]", true),
            ("[fd00::1]", "https://[fd00::1]", true),
            ("[fd00::1]:443", "https://[fd00::1]", true),
            ("[fd00::1]:80", "https://[fd00::1]", false),
            ("fd00::1", "https://[fd00::2]", false),
            ("*", "https://10.1.2.3", true),
        ] {
            let service = Url::parse(host).expect(host);
            assert_eq!(is_exempt(&service, list), exempt, "{list} for {host}");
        }
    }

    fn resolve(service: &str, variables: &[(&str, &str)]) -> Result<Option<(String, Origin)>> {
        let lookup =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let service = Url::parse(service).expect(service);
        Ok(Proxy::of_environment(&service, lookup)?.map(|proxy| {
            assert!(!format!("{proxy} {proxy:?}").contains("hunter2"));
            (proxy.address(), proxy.origin)
        }))
    }

    #[test]
    fn the_variable_for_the_scheme_of_the_service_is_used() {
        let far = "https://cdp.example.com";
        for (service, variables, expected) in [
            (far, [("HTTPS_PROXY", "http://p:1"), ("ALL_PROXY", "http://q:2")], Some(("p:1", "HTTPS_PROXY"))),
            (far, [("https_proxy", "http://p:1"), ("HTTPS_PROXY", "http://q:2")], Some(("p:1", "https_proxy"))),
            (far, [("HTTP_PROXY", "http://p:1"), ("ALL_PROXY", "q:2")], Some(("q:2", "ALL_PROXY"))),
            (far, [("HTTPS_PROXY", "http://u:hunter2@p"), ("", "")], Some(("p:80", "HTTPS_PROXY"))),
            (far, [("HTTPS_PROXY", "u:hunter2@p:3128"), ("", "")], Some(("p:3128", "HTTPS_PROXY"))),
            (far, [("HTTPS_PROXY", "http://p:1"), ("NO_PROXY", "example.com")], None),
            ("http://cdp.example.com", [("HTTP_PROXY", "http://p:1"), ("", "")], Some(("p:1", "HTTP_PROXY"))),
            ("http://cdp.example.com", [("HTTP_PROXY", "http://p:1"), ("REQUEST_METHOD", "GET")], None),
            ("http://cdp.example.com", [("HTTPS_PROXY", "http://p:1"), ("", "")], None),
            (far, [("HTTPS_PROXY", "http://p:1"), ("REQUEST_METHOD", "GET")], Some(("p:1", "HTTPS_PROXY"))),
            ("https://localhost:1", [("HTTPS_PROXY", "http://p:1"), ("", "")], None),
            ("https://127.1.2.3:1", [("ALL_PROXY", "http://p:1"), ("", "")], None),
            ("https://[::1]:1", [("ALL_PROXY", "http://p:1"), ("", "")], None),
        ] {
            let expected = expected.map(|(address, name)| (address.to_owned(), Origin::Environment(name)));
            assert_eq!(resolve(service, &variables).expect("a proxy or none"), expected, "{variables:?}");
        }
    }

    #[test]
    fn an_unsupported_proxy_is_refused_without_being_quoted() {
        for refused in [
            "socks5://u:hunter2@p:1",
            r"http://u\hunter2:pw@p:1",
            "http://p\thunter2:1",
            r"http:\\hunter2",
            "http:///hunter2",
        ] {
            let error = resolve("https://cdp.example.com", &[("ALL_PROXY", refused)]).expect_err(refused);
            assert_eq!(error.kind(), Kind::Config);
            assert!(error.message().starts_with("proxy ") && error.message().ends_with("(from ALL_PROXY)"), "{error}");
            assert!(!error.message().contains("hunter2"));
        }
        for ambiguous in ["http:p:3128", r"http://p\@q", "http://p\n.example.com"] {
            assert!(Proxy::of_setting(Some(ambiguous)).is_err(), "{ambiguous}");
        }
        assert!(Proxy::of_setting(Some("http://u:p%5C@proxy:3128\n")).is_ok());
    }
}
