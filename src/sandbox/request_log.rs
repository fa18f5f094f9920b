//! The log of received requests, for assertions in tests: bounded in size, and without tokens.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderName, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::exports::written;
use super::tokens::bearer_token;
use crate::contract::envelope::{CODE_SUCCESS, field};
use crate::contract::recording::is_secret_header;
use crate::error::excerpt;

const REQUESTS: usize = 10_000;
/// Most bytes that are kept, of paths, headers and bodies.
const BYTES: usize = 64 * 1024 * 1024;
/// Most bytes of an envelope whose message is kept.
const ENVELOPE: usize = 4 * 1024;

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct LoggedRequest {
    /// Counted from 1.
    pub number: u64,
    /// When its head had arrived, by the system clock.
    pub time: Option<String>,
    pub method: String,
    /// With the query if there is one.
    pub path: String,
    /// In lower case; tokens show at most their last four characters.
    pub headers: Map<String, Value>,
    /// None when it was not read to its end.
    #[serde(serialize_with = "text_or_base64")]
    pub body: Option<Bytes>,
    pub status: Option<u16>,
    /// From its head to the last byte of the response, or to the end of the connection.
    pub duration_ms: Option<f64>,
    pub bytes: u64,
    pub fault: Option<u64>,
    /// The message of a response that reports failure.
    pub message: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Log(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    requests: VecDeque<LoggedRequest>,
    before: u64,
    bytes: usize,
}

/// A request of the log, to which more is added.
pub(super) struct Entry {
    log: Arc<Log>,
    number: u64,
    began: Instant,
}

impl Log {
    /// Logs a request that passed the host check.
    pub(super) fn open(self: &Arc<Self>, time: SystemTime, head: &Parts) -> Entry {
        let (time, method) = (written(time), head.method.to_string());
        let path = head.uri.path_and_query().map_or("", PathAndQuery::as_str).to_owned();
        let mut headers = Map::new();
        for (name, value) in &head.headers {
            let value = shown(name, value);
            let before = headers.get(name.as_str()).and_then(Value::as_str);
            let joined = before.map_or_else(|| value.clone(), |before| format!("{before}, {value}"));
            headers.insert(name.to_string(), joined.into());
        }
        let mut entries = self.lock();
        let number = entries.before + entries.requests.len() as u64 + 1;
        let request = LoggedRequest { number, time, method, path, headers, ..LoggedRequest::default() };
        entries.bytes += request.size();
        entries.requests.push_back(request);
        entries.trim();
        Entry { log: Arc::clone(self), number, began: Instant::now() }
    }

    pub(super) fn after(&self, number: u64) -> Vec<LoggedRequest> {
        self.lock().requests.iter().skip_while(|request| request.number <= number).cloned().collect()
    }

    pub(super) fn clear(&self) {
        let mut entries = self.lock();
        *entries = Entries { before: entries.before + entries.requests.len() as u64, ..Entries::default() };
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn trim(&mut self) {
        while self.requests.len() > REQUESTS || self.bytes > BYTES {
            let Some(oldest) = self.requests.pop_front() else { return };
            self.before += 1;
            self.bytes -= oldest.size();
        }
    }
}

impl LoggedRequest {
    fn size(&self) -> usize {
        let text = |value: &Value| value.as_str().map_or(0, str::len);
        let header = |(name, value)| size_of::<(String, Value)>() + String::len(name) + text(value);
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
            request.bytes += sent.len() as u64;
            request.message = message.or(request.message.take());
        });
    }

    /// Changes the request, if it is still in the log.
    pub(super) fn update(&self, change: impl FnOnce(&mut LoggedRequest)) {
        let entries = &mut *self.log.lock();
        let index = self.number.checked_sub(entries.before + 1).and_then(|index| usize::try_from(index).ok());
        let Some(request) = index.and_then(|index| entries.requests.get_mut(index)) else { return };
        entries.bytes -= request.size();
        change(request);
        entries.bytes += request.size();
        entries.trim();
    }
}

impl Drop for Entry {
    /// The response has ended, or the connection without one.
    fn drop(&mut self) {
        let duration = self.began.elapsed().as_secs_f64() * 1e3;
        self.update(|request| request.duration_ms = Some(duration));
    }
}

#[expect(clippy::ref_option, reason = "serde passes the member")]
fn text_or_base64<S: Serializer>(body: &Option<Bytes>, output: S) -> Result<S::Ok, S::Error> {
    let body = body.as_ref().map(|body| match std::str::from_utf8(body) {
        Ok(text) => text.into(),
        Err(_) => json!({"base64": STANDARD.encode(body)}),
    });
    body.serialize(output)
}

/// The message of an envelope that reports failure, which is small and sent in one piece.
fn failure(envelope: &[u8]) -> Option<String> {
    let envelope = Some(envelope).filter(|envelope| envelope.len() <= ENVELOPE)?;
    let envelope: Value = serde_json::from_slice(envelope).ok()?;
    let message = envelope.get(field::MESSAGE)?.as_str()?;
    (*envelope.get(field::CODE)? != CODE_SUCCESS).then(|| excerpt(message, ENVELOPE))
}

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
        log.after(0)
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
        let shown = || requests(&log).pop().map(|request| (request.bytes, request.duration_ms.is_some()));
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
