//! What a sandbox is started with: port, switches, the clock, and the data it begins with.
//!
//! Plain settings; nothing here opens a socket or a store.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::demo::Demo;
use super::switches::Switches;

/// Settings of a [`Sandbox`](super::Sandbox).
#[derive(Clone, Debug)]
pub struct Options {
    /// File that keeps objects and rows, made when it is not there; without it they are in memory.
    pub db: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// The answers to what the document leaves open.
    pub switches: Switches,
    /// Where exports and tokens take the time from.
    pub clock: Clock,
    /// The demo data to begin with, which goes into an empty store; without it the document's two objects are empty.
    pub demo: Option<Demo>,
    /// How long a search may work before it is answered with 503; waiting for its reader does not count.
    pub longest_search: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let (switches, clock) = (Switches::default(), Clock::default());
        Self { db: None, port: 0, switches, clock, demo: None, longest_search: Duration::from_secs(60) }
    }
}

impl Options {
    /// A free port, the default switches and the demo data.
    #[must_use]
    pub fn demo() -> Self {
        Self { demo: Some(Demo::default()), ..Self::default() }
    }
}

/// A source of the present time; by default the system's clock.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl Clock {
    /// A clock that tells what the function says.
    pub fn new(now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The present time.
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
