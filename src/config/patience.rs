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
    /// The same on a clock that runs so many times faster. Tests use it, to see the rules act in less than minutes.
    #[must_use]
    pub fn hastened(haste: u32) -> Self {
        let Self { connect, headers, idle, grace, stall } = Self::default();
        let haste = haste.max(1);
        Self {
            connect: connect / haste,
            headers: headers / haste,
            idle: idle / haste,
            grace: grace / haste,
            stall: stall / haste,
        }
    }
}
