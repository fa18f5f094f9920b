//! Records exchanges into a file: requests without their token, and responses as they arrive.
//!
//! Each line is one write to a file that is only appended to, so exchanges, clients and forked children do not mix
//! within a line. A recording holds customer data, so its file is for its owner alone.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use reqwest::header::HeaderMap;
use url::Url;

use super::Request;
use crate::contract::recording::{Line, VERSION};
use crate::error::{Error, Kind, MAX_ESCAPED, Result, hide, occurrences};
use crate::secret::Secret;

/// Bytes of a body that one line holds.
const PIECE: usize = 64 << 10;
/// The headers that are recorded. Others may hold secrets, or describe the connection.
const HEADERS: [&str; 6] = ["content-type", "date", "location", "retry-after", "server", "via"];
/// Replacement of the token, where the service repeats it.
const TOKEN: &str = "[token]";
/// Replacement of a secret header and of the proxy's password.
const SECRET: &str = "[secret]";

/// A file that exchanges are recorded into.
#[derive(Debug)]
pub(super) struct Recorder {
    file: File,
    path: PathBuf,
    /// What it must not hold, beside the token.
    secrets: Vec<String>,
}

/// One exchange, until it ends.
#[derive(Debug)]
pub(super) struct Exchange {
    recorder: Arc<Recorder>,
    id: String,
    token: Secret,
    began: Instant,
    /// Bytes of the body that are not written yet.
    held: Vec<u8>,
    has_ended: bool,
}

impl Recorder {
    /// Opens a recording, or begins one.
    pub(super) fn open(path: &Path, base_url: &Url, secrets: Vec<String>) -> Result<Arc<Self>> {
        let refused = |problem: &str| {
            Error::new(Kind::Config, format!("record `{}` {problem}", path.display()))
                .with_hint("name a file that does not exist")
        };
        let failed = |cause| failure(path, "opened", cause);
        let file = match options().open(path) {
            Err(_) if path.is_symlink() => return Err(refused("is a symbolic link, which is not followed")),
            opened => opened.map_err(failed)?,
        };
        let found = file.metadata().map_err(failed)?;
        if !found.is_file() {
            return Err(refused("is not a regular file"));
        }
        if !is_recording(&file).map_err(failed)? {
            return Err(refused("has other content than a recording"));
        }
        if let Some(problem) = shared(&found) {
            return Err(refused(&problem));
        }
        if ends_within_line(&file).map_err(failed)? {
            (&file).write_all(b"\n").map_err(failed)?;
        }
        let recorder = Self { file, path: path.to_owned(), secrets };
        recorder.write(&Line::Recording { version: VERSION, base_url: base_url.as_str().to_owned() })?;
        Ok(Arc::new(recorder))
    }

    /// Records a request that is about to be sent.
    pub(super) fn begin(self: &Arc<Self>, request: &Request<'_>) -> Result<Exchange> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let body = serde_json::from_slice(&request.body)
            .map_err(|error| Error::new(Kind::Internal, "the body of a request is not JSON").with_source(error))?;
        self.write(&Line::Request {
            id: request.request_id.to_owned(),
            unix_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            method: "POST".to_owned(),
            path: request.path.to_owned(),
            body,
        })?;
        Ok(Exchange {
            recorder: Arc::clone(self),
            id: request.request_id.to_owned(),
            token: request.token.clone(),
            began: Instant::now(),
            held: Vec::new(),
            has_ended: false,
        })
    }

    fn write(&self, line: &Line) -> Result<()> {
        let mut text = serde_json::to_vec(line)
            .map_err(|error| Error::new(Kind::Internal, "a line of the recording is not JSON").with_source(error))?;
        text.push(b'\n');
        (&self.file).write_all(&text).map_err(|cause| failure(&self.path, "written", cause))
    }
}

/// Opens a file to append to, and not through a symbolic link. A new one is for its owner alone.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    options
}

/// How other users could read the recording, if they can. A file that they have opened stays open to them.
#[cfg_attr(not(unix), expect(unused_variables, reason = "only Unix has owners and modes like these"))]
fn shared(found: &Metadata) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if found.uid() != rustix::process::geteuid().as_raw() {
            return Some(format!("belongs to user {}", found.uid()));
        }
        if found.mode() & 0o077 != 0 {
            return Some(format!("is open to other users: its mode is {:04o}", found.mode() & 0o7777));
        }
    }
    None
}

impl Exchange {
    /// Records the head of the response.
    pub(super) fn responded(&self, status: u16, headers: &HeaderMap) -> Result<()> {
        let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let headers = HEADERS.iter().filter_map(|name| Some(((*name).to_owned(), self.redact(value(name)?)))).collect();
        self.recorder.write(&Line::Response { id: self.id.clone(), ms: self.elapsed(), status, headers })
    }

    /// Records the next bytes of the body, its end, or its failure.
    pub(super) fn received(&mut self, chunk: &Result<Option<&[u8]>>) -> Result<()> {
        match chunk {
            Ok(Some(bytes)) => {
                self.held.extend_from_slice(bytes);
                // What is held back may be the beginning of a secret, or of a character.
                let kept = MAX_ESCAPED * self.secrets().map(|(secret, _)| secret.len()).max().unwrap_or_default();
                if self.held.len() < PIECE + kept {
                    return Ok(());
                }
                self.write_held(self.held.len() - kept)
            }
            Ok(None) => self.end(None),
            Err(error) => self.end(Some(error.message())),
        }
    }

    /// Records the end.
    pub(super) fn end(&mut self, failure: Option<&str>) -> Result<()> {
        self.has_ended = true;
        if !self.held.is_empty() {
            self.write_held(self.held.len())?;
        }
        let (id, ms) = (self.id.clone(), self.elapsed());
        self.recorder.write(&Line::End { id, ms, failure: failure.map(|text| self.redact(text)) })
    }

    /// What is replaced, and by what.
    fn secrets(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let others = self.recorder.secrets.iter().map(|secret| (secret.as_str(), SECRET));
        [(self.token.expose(), TOKEN)].into_iter().chain(others)
    }

    /// Writes the first `most` of the bytes held, and the rest of a secret or character that they would cut.
    fn write_held(&mut self, most: usize) -> Result<()> {
        let secrets = self.secrets();
        let found: Vec<_> = secrets.flat_map(|(secret, _)| occurrences(&self.held, secret.as_bytes())).collect();
        let mut end = most;
        // Secrets may overlap.
        while let Some(found) = found.iter().find(|found| found.start < end && end < found.end) {
            end = found.end;
        }
        while self.held.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
            end += 1;
        }
        let rest = self.held.split_off(end.min(self.held.len()));
        let bytes = std::mem::replace(&mut self.held, rest);
        let (text, bytes) = match String::from_utf8(self.redact_bytes(&bytes)) {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(error.into_bytes())),
        };
        self.recorder.write(&Line::Body { id: self.id.clone(), text, bytes })
    }

    fn redact(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.redact_bytes(text.as_bytes())).into_owned()
    }

    fn redact_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        self.secrets().fold(bytes.to_vec(), |bytes, (secret, shown)| hide(&bytes, secret.as_bytes(), shown))
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.has_ended {
            // Nobody waits for this response any more, so a failure to record it has no one to reach.
            let _ = self.end(Some("the client did not read it to its end"));
        }
    }
}

/// Whether a file is empty or begins as a recording does.
fn is_recording(mut file: &File) -> io::Result<bool> {
    use std::io::{Read, Seek};
    let begin = br#"{"recording":{"#;
    let mut found = Vec::new();
    file.rewind()?;
    file.take(begin.len() as u64).read_to_end(&mut found)?;
    Ok(found.is_empty() || found == begin)
}

/// Whether the process that wrote a file was killed in the middle of a line, or its disk was full.
fn ends_within_line(mut file: &File) -> io::Result<bool> {
    use std::io::{Read, Seek, SeekFrom};
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn failure(path: &Path, done: &str, cause: io::Error) -> Error {
    let hint = match cause.kind() {
        io::ErrorKind::NotFound => "make its folder, or name another file in record",
        _ => "name another file in record, or leave record out",
    };
    Error::new(Kind::File, format!("record `{}` cannot be {done}: {cause}", path.display()))
        .with_path(path)
        .with(|details| details.errno = cause.raw_os_error())
        .with_hint(hint)
        .with_source(cause)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    /// The body of a response that arrived in these pieces, as it was recorded.
    fn recorded(pieces: &[&[u8]], token: &str) -> Vec<u8> {
        let folder = std::env::temp_dir().join(format!("dataaccess-recorder-{}-{}", std::process::id(), pieces.len()));
        let path = folder.with_extension(token.replace('/', "-"));
        let token = Secret::try_new(token.to_owned()).unwrap();
        let recorder = Recorder::open(&path, &Url::parse("http://127.0.0.1").unwrap(), Vec::new()).unwrap();
        let request = Request { path: "/p", body: Bytes::from_static(b"{}"), token: &token, request_id: "one" };
        let mut exchange = recorder.begin(&request).unwrap();
        for piece in pieces {
            exchange.received(&Ok(Some(piece))).unwrap();
        }
        exchange.received(&Ok(None)).unwrap();
        let lines = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        lines
            .lines()
            .flat_map(|line| match serde_json::from_str(line).unwrap() {
                Line::Body { text: Some(text), .. } => text.into_bytes(),
                Line::Body { bytes: Some(bytes), .. } => bytes,
                _ => Vec::new(),
            })
            .collect()
    }

    #[test]
    fn a_token_is_redacted_wherever_the_pieces_are_cut() {
        let token = "secret-token-1";
        for before in PIECE - 20..PIECE + 20 {
            let body = [&vec![b'x'; before][..], token.as_bytes(), "é".as_bytes(), token.as_bytes()].concat();
            let expected = [&vec![b'x'; before][..], b"[token]", "é".as_bytes(), b"[token]"].concat();
            for piece in [1000, PIECE - 3, body.len()] {
                assert_eq!(recorded(&body.chunks(piece).collect::<Vec<_>>(), token), expected, "{before} {piece}");
            }
        }
    }

    #[test]
    fn a_token_that_json_escapes_is_redacted_wherever_the_pieces_are_cut() {
        for before in PIECE - 60..PIECE + 20 {
            let body = [&vec![b'x'; before][..], br#""aa\/bb\u002Bcc\/dd" and more"#].concat();
            let expected = [&vec![b'x'; before][..], br#""[token]" and more"#].concat();
            for piece in [1000, PIECE - 3, body.len()] {
                let pieces: Vec<_> = body.chunks(piece).collect();
                assert_eq!(recorded(&pieces, "aa/bb+cc/dd"), expected, "{before} {piece}");
            }
        }
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_kept() {
        let body = b"\xff\xfe{} secret-token-2 \x80";
        assert_eq!(recorded(&[body], "secret-token-2"), b"\xff\xfe{} [token] \x80");
    }
}
