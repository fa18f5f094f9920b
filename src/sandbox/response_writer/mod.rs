//! Writes a response from a blocking thread: buffered while small, sent in chunks once larger.
//!
//! The writer waits for a slow client (back-pressure) and is cancelled when the client disconnects.

mod chunks;

use std::io::{self, Write};
use std::mem;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::StatusCode;
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};

use self::chunks::{Chunks, Sender, channel};
use super::reply::{Refusal, Reply};
use super::switches::Switches;
use crate::error::{Error, Kind, Result};

/// Bytes of a chunk: a smaller response is sent whole.
const CHUNK: usize = 64 * 1024;

/// Where an operation writes its response.
pub(super) struct ResponseWriter {
    buffer: Vec<u8>,
    gzip: Option<GzEncoder<Vec<u8>>>,
    /// Receiver of the head, and the body in case it is sent in chunks; none once the head was sent.
    head: Option<(oneshot::Sender<Reply>, Chunks)>,
    chunks: Sender,
    /// Cancelled once the client has disconnected.
    disconnected: CancellationToken,
}

/// The receiving end of a response writer.
pub(super) struct PendingReply {
    answer: oneshot::Receiver<Reply>,
    /// Cancels the writer on drop, as when the client disconnects.
    guard: DropGuard,
}

impl PendingReply {
    /// The response as soon as its head is known; none when the writer ended without one.
    pub(super) async fn answer(self) -> Option<Reply> {
        let answer = self.answer.await.ok();
        self.guard.disarm();
        answer
    }
}

impl ResponseWriter {
    /// Both ends of a response, compressed or not.
    pub(super) fn new(compressed: bool) -> (Self, PendingReply) {
        let disconnected = CancellationToken::new();
        let (head, answer) = oneshot::channel();
        let (chunks, body) = channel(disconnected.clone().drop_guard());
        let awaited = PendingReply { answer, guard: disconnected.clone().drop_guard() };
        let gzip = compressed.then(|| GzEncoder::new(Vec::new(), Compression::fast()));
        (Self { buffer: Vec::new(), gzip, head: Some((head, body)), chunks, disconnected }, awaited)
    }

    /// The buffer to write to.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Returns a function that says whether to stop: the client has disconnected, or the work has taken too long.
    pub(super) fn should_stop(&self, longest: Duration) -> impl FnMut() -> bool + Send + 'static {
        let (disconnected, waited, started) = (self.disconnected.clone(), self.chunks.waited(), Instant::now());
        move || disconnected.is_cancelled() || started.elapsed().saturating_sub(waited.total()) > longest
    }

    /// Sends the buffer once it is large enough, waiting for a slow client.
    pub(super) fn flush_if_large(&mut self) -> Result<()> {
        if self.buffer.len() < CHUNK {
            return Ok(());
        }
        let chunk = self.take_encoded().map_err(compression_failure)?;
        let compressed = self.gzip.is_some();
        if let Some((head, chunks)) = self.head.take() {
            // If the client has disconnected, sending the chunk fails.
            let _ = head.send(Reply { status: StatusCode::OK, body: Body::new(chunks), compressed });
        }
        self.chunks.send(chunk)
    }

    /// Ends the response. A refusal replaces an unsent one, and cuts off one that is being sent.
    pub(super) fn close(mut self, outcome: Result<(), Refusal>, switches: &Switches) -> Result<()> {
        let mut status = StatusCode::OK;
        if let Err(refusal) = outcome {
            if self.head.is_none() {
                return Ok(());
            }
            let (status_code, envelope) = refusal.envelope(switches);
            (status, self.buffer) = (status_code, envelope.into_bytes());
        }
        let mut rest = self.take_encoded().map_err(compression_failure)?;
        let compressed = self.gzip.is_some();
        if let Some(gzip) = self.gzip.take() {
            rest.append(&mut gzip.finish().map_err(compression_failure)?);
        }
        if let Some((head, _)) = self.head.take() {
            // The client may have disconnected.
            let _ = head.send(Reply { status, body: Body::from(rest), compressed });
            return Ok(());
        }
        self.chunks.send(rest)?;
        self.chunks.end()
    }

    /// Takes the buffer, compressed if so configured.
    fn take_encoded(&mut self) -> io::Result<Vec<u8>> {
        let Some(gzip) = &mut self.gzip else {
            return Ok(mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK + CHUNK / 8)));
        };
        gzip.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(mem::take(gzip.get_mut()))
    }
}

fn compression_failure(cause: io::Error) -> Error {
    Error::new(Kind::Sandbox, format!("a response could not be compressed: {cause}")).with_source(cause)
}
