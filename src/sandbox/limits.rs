//! Limits of a server on its connections. Those on a request's content are in `request`.

use std::time::Duration;

/// Limits of a server. Every sandbox uses the defaults; tests shorten them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most connections at a time. One more replaces the one that is longest without a complete request, else one
    /// whose client does not read its response.
    pub connections: usize,
    /// Longest time for the head of a request to arrive, also on a connection that is new.
    pub head: Duration,
    /// Longest time for the body of a request to arrive.
    pub body: Duration,
    /// Longest time for a response to begin.
    pub answer: Duration,
    /// Longest time between a response and the next request.
    pub keep_alive: Duration,
    /// How long data that arrives after the last response is read and discarded.
    pub linger: Duration,
    /// How long a client may read nothing of its response before its connection can be replaced.
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
    fn defaults() {
        let Limits { connections, head, body, answer, keep_alive, linger, stall } = Limits::default();
        let seconds = [head, body, answer, keep_alive, linger, stall].map(|limit| limit.as_secs());
        assert_eq!((connections, seconds), (256, [5, 30, 60, 15, 5, 5]));
    }
}
