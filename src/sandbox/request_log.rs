//! The log of what was received, for the assertions of tests: the latest requests, without their tokens.
//!
//! It knows requests and the status of their answers, not what they mean. What it keeps is bounded, whatever is sent.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderName, HeaderValue, header};
use bytes::Bytes;

use super::tokens::bearer_token;

/// Most requests that are kept.
const REQUESTS: usize = 10_000;
/// Most bytes that are kept, of paths and headers as of bodies.
const BYTES: usize = 64 * 1024 * 1024;

/// A request as it was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// When its head had come, by the system's clock.
    pub time: SystemTime,
    /// Its method.
    pub method: String,
    /// Its path, with the query if there is one.
    pub path: String,
    /// Its headers in lower case; of tokens, the last four characters at most.
    pub headers: Vec<(String, String)>,
    /// Its body; none when it was not read to its end.
    pub body: Option<Bytes>,
    /// The HTTP status of the answer; none when none was begun.
    pub status: Option<u16>,
}

/// The requests, oldest first.
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    requests: VecDeque<Received>,
    /// How many requests came before the first one that is kept.
    before: usize,
    bytes: usize,
}

/// The place of a request in the log, where what happens next is added.
pub(super) struct Entry {
    log: Arc<Log>,
    number: usize,
}

impl Log {
    /// Writes down a request whose head the guard has let in.
    pub(super) fn open(self: &Arc<Self>, time: SystemTime, head: &Parts) -> Entry {
        let headers = head.headers.iter().map(|(name, value)| (name.to_string(), shown(name, value))).collect();
        let path = head.uri.path_and_query().map_or("", PathAndQuery::as_str);
        let (method, path) = (head.method.to_string(), path.to_owned());
        let mut kept = self.kept();
        let number = kept.before + kept.requests.len();
        kept.add(Received { time, method, path, headers, body: None, status: None });
        Entry { log: Arc::clone(self), number }
    }

    /// All requests that are kept.
    pub(super) fn requests(&self) -> Vec<Received> {
        self.kept().requests.iter().cloned().collect()
    }

    /// Forgets all requests.
    pub(super) fn clear(&self) {
        let mut kept = self.kept();
        kept.before += kept.requests.len();
        kept.requests.clear();
        kept.bytes = 0;
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn add(&mut self, request: Received) {
        self.bytes += request.bytes();
        self.requests.push_back(request);
        self.trim();
    }

    /// Forgets the oldest requests when there are too many.
    fn trim(&mut self) {
        while self.requests.len() > REQUESTS || self.bytes > BYTES {
            let Some(oldest) = self.requests.pop_front() else { return };
            self.before += 1;
            self.bytes -= oldest.bytes();
        }
    }
}

impl Received {
    /// The memory it takes.
    fn bytes(&self) -> usize {
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        let places = size_of::<Self>() + self.headers.len() * size_of::<(String, String)>();
        places + self.method.len() + self.path.len() + headers + self.body.as_ref().map_or(0, Bytes::len)
    }
}

impl Entry {
    /// Adds the body.
    pub(super) fn has_body(&self, body: &[u8]) {
        // A copy: a slice of what was read from the connection would keep all of that.
        let body = Bytes::copy_from_slice(body);
        let mut kept = self.log.kept();
        let bytes = body.len();
        if let Some(request) = self.number.checked_sub(kept.before).and_then(|place| kept.requests.get_mut(place)) {
            request.body = Some(body);
            kept.bytes += bytes;
            kept.trim();
        }
    }

    /// Adds how it was answered.
    pub(super) fn has_status(&self, status: u16) {
        let mut kept = self.log.kept();
        if let Some(request) = self.number.checked_sub(kept.before).and_then(|place| kept.requests.get_mut(place)) {
            request.status = Some(status);
        }
    }
}

/// A header as it may be shown.
fn shown(name: &HeaderName, value: &HeaderValue) -> String {
    let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
    if ![header::AUTHORIZATION, header::PROXY_AUTHORIZATION, header::COOKIE].contains(name) {
        return text;
    }
    let Some((scheme, token)) = bearer_token(&text) else { return "…".to_owned() };
    // Of a short token four characters would be too much.
    let last = token.char_indices().rev().nth(3).filter(|(place, _)| *place >= 12);
    format!("{scheme} …{}", last.and_then(|(place, _)| token.get(place..)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn open(log: &Arc<Log>, path: &str) -> Entry {
        let (head, ()) = Request::post(path).body(()).unwrap().into_parts();
        log.open(SystemTime::UNIX_EPOCH, &head)
    }

    #[test]
    fn what_happens_next_is_added_to_its_request_or_to_none() {
        let log = Arc::new(Log::default());
        let (first, second) = (open(&log, "/1"), open(&log, "/2"));
        second.has_status(200);
        assert_eq!(log.requests().iter().map(|request| request.status).collect::<Vec<_>>(), [None, Some(200)]);
        log.clear();
        let third = open(&log, "/3");
        first.has_status(500);
        first.has_body(b"late");
        third.has_body(b"3");
        let requests = log.requests();
        assert_eq!(requests.len(), 1);
        assert_eq!((requests[0].status, requests[0].body.as_deref()), (None, Some(&b"3"[..])));
    }

    #[test]
    fn the_oldest_requests_are_forgotten_by_number_and_by_size() {
        let log = Arc::new(Log::default());
        for number in 0..=REQUESTS {
            open(&log, &format!("/{number}"));
        }
        assert_eq!((log.requests().len(), log.requests()[0].path.as_str()), (REQUESTS, "/1"));
        let half = vec![0; BYTES / 2 - 1_000];
        for path in ["/a", "/b", "/c"] {
            open(&log, path).has_body(&half);
        }
        let paths: Vec<_> = log.requests().into_iter().map(|request| request.path).collect();
        assert_eq!(paths, ["/b", "/c"]);
        log.clear();
        open(&log, "/a").has_body(&vec![0; BYTES]);
        assert!(log.requests().is_empty(), "with its path it is too large");
    }

    #[test]
    fn paths_and_headers_count_as_bodies_do() {
        let filler = "x".repeat(50_000);
        let many = 2 * BYTES / filler.len();
        let log = Arc::new(Log::default());
        for number in 0..many {
            open(&log, &format!("/{number}/{filler}"));
        }
        let by_path = log.requests();
        log.clear();
        for _ in 0..many {
            let (head, ()) = Request::post("/").header("x-long", &filler).body(()).unwrap().into_parts();
            log.open(SystemTime::UNIX_EPOCH, &head);
        }
        for kept in [by_path, log.requests()] {
            assert!((many / 3..many / 2 + 1).contains(&kept.len()), "{} of {many}", kept.len());
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
