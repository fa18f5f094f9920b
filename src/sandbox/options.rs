//! Settings of a sandbox: address, limits, switches, clock and initial data.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::access::Access;
use super::demo::Demo;
use super::switches::Switches;

/// Settings of a [`Sandbox`](super::Sandbox).
#[derive(Clone, Debug)]
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

impl Default for Options {
    fn default() -> Self {
        let (switches, clock) = (Switches::default(), Clock::default());
        let (access, limits) = (Access::default(), Limits::default());
        Self { access, port: 0, limits, switches, clock, demo: None, replay: None }
    }
}

/// Limits of a server. Every sandbox uses the defaults; tests shorten them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        Self {
            connections: 256,
            head: Duration::from_secs(5),
            body: Duration::from_secs(10),
            response: Duration::from_secs(60),
            stall: Duration::from_secs(5 * 60),
        }
    }
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
    #[must_use]
    pub fn now(&self) -> SystemTime {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(SystemTime::now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Clock(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults() {
        let Limits { connections, head, body, response, stall } = Limits::default();
        let seconds = [head, body, response, stall].map(|limit| limit.as_secs());
        assert_eq!((connections, seconds), (256, [5, 10, 60, 300]));
    }
}
