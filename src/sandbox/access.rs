//! Where a sandbox listens, and the check of `Host`, `Origin` and `Sec-Fetch-Site` of each request.
//!
//! Other machines reach it only with `allow_remote` and a given token; no environment variable sets these.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use axum::http::request::Parts;
use axum::http::{StatusCode, uri::Authority};

use super::reply::Refusal;
use crate::error::{Error, Kind, Result};

const HOST: &str = "Host: the sandbox serves localhost, 127.0.0.1, [::1] and the names it was given only; \
                    host_names adds another";
/// Minimum length of a given token, for a sandbox of this machine alone.
const TOKEN_LENGTH: usize = 16;
/// Minimum length of a given admin token, and of a given token where other machines can try some.
const ADMIN_TOKEN_LENGTH: usize = 32;

/// Who can reach a sandbox, and how.
#[derive(Clone, PartialEq, Eq)]
pub struct Access {
    /// Address to listen on.
    pub address: IpAddr,
    /// Allows an address that other machines can reach.
    pub allow_remote: bool,
    /// A token with every scope of the specification, needed with `allow_remote` as the admin token is.
    pub token: Option<String>,
    /// The token of the control routes; none is a random one.
    pub admin_token: Option<String>,
    /// Names by which the sandbox may be addressed, beside its own address.
    pub host_names: Vec<String>,
}

impl Default for Access {
    fn default() -> Self {
        let (token, admin_token, host_names) = Default::default();
        Self { address: Ipv4Addr::LOCALHOST.into(), allow_remote: false, token, admin_token, host_names }
    }
}

impl Access {
    /// Rejects settings that would expose the sandbox by mistake.
    pub(super) fn check(&self) -> Result<()> {
        let refused = |problem: String, hint: &str| Err(Error::new(Kind::Config, problem).with_hint(hint));
        if !self.address.is_loopback() && !self.allow_remote {
            let problem = format!("host: {} can be reached by other machines", self.address);
            return refused(problem, "listen on 127.0.0.1 or ::1, or set allow_remote and two tokens of your own");
        }
        if self.allow_remote && (self.token.is_none() || self.admin_token.is_none()) {
            let problem = "allow_remote: other machines can reach the sandbox, so it needs two tokens of your own";
            return refused(problem.to_owned(), "set token and admin_token");
        }
        let length = if self.allow_remote { ADMIN_TOKEN_LENGTH } else { TOKEN_LENGTH };
        let tokens = [("token", &self.token, length), ("admin_token", &self.admin_token, ADMIN_TOKEN_LENGTH)];
        for (name, token, length) in tokens {
            let is_plain = |token: &String| token.len() >= length && token.bytes().all(|byte| byte.is_ascii_graphic());
            if !token.as_ref().is_none_or(is_plain) {
                let problem = format!("{name}: it needs {length} or more visible ASCII characters and no blanks");
                return refused(problem, "secrets.token_hex() makes one");
            }
        }
        if self.admin_token.is_some() && self.admin_token == self.token {
            let problem = "admin_token: it is the same as token".to_owned();
            return refused(problem, "give each a token of its own: who may search may not control the sandbox");
        }
        let is_name = |name: &String| !name.is_empty() && !name.contains(['/', '@', ':', '*', ' ']);
        if let Some(name) = self.host_names.iter().find(|name| !is_name(name)) {
            let problem = format!("host_names: `{name}` is not the name of a host");
            return refused(problem, "write it as sandbox.example.com");
        }
        Ok(())
    }

    /// Whether a host of a `Host` header or request target means this sandbox, on a connection to `local`, whose address
    /// is safe to accept: DNS rebinding forges names, not addresses.
    fn is_own(&self, host: &Authority, local: IpAddr) -> bool {
        let name = host.host();
        match name.trim_matches(['[', ']']).parse::<IpAddr>() {
            _ if host.as_str().contains('@') => false,
            Ok(address) => {
                let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
                loopback.contains(&address) || address == local.to_canonical()
            }
            Err(_) => {
                let mut names = self.host_names.iter().map(String::as_str).chain(["localhost"]);
                names.any(|own| own.eq_ignore_ascii_case(name))
            }
        }
    }

    /// Rejects a request for another host or of a foreign web page; `local` is the server's address on the connection.
    ///
    /// Listening on loopback does not stop a web page whose name was rebound to it (DNS rebinding); this check does.
    pub(super) fn check_request(&self, request: &Parts, local: IpAddr) -> std::result::Result<(), Refusal> {
        let refused = |problem: &str| Err(Refusal::Problem(StatusCode::FORBIDDEN, problem.to_owned()));
        let values = |name: &str| request.headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default());
        let hosts: Vec<Option<Authority>> = values("host").map(|host| host.parse().ok()).collect();
        // A request target in absolute form, as sent to proxies, names a host too.
        let target = request.uri.authority();
        let [Some(host)] = &hosts[..] else { return refused(HOST) };
        if !self.is_own(host, local) || !target.is_none_or(|target| self.is_own(target, local)) {
            return refused(HOST);
        }
        // An image of a foreign page is requested without `Origin`, but every browser says whose page asks.
        if !values("sec-fetch-site").all(|site| site == "same-origin" || site == "none") {
            return refused("Sec-Fetch-Site: the sandbox serves no web page but its own");
        }
        // A page of this service has the same host as the request.
        if !values("origin").all(|origin| origin.eq_ignore_ascii_case(&format!("http://{host}"))) {
            return refused("Origin: the sandbox serves no web page but its own");
        }
        Ok(())
    }
}
