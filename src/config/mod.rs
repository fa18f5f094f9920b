//! The settings of a client, checked once, with where each came from. The environment is passed in.

mod base_url;
pub mod environment;
mod memory;
mod proxy;
mod timeouts;
mod trust;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

pub use base_url::{is_of_this_machine, origin};
pub use memory::half as default_max_result_bytes;
pub use proxy::Proxy;
pub use timeouts::Timeouts;
pub use trust::{CaSource, Trust};

use crate::error::{Error, Kind, Result};
use crate::time::{DayComparison, Zone};

/// Where a setting came from, for error messages.
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
            Self::Argument(name) => formatter.write_str(name),
            Self::Environment(name) => formatter.write_str(name),
        }
    }
}

/// The arguments of a client as given. [`Settings::resolve`] checks them.
#[derive(Clone)]
pub struct Arguments {
    /// Base URL of the service; else `DATAACCESS_BASE_URL`.
    pub base_url: Option<String>,
    /// IANA name of the time zone of days, and of times without a zone that the caller gives.
    pub timezone: String,
    /// IANA name of the time zone of the times in records.
    pub source_timezone: String,
    /// What `after_date` and `before_date` compare: `exclusive` or `inclusive`.
    pub day_comparison: String,
    /// `value_type` of the conditions of promotion codes; None sends none.
    pub code_value_type: Option<String>,
    /// Seconds for a collected call, including retries.
    pub timeout: f64,
    /// Most retries: requests sent after the first.
    pub retries: Option<i64>,
    /// Seconds for which a failing request is retried; 0 sends one.
    pub retry_for: f64,
    /// Most requests in flight. None: no limit.
    pub concurrency: Option<i64>,
    /// Most requests a second.
    pub requests_per_second: Option<f64>,
    /// Most bytes of one response, decompressed.
    pub max_response_bytes: i64,
    /// Most bytes of memory for a collected result; else half of what this machine or container has.
    pub max_result_bytes: Option<i64>,
    /// Most bytes that a scan buffers for its consumer.
    pub max_buffered_bytes: i64,
    /// PEM file of CA certificates to trust instead of the system's; else from the environment.
    pub ca_bundle: Option<PathBuf>,
    /// URL of the proxy; else from the environment.
    pub proxy: Option<String>,
    /// Whether plain HTTP is allowed to hosts other than loopback.
    pub allow_http: bool,
    /// Extra headers of each request.
    pub headers: Vec<(String, String)>,
    /// Whether only `[]` counts as an empty result.
    pub strict_empty: bool,
    /// File to record the exchanges into.
    pub record: Option<PathBuf>,
    /// Variables of the environment that are not read: for a client of the sandbox all, else the variables of cleared
    /// settings.
    pub ignored_variables: Vec<String>,
    /// Names of the arguments that the caller chose, of `timezone`, which is then the zone of results too, and
    /// `retry_for`, which then holds for the first contact too.
    pub given: Vec<String>,
    /// Divisor of time-outs and back-offs: 1, except in tests.
    pub time_scale: u32,
}

impl Default for Arguments {
    fn default() -> Self {
        Self {
            base_url: None,
            timezone: "UTC".to_owned(),
            source_timezone: "UTC".to_owned(),
            day_comparison: DayComparison::NAMES[0].0.to_owned(),
            code_value_type: None,
            timeout: 300.0,
            retries: None,
            retry_for: 60.0,
            concurrency: Some(8),
            requests_per_second: None,
            max_response_bytes: 8 << 30,
            max_result_bytes: None,
            max_buffered_bytes: 32 << 20,
            ca_bundle: None,
            proxy: None,
            allow_http: false,
            headers: Vec::new(),
            strict_empty: false,
            record: None,
            ignored_variables: Vec::new(),
            given: Vec::new(),
            time_scale: 1,
        }
    }
}

/// Checked [`Arguments`], with those that the environment provides.
#[derive(Clone)]
pub struct Settings {
    /// Has no trailing slash, user, query or fragment.
    pub base_url: Url,
    /// Time zone of days, and of naive times that the caller gives.
    pub zone: Zone,
    /// Time zone of the times in records.
    pub source_zone: Zone,
    /// Time zone of the times in results. None: they stay as the service wrote them.
    pub result_zone: Option<Zone>,
    /// What `after_date` and `before_date` compare.
    pub day_comparison: DayComparison,
    /// `value_type` of the conditions of promotion codes.
    pub code_value_type: Option<String>,
    pub(crate) timeout: Duration,
    pub(crate) retries: Option<u32>,
    pub(crate) retry_for: Duration,
    pub(crate) is_retry_for_given: bool,
    pub(crate) concurrency: Option<u32>,
    /// Shortest time between the starts of two requests, from `requests_per_second`.
    pub(crate) interval: Option<Duration>,
    pub(crate) max_response_bytes: u64,
    pub(crate) max_result_bytes: u64,
    pub(crate) max_buffered_bytes: usize,
    pub(crate) trust: Trust,
    pub(crate) proxy: Option<Proxy>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) strict_empty: bool,
    pub(crate) record: Option<PathBuf>,
    pub(crate) timeouts: Timeouts,
    pub(crate) time_scale: u32,
}

/// Headers that only the client sets.
const RESERVED_HEADERS: &str = "accept authorization connection content-length content-type host proxy-authorization \
    transfer-encoding x-request-id";

/// Parts of header names that indicate a secret.
const SECRET_NAMES: [&str; 7] = ["auth", "cookie", "key", "passw", "secret", "session", "token"];

/// Whether the name of a header says that its value is a secret.
#[must_use]
pub fn is_secret_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// Leaves out headers and proxy, which may hold secrets.
impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Settings").field("base_url", &self.base_url.as_str()).finish_non_exhaustive()
    }
}

impl Settings {
    /// Checks the arguments; `lookup` reads an environment variable.
    ///
    /// # Errors
    /// `Config`, naming each invalid setting and where it came from.
    pub fn resolve(arguments: Arguments, lookup: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let mut refused = Refused::default();
        let ignored = arguments.ignored_variables;
        let lookup = |name: &str| lookup(name).filter(|_| !ignored.iter().any(|one| one == name));
        let base_url = refused.keep(base_url::resolve(arguments.base_url, arguments.allow_http, lookup));
        // Which variable names the proxy depends on the URL.
        let proxy = match &base_url {
            Some(base_url) => refused.keep(Proxy::resolve(arguments.proxy.as_deref(), base_url, lookup)),
            None => refused.keep(Proxy::of_argument(arguments.proxy.as_deref())),
        };
        let zone = refused.keep(Zone::of_argument("timezone", &arguments.timezone));
        let source_zone = refused.keep(Zone::of_argument("source_timezone", &arguments.source_timezone));
        let day_comparison = refused.keep(day_comparison(&arguments.day_comparison));
        let timeout = refused.keep(seconds("timeout", arguments.timeout));
        let retries = refused.keep(arguments.retries.map(|retries| integer("retries", retries, 0)).transpose());
        let retry_for = refused.keep(retry_for(arguments.retry_for));
        let concurrency = arguments.concurrency.map(|limit| integer("concurrency", limit, 1)).transpose();
        let concurrency = refused.keep(concurrency);
        let interval = refused.keep(arguments.requests_per_second.map(interval).transpose());
        let max_response_bytes = refused.keep(bytes("max_response_bytes", arguments.max_response_bytes));
        let max_result_bytes = arguments.max_result_bytes.map(|limit| bytes("max_result_bytes", limit));
        let max_result_bytes = refused.keep(max_result_bytes.unwrap_or_else(|| Ok(memory::half())));
        let max_buffered_bytes = refused.keep(bytes("max_buffered_bytes", arguments.max_buffered_bytes));
        let headers = refused.keep(headers(arguments.headers));
        let settings = || {
            Some(Self {
                trust: Trust::resolve(arguments.ca_bundle, lookup),
                proxy: proxy?,
                base_url: base_url?,
                result_zone: zone.clone().filter(|_| arguments.given.iter().any(|name| name == "timezone")),
                zone: zone?,
                source_zone: source_zone?,
                day_comparison: day_comparison?,
                code_value_type: arguments.code_value_type,
                timeout: timeout?,
                retries: retries?,
                retry_for: retry_for?,
                is_retry_for_given: arguments.given.iter().any(|name| name == "retry_for"),
                concurrency: concurrency?,
                interval: interval?,
                max_response_bytes: max_response_bytes?,
                max_result_bytes: max_result_bytes?,
                max_buffered_bytes: usize::try_from(max_buffered_bytes?).unwrap_or(usize::MAX),
                headers: headers?,
                strict_empty: arguments.strict_empty,
                record: arguments.record,
                timeouts: Timeouts::scaled(arguments.time_scale),
                time_scale: arguments.time_scale.max(1),
            })
        };
        settings().ok_or_else(|| refused.error())
    }

    /// The proxy and the CA certificates that are used: the setting, its value without user and password, and where it
    /// came from. Nothing for a direct connection, or for the CA certificates of the system.
    #[must_use]
    pub fn origins(&self) -> Vec<(&'static str, String, Origin)> {
        let proxy = self.proxy.iter().map(|proxy| ("proxy", proxy.address(), proxy.origin));
        let files = match &self.trust {
            Trust::System => [].as_slice(),
            Trust::Only(all) => all.as_slice(),
        };
        let files = files.iter().map(|source| ("ca_bundle", source.path.display().to_string(), source.origin));
        proxy.chain(files).collect()
    }

    /// What no text may repeat: the values of headers whose names say that they are secret, whole and their long parts,
    /// and the password of the proxy.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let values = self.headers.iter().filter(|(name, _)| is_secret_header(name)).map(|(_, value)| value.trim());
        let of_headers = values.flat_map(|value| {
            let parts = value.split([' ', ',', ';', '=']).filter(|part| part.len() >= 8);
            [value].into_iter().chain(parts).map(str::to_owned)
        });
        let of_proxy = self.proxy.as_ref().and_then(Proxy::password);
        // A shorter value is a version or a number, which bodies contain.
        of_headers.filter(|value| value.len() >= 4).chain(of_proxy).collect()
    }

    /// Whether the service or the proxy uses TLS.
    #[must_use]
    pub fn uses_tls(&self) -> bool {
        let of_proxy = self.proxy.as_ref().map(|proxy| proxy.url.scheme());
        [Some(self.base_url.scheme()), of_proxy].contains(&Some("https"))
    }
}

/// The settings that were refused so far.
#[derive(Default)]
struct Refused(Vec<Error>);

impl Refused {
    fn keep<T>(&mut self, checked: Result<T>) -> Option<T> {
        checked.map_err(|error| self.0.push(error)).ok()
    }

    fn error(self) -> Error {
        Error::settings(self.0).unwrap_or_else(|| Error::new(Kind::Internal, "no setting was refused"))
    }
}

fn refused(name: &str, value: impl fmt::Display, expected: &str) -> Error {
    Error::new(Kind::Config, format!("{name} must be {expected}, not {value}"))
}

fn day_comparison(name: &str) -> Result<DayComparison> {
    let names = DayComparison::NAMES.map(|(name, _)| format!("\"{name}\"")).join(" or ");
    DayComparison::read(name).ok_or_else(|| refused("day_comparison", format_args!("{name:?}"), &names))
}

/// Seconds.
const YEAR: f64 = 366.0 * 86_400.0;

fn retry_for(value: f64) -> Result<Duration> {
    if value == 0.0 { Ok(Duration::ZERO) } else { seconds("retry_for", value) }
}

/// A duration above 0 and of at most a year.
fn seconds(name: &'static str, value: f64) -> Result<Duration> {
    match Duration::try_from_secs_f64(value) {
        Ok(duration) if !duration.is_zero() && value <= YEAR => Ok(duration),
        _ => Err(refused(name, value, "more than 0 and at most 31622400 seconds (a year)")),
    }
}

/// The time between the starts of two requests at this rate.
fn interval(requests_per_second: f64) -> Result<Duration> {
    match Duration::try_from_secs_f64(requests_per_second.recip()) {
        Ok(interval) if (1e-3..=1e6).contains(&requests_per_second) => Ok(interval),
        _ => Err(refused("requests_per_second", requests_per_second, "from 0.001 to 1000000 requests a second")),
    }
}

fn bytes(name: &'static str, value: i64) -> Result<u64> {
    u64::try_from(value).ok().filter(|bytes| *bytes > 0).ok_or_else(|| refused(name, value, "at least 1"))
}

fn integer(name: &'static str, value: i64, least: u32) -> Result<u32> {
    u32::try_from(value)
        .ok()
        .filter(|number| (least..=10_000).contains(number))
        .ok_or_else(|| refused(name, value, &format!("an integer from {least} to 10000")))
}

fn headers(headers: Vec<(String, String)>) -> Result<Vec<(String, String)>> {
    for (name, value) in &headers {
        let refuse = |what: String| Err(Error::new(Kind::Config, format!("headers {what}")));
        let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token_byte) {
            return refuse(format!("has an invalid name: {name:?}"));
        }
        if RESERVED_HEADERS.split(' ').any(|reserved| name.eq_ignore_ascii_case(reserved)) {
            let is_token = name.eq_ignore_ascii_case("authorization");
            let hint = if is_token { "; set token instead" } else { "" };
            return refuse(format!("may not set {name}, which the client sets itself{hint}"));
        }
        if !value.bytes().all(|byte| byte == b'\t' || (0x20..0x7f).contains(&byte)) {
            return refuse(format!("has a value for {name} that is not printable ASCII"));
        }
    }
    Ok(headers)
}

#[cfg(test)]
pub(crate) mod tests;
