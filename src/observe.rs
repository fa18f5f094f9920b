//! Events of a call for logging: attempts that begin and end, and retries. They hold no token, condition, body or record.
//!
//! Events go into a bounded channel, so that sending one never waits. A call that is not observed makes none.

use std::future::Future;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::error::Error;

/// Capacity of the channel; further events are dropped. A thread that waits for a call takes events every 50
/// milliseconds, and hundreds of attempts may end meanwhile.
const CAPACITY: usize = 16_384;

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
        /// The HTTP method.
        method: &'static str,
        /// Path below the base URL, without secrets.
        path: String,
        /// `ok`, the class of the failure, or `cancelled`.
        outcome: &'static str,
        /// HTTP status, if a response began.
        status: Option<u16>,
        /// Duration.
        seconds: f64,
        /// Bytes of the body as received: of a compressed body, the compressed bytes.
        bytes: u64,
        /// Records of the response, if it is the result of a search.
        rows: Option<u64>,
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
    begins: bool,
    ends: bool,
    day: Option<String>,
}

impl Observer {
    /// An observer, and the receiver of its events: retries, and whether attempts begin and end if asked for.
    #[must_use]
    pub fn new(begins: bool, ends: bool) -> (Self, mpsc::Receiver<Box<Event>>) {
        // Boxed: a channel of tokio reserves space for 32 at once, and most calls have none.
        let (events, received) = mpsc::channel(CAPACITY);
        (Self { events, begins, ends, day: None }, received)
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
pub fn observer() -> Option<Observer> {
    OBSERVER.try_with(Clone::clone).ok().flatten()
}

/// The current attempt of a call. One that is open when this is dropped was cancelled.
#[derive(Debug, Default)]
pub struct Attempt {
    /// HTTP status, once a response began.
    pub status: Option<u16>,
    /// Bytes of the body received so far.
    pub bytes: u64,
    /// Records of the response, if it is the result of a search.
    pub rows: Option<u64>,
    /// None if no attempt is open, or its end is not observed.
    open: Option<OpenAttempt>,
}

#[derive(Debug)]
struct OpenAttempt {
    observer: Observer,
    operation: &'static str,
    path: String,
    request_id: String,
    number: u32,
    began: Instant,
}

impl Attempt {
    /// Reports that an attempt begins. `path` makes the path without secrets.
    pub fn begin(&mut self, operation: &'static str, request_id: &str, number: u32, path: impl FnOnce() -> String) {
        let Some(observer) = observer() else { return };
        if observer.begins {
            observer.send(operation, request_id, number, EventKind::Began);
        }
        (self.status, self.bytes, self.rows) = (None, 0, None);
        self.open = observer.ends.then(|| OpenAttempt {
            observer,
            operation,
            path: path(),
            request_id: request_id.to_owned(),
            number,
            began: Instant::now(),
        });
    }

    /// Reports that the attempt ended, unless it has: with a failure, or with success.
    pub fn end(&mut self, failure: Option<&Error>) {
        self.report(failure.map_or("ok", |failure| failure.kind().class_name()));
    }

    fn report(&mut self, outcome: &'static str) {
        let Some(open) = self.open.take() else { return };
        let OpenAttempt { observer, operation, path, request_id, number, began } = open;
        let Self { status, bytes, rows, .. } = *self;
        let seconds = began.elapsed().as_secs_f64();
        let ended = EventKind::Ended { method: "POST", path, outcome, status, seconds, bytes, rows };
        observer.send(operation, &request_id, number, ended);
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.report("cancelled");
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
    use std::cell::Cell;

    use super::*;
    use crate::error::Kind;

    fn began(number: u32) -> Attempt {
        let mut attempt = Attempt::default();
        attempt.begin("search_codes", "id-1", number, || "/path".to_owned());
        attempt
    }

    fn attempt(failure: Option<&Error>) {
        let mut attempt = began(1);
        (attempt.status, attempt.bytes) = (Some(200), 7);
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
        let (observer, events) = Observer::new(true, true);
        observed(Some(observer), async {
            attempt(None);
            attempt(Some(&Error::new(Kind::Server, "test failure")));
            drop(began(2));
        })
        .await;
        assert_eq!(outcomes(events), ["began", "ok", "began", "ServerError", "began", "cancelled"]);
    }

    #[tokio::test]
    async fn an_observer_of_retries_receives_nothing_else() {
        let (observer, events) = Observer::new(false, false);
        let failure = Error::new(Kind::Throttled, "test failure");
        observed(Some(observer), async {
            attempt(None);
            retrying("post", "id-1", 1, &failure, Duration::from_secs(1));
        })
        .await;
        assert_eq!(outcomes(events), ["ThrottledError"]);
    }

    #[tokio::test]
    async fn an_observer_of_ends_receives_no_beginnings_and_makes_a_path_once_for_each() {
        let (observer, mut events) = Observer::new(false, true);
        let paths = Cell::new(0);
        let path = || {
            paths.set(paths.get() + 1);
            "/path".to_owned()
        };
        let mut attempt = Attempt::default();
        attempt.begin("post", "id-1", 1, path);
        attempt.rows = Some(9);
        assert_eq!(paths.get(), 0);
        observed(Some(observer), async {
            attempt.begin("post", "id-1", 1, path);
            attempt.rows = Some(3);
            attempt.end(None);
            attempt.end(Some(&Error::new(Kind::Server, "test failure")));
        })
        .await;
        drop(attempt);
        let event = events.try_recv().expect("an event").kind;
        assert!(matches!(event, EventKind::Ended { outcome: "ok", rows: Some(3), status: None, .. }), "{event:?}");
        assert_eq!((paths.get(), events.len()), (1, 0));
    }

    #[tokio::test]
    async fn a_full_channel_drops_events() {
        attempt(None);
        let (observer, events) = Observer::new(true, true);
        observed(Some(observer), async {
            for _ in 0..CAPACITY {
                attempt(None);
            }
        })
        .await;
        assert_eq!(events.len(), CAPACITY);
    }
}
