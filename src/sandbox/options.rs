//! Settings of a sandbox: address, limits, switches, clock and initial data.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde::Deserialize;
use serde_json::Value;

use super::access::Access;
use super::demo::Demo;
use super::switches::Switches;
use crate::error::excerpt;

/// Settings of a [`Sandbox`](super::Sandbox). They cannot be shown, as they have tokens.
#[derive(Clone, Default)]
pub struct Options {
    /// Where to listen, and who may connect.
    pub access: Access,
    /// Port; 0 takes a free one.
    pub port: u16,
    /// Limits on connections.
    pub limits: Limits,
    /// Behaviour that the specification leaves open.
    pub switches: Switches,
    /// Time source of exports, tokens and demo data.
    pub clock: Clock,
    /// Demo data; none leaves the two objects of the specification empty.
    pub demo: Option<Demo>,
    /// Recording whose responses are served.
    pub replay: Option<PathBuf>,
}

/// Limits of a server. Every sandbox uses the defaults; tests shorten them.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Most connections at a time. Others wait to be accepted.
    pub connections: u32,
    /// Longest time for the head of a request to arrive, also after a response or on a connection that is new; and how
    /// long the rest of a refused request is read and dropped.
    pub head: Duration,
    /// Longest time for the body of a request to arrive.
    pub body: Duration,
    /// Longest time for a response to begin.
    pub response: Duration,
    /// How long a connection may be open without a new request or a part of a response that its client takes.
    pub stall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let [head, body, response, stall] = [5, 10, 60, 5 * 60].map(Duration::from_secs);
        Self { connections: 256, head, body, response, stall }
    }
}

/// A number of seconds in JSON; what no duration can hold never ends.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Seconds(pub(super) Duration);

impl TryFrom<Value> for Seconds {
    type Error = String;

    fn try_from(given: Value) -> Result<Self, String> {
        let seconds = given.as_f64().filter(|seconds| *seconds >= 0.0);
        let seconds = seconds.ok_or_else(|| must_be("a number of seconds of at least 0", &given))?;
        Ok(Self(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)))
    }
}

/// What a value must be, and what it is.
pub(super) fn must_be(expected: &str, given: &Value) -> String {
    let given = given.to_string();
    format!("must be {expected}, not {}", excerpt(given.strip_suffix(".0").unwrap_or(&given), 60))
}

/// A source of the current time; by default the system clock.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl Clock {
    /// A clock that calls this function.
    pub fn new(now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// A clock that shows this time now.
    #[must_use]
    pub fn starting_at(start: SystemTime) -> Self {
        let since = Instant::now();
        Self::new(move || start + since.elapsed())
    }

    /// The current time.
    pub fn now(&self) -> SystemTime {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(SystemTime::now)
    }
}
