//! How long an answer may keep us waiting, apart from `timeout=`: times that no user has to set.

use std::time::Duration;

/// Each time begins anew with each attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For TCP, the proxy's tunnel and TLS together.
    pub connect: Duration,
    /// For a connection and the whole head of an answer, however it drips and whatever comes before it.
    pub headers: Duration,
    /// Without a single byte of the body.
    pub idle: Duration,
    /// Of waiting for the body before its speed counts,
    pub grace: Duration,
    /// and of waiting in which so many bytes must come.
    pub stall: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { connect: seconds(10), headers: seconds(60), idle: seconds(30), grace: seconds(20), stall: seconds(30) }
    }
}

impl Patience {
    /// The same on a clock that runs so many times faster, for tests.
    #[must_use]
    pub fn scaled(time_scale: u32) -> Self {
        let Self { connect, headers, idle, grace, stall } = Self::default();
        let [connect, headers, idle, grace, stall] =
            [connect, headers, idle, grace, stall].map(|limit| limit / time_scale.max(1));
        Self { connect, headers, idle, grace, stall }
    }
}
