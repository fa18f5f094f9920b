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
use crate::contract::recording::{BEGIN, Line, VERSION};
use crate::error::{Error, Kind, Result, excerpt};
use crate::regular_file;

/// How long a response that was cut off stays open after what was recorded of it.
const BEFORE_CUT: Duration = Duration::from_millis(100);
/// Most bytes of a recording. Its responses stay in the file.
const MOST_BYTES: u64 = 64 << 30;

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
    number: usize,
    /// Where each line begins, and its bytes.
    places: Vec<(u64, usize)>,
    served: AtomicUsize,
}

impl Recording {
    /// Reads where each response is. A line that ends within its JSON is left out: its process was killed, or its disk
    /// was full.
    pub(super) fn open(file: &Path) -> Result<Self> {
        let refused = |problem: String| Error::new(Kind::Sandbox, format!("`{}` {problem}", file.display()));
        let unreadable = |cause: io::Error| refused(format!("cannot be read: {cause}")).with_source(cause);
        let lines = BufReader::new(regular_file::open(file, MOST_BYTES).map_err(unreadable)?).split(b'\n');
        let mut recording = Self { file: file.to_owned(), requests: HashMap::new(), incomplete: 0 };
        let mut at = 0;
        for (number, line) in (1..).zip(lines) {
            let line = line.map_err(unreadable)?;
            let text = line.trim_ascii();
            let is_begun = text.starts_with(BEGIN) || BEGIN.starts_with(text);
            let read = serde_json::from_slice::<Line>(text);
            let is_of_version = is_begun || read.as_ref().is_ok_and(|exchange| exchange.recording == VERSION);
            let is_added = match read {
                Ok(exchange) => is_of_version && recording.add(exchange, number, (at, line.len())),
                Err(cause) => {
                    recording.incomplete += usize::from(!text.is_empty());
                    cause.is_eof() && is_begun
                }
            };
            if !is_added {
                let problem = if text.starts_with(br#"{"recording":"#) && !is_of_version {
                    "is a recording of another version".to_owned()
                } else {
                    format!("is not a recording: line {number} cannot be read")
                };
                return Err(refused(problem).with_hint("record anew, by a client with the setting record"));
            }
            at += line.len() as u64 + 1;
        }
        Ok(recording)
    }

    /// Adds an exchange, unless it got no response. Whether it can be sent.
    fn add(&mut self, mut exchange: Line, number: usize, place: (u64, usize)) -> bool {
        let request = (take(&mut exchange.path), take(&mut exchange.request));
        if exchange.status.is_none() {
            return true;
        }
        let known = self.requests.entry(request).or_insert_with(|| Responses { number, ..Responses::default() });
        known.places.push(place);
        response(exchange).is_some()
    }

    pub(super) fn respond(&self, path: &str, body: &[u8]) -> std::result::Result<Response<Body>, Refusal> {
        let body: Value = serde_json::from_slice(body).map_err(|_| Refusal::malformed("the body is not JSON"))?;
        let request = (path.to_owned(), body);
        let missing = || Refusal::Problem(StatusCode::NOT_FOUND, self.near_miss(path, &request.1));
        let known = self.requests.get(&request).ok_or_else(missing)?;
        let turn = known.served.fetch_add(1, Ordering::Relaxed).min(known.places.len() - 1);
        let line = known.places.get(turn).and_then(|place| self.line(*place).ok());
        line.and_then(response).ok_or_else(Refusal::internal)
    }

    fn line(&self, (at, size): (u64, usize)) -> io::Result<Line> {
        let mut file = regular_file::open(&self.file, MOST_BYTES)?;
        let mut line = vec![0; size];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut line)?;
        Ok(serde_json::from_slice(&line)?)
    }

    /// Why there is no response: the closest request of the recording, and what differs.
    fn near_miss(&self, path: &str, sent: &Value) -> String {
        let of_path = self.requests.iter().filter(|((known, _), _)| known == path);
        let differing =
            of_path.map(|((_, recorded), known)| (differences("", Some(recorded), Some(sent)), known.number));
        let about = match differing.min_by_key(|(differences, number)| (differences.len(), *number)) {
            Some((differences, number)) => {
                let first = differences.first().map_or("", String::as_str);
                let more = match differences.len() {
                    ..2 => String::new(),
                    count => format!(", and {} more", count - 1),
                };
                format!("the closest one, in line {number}, differs in {first}{more}")
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
fn differences(at: &str, recorded: Option<&Value>, sent: Option<&Value>) -> Vec<String> {
    let shown = |value: Option<&Value>| value.map_or("nothing".to_owned(), |it| excerpt(&it.to_string(), 40));
    match (recorded, sent) {
        _ if recorded == sent => Vec::new(),
        (Some(Value::Object(recorded)), Some(Value::Object(sent))) => {
            let added = sent.keys().filter(|name| !recorded.contains_key(*name));
            let dot = if at.is_empty() { "" } else { "." };
            let of_name = |name| differences(&format!("{at}{dot}{name}"), recorded.get(name), sent.get(name));
            recorded.keys().chain(added).flat_map(of_name).collect()
        }
        (Some(Value::Array(recorded)), Some(Value::Array(sent))) => {
            let of_index = |index| differences(&format!("{at}[{index}]"), recorded.get(index), sent.get(index));
            (0..recorded.len().max(sent.len())).flat_map(of_index).collect()
        }
        _ => {
            let at = if at.is_empty() { "the body" } else { at };
            vec![format!("{at}: {} is recorded, {} was sent", shown(recorded), shown(sent))]
        }
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
        Some(failure) => cut_off(body, io::Error::other(failure)),
    };
    let mut response = Response::new(body);
    for (name, value) in &exchange.headers {
        response.headers_mut().insert(HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?);
    }
    *response.status_mut() = status;
    Some(response).filter(|_| (200..=599).contains(&status.as_u16()))
}

/// A body of which no more arrives. A client that has all it wants, as of a search with a limit, has ended by then.
pub(super) fn cut_off(arrived: Bytes, failure: io::Error) -> Body {
    Body::from_stream(stream::iter([Ok(arrived), Err(failure)]).then(async |part| {
        if part.is_err() {
            // Without a pause the connection would be closed before what arrived is sent.
            tokio::time::sleep(BEFORE_CUT).await;
        }
        part
    }))
}
