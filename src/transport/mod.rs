//! One HTTP exchange: pool, TLS, proxy, time-outs, decompression. The only room that names the HTTP library.
//!
//! It sends once and never follows or retries behind our back; failures are told by type.

mod body;
mod connections;
mod encoding;
mod failure;
mod format;
mod inflate;
mod meter;
mod pool;
mod route;
mod stall;
mod tls;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::header::{self, HeaderName, HeaderValue};
use url::Url;

use self::body::Body;
use self::connections::{Outgoing, Sent, observe};
use self::encoding::Accepted;
pub use self::meter::Meter;
use self::pool::Pool;
use self::route::Route;
use crate::config::{Settings, Timeouts};
use crate::error::{Error, Kind, Result};
use crate::retry::retry_after;
use crate::secret::Secret;

/// What is read of an answer that is an error.
const ERROR_BODY_BYTES: usize = 64 << 10;

/// The connections to one service; a clone shares them.
#[derive(Clone, Debug)]
pub struct Transport {
    pool: Arc<Pool>,
    base_url: Url,
    accepted: Accepted,
    route: Route,
    timeouts: Timeouts,
    meter: Meter,
}

/// One request.
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

/// An answer whose body is still to come.
#[derive(Debug)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`, as one line.
    pub content_type: Option<String>,
    /// What `Retry-After` asks for.
    pub retry_after: Option<Duration>,
    /// Host of `Location`.
    pub location_host: Option<String>,
    body: Body,
}

impl Transport {
    /// Prepares the pool; connects to nothing.
    ///
    /// # Errors
    /// `Config` for authorities that cannot be read, and for encodings that are not known here.
    pub fn try_new(settings: &Settings) -> Result<Self> {
        let meter = Meter::default();
        Ok(Self {
            pool: Arc::new(Pool::try_new(settings, meter.connections.clone())?),
            base_url: settings.base_url.clone(),
            accepted: Accepted::of_settings(&settings.headers)?,
            route: Route::new(settings),
            timeouts: settings.timeouts.clone(),
            meter,
        })
    }

    /// Whether two settings connect in the same way.
    #[must_use]
    pub fn is_same(one: &Settings, other: &Settings) -> bool {
        let parts = |settings: &Settings| {
            let Settings { base_url, trust, proxy, headers, timeouts, .. } = settings.clone();
            (base_url, trust, proxy, headers, timeouts)
        };
        parts(one) == parts(other)
    }

    /// Sends a request and waits for the answer's headers.
    pub async fn post(&self, request: Request<'_>) -> Result<Response> {
        let url = format!("{}{}", self.base_url.as_str().trim_end_matches('/'), request.path);
        let mut authorization = HeaderValue::from_str(&format!("Bearer {}", request.token.expose()))
            .map_err(|_| Error::new(Kind::Config, "the token cannot be sent as a header"))?;
        authorization.set_sensitive(true);
        let client = self.pool.client();
        let (body, is_begun) = Outgoing::new(request.body);
        let mut sending = client
            .post(url)
            .header(header::AUTHORIZATION, authorization)
            .header("x-request-id", request.request_id)
            .body(reqwest::Body::wrap(body));
        if self.pool.closes() {
            sending = sending.header(header::CONNECTION, "close");
        }
        let Sent { outcome, has_connected } = observe(sending.send(), &is_begun, self.timeouts.connect).await;
        let response = outcome.ok_or_else(failure::unsent)?.map_err(|error| {
            let failure = failure::sending(error, &self.route);
            let is_lost = failure.kind() == Kind::ConnectionLost;
            if is_lost && !has_connected { failure.stale() } else { failure }
        })?;
        self.pool.check(response.headers())?;
        if let Some(refusal) = self.route.refusal(response.status().as_u16()) {
            return Err(refusal);
        }
        Ok(Response::new(response, self))
    }

    /// What was counted of all requests.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.meter
    }
}

impl Response {
    fn new(response: reqwest::Response, transport: &Transport) -> Self {
        let headers = response.headers();
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let date = text(header::DATE);
        let retry_after =
            text(header::RETRY_AFTER).and_then(|asked| retry_after(&asked, date.as_deref(), SystemTime::now()));
        let location_host = text(header::LOCATION)
            .and_then(|location| response.url().join(&location).ok())
            .and_then(|location| location.host_str().map(str::to_owned));
        Self {
            status: response.status().as_u16(),
            content_type: text(header::CONTENT_TYPE),
            retry_after,
            location_host,
            body: Body::new(response, transport),
        }
    }

    /// The next bytes of the body, decompressed, until the next call; nothing at its proper end.
    pub async fn chunk(&mut self) -> Result<Option<&[u8]>> {
        self.body.chunk().await
    }

    /// Bytes of the body that have come, compressed or not.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.body.received()
    }

    /// The beginning of a body that is told as an error; what cannot be read does not matter.
    pub async fn error_body(&mut self) -> Vec<u8> {
        self.body.beginning(ERROR_BODY_BYTES).await
    }
}
