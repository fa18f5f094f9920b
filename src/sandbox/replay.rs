//! Responses from a recording.
//!
//! A request gets the response that was recorded for the same path and body. Equal requests get theirs in the order of
//! the recording, and the last one again from then on. What was cut off in the recording is cut off here.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::stream::{self, StreamExt};
use serde_json::Value;

use super::reply::Refusal;
use crate::contract::recording::{BEGIN, Line, MOST_OF_BODY, VERSION};
use crate::error::{Error, Kind, Result, excerpt};
use crate::regular_file;

/// How long a response that was cut off stays open after what was recorded of it.
const BEFORE_CUT: Duration = Duration::from_millis(100);
/// Most bytes of a recording. Its responses stay in the file.
const MOST_BYTES: u64 = 64 << 30;
/// Most bytes of one of its lines: JSON may write a byte of a body as six.
const MOST_OF_LINE: u64 = 8 * MOST_OF_BODY as u64;

/// The exchanges of a recording that have a response.
#[derive(Debug)]
pub(super) struct Recording {
    file: PathBuf,
    /// By path and body.
    requests: HashMap<(String, Value), Responses>,
    /// Lines that have no end.
    incomplete: usize,
}

/// The responses to a request, in the order of the recording.
#[derive(Debug, Default)]
struct Responses {
    /// Number of the first line.
    number: usize,
    /// Where each line begins, and its bytes.
    places: Vec<(u64, u64)>,
    served: AtomicUsize,
}

impl Recording {
    /// Reads where each response is. A line that ends within its JSON is left out: its process was killed, or its disk
    /// was full.
    pub(super) fn open(file: &Path) -> Result<Self> {
        let refused = |problem: String| Error::new(Kind::Sandbox, format!("`{}` {problem}", file.display()));
        let unreadable = |cause: io::Error| refused(format!("cannot be read: {cause}")).with_source(cause);
        let mut lines = BufReader::new(regular_file::open(file, MOST_BYTES).map_err(unreadable)?);
        let mut recording = Self { file: file.to_owned(), requests: HashMap::new(), incomplete: 0 };
        let (mut line, mut at) = (Vec::new(), 0);
        for number in 1.. {
            line.clear();
            let size = lines.by_ref().take(MOST_OF_LINE).read_until(b'\n', &mut line).map_err(unreadable)? as u64;
            if size == 0 {
                break;
            }
            let text = line.trim_ascii();
            let is_added = match serde_json::from_slice::<Line>(text) {
                Ok(exchange) if exchange.recording == VERSION => recording.add(exchange, number, (at, size)),
                Err(cause) if cause.is_eof() && (text.starts_with(BEGIN) || BEGIN.starts_with(text)) => {
                    recording.incomplete += usize::from(!text.is_empty());
                    true
                }
                _ if text.starts_with(b"{\"recording\":") && !text.starts_with(BEGIN) => {
                    let problem = "is a recording in the form of another version".to_owned();
                    return Err(refused(problem).with_hint("record the exchanges anew"));
                }
                _ => false,
            };
            if !is_added {
                let problem = format!("is not a recording: line {number} cannot be read");
                return Err(refused(problem).with_hint("a client with the setting record makes recordings"));
            }
            at += size;
        }
        Ok(recording)
    }

    /// Adds an exchange, unless it got no response. Whether it can be sent.
    fn add(&mut self, mut exchange: Line, number: usize, place: (u64, u64)) -> bool {
        let request = (take(&mut exchange.path), take(&mut exchange.request));
        if exchange.status.is_none() {
            return true;
        }
        let known = self.requests.entry(request).or_insert_with(|| Responses { number, ..Responses::default() });
        known.places.push(place);
        response(exchange).is_some()
    }

    /// The recorded response to a request.
    pub(super) fn respond(&self, path: &str, body: &[u8]) -> std::result::Result<Response<Body>, Refusal> {
        let body: Value = serde_json::from_slice(body).map_err(|_| Refusal::malformed("the body is not JSON"))?;
        let request = (path.to_owned(), body);
        let missing = || Refusal::Problem(StatusCode::NOT_FOUND, self.near_miss(path, &request.1));
        let known = self.requests.get(&request).ok_or_else(missing)?;
        let turn = known.served.fetch_add(1, Ordering::Relaxed).min(known.places.len().saturating_sub(1));
        let place = known.places.get(turn).ok_or_else(missing)?;
        self.line(*place).ok().and_then(response).ok_or_else(Refusal::internal)
    }

    fn line(&self, (at, size): (u64, u64)) -> io::Result<Line> {
        let mut file = regular_file::open(&self.file, MOST_BYTES)?;
        let mut line = Vec::new();
        file.seek(SeekFrom::Start(at))?;
        file.take(size).read_to_end(&mut line)?;
        Ok(serde_json::from_slice(&line)?)
    }

    /// Why there is no response: the closest request of the recording, and what differs.
    fn near_miss(&self, path: &str, sent: &Value) -> String {
        let of_path = self.requests.iter().filter(|((known, _), _)| known == path);
        let closest = of_path.map(|((_, recorded), known)| (differences(recorded, sent), known.number));
        let about = match closest.min_by_key(|(differences, number)| (differences.len(), *number)) {
            Some((differences, number)) => {
                let more = differences.len().saturating_sub(1);
                let more = if more > 0 { format!(", and {more} more") } else { String::new() };
                let shown =
                    |value: Option<&Value>| value.map_or("nothing".to_owned(), |it| excerpt(&it.to_string(), 40));
                let first = differences.first().map(|(at, recorded, sent)| {
                    format!("{at}: {} is recorded, {} was sent", shown(*recorded), shown(*sent))
                });
                format!("the closest one, in line {number}, differs in {}{more}", first.unwrap_or_default())
            }
            None => format!("none of its {} requests is for {path}", self.requests.len()),
        };
        let incomplete = match self.incomplete {
            0 => String::new(),
            lines => format!("; lines left out, as they have no end: {lines}"),
        };
        format!("the recording has no response to this request: {about}{incomplete}")
    }
}

/// Where two values differ, with what each has there.
type Differences<'a> = Vec<(String, Option<&'a Value>, Option<&'a Value>)>;

fn differences<'a>(recorded: &'a Value, sent: &'a Value) -> Differences<'a> {
    let mut found = Vec::new();
    compare("", Some(recorded), Some(sent), &mut found);
    found
}

fn compare<'a>(at: &str, recorded: Option<&'a Value>, sent: Option<&'a Value>, found: &mut Differences<'a>) {
    match (recorded, sent) {
        _ if recorded == sent => {}
        (Some(Value::Object(recorded)), Some(Value::Object(sent))) => {
            let added = sent.keys().filter(|name| !recorded.contains_key(*name));
            for name in recorded.keys().chain(added) {
                let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                compare(&at, recorded.get(name), sent.get(name), found);
            }
        }
        (Some(Value::Array(recorded)), Some(Value::Array(sent))) => {
            for index in 0..recorded.len().max(sent.len()) {
                compare(&format!("{at}[{index}]"), recorded.get(index), sent.get(index), found);
            }
        }
        _ => found.push((if at.is_empty() { "the body" } else { at }.to_owned(), recorded, sent)),
    }
}

/// The response of an exchange; none if no response can have its status, headers or body.
fn response(exchange: Line) -> Option<Response<Body>> {
    let status = StatusCode::from_u16(exchange.status?).ok()?;
    let body: Bytes = match &*exchange.base64 {
        "" => exchange.body.into(),
        text => STANDARD.decode(text).ok()?.into(),
    };
    let body = match exchange.failure {
        None => Body::from(body),
        // What arrived is sent first: without a pause the connection would be closed before. A client that has all it
        // wants, as of a search with a limit, has ended by then.
        Some(failure) => Body::from_stream(stream::iter([Ok(body), Err(failure)]).then(async |part| {
            if part.is_err() {
                tokio::time::sleep(BEFORE_CUT).await;
            }
            part.map_err(io::Error::other)
        })),
    };
    let mut response = Response::new(body);
    for (name, value) in &exchange.headers {
        response.headers_mut().insert(HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?);
    }
    *response.status_mut() = status;
    Some(response).filter(|_| (200..=599).contains(&status.as_u16()))
}
