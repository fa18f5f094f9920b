//! The connections that wait for the next request, and what happens when one of them is in doubt.
//!
//! The HTTP library cannot drop a single connection. So the first ambiguous response ends them all, and from then on
//! each request asks for its connection to be closed behind it, until a response is unambiguous. Connections in use
//! serve their responses to the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect;

use super::connections::Observed;
use super::encoding::Accepted;
use super::route::Route;
use super::{failure, tls};
use crate::config::{Settings, Timeouts};
use crate::error::{Error, Kind, Result};

/// Shorter than the idle time-outs of usual servers, so that we let go first.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);

/// The HTTP library's client, which holds the connections; another one holds none of them.
#[derive(Debug)]
pub(super) struct Pool {
    settings: Settings,
    opened: Arc<AtomicU64>,
    client: ArcSwap<reqwest::Client>,
    /// Whether a connection serves one request only.
    closes: AtomicBool,
}

impl Pool {
    /// Connects to nothing. Connections are counted in `opened` as they come about.
    ///
    /// # Errors
    /// `Config` for authorities that cannot be read, and for headers that cannot be sent.
    pub(super) fn try_new(settings: &Settings, opened: Arc<AtomicU64>) -> Result<Self> {
        let client = ArcSwap::from_pointee(client(settings, opened.clone())?);
        Ok(Self { settings: settings.clone(), opened, client, closes: AtomicBool::new(false) })
    }

    /// For one request.
    pub(super) fn client(&self) -> Arc<reqwest::Client> {
        self.client.load_full()
    }

    /// Whether a request must ask for its connection to be closed behind it.
    pub(super) fn closes(&self) -> bool {
        self.closes.load(Ordering::Relaxed)
    }

    /// Looks at the headers of a response. Where they are in doubt no connection is used again: not those that wait
    /// now, and none that serves a request until a response is in no doubt.
    ///
    /// # Errors
    /// As for a new pool.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<()> {
        let has_ambiguous_length = has_ambiguous_length(headers);
        if !self.closes.swap(has_ambiguous_length, Ordering::Relaxed) && has_ambiguous_length {
            self.client.store(Arc::new(client(&self.settings, self.opened.clone())?));
        }
        Ok(())
    }
}

/// Whether an answer says in two ways where it ends (RFC 9112, 6.1). Its chunks count, but what comes after them on the
/// same connection may have been meant as a part of it by whoever went by the length.
fn has_ambiguous_length(headers: &HeaderMap) -> bool {
    headers.contains_key(header::TRANSFER_ENCODING) && headers.contains_key(header::CONTENT_LENGTH)
}

fn client(settings: &Settings, opened: Arc<AtomicU64>) -> Result<reqwest::Client> {
    let builder = reqwest::Client::builder()
        .user_agent(concat!("dataaccess/", env!("CARGO_PKG_VERSION")))
        .default_headers(default_headers(settings)?)
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .http1_only()
        .connect_timeout(settings.timeouts.connect)
        .tcp_keepalive(settings.timeouts.keep_alive)
        .tcp_keepalive_interval(settings.timeouts.keep_alive)
        .tcp_keepalive_retries(Timeouts::KEEP_ALIVE_PROBES)
        .connector_layer(Observed::new(opened))
        .pool_idle_timeout(IDLE_TIMEOUT);
    let builder = Route::new(settings).configure(tls::configure(builder, settings)?)?;
    builder.build().map_err(|error| failure::setup(error, "the HTTP client"))
}

fn default_headers(settings: &Settings) -> Result<HeaderMap> {
    let mut map = HeaderMap::new();
    for (name, value) in &settings.headers {
        let refuse = || Error::new(Kind::Config, format!("headers= cannot be sent: {name}"));
        let name = HeaderName::try_from(name.as_str()).map_err(|_| refuse())?;
        map.append(name, HeaderValue::from_str(value).map_err(|_| refuse())?);
    }
    map.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    map.insert(header::ACCEPT_ENCODING, Accepted::of_settings(&settings.headers)?.header());
    map.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(map)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use tokio::time::Instant;

    use super::*;
    use crate::config::Arguments;
    use crate::error::Phase;
    use crate::secret::Secret;
    use crate::transport::{Request, Transport};

    #[tokio::test(start_paused = true)]
    async fn a_connection_has_ten_seconds_to_come_about() {
        // It is taken into the queue, and nobody answers its handshake.
        let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("https://{}", silent.local_addr().expect("its address"));
        let arguments = Arguments {
            base_url: Some(address),
            timezone: "UTC".to_owned(),
            timeout: 300.0,
            retries: None,
            concurrency: 8,
            requests_per_second: None,
            max_response_bytes: 1 << 30,
            max_buffered_bytes: 64 << 20,
            ca_bundle: None,
            proxy: None,
            allow_http: false,
            headers: Vec::new(),
            strict_empty: false,
            time_scale: 1,
        };
        let transport = Transport::try_new(&Settings::resolve(arguments, |_| None).expect("settings")).expect("a pool");
        let token = Secret::try_new("tok".to_owned()).expect("a token");
        let request = Request { path: "/", body: "{}".into(), token: &token, request_id: "1" };
        let began = Instant::now();
        let error = transport.post(request).await.expect_err("no answer");
        assert_eq!(began.elapsed().as_secs(), 10);
        assert_eq!(error.kind(), Kind::RequestTimeout);
        assert_eq!(error.details().phase, Some(Phase::Connect));
        assert!(error.message().ends_with("within 10 s"), "{}", error.message());
    }
}
