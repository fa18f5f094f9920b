//! Where a sandbox listens, and the check of `Host`, `Origin` and `Sec-Fetch-Site` of each request.
//!
//! Other machines reach it only with `allow_remote` and a given token; no environment variable sets these.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode, header, uri::Authority};

use super::reply::Refusal;
use crate::error::{Error, Kind, Result};

/// Host names that mean the local machine.
const LOCAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
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

impl fmt::Debug for Access {
    /// Leaves out the tokens.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, allow_remote, host_names, .. } = self;
        write!(formatter, "Access({address}, allow_remote: {allow_remote}, host_names: {host_names:?})")
    }
}

impl Access {
    /// Rejects settings that would expose the sandbox by mistake.
    pub(super) fn check(&self) -> Result<()> {
        let refused = |problem: String, hint: &str| Err(Error::new(Kind::Config, problem).with_hint(hint));
        let is_local = self.address.is_loopback();
        if !is_local && !self.allow_remote {
            let problem = format!("host: {} can be reached by other machines", self.address);
            return refused(problem, "listen on 127.0.0.1 or ::1, or set allow_remote and two tokens of your own");
        }
        if self.allow_remote && (self.token.is_none() || self.admin_token.is_none()) {
            let problem = "allow_remote: other machines can reach the sandbox, so it needs two tokens of your own";
            return refused(problem.to_owned(), "set token and admin_token");
        }
        let token_length = if self.allow_remote { ADMIN_TOKEN_LENGTH } else { TOKEN_LENGTH };
        for (name, token, length) in
            [("token", &self.token, token_length), ("admin_token", &self.admin_token, ADMIN_TOKEN_LENGTH)]
        {
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
            return refused(
                format!("host_names: `{name}` is not the name of a host"),
                "write it as sandbox.example.com",
            );
        }
        Ok(())
    }

    /// Whether a host of a `Host` header or request target means this sandbox, on a connection to `local`.
    ///
    /// The local address is safe to accept: DNS rebinding forges names, not addresses.
    fn is_own_host(&self, host: &str, local: IpAddr) -> bool {
        let local = match local.to_canonical() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        let mut names =
            LOCAL_NAMES.into_iter().chain([local.as_str()]).chain(self.host_names.iter().map(String::as_str));
        names.any(|name| host.eq_ignore_ascii_case(name))
    }

    /// Rejects a request for another host or of a foreign web page; `local` is the server's address on the connection.
    ///
    /// Listening on loopback does not stop a web page whose name was rebound to it (DNS rebinding); this check does.
    pub(super) fn check_request(&self, request: &Parts, local: IpAddr) -> std::result::Result<(), Refusal> {
        let refused = |problem: &str| Err(Refusal::Problem(StatusCode::FORBIDDEN, problem.to_owned()));
        let is_own_host = |authority: &Authority| {
            let plain = !authority.as_str().contains('@');
            plain && self.is_own_host(authority.host(), local)
        };
        let host = only(&request.headers, header::HOST).and_then(|host| host.parse::<Authority>().ok());
        // A request target in absolute form, as sent to proxies, names a host too.
        if !host.as_ref().is_some_and(is_own_host) || !request.uri.authority().is_none_or(is_own_host) {
            let problem = "Host: the sandbox serves localhost, 127.0.0.1, [::1] and the names it was given only; \
                           host_names adds another";
            return refused(problem);
        }
        // An image of a foreign page is requested without `Origin`, but every browser says whose page asks.
        let mut asking = request.headers.get_all("sec-fetch-site").into_iter();
        if !asking.all(|site| site == "same-origin" || site == "none") {
            return refused("Sec-Fetch-Site: the sandbox serves no web page but its own");
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
}

/// The value of a header that occurs exactly once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).into_iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}
