//! The time-outs that are not settings of the user.
//!
//! The wait for response headers is limited by `timeout` alone, as a query may take minutes. TCP keep-alive probes
//! meanwhile keep the connection open and notice when the peer is gone.

use std::time::Duration;

use crate::time::scaled;

/// Time-outs of each attempt. None counts the time it takes to send the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For TCP, the proxy's tunnel and TLS together.
    pub connect: Duration,
    /// Before the first TCP keep-alive probe, and between two.
    pub keep_alive: Duration,
    /// Longest wait for the next bytes of the body.
    pub idle: Duration,
    /// Time of waiting for the body before its rate is measured.
    pub grace: Duration,
    /// Window of waiting in which the body must reach the minimum rate.
    pub stall: Duration,
    /// How long a response that the consumer has not begun to take stays unread because the buffer is full, before it
    /// is dropped and requested again later: half of the shortest time after which proxies close such a connection.
    pub unread: Duration,
}

impl Timeouts {
    /// Unanswered keep-alive probes after which a connection counts as lost.
    pub const KEEP_ALIVE_PROBES: u32 = 4;
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = |seconds| scaled(Duration::from_secs(seconds));
        Self {
            connect: seconds(10),
            keep_alive: Duration::from_secs(20),
            idle: seconds(30),
            grace: seconds(20),
            stall: seconds(30),
            unread: seconds(4),
        }
    }
}
