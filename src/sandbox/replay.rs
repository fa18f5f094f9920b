//! Responses from a recording.
//!
//! A request gets the response that was recorded for the same path and body. Equal requests get theirs in the order of
//! the recording, and the last one again from then on. What was cut off in the recording is cut off here.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use futures_util::stream::{self, StreamExt};
use serde_json::Value;

use super::reply::Refusal;
use crate::contract::recording::{Line, VERSION};
use crate::error::{Error, Kind, Result};
use crate::regular_file;

/// How long a response that was cut off stays open after what was recorded of it.
const BEFORE_CUT: Duration = Duration::from_millis(100);
/// Most bytes of a recording. Its bodies stay in the file.
const MOST_BYTES: u64 = 64 << 30;
/// Most bytes of one of its lines: a request, or a piece of a body.
const MOST_OF_LINE: u64 = 64 << 20;

/// The exchanges of a recording that have a response.
#[derive(Debug)]
pub(super) struct Recording {
    file: PathBuf,
    /// By path and body.
    requests: HashMap<(String, Value), Responses>,
}

/// The responses to a request, in the order of the recording.
#[derive(Debug, Default)]
struct Responses {
    exchanges: Vec<Exchange>,
    served: AtomicUsize,
}

/// The response of an exchange. Its body stays in the file.
#[derive(Clone, Debug, Default)]
struct Exchange {
    /// None if it got no response.
    head: Option<(StatusCode, HeaderMap)>,
    /// Where the lines of its body begin, and their bytes.
    pieces: Vec<(u64, u64)>,
    is_complete: bool,
}

impl Recording {
    /// Reads where each response is.
    pub(super) fn open(file: &Path) -> Result<Self> {
        let unreadable = |cause: io::Error| {
            Error::new(Kind::Sandbox, format!("`{}` cannot be read: {cause}", file.display())).with_source(cause)
        };
        let mut lines = BufReader::new(regular_file::open(file, MOST_BYTES).map_err(unreadable)?);
        let mut recording = Self { file: file.to_owned(), requests: HashMap::new() };
        // Request and response of each exchange by its id.
        let mut open: HashMap<String, (String, Value, Exchange)> = HashMap::new();
        let (mut line, mut at, mut number) = (Vec::new(), 0_u64, 0);
        // A line that was cut off, as its process was killed. Only the next recording in the file may follow it.
        let mut cut = None;
        let damaged = |number: u64| {
            let problem = format!("`{}` is not a recording: line {number} cannot be read", file.display());
            Error::new(Kind::Sandbox, problem).with_hint("a client with the setting record makes recordings")
        };
        loop {
            line.clear();
            let size = lines.by_ref().take(MOST_OF_LINE).read_until(b'\n', &mut line).map_err(unreadable)? as u64;
            if size == 0 {
                break;
            }
            number += 1;
            let read = serde_json::from_slice(&line);
            if let Some(number) = cut.take_if(|_| !matches!(read, Ok(Line::Recording { .. }))) {
                return Err(damaged(number));
            }
            match read {
                Ok(Line::Recording { version: VERSION, .. }) => cut = None,
                Ok(Line::Recording { version, .. }) => {
                    let problem = format!("`{}` has version {version} of the format", file.display());
                    return Err(Error::new(Kind::Sandbox, problem).with_hint("this package reads version 1"));
                }
                Ok(_) | Err(_) if number == 1 => return Err(damaged(number)),
                Ok(Line::Request { id, path, body, .. }) => {
                    open.insert(id, (path, body, Exchange::default()));
                }
                Ok(Line::Response { id, status, headers, .. }) => {
                    let head = head(status, &headers).ok_or_else(|| damaged(number))?;
                    if let Some((.., exchange)) = open.get_mut(&id) {
                        exchange.head = Some(head);
                    }
                }
                Ok(Line::Body { id, .. }) => {
                    if let Some((.., exchange)) = open.get_mut(&id) {
                        exchange.pieces.push((at, size));
                    }
                }
                Ok(Line::End { id, failure, .. }) => {
                    if let Some((path, body, mut exchange)) = open.remove(&id) {
                        exchange.is_complete = failure.is_none();
                        recording.add(path, body, exchange);
                    }
                }
                Err(_) => cut = line.ends_with(b"\n").then_some(number),
            }
            at += size;
        }
        if let Some(number) = cut {
            return Err(damaged(number));
        }
        for (path, body, exchange) in open.into_values() {
            recording.add(path, body, exchange);
        }
        Ok(recording)
    }

    /// Adds an exchange, unless it got no response.
    fn add(&mut self, path: String, body: Value, exchange: Exchange) {
        if exchange.head.is_some() {
            self.requests.entry((path, body)).or_default().exchanges.push(exchange);
        }
    }

    /// The recorded response to a request.
    pub(super) fn respond(&self, path: &str, body: &[u8]) -> std::result::Result<Response<Body>, Refusal> {
        let body: Value = serde_json::from_slice(body).map_err(|_| Refusal::malformed("the body is not JSON"))?;
        let missing = || {
            let problem = format!(
                "the recording has no response to this request: {} of its {} requests are for {path}, none with this body",
                self.requests.keys().filter(|(known, _)| known == path).count(),
                self.requests.len()
            );
            Refusal::Problem(StatusCode::NOT_FOUND, problem)
        };
        let known = self.requests.get(&(path.to_owned(), body)).ok_or_else(missing)?;
        let turn = known.served.fetch_add(1, Ordering::Relaxed).min(known.exchanges.len().saturating_sub(1));
        let exchange = known.exchanges.get(turn).ok_or_else(missing)?;
        self.response(exchange).map_err(|_| Refusal::internal())
    }

    fn response(&self, exchange: &Exchange) -> io::Result<Response<Body>> {
        let mut file = regular_file::open(&self.file, MOST_BYTES)?;
        let mut pieces = exchange.pieces.clone().into_iter();
        let pieces = std::iter::from_fn(move || pieces.next().map(|(at, size)| piece(&mut file, at, size)));
        // What arrived is sent first: without a pause the connection would be closed before. A client that has all it
        // wants, as of a search with a limit, has ended by then.
        let cut = (!exchange.is_complete).then_some(async {
            tokio::time::sleep(BEFORE_CUT).await;
            Err(io::Error::other("the recorded response ends here"))
        });
        let body = Body::from_stream(stream::iter(pieces).chain(stream::iter(cut).then(|cut| cut)));
        let mut response = Response::new(body);
        if let Some((status, headers)) = &exchange.head {
            *response.status_mut() = *status;
            response.headers_mut().clone_from(headers);
        }
        Ok(response)
    }
}

/// The status and the headers of a response; None if no response can have them.
fn head(status: u16, headers: &[(String, String)]) -> Option<(StatusCode, HeaderMap)> {
    let status = StatusCode::from_u16(status).ok().filter(|status| (200..=599).contains(&status.as_u16()))?;
    let header =
        |(name, value): &(String, String)| Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?));
    Some((status, headers.iter().map(header).collect::<Option<_>>()?))
}

/// The bytes of one line of a body.
fn piece(file: &mut File, at: u64, size: u64) -> io::Result<Bytes> {
    let mut line = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(size).read_to_end(&mut line)?;
    match serde_json::from_slice(&line)? {
        Line::Body { text: Some(text), .. } => Ok(text.into()),
        Line::Body { bytes: Some(bytes), .. } => Ok(bytes.into()),
        _ => Err(io::Error::other("the recording has changed")),
    }
}
