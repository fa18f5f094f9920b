//! Where a sandbox listens, and by which names it may be addressed.
//!
//! Other machines reach it only with `allow_remote` and a given token; no environment variable sets these.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use crate::error::{Error, Kind, Result};

/// Host names that mean the local machine.
const LOCAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// Minimum length of a given token, so that it cannot be guessed over the network.
const TOKEN_LENGTH: usize = 16;

/// Who can reach a sandbox, and how.
#[derive(Clone, PartialEq, Eq)]
pub struct Access {
    /// Address to listen on.
    pub address: IpAddr,
    /// Allows an address that other machines can reach.
    pub allow_remote: bool,
    /// A token with every scope of the document, needed with `allow_remote`.
    pub token: Option<String>,
    /// Names by which the sandbox may be addressed, beside its own address.
    pub host_names: Vec<String>,
}

impl Default for Access {
    fn default() -> Self {
        Self { address: Ipv4Addr::LOCALHOST.into(), allow_remote: false, token: None, host_names: Vec::new() }
    }
}

impl fmt::Debug for Access {
    /// Leaves out the token.
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
            return refused(problem, "listen on 127.0.0.1 or ::1, or give allow_remote=True and a token of your own");
        }
        if self.allow_remote && self.token.is_none() {
            let problem = "allow_remote: a sandbox that other machines can reach needs a token of your own";
            return refused(problem.to_owned(), "give token=");
        }
        let is_plain =
            |token: &String| token.len() >= TOKEN_LENGTH && token.bytes().all(|byte| byte.is_ascii_graphic());
        if !self.token.as_ref().is_none_or(is_plain) {
            let problem = format!("token: it needs {TOKEN_LENGTH} or more visible ASCII characters and no blanks");
            return refused(problem, "secrets.token_hex() makes one");
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
    pub(super) fn is_own_host(&self, host: &str, local: IpAddr) -> bool {
        let local = match local.to_canonical() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        let mut names =
            LOCAL_NAMES.into_iter().chain([local.as_str()]).chain(self.host_names.iter().map(String::as_str));
        names.any(|name| host.eq_ignore_ascii_case(name))
    }
}
