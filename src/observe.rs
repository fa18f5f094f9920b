//! Events of a call for logging: attempts that begin and end, and retries. They hold no token, body or record.
//!
//! Events go into a bounded channel, so that sending one never waits. A call that is not observed makes none.

use std::future::Future;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::error::Error;

/// Capacity of the channel; further events are dropped.
const CAPACITY: usize = 256;

tokio::task_local! {
    static OBSERVER: Option<Observer>;
}

/// An event of one attempt of a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// Unix seconds.
    pub time: f64,
    /// Public name of the call.
    pub operation: &'static str,
    /// `X-Request-Id` of the attempt.
    pub request_id: String,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// The day that the request is for, as `2024-01-15`, in a scan by days.
    pub day: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened to an attempt.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// The request is about to be sent.
    Began,
    /// The attempt ended.
    Ended {
        /// `ok`, the class of the failure, or `cancelled`.
        outcome: &'static str,
        /// HTTP status, if a response began.
        status: Option<u16>,
        /// Duration.
        seconds: f64,
        /// Bytes of the body as received: of a compressed body, the compressed bytes.
        bytes: u64,
    },
    /// The attempt failed and is retried.
    Retrying {
        /// The class of the failure.
        reason: &'static str,
        /// Its message.
        detail: String,
        /// Seconds until the next attempt.
        delay: f64,
    },
}

/// Receives the events of a call, from any thread.
#[derive(Clone, Debug)]
pub struct Observer {
    events: mpsc::Sender<Box<Event>>,
    attempts: bool,
    day: Option<String>,
}

impl Observer {
    /// An observer, and the receiver of its events: with `attempts` all of them, otherwise only retries.
    #[must_use]
    pub fn new(attempts: bool) -> (Self, mpsc::Receiver<Box<Event>>) {
        // Boxed: a channel of tokio reserves space for 32 at once, and most calls have none.
        let (events, received) = mpsc::channel(CAPACITY);
        (Self { events, attempts, day: None }, received)
    }

    /// The same observer for a request of a day.
    #[must_use]
    pub fn for_day(self, day: Option<String>) -> Self {
        Self { day, ..self }
    }

    fn send(&self, operation: &'static str, request_id: &str, attempt: u32, kind: EventKind) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let event = Event { time, operation, request_id: request_id.to_owned(), attempt, day: self.day.clone(), kind };
        // The channel may be full or closed: the call goes on.
        drop(self.events.try_send(Box::new(event)));
    }
}

/// Runs a future with an observer. Tasks that it spawns need [`observed`] too.
pub fn observed<F: Future>(observer: Option<Observer>, future: F) -> impl Future<Output = F::Output> {
    OBSERVER.scope(observer, future)
}

/// Runs a function with an observer.
pub fn observed_sync<T>(observer: Option<Observer>, make: impl FnOnce() -> T) -> T {
    OBSERVER.sync_scope(observer, make)
}

/// The observer of the current future.
#[must_use]
pub fn observer() -> Option<Observer> {
    OBSERVER.try_with(Clone::clone).ok().flatten()
}

/// One attempt, which ends when it is dropped.
#[derive(Debug)]
pub struct Attempt<'a> {
    observer: Option<Observer>,
    operation: &'static str,
    request_id: &'a str,
    number: u32,
    began: Instant,
    outcome: &'static str,
    status: Option<u16>,
    bytes: u64,
}

impl<'a> Attempt<'a> {
    /// Reports that an attempt begins.
    #[must_use]
    pub fn begin(operation: &'static str, request_id: &'a str, number: u32) -> Self {
        let observer = observer().filter(|observer| observer.attempts);
        if let Some(observer) = &observer {
            observer.send(operation, request_id, number, EventKind::Began);
        }
        let began = Instant::now();
        let (outcome, status, bytes) = ("cancelled", None, 0);
        Self { observer, operation, request_id, number, began, outcome, status, bytes }
    }

    /// Notes the status of the response.
    pub fn responded(&mut self, status: u16) {
        self.status = Some(status);
    }

    /// Notes the bytes of the body received so far.
    pub fn received(&mut self, bytes: u64) {
        self.bytes = bytes;
    }

    /// Notes the outcome: a failure, or success.
    pub fn end(mut self, failure: Option<&Error>) {
        self.outcome = failure.map_or("ok", |failure| failure.kind().class_name());
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let Some(observer) = &self.observer else { return };
        let ended = EventKind::Ended {
            outcome: self.outcome,
            status: self.status,
            seconds: self.began.elapsed().as_secs_f64(),
            bytes: self.bytes,
        };
        observer.send(self.operation, self.request_id, self.number, ended);
    }
}

/// Reports that a failed attempt is retried.
pub fn retrying(operation: &'static str, request_id: &str, attempt: u32, failure: &Error, delay: Duration) {
    let Some(observer) = observer() else { return };
    let event = EventKind::Retrying {
        reason: failure.kind().class_name(),
        detail: failure.message().to_owned(),
        delay: delay.as_secs_f64(),
    };
    observer.send(operation, request_id, attempt, event);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn attempt(failure: Option<&Error>) {
        let mut attempt = Attempt::begin("search_codes", "id-1", 1);
        attempt.responded(200);
        attempt.received(7);
        attempt.end(failure);
    }

    fn outcomes(mut events: mpsc::Receiver<Box<Event>>) -> Vec<&'static str> {
        let mut found = Vec::new();
        while let Ok(event) = events.try_recv() {
            found.push(match event.kind {
                EventKind::Began => "began",
                EventKind::Ended { outcome, .. } => outcome,
                EventKind::Retrying { reason, .. } => reason,
            });
        }
        found
    }

    #[tokio::test]
    async fn an_attempt_reports_its_outcome_even_when_cancelled() {
        let (observer, events) = Observer::new(true);
        observed(Some(observer), async {
            attempt(None);
            attempt(Some(&Error::new(Kind::Server, "test failure")));
            drop(Attempt::begin("post", "id-2", 2));
        })
        .await;
        assert_eq!(outcomes(events), ["began", "ok", "began", "ServerError", "began", "cancelled"]);
    }

    #[tokio::test]
    async fn an_observer_of_retries_receives_nothing_else() {
        let (observer, events) = Observer::new(false);
        let failure = Error::new(Kind::Throttled, "test failure");
        observed(Some(observer), async {
            attempt(None);
            retrying("post", "id-1", 1, &failure, Duration::from_secs(1));
        })
        .await;
        assert_eq!(outcomes(events), ["ThrottledError"]);
    }

    #[tokio::test]
    async fn a_full_channel_drops_events() {
        attempt(None);
        let (observer, events) = Observer::new(true);
        observed(Some(observer), async {
            for _ in 0..CAPACITY {
                attempt(None);
            }
        })
        .await;
        assert_eq!(events.len(), CAPACITY);
    }
}
