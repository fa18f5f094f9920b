//! Records exchanges into a file: requests without their token, and responses as far as they arrived.
//!
//! Each exchange is one line and one write to a file that is only appended to, so exchanges, clients and forked children
//! do not mix within a line. A recording holds customer data, so its file is for its owner alone.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderMap;

use super::Request;
use crate::contract::recording::{BEGIN, Line, MOST_OF_BODY, VERSION};
use crate::error::{Error, Kind, Result, hide};
use crate::secret::Secret;

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

/// One exchange.
#[derive(Debug)]
pub(super) struct Exchange {
    recorder: Arc<Recorder>,
    token: Secret,
    began: Instant,
    /// Its line, without the body until it is written. Then there is none.
    line: Option<Line>,
    /// The body so far; none if it is too large.
    body: Option<Vec<u8>>,
}

impl Recorder {
    /// Opens a recording, or begins one.
    pub(super) fn open(path: &Path, secrets: Vec<String>) -> Result<Arc<Self>> {
        let refused = |problem: &str| {
            Error::new(Kind::Config, format!("record `{}` {problem}", path.display()))
                .with_hint("name a file that does not exist")
        };
        let failed = |cause| failure(path, "opened", cause);
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        }
        let file = match options.open(path) {
            Err(_) if path.is_symlink() => return Err(refused("is a symbolic link, which is not followed")),
            opened => opened.map_err(failed)?,
        };
        if let Some(problem) = prepare(&file).map_err(failed)? {
            return Err(refused(&problem));
        }
        Ok(Arc::new(Self { file, path: path.to_owned(), secrets }))
    }

    /// Begins with a request that is about to be sent.
    pub(super) fn begin(self: &Arc<Self>, request: &Request<'_>) -> Exchange {
        let line = Line {
            recording: VERSION,
            id: request.request_id.to_owned(),
            unix_ms: milliseconds(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()),
            path: request.path.to_owned(),
            request: serde_json::from_slice(&request.body).unwrap_or_default(),
            ..Line::default()
        };
        let (recorder, token, began) = (Arc::clone(self), request.token.clone(), Instant::now());
        Exchange { recorder, token, began, line: Some(line), body: Some(Vec::new()) }
    }
}

/// Why exchanges cannot be recorded into a file, if so. It must be for its owner alone: who has it open keeps it open.
/// Ends a line that has no end, as its process was killed or its disk was full.
fn prepare(mut file: &File) -> io::Result<Option<String>> {
    let found = file.metadata()?;
    if !found.is_file() {
        return Ok(Some("is not a regular file".to_owned()));
    }
    let mut begin = Vec::new();
    file.take(BEGIN.len() as u64).read_to_end(&mut begin)?;
    if !begin.is_empty() && begin != BEGIN {
        return Ok(Some("has other content than a recording of this version".to_owned()));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if found.uid() != rustix::process::geteuid().as_raw() {
            return Ok(Some(format!("belongs to user {}", found.uid())));
        }
        if found.mode() & 0o077 != 0 {
            return Ok(Some(format!("is open to other users: its mode is {:04o}", found.mode() & 0o7777)));
        }
    }
    if !begin.is_empty() {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(None)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Exchange {
    /// Takes the head of the response.
    pub(super) fn responded(&mut self, status: u16, headers: &HeaderMap) {
        let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let kept = HEADERS.iter().filter_map(|name| Some(((*name).to_owned(), self.redact(value(name)?))));
        let kept = kept.collect();
        if let Some(line) = &mut self.line {
            (line.status, line.headers) = (Some(status), kept);
        }
    }

    /// Takes the next bytes of the body. Its end, or its failure, is that of the exchange.
    pub(super) fn received(&mut self, chunk: &Result<Option<&[u8]>>) -> Result<()> {
        match chunk {
            Ok(Some(bytes)) => {
                self.body = self.body.take().filter(|body| body.len() + bytes.len() <= MOST_OF_BODY);
                self.body.iter_mut().for_each(|body| body.extend_from_slice(bytes));
                Ok(())
            }
            Ok(None) => self.end(None),
            Err(error) => self.end(Some(error.message())),
        }
    }

    /// Writes the exchange, once.
    pub(super) fn end(&mut self, failure: Option<&str>) -> Result<()> {
        let Some(mut line) = self.line.take() else { return Ok(()) };
        let too_large = format!("the body is larger than {} MiB and was not recorded", MOST_OF_BODY >> 20);
        let failure = if self.body.is_none() { Some(too_large.as_str()) } else { failure };
        line.failure = failure.map(|text| self.redact(text));
        let body = self.body.take().unwrap_or_default();
        match String::from_utf8(self.redact_bytes(body)) {
            Ok(text) => line.body = text,
            Err(error) => line.base64 = STANDARD.encode(error.into_bytes()),
        }
        line.ms = milliseconds(self.began.elapsed());
        let Recorder { file, path, .. } = &*self.recorder;
        // One write, so that exchanges do not mix within a line.
        let written = serde_json::to_string(&line).map_err(io::Error::from).and_then(|line| {
            let mut file = file;
            file.write_all(format!("{line}\n").as_bytes())
        });
        written.map_err(|cause| self::failure(path, "written", cause))
    }

    fn redact(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.redact_bytes(text.as_bytes().to_vec())).into_owned()
    }

    fn redact_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        let others = self.recorder.secrets.iter().map(|secret| (secret.as_str(), SECRET));
        let secrets = [(self.token.expose(), TOKEN)].into_iter().chain(others);
        secrets.fold(bytes, |bytes, (secret, shown)| hide(&bytes, secret.as_bytes(), shown))
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // Nobody waits for this response any more, so a failure to record it has no one to reach.
        let _ = self.end(Some("the client did not read it to its end"));
    }
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
        let recorder = Recorder::open(&path, Vec::new()).unwrap();
        let request = Request { path: "/p", body: Bytes::from_static(b"{}"), token: &token, request_id: "one" };
        let mut exchange = recorder.begin(&request);
        for piece in pieces {
            exchange.received(&Ok(Some(piece))).unwrap();
        }
        exchange.received(&Ok(None)).unwrap();
        let Line { body, base64, .. } = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        std::fs::remove_file(&path).unwrap();
        if base64.is_empty() { body.into_bytes() } else { STANDARD.decode(base64).unwrap() }
    }

    #[test]
    fn a_token_is_redacted_wherever_the_pieces_are_cut() {
        for (token, written) in [("secret-token-1", "secret-token-1"), ("aa/bb+cc/dd", r"aa\/bb\u002Bcc\/dd")] {
            let body = format!(r#"{{"before": "{written}", "é": "{written}"}}"#);
            let expected = r#"{"before": "[token]", "é": "[token]"}"#;
            for piece in 1..=body.len() {
                let pieces: Vec<_> = body.as_bytes().chunks(piece).collect();
                assert_eq!(recorded(&pieces, token), expected.as_bytes(), "{piece}");
            }
        }
    }

    #[test]
    fn a_body_that_is_too_large_is_left_out() {
        let mebibyte = vec![b' '; 1 << 20];
        assert!(recorded(&vec![&mebibyte[..]; (MOST_OF_BODY >> 20) + 1], "secret-token-3").is_empty());
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_kept() {
        let body = b"\xff\xfe{} secret-token-2 \x80";
        assert_eq!(recorded(&[body], "secret-token-2"), b"\xff\xfe{} [token] \x80");
    }
}
