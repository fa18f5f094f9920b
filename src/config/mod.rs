//! The settings of a client, checked once. The environment is passed in.

mod base_url;
pub mod environment;
mod memory;
mod proxy;
mod timeouts;
mod trust;
mod user_agent;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use url::Url;

pub use base_url::{is_of_this_machine, origin};
pub use memory::half as default_max_result_bytes;
pub use proxy::Proxy;
pub use timeouts::Timeouts;
pub use trust::{CaSource, Trust};

use crate::contract::recording::is_secret_header;
use crate::error::{Error, Kind, Result, defect};
use crate::time::{DayComparison, Zone};

/// What names the proxy or the CA certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The setting of this name.
    Setting(&'static str),
    /// An environment variable that many programs read.
    Environment(&'static str),
}

impl Origin {
    /// The end of an error about what it names.
    pub fn source(self) -> String {
        match self {
            Self::Setting(_) => String::new(),
            Self::Environment(name) => format!(" (from {name})"),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Setting(name) | Self::Environment(name)) = self;
        formatter.write_str(name)
    }
}

/// The settings of a client. [`Settings::resolve`] checks them.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Arguments {
    /// Base URL of the service.
    pub base_url: Option<String>,
    /// IANA name of the time zone of days, and of times without a zone that the caller gives.
    pub timezone: String,
    /// IANA name of the time zone of the times in records.
    pub source_timezone: String,
    /// What `after_date` and `before_date` compare.
    pub day_comparison: DayComparison,
    /// `value_type` of the conditions of promotion codes; None sends none.
    pub code_value_type: Option<String>,
    /// Seconds for a collected call, including retries.
    pub timeout: f64,
    /// Seconds for which a failing request is retried; 0 sends one.
    pub retry_for: f64,
    /// Most requests in flight. None: no limit.
    pub concurrency: Option<i64>,
    /// Most requests a second.
    pub requests_per_second: Option<f64>,
    /// Most bytes of memory for a collected result; else half of what this machine or container has.
    pub max_result_bytes: Option<i64>,
    /// PEM file of CA certificates to trust instead of the system's.
    pub ca_bundle: Option<PathBuf>,
    /// URL of the proxy.
    pub proxy: Option<String>,
    /// Whether plain HTTP is allowed to hosts other than loopback.
    pub allow_http: bool,
    /// Extra headers of each request.
    pub headers: Vec<(String, String)>,
    /// The program of the user, such as `nightly-job/3`: the end of `User-Agent`.
    pub user_agent: Option<String>,
    /// The program that the client is made in, such as `airflow/3.3`.
    pub host: Option<String>,
    /// The interpreter, such as `CPython 3.12`.
    pub python: Option<String>,
    /// Rows at which the service is known to cut off responses. Searches have it as an argument.
    pub known_row_cap: Option<i64>,
    /// File to record the exchanges into.
    pub record: Option<PathBuf>,
    /// The settings that are no defaults, each with the end of its errors, such as ` (from DATAACCESS_TIMEOUT)`. A
    /// `timezone` among them is the zone of results too, a `retry_for` holds for the first contact too, and for `proxy`
    /// and `ca_bundle` the environment is not read.
    pub sources: BTreeMap<String, String>,
    /// Whether proxy and CA certificates may come from the variables that many programs read.
    pub trust_env: bool,
    /// Most bytes that a scan buffers for its consumer: a constant, except in tests.
    #[serde(skip)]
    pub buffered_bytes: usize,
}

impl Default for Arguments {
    fn default() -> Self {
        Self {
            base_url: None,
            timezone: "UTC".to_owned(),
            source_timezone: "UTC".to_owned(),
            day_comparison: DayComparison::default(),
            code_value_type: None,
            timeout: 300.0,
            retry_for: 60.0,
            concurrency: Some(8),
            requests_per_second: None,
            max_result_bytes: None,
            ca_bundle: None,
            proxy: None,
            allow_http: false,
            headers: Vec::new(),
            user_agent: None,
            host: None,
            python: None,
            known_row_cap: None,
            record: None,
            sources: BTreeMap::new(),
            trust_env: true,
            buffered_bytes: 32 << 20,
        }
    }
}

impl Arguments {
    /// Whether a setting is no default.
    fn is_given(&self, name: &str) -> bool {
        self.sources.contains_key(name)
    }

    fn reads_environment_for(&self, name: &str) -> bool {
        self.trust_env && !self.is_given(name)
    }

    /// The error of a setting, with where its value comes from.
    pub fn with_source(&self, name: &str, error: Error) -> Error {
        let Some(source) = self.sources.get(name).filter(|source| !source.is_empty()) else { return error };
        let named = Error::new(error.kind(), format!("{}{source}", error.message()));
        match error.hint() {
            Some(hint) => named.with_hint(hint),
            None => named,
        }
    }

    /// The CA certificates; `lookup` reads an environment variable.
    pub fn trust(&self, lookup: impl Fn(&str) -> Option<String>) -> Trust {
        Trust::resolve(self.ca_bundle.clone(), |name| lookup(name).filter(|_| self.reads_environment_for("ca_bundle")))
    }
}

/// Checked [`Arguments`].
#[derive(Clone, Debug)]
pub struct Settings {
    /// How the service is reached. Clients with the same share connections.
    pub connection: Arc<Connection>,
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
    pub(crate) retry_for: Duration,
    pub(crate) is_retry_for_given: bool,
    pub(crate) concurrency: Option<u32>,
    /// Shortest time between the starts of two requests, from `requests_per_second`.
    pub(crate) interval: Option<Duration>,
    pub(crate) max_result_bytes: u64,
    pub(crate) buffered_bytes: usize,
}

/// How a service is reached.
#[derive(Clone, PartialEq, Eq)]
pub struct Connection {
    /// Has no trailing slash, user, query or fragment.
    pub base_url: Url,
    /// The CA certificates that TLS trusts.
    pub trust: Trust,
    /// The proxy, if there is one.
    pub proxy: Option<Proxy>,
    /// Extra headers of each request.
    pub headers: Vec<(String, String)>,
    /// The value of `User-Agent`.
    pub user_agent: String,
    /// File to record the exchanges into.
    pub record: Option<PathBuf>,
    /// The time-outs that are not settings.
    pub timeouts: Timeouts,
}

/// Headers that only the client sets.
const RESERVED_HEADERS: &str = "accept authorization connection content-length content-type host proxy-authorization \
    transfer-encoding x-request-id";

/// Leaves out headers and proxy, which may hold secrets.
impl fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Connection").field("base_url", &self.base_url.as_str()).finish_non_exhaustive()
    }
}

impl Settings {
    /// Checks the arguments; `lookup` reads an environment variable.
    ///
    /// # Errors
    /// `Config`, naming each invalid setting and where it comes from.
    pub fn resolve(arguments: Arguments, lookup: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let mut refused = Refused { arguments: &arguments, errors: Vec::new() };
        let base_url = refused.keep("base_url", base_url::resolve(arguments.base_url.as_deref(), arguments.allow_http));
        let is_read = arguments.proxy.is_none() && arguments.reads_environment_for("proxy");
        let proxy = match &base_url {
            Some(base_url) if is_read => Proxy::of_environment(base_url, &lookup),
            _ => Proxy::of_setting(arguments.proxy.as_deref()),
        };
        let proxy = refused.keep("proxy", proxy).flatten();
        let zone = refused.keep("timezone", Zone::of_argument("timezone", &arguments.timezone));
        let source_zone = Zone::of_argument("source_timezone", &arguments.source_timezone);
        let source_zone = refused.keep("source_timezone", source_zone);
        let timeout = refused.keep("timeout", seconds("timeout", arguments.timeout)).unwrap_or_default();
        let retry_for = refused.keep("retry_for", retry_for(arguments.retry_for)).unwrap_or_default();
        let concurrency = arguments.concurrency.and_then(|limit| refused.keep("concurrency", concurrency(limit)));
        let interval = arguments.requests_per_second;
        let interval = interval.and_then(|rate| refused.keep("requests_per_second", interval_of(rate)));
        refused.keep("headers", check_headers(&arguments.headers));
        let user_agent = refused.keep("user_agent", user_agent::resolve(&arguments)).unwrap_or_default();
        let mut counted = |name, value: Option<i64>| value.and_then(|value| refused.keep(name, count(name, value)));
        let max_result_bytes = counted("max_result_bytes", arguments.max_result_bytes).unwrap_or_else(memory::half);
        counted("known_row_cap", arguments.known_row_cap);
        let trust = arguments.trust(lookup);
        let (is_timezone_given, is_retry_for_given) = (arguments.is_given("timezone"), arguments.is_given("retry_for"));
        match (Error::settings(refused.errors), base_url, zone, source_zone) {
            (None, Some(base_url), Some(zone), Some(source_zone)) => Ok(Self {
                connection: Arc::new(Connection {
                    base_url,
                    trust,
                    proxy,
                    headers: arguments.headers,
                    user_agent,
                    record: arguments.record,
                    timeouts: Timeouts::default(),
                }),
                source_zone,
                result_zone: Some(&zone).filter(|_| is_timezone_given).cloned(),
                zone,
                day_comparison: arguments.day_comparison,
                timeout,
                retry_for,
                is_retry_for_given,
                code_value_type: arguments.code_value_type,
                concurrency,
                interval,
                max_result_bytes,
                buffered_bytes: arguments.buffered_bytes,
            }),
            (error, ..) => Err(error.unwrap_or_else(|| defect("a setting was refused without an error"))),
        }
    }
}

impl Connection {
    /// The proxy and the CA certificates that are used: the setting, its value without user and password, and where it
    /// came from. Nothing for a direct connection, or for the CA certificates of the system.
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
    pub fn uses_tls(&self) -> bool {
        let of_proxy = self.proxy.as_ref().map(|proxy| proxy.url.scheme());
        [Some(self.base_url.scheme()), of_proxy].contains(&Some("https"))
    }
}

/// The errors of the settings that were refused so far.
struct Refused<'a> {
    arguments: &'a Arguments,
    errors: Vec<Error>,
}

impl Refused<'_> {
    fn keep<T>(&mut self, name: &str, checked: Result<T>) -> Option<T> {
        checked.map_err(|error| self.errors.push(self.arguments.with_source(name, error))).ok()
    }
}

/// The value that was read, or the error of one that cannot be used.
fn expect<T>(name: &str, value: impl fmt::Display, expected: &str, read: Option<T>) -> Result<T> {
    read.ok_or_else(|| Error::new(Kind::Config, format!("{name} must be {expected}, not {value}")))
}

/// Seconds.
const YEAR: f64 = 366.0 * 86_400.0;

fn retry_for(value: f64) -> Result<Duration> {
    expect("retry_for", value, "from 0 to 31622400 seconds (a year)", up_to_a_year(value))
}

/// A duration above 0 and of at most a year.
fn seconds(name: &'static str, value: f64) -> Result<Duration> {
    let read = up_to_a_year(value).filter(|duration| !duration.is_zero());
    expect(name, value, "more than 0 and at most 31622400 seconds (a year)", read)
}

fn up_to_a_year(value: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(value).ok().filter(|_| value <= YEAR)
}

/// The time between the starts of two requests at this rate.
fn interval_of(rate: f64) -> Result<Duration> {
    let read = (1e-3..=1e6).contains(&rate).then(|| Duration::from_secs_f64(rate.recip()));
    expect("requests_per_second", rate, "from 0.001 to 1000000 requests a second", read)
}

fn count(name: &'static str, value: i64) -> Result<u64> {
    expect(name, value, "at least 1", u64::try_from(value).ok().filter(|count| *count > 0))
}

fn concurrency(value: i64) -> Result<u32> {
    let read = u32::try_from(value).ok().filter(|number| (1..=10_000).contains(number));
    expect("concurrency", value, "an integer from 1 to 10000", read)
}

fn check_headers(headers: &[(String, String)]) -> Result<()> {
    for (name, value) in headers {
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
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests;
