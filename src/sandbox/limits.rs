//! How much and how long the server lets a client go on before it has had enough.
//!
//! Limits on connections; those on what a request may hold stand where requests are read.

use std::time::Duration;

/// Limits of a server. The defaults are those of every sandbox; tests shorten them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most connections at a time. One more takes the place of the one that waits longest without a whole request,
    /// else of one whose answer is stalled.
    pub connections: usize,
    /// Longest time for the head of a request to arrive, also on a connection that is new.
    pub head: Duration,
    /// Longest time for the body of a request to arrive.
    pub body: Duration,
    /// Longest time for an answer to begin.
    pub answer: Duration,
    /// Longest silence between an answer and the next request.
    pub keep_alive: Duration,
    /// Longest time for which what a client still sends after its last answer is read and dropped.
    pub linger: Duration,
    /// How long a client may take nothing of its answer before its place goes to another who needs one.
    pub stall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            head: Duration::from_secs(5),
            body: Duration::from_secs(30),
            answer: Duration::from_secs(60),
            keep_alive: Duration::from_secs(15),
            linger: Duration::from_secs(5),
            stall: Duration::from_secs(5),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_the_time_that_was_promised() {
        let Limits { connections, head, body, answer, keep_alive, linger, stall } = Limits::default();
        let seconds = [head, body, answer, keep_alive, linger, stall].map(|limit| limit.as_secs());
        assert_eq!((connections, seconds), (256, [5, 30, 60, 15, 5, 5]));
    }
}
