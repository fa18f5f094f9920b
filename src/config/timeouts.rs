//! The time-outs beside `timeout=`: limits that no user has to set, in one place.
//!
//! The wait for the headers of a response has no limit of its own: a service may think for minutes, and `timeout=`
//! says for how many. TCP keep-alive probes hold the connection open meanwhile and find out when the peer is gone.

use std::time::Duration;

/// Each begins anew with each attempt. None of them counts the time a request takes to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For TCP, the proxy's tunnel and TLS together.
    pub connect: Duration,
    /// Between two TCP keep-alive probes, and before the first.
    pub keep_alive: Duration,
    /// Without a single byte of the body.
    pub idle: Duration,
    /// Of waiting for the body before its speed counts,
    pub grace: Duration,
    /// and of waiting in which so many bytes must arrive.
    pub stall: Duration,
    /// Before a response that no consumer has touched and that is not read for want of room is dropped, to be
    /// requested again later: half of the shortest time after which proxies close such a connection.
    pub unread: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            connect: seconds(10),
            keep_alive: seconds(20),
            idle: seconds(30),
            grace: seconds(20),
            stall: seconds(30),
            unread: seconds(4),
        }
    }
}

impl Timeouts {
    /// Keep-alive probes without an answer before a connection counts as lost.
    pub const KEEP_ALIVE_PROBES: u32 = 4;

    /// The same on a clock that runs so many times faster, for tests.
    #[must_use]
    pub fn scaled(time_scale: u32) -> Self {
        let Self { connect, keep_alive, idle, grace, stall, unread } = Self::default();
        let [connect, idle, grace, stall, unread] =
            [connect, idle, grace, stall, unread].map(|limit| limit / time_scale.max(1));
        Self { connect, keep_alive, idle, grace, stall, unread }
    }
}
