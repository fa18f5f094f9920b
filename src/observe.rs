//! What a call tells whoever watches it: attempts that begin and end, and what is sent again.
//!
//! It goes into a bounded channel, so that telling never waits; where nobody watches, nothing is made. Knows no token,
//! no body and no record, and nothing of who watches.

use std::future::Future;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use tokio::sync::mpsc;

use crate::error::{Error, Result};

/// Events that wait for whoever watches; what does not fit is lost, rather than wait.
const EVENTS_AHEAD: usize = 256;

tokio::task_local! {
    static WATCHER: Option<Watcher>;
}

/// Something that happened to one attempt of a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// Unix seconds.
    pub time: f64,
    /// Public name of the call.
    pub operation: &'static str,
    /// `X-Request-Id` of the attempt.
    pub request_id: String,
    /// Its number, from 1.
    pub attempt: u32,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

/// What can happen to an attempt.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// The request is about to be sent.
    Began,
    /// It has ended, well or not.
    Ended {
        /// `ok`, the class of the failure, or `cancelled` when nobody waited for it any more.
        outcome: &'static str,
        /// HTTP status, if an answer began.
        status: Option<u16>,
        /// How long it took.
        seconds: f64,
        /// Of the body, as they came: compressed if it was.
        bytes: u64,
    },
    /// It failed, and another follows.
    Again {
        /// The class of the failure.
        reason: &'static str,
        /// What it says.
        detail: String,
        /// Seconds until the next attempt.
        delay: f64,
    },
}

/// Who watches a call. It may be told from any thread.
#[derive(Clone, Debug)]
pub struct Watcher {
    events: mpsc::Sender<Event>,
    attempts: bool,
}

impl Watcher {
    /// A watcher, and where its events arrive. Without `attempts` it is told only of what is sent again.
    #[must_use]
    pub fn new(attempts: bool) -> (Self, mpsc::Receiver<Event>) {
        let (events, arrivals) = mpsc::channel(EVENTS_AHEAD);
        (Self { events, attempts }, arrivals)
    }

    fn tell(&self, operation: &'static str, request_id: &str, attempt: u32, what: What) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let event = Event { time, operation, request_id: request_id.to_owned(), attempt, what };
        // Full, or nobody listens any more: the call goes on in any case.
        drop(self.events.try_send(event));
    }
}

/// A future that is watched, if anybody wants to. What it spawns is not.
pub fn watched<F: Future>(watcher: Option<Watcher>, future: F) -> impl Future<Output = F::Output> {
    WATCHER.scope(watcher, future)
}

/// What `make` returns, made as if by a future that is watched.
pub fn watched_sync<T>(watcher: Option<Watcher>, make: impl FnOnce() -> T) -> T {
    WATCHER.sync_scope(watcher, make)
}

/// Who watches the present future. A task that is spawned for it is given to [`watched`] with the same.
#[must_use]
pub fn watcher() -> Option<Watcher> {
    WATCHER.try_with(Clone::clone).ok().flatten()
}

/// One attempt, watched until it is dropped.
#[derive(Debug)]
pub struct Attempt<'a> {
    watcher: Option<Watcher>,
    operation: &'static str,
    request_id: &'a str,
    number: u32,
    began: Instant,
    outcome: &'static str,
    status: Option<u16>,
    bytes: u64,
}

impl<'a> Attempt<'a> {
    /// Tells that an attempt begins.
    #[must_use]
    pub fn begin(operation: &'static str, request_id: &'a str, number: u32) -> Self {
        let watcher = watcher().filter(|watcher| watcher.attempts);
        if let Some(watcher) = &watcher {
            watcher.tell(operation, request_id, number, What::Began);
        }
        let began = Instant::now();
        Self { watcher, operation, request_id, number, began, outcome: "cancelled", status: None, bytes: 0 }
    }

    /// An answer has begun.
    pub fn answered(&mut self, status: u16) {
        self.status = Some(status);
    }

    /// So many bytes of the body have come.
    pub fn received(&mut self, bytes: u64) {
        self.bytes = bytes;
    }

    /// Tells how it ended.
    pub fn end<T>(mut self, outcome: &Result<T>) {
        self.outcome = outcome.as_ref().map_or_else(|failure| failure.kind().class_name(), |_| "ok");
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let Some(watcher) = &self.watcher else { return };
        let ended = What::Ended {
            outcome: self.outcome,
            status: self.status,
            seconds: self.began.elapsed().as_secs_f64(),
            bytes: self.bytes,
        };
        watcher.tell(self.operation, self.request_id, self.number, ended);
    }
}

/// Tells that another attempt follows one that failed.
pub fn again(operation: &'static str, request_id: &str, attempt: u32, failure: &Error, delay: Duration) {
    let Some(watcher) = watcher() else { return };
    let again = What::Again {
        reason: failure.kind().class_name(),
        detail: failure.message().to_owned(),
        delay: delay.as_secs_f64(),
    };
    watcher.tell(operation, request_id, attempt, again);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn attempt(outcome: &Result<()>) {
        let mut attempt = Attempt::begin("search_codes", "id-1", 1);
        attempt.answered(200);
        attempt.received(7);
        attempt.end(outcome);
    }

    fn outcomes(mut events: mpsc::Receiver<Event>) -> Vec<&'static str> {
        let mut found = Vec::new();
        while let Ok(event) = events.try_recv() {
            found.push(match event.what {
                What::Began => "began",
                What::Ended { outcome, .. } => outcome,
                What::Again { reason, .. } => reason,
            });
        }
        found
    }

    #[tokio::test]
    async fn an_attempt_tells_how_it_ended_even_if_nobody_waits_for_it() {
        let (watcher, events) = Watcher::new(true);
        watched(Some(watcher), async {
            attempt(&Ok(()));
            attempt(&Err(Error::new(Kind::Server, "made up")));
            drop(Attempt::begin("call", "id-2", 2));
        })
        .await;
        assert_eq!(outcomes(events), ["began", "ok", "began", "ServerError", "began", "cancelled"]);
    }

    #[tokio::test]
    async fn whoever_asks_for_what_is_sent_again_is_told_nothing_else() {
        let (watcher, events) = Watcher::new(false);
        let failure = Error::new(Kind::Throttled, "made up");
        watched(Some(watcher), async {
            attempt(&Ok(()));
            again("call", "id-1", 1, &failure, Duration::from_secs(1));
        })
        .await;
        assert_eq!(outcomes(events), ["ThrottledError"]);
    }

    #[tokio::test]
    async fn telling_waits_for_nobody() {
        attempt(&Ok(()));
        let (watcher, events) = Watcher::new(true);
        watched(Some(watcher), async {
            for _ in 0..EVENTS_AHEAD {
                attempt(&Ok(()));
            }
        })
        .await;
        assert_eq!(events.len(), EVENTS_AHEAD);
    }
}
