//! The connections of one service, as reqwest keeps them.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, redirect};

use super::compression::Accepted;
use super::connections::observed;
use super::{Meter, failure, route, tls};
use crate::config::{Connection, Timeouts};
use crate::error::{Error, Kind, Result, excerpt};

/// Shorter than the idle time-outs of common servers, so that the client closes first.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);

/// Most headers of a response. Each one that is allowed takes time for every response, also where it is not sent.
const MOST_HEADERS: usize = 256;

/// Most characters of a header in an error message.
const SHOWN: usize = 40;

/// The status with which a proxy refuses the tunnel. reqwest keeps it to itself, so the proxy is asked once more, with no
/// header of the settings.
pub(super) async fn status_of_tunnel(settings: &Connection) -> Option<u16> {
    let url = &settings.base_url;
    // Of the scheme `http`, so that the response of the proxy is the result.
    let url = format!("http://{}:{}", url.host_str()?, url.port_or_known_default()?);
    let builder = reqwest::Client::builder().redirect(redirect::Policy::none()).http1_only();
    let builder = builder.timeout(settings.timeouts.connect);
    let builder = route::configure(tls::configure(builder, settings).ok()?, settings).ok()?;
    let response = builder.build().ok()?.request(Method::CONNECT, url).send().await.ok()?;
    Some(response.status().as_u16()).filter(|status| *status >= 300)
}

/// Refuses transfer codings that are more than chunks: reqwest decodes no other.
pub(super) fn check_coding(headers: &HeaderMap) -> Result<()> {
    let values = headers.get_all(header::TRANSFER_ENCODING).iter();
    let values: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase()).collect();
    let codings = values.join(",");
    let mut others = codings.split(',').map(str::trim).skip_while(|coding| ["", "identity"].contains(coding));
    if others.next().is_none_or(|coding| coding == "chunked") && others.next().is_none() {
        return Ok(());
    }
    let message = format!("Transfer-Encoding is not supported: {}", excerpt(&codings, SHOWN));
    Err(Error::new(Kind::MalformedHttp, message))
}

/// Prepares the pool; does not connect. Counts connections in `meter`.
pub(super) fn client(settings: &Connection, accepted: &Accepted, meter: Arc<Meter>) -> Result<reqwest::Client> {
    let builder = reqwest::Client::builder()
        .user_agent(&settings.user_agent)
        .default_headers(default_headers(settings, accepted)?)
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .http1_only()
        .http1_max_headers(MOST_HEADERS)
        .connect_timeout(settings.timeouts.connect)
        .tcp_keepalive(settings.timeouts.keep_alive)
        .tcp_keepalive_interval(settings.timeouts.keep_alive)
        .tcp_keepalive_retries(Timeouts::KEEP_ALIVE_PROBES)
        .connector_layer(observed(meter))
        .pool_idle_timeout(IDLE_TIMEOUT);
    let builder = route::configure(tls::configure(builder, settings)?, settings)?;
    builder.build().map_err(|error| failure::setup(error, "the HTTP client"))
}

fn default_headers(settings: &Connection, accepted: &Accepted) -> Result<HeaderMap> {
    let mut map = HeaderMap::new();
    for (name, value) in &settings.headers {
        let refuse = || Error::new(Kind::Config, format!("headers cannot be sent: {name}"));
        let name = HeaderName::try_from(name.as_str()).map_err(|_| refuse())?;
        map.append(name, HeaderValue::from_str(value).map_err(|_| refuse())?);
    }
    map.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    map.insert(header::ACCEPT_ENCODING, accepted.header());
    map.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(map)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use tokio::time::Instant;

    use super::*;
    use crate::config::{Arguments, Settings};
    use crate::error::Phase;
    use crate::secret::Secret;
    use crate::transport::{Request, Transport};

    #[tokio::test(start_paused = true)]
    async fn a_connection_has_ten_seconds_to_open() {
        // The kernel accepts the connection, and nothing responds to the TLS handshake.
        let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("https://{}", silent.local_addr().expect("its address"));
        let arguments = Arguments { base_url: Some(address), ..crate::config::tests::arguments() };
        let settings = Settings::resolve(arguments, |_| None).expect("settings");
        let transport = Transport::try_new(&settings.connection).expect("a pool");
        let token = Secret::try_new("tok".to_owned()).expect("a token");
        let request = Request { path: "/", body: "{}".into(), token: &token, request_id: "1" };
        let began = Instant::now();
        let error = transport.post(request).await.expect_err("no response");
        assert_eq!(began.elapsed().as_secs(), 10);
        assert_eq!(error.kind(), Kind::RequestTimeout);
        assert_eq!(error.details().phase, Some(Phase::Connect));
        assert!(error.message().ends_with(" 10 s"), "{}", error.message());
    }
}
