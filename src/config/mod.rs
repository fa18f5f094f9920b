//! The settings of a client: checked once, each with the place it came from. Reads no environment by itself.

mod base_url;
pub mod environment;
mod proxy;
mod timeouts;
mod trust;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

pub use proxy::Proxy;
pub use timeouts::Timeouts;
pub use trust::{CaSource, Trust};

use crate::error::{Error, Kind, Result};
use crate::time::Zone;

/// Where a setting came from, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An argument of the client.
    Argument(&'static str),
    /// An environment variable.
    Environment(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(name) => write!(formatter, "{name}="),
            Self::Environment(name) => formatter.write_str(name),
        }
    }
}

/// The arguments of a client as given; numbers are checked here, so that the messages name them.
#[derive(Clone)]
pub struct Arguments {
    /// Address of the service; else `DATAACCESS_BASE_URL`.
    pub base_url: Option<String>,
    /// IANA name of the zone in which naive times are read.
    pub timezone: String,
    /// Seconds for a collected call, over all its attempts.
    pub timeout: f64,
    /// Requests sent after the first.
    pub retries: Option<i64>,
    /// Requests of one scan at a time.
    pub concurrency: i64,
    /// Requests a second.
    pub requests_per_second: Option<f64>,
    /// Bytes of one answer.
    pub max_response_bytes: i64,
    /// Bytes that a scan may hold for its consumer.
    pub max_buffered_bytes: i64,
    /// PEM file of the authorities to trust instead of the system's; else the environment's.
    pub ca_bundle: Option<PathBuf>,
    /// Proxy address; else the environment's.
    pub proxy: Option<String>,
    /// Whether plain HTTP may leave this machine.
    pub allow_http: bool,
    /// More headers for each request.
    pub headers: Vec<(String, String)>,
    /// Whether only `[]` is an empty answer.
    pub strict_empty: bool,
    /// How many times faster than usual time-outs and back-off run: 1, except in tests.
    pub time_scale: u32,
}

/// Checked settings.
#[derive(Clone)]
pub struct Settings {
    /// Ends without a slash; has no user, query or fragment.
    pub base_url: Url,
    /// Where naive times are read.
    pub zone: Zone,
    /// For a collected call.
    pub timeout: Duration,
    /// Requests sent after the first.
    pub retries: Option<u32>,
    /// Requests of one scan at a time.
    pub concurrency: u32,
    /// Least time between the starts of two requests.
    pub interval: Option<Duration>,
    /// Bytes of one answer.
    pub max_response_bytes: u64,
    /// Bytes that a scan may hold for its consumer.
    pub max_buffered_bytes: usize,
    /// Whom TLS trusts.
    pub trust: Trust,
    /// The proxy on the way.
    pub proxy: Option<Proxy>,
    /// More headers for each request.
    pub headers: Vec<(String, String)>,
    /// Whether only `[]` is an empty answer.
    pub strict_empty: bool,
    /// How long an answer may keep us waiting.
    pub timeouts: Timeouts,
    /// How many times faster than usual time-outs and back-off run: 1, except in tests.
    pub time_scale: u32,
}

/// Headers that belong to the client itself.
const RESERVED_HEADERS: [&str; 9] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "host",
    "proxy-authorization",
    "transfer-encoding",
    "x-request-id",
];

/// Neither headers nor proxy, which may hold secrets.
impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Settings").field("base_url", &self.base_url.as_str()).finish_non_exhaustive()
    }
}

impl Settings {
    /// Checks the arguments; `lookup` reads the environment.
    ///
    /// # Errors
    /// `Config`, naming the setting and where it came from.
    pub fn resolve(arguments: Arguments, lookup: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let base_url = base_url::resolve(arguments.base_url, arguments.allow_http, &lookup)?;
        let timeout = seconds("timeout", arguments.timeout)?;
        let interval = arguments.requests_per_second.map(interval).transpose()?;
        Ok(Self {
            trust: Trust::resolve(arguments.ca_bundle, &lookup),
            proxy: Proxy::resolve(arguments.proxy.as_deref(), &base_url, &lookup)?,
            base_url,
            zone: Zone::try_new(&arguments.timezone)?,
            timeout,
            retries: arguments.retries.map(|retries| whole("retries", retries, 0)).transpose()?,
            concurrency: whole("concurrency", arguments.concurrency, 1)?,
            interval,
            max_response_bytes: bytes("max_response_bytes", arguments.max_response_bytes)?,
            max_buffered_bytes: usize::try_from(bytes("max_buffered_bytes", arguments.max_buffered_bytes)?)
                .unwrap_or(usize::MAX),
            headers: headers(arguments.headers)?,
            strict_empty: arguments.strict_empty,
            timeouts: Timeouts::scaled(arguments.time_scale),
            time_scale: arguments.time_scale.max(1),
        })
    }

    /// Whether anything on the way speaks TLS.
    #[must_use]
    pub fn uses_tls(&self) -> bool {
        let of_proxy = self.proxy.as_ref().map(|proxy| proxy.url.scheme());
        [Some(self.base_url.scheme()), of_proxy].contains(&Some("https"))
    }
}

fn refused(name: &str, value: impl fmt::Display, expected: &str) -> Error {
    Error::new(Kind::Config, format!("{name}= must be {expected}, not {value}"))
}

/// A time that is more than nothing and not beyond a year.
fn seconds(name: &'static str, value: f64) -> Result<Duration> {
    const YEAR: f64 = 366.0 * 86_400.0;
    match Duration::try_from_secs_f64(value) {
        Ok(duration) if !duration.is_zero() && value <= YEAR => Ok(duration),
        _ => Err(refused(name, value, "more than 0 and at most a year's seconds")),
    }
}

/// The time between two requests at so many a second.
fn interval(requests_per_second: f64) -> Result<Duration> {
    match Duration::try_from_secs_f64(requests_per_second.recip()) {
        Ok(interval) if (1e-3..=1e6).contains(&requests_per_second) => Ok(interval),
        _ => Err(refused("requests_per_second", requests_per_second, "from 0.001 to 1000000 requests a second")),
    }
}

fn bytes(name: &'static str, value: i64) -> Result<u64> {
    u64::try_from(value).ok().filter(|bytes| *bytes > 0).ok_or_else(|| refused(name, value, "at least 1"))
}

fn whole(name: &'static str, value: i64, least: u32) -> Result<u32> {
    u32::try_from(value)
        .ok()
        .filter(|number| (least..=10_000).contains(number))
        .ok_or_else(|| refused(name, value, &format!("a whole number from {least} to 10000")))
}

fn headers(headers: Vec<(String, String)>) -> Result<Vec<(String, String)>> {
    for (name, value) in &headers {
        let is_token = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
        if !is_token {
            return Err(Error::new(Kind::Config, format!("headers= has a name that HTTP does not allow: {name:?}")));
        }
        if RESERVED_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            let hint = if name.eq_ignore_ascii_case("authorization") { "; give the token as token=" } else { "" };
            return Err(Error::new(
                Kind::Config,
                format!("headers= may not set {name}, which the client sets itself{hint}"),
            ));
        }
        if !value.bytes().all(|byte| byte == b'\t' || (0x20..0x7f).contains(&byte)) {
            return Err(Error::new(
                Kind::Config,
                format!("headers= has a value for {name} that is not printable ASCII"),
            ));
        }
    }
    Ok(headers)
}

#[cfg(test)]
mod tests;
