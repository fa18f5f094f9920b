//! The way to the service: directly or through a proxy, and who on it is to blame when it is closed.

use std::error::Error as StdError;
use std::time::Duration;

use reqwest::ClientBuilder;

use super::{failure, tls};
use crate::config::{Proxy, Settings, Trust};
use crate::error::{Error, Kind, Phase, Result};

/// What the HTTP library calls a tunnel that a proxy does not open. Its type cannot be named, so that these texts, alone
/// of all, decide something; a test sees them change.
const TUNNEL: &str = "tunnel error: ";
/// The same, when the proxy wants another password.
const PASSWORD: &str = "proxy authorization required";

/// Who is met on the way.
#[derive(Clone, Debug)]
pub(super) struct Route {
    /// Host and port, as messages call it.
    pub(super) service: String,
    /// Whether the service speaks no TLS.
    pub(super) is_plain: bool,
    /// Whom TLS trusts.
    pub(super) trust: Trust,
    proxy: Option<Proxy>,
    /// For a connection.
    limit: Duration,
}

impl Route {
    pub(super) fn new(settings: &Settings) -> Self {
        let host = settings.base_url.host_str().unwrap_or_default();
        Self {
            service: settings.base_url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
            is_plain: settings.base_url.scheme() == "http",
            trust: settings.trust.clone(),
            proxy: settings.proxy.clone(),
            limit: settings.timeouts.connect,
        }
    }

    /// The proxy of the settings, which have read the environment already, or none.
    pub(super) fn configure(&self, builder: ClientBuilder) -> Result<ClientBuilder> {
        let builder = builder.no_proxy();
        let Some(proxy) = &self.proxy else { return Ok(builder) };
        let taken = reqwest::Proxy::all(proxy.url.clone());
        Ok(builder.proxy(taken.map_err(|error| failure::setup(error, &proxy.to_string()))?))
    }

    /// A connection that did not come about.
    pub(super) fn connect_error(&self, error: &reqwest::Error) -> Error {
        let refusal = failure::find::<rustls::Error>(error);
        let Some(proxy) = &self.proxy else {
            return match refusal {
                Some(refusal) => tls::refused(refusal, &self.service, &self.trust),
                None => failure::connecting(error, &self.service, self.limit),
            };
        };
        let (tunnel, through) = (tunnel(error), format!("{} through {proxy}", self.service));
        // In a tunnel that is open it is the service who answers, and else the proxy.
        let is_open = !self.is_plain && tunnel.is_none();
        match (refusal, tunnel) {
            (Some(refusal), _) if is_open => tls::refused(refusal, &self.service, &self.trust),
            (Some(refusal), _) => by_proxy(&tls::refused(refusal, &proxy.to_string(), &self.trust)),
            (None, Some((what, None))) => self.refused(proxy, &what),
            _ if is_open => by_proxy(&failure::connecting(error, &through, self.limit)),
            _ => by_proxy(&failure::connecting(error, &proxy.to_string(), self.limit)),
        }
    }

    /// The failure that an answer is, if it is a proxy's and not the service's.
    pub(super) fn refusal(&self, status: u16) -> Option<Error> {
        let proxy = self.proxy.as_ref().filter(|_| self.is_plain && status == 407)?;
        Some(self.refused(proxy, PASSWORD))
    }

    /// The proxy has answered, but not as it should.
    fn refused(&self, proxy: &Proxy, what: &str) -> Error {
        let service = &self.service;
        let failed =
            |message: String| Error::new(Kind::Proxy, message).with(|details| details.phase = Some(Phase::Proxy));
        if what == PASSWORD {
            return failed(format!(
                "{proxy} refused the way to {service}: it wants another user and password (HTTP 407)"
            ))
            .with(|details| details.status = Some(407))
            .with_hint("write user and password into the proxy's address, as http://user:password@proxy:3128");
        }
        failed(format!("{proxy} opened no way to {service}: {what}"))
            .with_hint("it does not let us through, cannot reach the service, or is no proxy")
            .retryable()
    }
}

/// The same failure, of a proxy and not of the service.
fn by_proxy(error: &Error) -> Error {
    let told = Error::new(Kind::Proxy, error.message()).with(|details| details.phase = Some(Phase::Proxy));
    let told = if error.is_retryable() { told.retryable() } else { told };
    match error.hint() {
        Some(hint) => told.with_hint(hint),
        None => told,
    }
}

/// What the HTTP library says of a tunnel that is not open, and why, if that is no answer of the proxy.
fn tunnel(error: &reqwest::Error) -> Option<(String, Option<&(dyn StdError + 'static)>)> {
    let mut next: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = next {
        next = error.source();
        if let Some(what) = error.to_string().strip_prefix(TUNNEL) {
            return Some((what.to_owned(), next));
        }
    }
    None
}
