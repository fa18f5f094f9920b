//! The log of received requests, for assertions in tests: bounded in size, and without tokens.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderName, HeaderValue};
use bytes::Bytes;
use serde_json::Value;

use super::tokens::bearer_token;
use crate::contract::envelope::{CODE_SUCCESS, field};
use crate::contract::recording::is_secret_header;
use crate::error::excerpt;

/// Most requests that are kept.
const REQUESTS: usize = 10_000;
/// Most bytes that are kept, of paths, headers and bodies.
const BYTES: usize = 64 * 1024 * 1024;
/// Most bytes of an envelope whose message is kept.
const ENVELOPE: usize = 4 * 1024;

/// A request as it was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LoggedRequest {
    /// When its head had arrived, by the system clock.
    pub time: SystemTime,
    /// Its method.
    pub method: String,
    /// Its path, with the query if there is one.
    pub path: String,
    /// Its headers in lower case; tokens show at most their last four characters.
    pub headers: Vec<(String, String)>,
    /// Its body; none when it was not read to its end.
    pub body: Option<Bytes>,
    /// The HTTP status of the response; none when there was none.
    pub status: Option<u16>,
    /// From its head to the last byte of the response, or to the end of the connection.
    pub duration: Option<Duration>,
    /// Bytes of the body of the response that were sent.
    pub sent: u64,
    /// The id of the fault that it got.
    pub fault: Option<u64>,
    /// The message of a response that reports failure.
    pub message: Option<String>,
}

/// The requests, oldest first.
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    requests: VecDeque<LoggedRequest>,
    /// How many earlier requests were dropped.
    before: usize,
    bytes: usize,
}

/// A request of the log, to which more is added.
pub(super) struct Entry {
    log: Arc<Log>,
    number: usize,
    began: Instant,
}

impl Log {
    /// Logs a request that passed the host check.
    pub(super) fn open(self: &Arc<Self>, time: SystemTime, head: &Parts) -> Entry {
        let headers = head.headers.iter().map(|(name, value)| (name.to_string(), shown(name, value))).collect();
        let path = head.uri.path_and_query().map_or("", PathAndQuery::as_str);
        let (method, path) = (head.method.to_string(), path.to_owned());
        let (body, status, duration, sent, fault, message) = Default::default();
        let request = LoggedRequest { time, method, path, headers, body, status, duration, sent, fault, message };
        let mut entries = self.lock();
        let number = entries.before + entries.requests.len();
        entries.bytes += request.bytes();
        entries.requests.push_back(request);
        entries.trim();
        Entry { log: Arc::clone(self), number, began: Instant::now() }
    }

    /// The requests that are kept and have a higher number, each with its number, counted from 1.
    pub(super) fn after(&self, number: u64) -> Vec<(u64, LoggedRequest)> {
        let entries = self.lock();
        let numbered = (entries.before as u64 + 1..).zip(&entries.requests);
        numbered.skip_while(|(each, _)| *each <= number).map(|(each, request)| (each, request.clone())).collect()
    }

    /// Removes all requests.
    pub(super) fn clear(&self) {
        let mut entries = self.lock();
        *entries = Entries { before: entries.before + entries.requests.len(), ..Entries::default() };
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Drops the oldest requests beyond the limits.
    fn trim(&mut self) {
        while self.requests.len() > REQUESTS || self.bytes > BYTES {
            let Some(oldest) = self.requests.pop_front() else { return };
            self.before += 1;
            self.bytes -= oldest.bytes();
        }
    }
}

impl LoggedRequest {
    /// Its size in memory.
    fn bytes(&self) -> usize {
        let header = |(name, value): &(String, String)| size_of::<(String, String)>() + name.len() + value.len();
        let headers: usize = self.headers.iter().map(header).sum();
        let message = self.message.as_ref().map_or(0, String::len);
        let body = self.body.as_ref().map_or(0, Bytes::len);
        size_of::<Self>() + self.method.len() + self.path.len() + headers + message + body
    }
}

impl Entry {
    /// Counts bytes of the response that are sent, and takes the message of an envelope that reports failure.
    pub(super) fn add_sent(&self, sent: &[u8]) {
        let message = failure(sent);
        self.update(|request| {
            request.sent += sent.len() as u64;
            request.message = message.or(request.message.take());
        });
    }

    /// Changes the request, if it is still in the log.
    pub(super) fn update(&self, change: impl FnOnce(&mut LoggedRequest)) {
        let entries = &mut *self.log.lock();
        let index = self.number.checked_sub(entries.before);
        let Some(request) = index.and_then(|index| entries.requests.get_mut(index)) else { return };
        entries.bytes -= request.bytes();
        change(request);
        entries.bytes += request.bytes();
        entries.trim();
    }
}

impl Drop for Entry {
    /// The response has ended, or the connection without one.
    fn drop(&mut self) {
        let duration = self.began.elapsed();
        self.update(|request| request.duration = Some(duration));
    }
}

/// The message of an envelope that reports failure, which is small and sent in one piece.
fn failure(envelope: &[u8]) -> Option<String> {
    let envelope = Some(envelope).filter(|envelope| envelope.len() <= ENVELOPE)?;
    let envelope: Value = serde_json::from_slice(envelope).ok()?;
    let message = envelope.get(field::MESSAGE)?.as_str()?;
    (*envelope.get(field::CODE)? != CODE_SUCCESS).then(|| excerpt(message, ENVELOPE))
}

/// A header as it may be shown.
fn shown(name: &HeaderName, value: &HeaderValue) -> String {
    let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
    if !is_secret_header(name.as_str()) {
        return text;
    }
    let Some((scheme, token)) = bearer_token(&text) else { return "…".to_owned() };
    // Four characters of a short token would reveal too much.
    let last = token.char_indices().rev().nth(3).filter(|(index, _)| *index >= 12);
    format!("{scheme} …{}", last.and_then(|(index, _)| token.get(index..)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use axum::http::{Request, header};

    use super::*;

    fn requests(log: &Log) -> Vec<LoggedRequest> {
        log.after(0).into_iter().map(|(_, request)| request).collect()
    }

    fn open(log: &Arc<Log>, path: &str) -> Entry {
        let (head, ()) = Request::post(path).body(()).unwrap().into_parts();
        log.open(SystemTime::UNIX_EPOCH, &head)
    }

    fn set_body(entry: &Entry, body: &[u8]) {
        entry.update(|request| request.body = Some(Bytes::copy_from_slice(body)));
    }

    #[test]
    fn a_request_has_a_duration_once_its_response_has_ended() {
        let log = Arc::new(Log::default());
        let entry = open(&log, "/");
        entry.add_sent(b"12345");
        let shown = || requests(&log).pop().map(|request| (request.sent, request.duration.is_some()));
        assert_eq!(shown(), Some((5, false)));
        drop(entry);
        assert_eq!(shown(), Some((5, true)));
    }

    #[test]
    fn body_and_status_are_added_to_their_request_or_to_none() {
        let log = Arc::new(Log::default());
        let (first, second) = (open(&log, "/1"), open(&log, "/2"));
        second.update(|request| request.status = Some(200));
        assert_eq!(requests(&log).iter().map(|request| request.status).collect::<Vec<_>>(), [None, Some(200)]);
        log.clear();
        let third = open(&log, "/3");
        first.update(|request| request.status = Some(500));
        set_body(&first, b"late");
        set_body(&third, b"3");
        let requests = requests(&log);
        assert_eq!(requests.len(), 1);
        assert_eq!((requests[0].status, requests[0].body.as_deref()), (None, Some(&b"3"[..])));
    }

    #[test]
    fn the_oldest_requests_are_dropped_by_number_and_by_size() {
        let log = Arc::new(Log::default());
        for number in 0..=REQUESTS {
            open(&log, &format!("/{number}"));
        }
        assert_eq!((requests(&log).len(), requests(&log)[0].path.as_str()), (REQUESTS, "/1"));
        let half = vec![0; BYTES / 2 - 1_000];
        for path in ["/a", "/b", "/c"] {
            set_body(&open(&log, path), &half);
        }
        let paths: Vec<_> = requests(&log).into_iter().map(|request| request.path).collect();
        assert_eq!(paths, ["/b", "/c"]);
        log.clear();
        set_body(&open(&log, "/a"), &vec![0; BYTES]);
        assert!(requests(&log).is_empty(), "with its path it is too large");
    }

    #[test]
    fn paths_and_headers_count_as_bodies_do() {
        let filler = "x".repeat(50_000);
        let many = 2 * BYTES / filler.len();
        let log = Arc::new(Log::default());
        for number in 0..many {
            open(&log, &format!("/{number}/{filler}"));
        }
        let by_path = requests(&log);
        log.clear();
        for _ in 0..many {
            let (head, ()) = Request::post("/").header("x-long", &filler).body(()).unwrap().into_parts();
            log.open(SystemTime::UNIX_EPOCH, &head);
        }
        for entries in [by_path, requests(&log)] {
            assert!((many / 3..many / 2 + 1).contains(&entries.len()), "{} of {many}", entries.len());
        }
    }

    #[test]
    fn a_token_is_never_shown() {
        let show = |value: &str| shown(&header::AUTHORIZATION, &HeaderValue::from_str(value).unwrap());
        assert_eq!(show("Bearer sbx_0123456789abcdef"), "Bearer …cdef");
        assert_eq!(show("Bearer short"), "Bearer …");
        assert_eq!(show("bearer sbx_0123456789abcdef"), "bearer …cdef");
        assert_eq!(show("Basic dXNlcjpwYXNz"), "…");
        assert_eq!(shown(&header::COOKIE, &HeaderValue::from_static("session=1")), "…");
        assert_eq!(shown(&header::HOST, &HeaderValue::from_static("localhost")), "localhost");
    }
}
