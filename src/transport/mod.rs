//! One HTTP exchange: pool, TLS, proxy, time-outs, decompression. The only module that uses reqwest.
//!
//! Sends a request once: follows no redirect and retries nothing.

mod body;
mod compression;
mod connections;
mod failure;
mod headers;
mod pool;
mod recorder;
mod route;
#[cfg(any(test, feature = "testing"))]
mod testing;
mod tls;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use reqwest::header::{self, HeaderName, HeaderValue};
use serde::Serialize;
use tokio::task::yield_now;
use url::Url;

use self::body::Body;
use self::compression::Accepted;
use self::connections::{ObservedBody, after_ready_tasks, observe};
pub use self::headers::Headers;
use self::recorder::{Exchange, Recorder};
#[cfg(any(test, feature = "testing"))]
pub use self::testing::{Reply, Respond, Step};
use crate::config::{Connection, Trust};
use crate::contract::SANDBOX_SERVER;
use crate::error::{Error, Kind, Result, Retry};
use crate::retry::{retry_after, retry_after_ms, should_retry};
use crate::secret::Secret;

/// Most bytes that are read of an error's body.
const ERROR_BODY_BYTES: usize = 64 << 10;
/// Services that proved to be a sandbox, until [`sandboxes_met`] takes them.
static SANDBOXES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The connections to one service. Clones share them.
#[derive(Clone, Debug)]
pub struct Transport {
    pool: reqwest::Client,
    settings: Arc<Connection>,
    accepted: Accepted,
    meter: Arc<Meter>,
    recorder: Option<Arc<Recorder>>,
    /// What no text may repeat, beside the token.
    secrets: Arc<[String]>,
    /// Of the last request. Most are for the same path and with the same token.
    last: Arc<ArcSwapOption<Prepared>>,
    /// Replies in place of connections.
    #[cfg(any(test, feature = "testing"))]
    service: Option<testing::Service>,
}

/// The parts of a request that depend on its path and token alone.
#[derive(Debug)]
struct Prepared {
    path: String,
    url: Url,
    token: Secret,
    authorization: HeaderValue,
}

/// Counters of all calls over the same connections, since the first of their clients was made.
#[derive(Debug, Default, Serialize)]
pub struct Meter {
    /// Requests sent, including retries.
    pub requests: AtomicU64,
    /// Requests retried after a failure, as `retry_for` allows.
    pub retries: AtomicU64,
    /// Requests retried at once, because the service had closed the idle connection they were sent on.
    pub free_retries: AtomicU64,
    /// Responses that asked to slow down.
    pub throttled: AtomicU64,
    /// Requests whose response has not ended yet.
    pub in_flight: AtomicU64,
    /// Bytes of response bodies as received: compressed, if they were.
    pub bytes_received: AtomicU64,
    /// Connections opened.
    pub connections_opened: AtomicU64,
    /// Whether a response came from the sandbox.
    #[serde(skip)]
    pub is_sandbox: AtomicBool,
}

/// Counts a request as in flight until it is dropped.
pub struct InFlight<'a>(&'a Meter);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Meter {
    /// Counts one more in one of the counters.
    pub fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request that is about to be sent.
    pub fn count_request(&self) -> InFlight<'_> {
        Self::count(&self.requests);
        Self::count(&self.in_flight);
        InFlight(self)
    }

    /// Notes that a response came from the sandbox, if its `Server` is the sandbox.
    fn look_at_server(&self, server: Option<&HeaderValue>, base_url: &Url) {
        let is_sandbox = server.is_some_and(|server| server == SANDBOX_SERVER);
        if is_sandbox && !self.is_sandbox.swap(true, Ordering::Relaxed) {
            SANDBOXES.lock().unwrap_or_else(PoisonError::into_inner).push(base_url.to_string());
        }
    }
}

/// The addresses of services that proved to be a sandbox since the last call, once for each connection pool.
pub fn sandboxes_met() -> Vec<String> {
    std::mem::take(&mut *SANDBOXES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A request.
#[derive(Debug)]
pub struct Request<'a> {
    /// Path below the base URL.
    pub path: &'a str,
    /// JSON.
    pub body: Bytes,
    /// The bearer token.
    pub token: &'a Secret,
    /// Value of `X-Request-Id`.
    pub request_id: &'a str,
}

/// A response whose body is not yet read.
#[derive(Debug)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`, as one line.
    pub content_type: Option<String>,
    /// The delay that `retry-after-ms` asks for, or else `Retry-After`.
    pub retry_after: Option<Duration>,
    /// Whether the service wants the request again: `x-should-retry`.
    pub should_retry: Option<bool>,
    /// `Date`: the time of the service.
    pub date: Option<SystemTime>,
    /// Why something on the way or the service refuses: `Proxy-Status` (RFC 9209) or `WWW-Authenticate`.
    pub reason: Option<String>,
    /// Host of `Location`.
    pub location_host: Option<String>,
    /// Those that help to find the request in the logs of the service. They can be taken once.
    pub headers: Option<Headers>,
    body: Body,
    exchange: Option<Exchange>,
}

const PROXY_STATUS: HeaderName = HeaderName::from_static("proxy-status");
const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

impl Transport {
    /// Prepares the pool; does not connect.
    ///
    /// # Errors
    /// `Config` for CA certificates that cannot be read, and for unsupported encodings; `File` for a recording that
    /// cannot be written.
    pub fn try_new(settings: &Arc<Connection>) -> Result<Self> {
        let (meter, accepted) = (Arc::<Meter>::default(), Accepted::of_settings(&settings.headers)?);
        Ok(Self {
            pool: pool::client(settings, &accepted, Arc::clone(&meter))?,
            settings: Arc::clone(settings),
            accepted,
            meter,
            recorder: settings.record.as_ref().map(|path| Recorder::open(path, settings.secrets())).transpose()?,
            secrets: settings.secrets().into(),
            last: Arc::default(),
            #[cfg(any(test, feature = "testing"))]
            service: None,
        })
    }

    /// The same, but a function replies to the requests.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn of_service(self, respond: Respond) -> Self {
        Self { service: Some(testing::Service(respond)), ..self }
    }

    /// The settings that `try_new` would refuse, each with its error, if others are refused before. What many programs
    /// share may not be used.
    pub fn refused(trust: &Trust, headers: &[(String, String)]) -> Vec<(&'static str, Error)> {
        let certificates = if trust.is_ours() { tls::check(trust) } else { Ok(()) };
        let checks = [("ca_bundle", certificates), ("headers", Accepted::of_settings(headers).map(drop))];
        checks.into_iter().filter_map(|(name, checked)| Some((name, checked.err()?))).collect()
    }

    /// Sends a request and waits for the response headers.
    pub async fn post(&self, request: Request<'_>) -> Result<Response> {
        let token = request.token;
        let Some(recorder) = &self.recorder else {
            return self.send(request).await.map(|sent| Response::new(sent, self, token));
        };
        let mut exchange = recorder.begin(&request);
        match self.send(request).await {
            Ok(sent) => {
                exchange.responded(sent.status().as_u16(), sent.headers());
                Ok(Response { exchange: Some(exchange), ..Response::new(sent, self, token) })
            }
            Err(error) => exchange.end(Some(error.message())).and(Err(error)),
        }
    }

    /// Lets the pool drop the idle connections that the service has closed.
    pub async fn look_at_sockets() {
        // The runtime polls the sockets first, and then the connections that this woke.
        yield_now().await;
        after_ready_tasks().await;
    }

    async fn send(&self, request: Request<'_>) -> Result<reqwest::Response> {
        #[cfg(any(test, feature = "testing"))]
        if let Some(service) = &self.service {
            return service.send(request).await;
        }
        let prepared = self.prepare(request.path, request.token)?;
        let (body, send_started) = ObservedBody::new(request.body);
        let sending = self
            .pool
            .post(prepared.url.clone())
            .header(header::AUTHORIZATION, prepared.authorization.clone())
            .header(&REQUEST_ID, request.request_id)
            .body(reqwest::Body::wrap(body));
        let (outcome, has_connected) = observe(sending.send(), &send_started, self.settings.timeouts.connect).await;
        let response = match outcome.ok_or_else(failure::never_sent)? {
            Ok(response) => response,
            Err(error) => {
                let is_refused = route::is_refused(&error);
                let status = if is_refused { pool::status_of_tunnel(&self.settings).await } else { None };
                let failure = failure::sending(error, &self.settings, status);
                let is_lost = failure.kind() == Kind::ConnectionLost;
                return Err(if is_lost && !has_connected { failure.retried(Retry::AtOnce) } else { failure });
            }
        };
        pool::check_coding(response.headers())?;
        if let Some(refusal) = route::proxy_error(&self.settings, response.status().as_u16()) {
            return Err(refusal);
        }
        Ok(response)
    }

    fn prepare(&self, path: &str, token: &Secret) -> Result<Arc<Prepared>> {
        if let Some(last) = self.last.load_full().filter(|last| last.path == path && last.token == *token) {
            return Ok(last);
        }
        let url = format!("{}{path}", self.settings.base_url.as_str().trim_end_matches('/'));
        let url = Url::parse(&url)
            .map_err(|error| Error::new(Kind::Config, "path cannot be part of a URL").with_source(error))?;
        let mut authorization = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
            .map_err(|_| Error::new(Kind::Config, "token cannot be sent as a header"))?;
        authorization.set_sensitive(true);
        let prepared = Arc::new(Prepared { path: path.to_owned(), url, token: token.clone(), authorization });
        self.last.store(Some(Arc::clone(&prepared)));
        Ok(prepared)
    }

    /// What no text may repeat, beside the token.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(String::as_str)
    }

    /// The counters of all requests.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }
}

impl Response {
    fn new(response: reqwest::Response, transport: &Transport, token: &Secret) -> Self {
        let headers = response.headers();
        transport.meter.look_at_server(headers.get(header::SERVER), &transport.settings.base_url);
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let date = headers.get(header::DATE).and_then(|value| value.to_str().ok());
        let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
        let in_milliseconds = text(RETRY_AFTER_MS).and_then(|value| retry_after_ms(&value));
        let in_seconds = || retry_after(&text(header::RETRY_AFTER)?, date.unwrap_or_else(SystemTime::now));
        let location_host = text(header::LOCATION)
            .and_then(|location| response.url().join(&location).ok())
            .and_then(|location| location.host_str().map(str::to_owned));
        Self {
            status: response.status().as_u16(),
            content_type: text(header::CONTENT_TYPE),
            retry_after: in_milliseconds.or_else(in_seconds),
            should_retry: text(SHOULD_RETRY).and_then(|value| should_retry(&value)),
            date,
            reason: text(PROXY_STATUS).or_else(|| text(header::WWW_AUTHENTICATE)),
            location_host,
            headers: Some(Headers::new(headers, token, &transport.secrets)),
            body: Body::new(response, transport),
            exchange: None,
        }
    }

    /// Returns the next bytes of the body, decompressed, or nothing at the end of a complete body.
    pub async fn chunk(&mut self) -> Result<Option<&[u8]>> {
        let chunk = self.body.chunk().await;
        if let Some(exchange) = &mut self.exchange {
            exchange.received(&chunk)?;
        }
        chunk
    }

    /// Bytes of the body received, compressed or not.
    pub fn received(&self) -> u64 {
        self.body.source.received
    }

    /// Returns the beginning of an error's body, as far as it can be read, and why it could not be read further.
    pub async fn error_body(&mut self) -> (Vec<u8>, Option<Error>) {
        let mut body = Vec::new();
        let mut failure = None;
        while body.len() < ERROR_BODY_BYTES && failure.is_none() {
            match self.chunk().await {
                Ok(Some(chunk)) => body.extend_from_slice(chunk),
                Ok(None) => break,
                Err(error) => failure = Some(error),
            }
        }
        body.truncate(ERROR_BODY_BYTES);
        (body, failure)
    }
}
