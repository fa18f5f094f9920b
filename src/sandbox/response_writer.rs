//! Writes a response from a blocking thread: whole while small, as a stream once larger.
//!
//! The writer waits for a slow client (back-pressure) and is cancelled when the client disconnects.

use std::future::ready;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::StatusCode;
use futures_util::stream::{self, StreamExt};
use tokio::io::DuplexStream;
use tokio::sync::oneshot;
use tokio_util::io::{ReaderStream, SyncIoBridge};
use tokio_util::sync::CancellationToken;

use super::reply::{Refusal, Reply};
use super::switches::Switches;
use crate::error::{Error, Kind, Result};

/// Bytes of a chunk: a smaller response is sent whole.
const CHUNK: usize = 64 * 1024;
/// Most bytes that wait for the connection.
const WAITING: usize = 4 * CHUNK;

/// Where an operation writes its response.
pub(super) struct ResponseWriter {
    buffer: Vec<u8>,
    /// Takes the response, until its head is sent.
    reply: Option<oneshot::Sender<Reply>>,
    /// The body that is being streamed, and the sign that it is whole.
    stream: Option<(SyncIoBridge<DuplexStream>, oneshot::Sender<()>)>,
    /// Cancelled once the client has disconnected.
    disconnected: CancellationToken,
    /// Nanoseconds spent waiting for the client.
    waited: Arc<AtomicU64>,
}

impl ResponseWriter {
    /// A writer, and the response as soon as its head is known; none when the writer ends without one.
    pub(super) fn new() -> (Self, impl Future<Output = Option<Reply>>) {
        let (disconnected, waited) = Default::default();
        let (reply, pending) = oneshot::channel();
        let writer = Self { buffer: Vec::new(), reply: Some(reply), stream: None, disconnected, waited };
        let guard = writer.disconnected.clone().drop_guard();
        let pending = async move {
            let reply = pending.await.ok();
            guard.disarm();
            reply
        };
        (writer, pending)
    }

    /// The buffer to write to.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Returns a function that says whether to stop: the client has disconnected, or the work has taken too long.
    pub(super) fn should_stop(&self, longest: Duration) -> impl FnMut() -> bool + Send + 'static {
        let (disconnected, waited, started) = (self.disconnected.clone(), Arc::clone(&self.waited), Instant::now());
        let worked = move || started.elapsed().saturating_sub(Duration::from_nanos(waited.load(Ordering::Relaxed)));
        move || disconnected.is_cancelled() || worked() > longest
    }

    /// Sends the buffer once it is large enough, waiting for a slow client.
    pub(super) fn flush_if_large(&mut self) -> Result<()> {
        if self.buffer.len() < CHUNK {
            return Ok(());
        }
        if let Some(reply) = self.reply.take() {
            let (writer, reader) = tokio::io::duplex(WAITING);
            let (whole, is_whole) = oneshot::channel();
            self.stream = Some((SyncIoBridge::new(writer), whole));
            let cut = |whole: std::result::Result<(), _>| ready(whole.err().map(io::Error::other).map(Err));
            let guard = self.disconnected.clone().drop_guard();
            let body = ReaderStream::with_capacity(reader, CHUNK).chain(stream::once(is_whole).filter_map(cut));
            let body = Body::from_stream(body.inspect(move |_| _ = &guard));
            // If the client has disconnected, sending the chunk fails.
            let _ = reply.send(Reply { status: StatusCode::OK, body });
        }
        let failure = |cause| Error::new(Kind::Sandbox, format!("a response could not be sent: {cause}"));
        self.send().map_err(failure)
    }

    /// Ends the response. A refusal replaces an unsent one, and cuts off one that is being sent.
    pub(super) fn close(mut self, outcome: Result<(), Refusal>, switches: &Switches) -> io::Result<()> {
        let mut status = StatusCode::OK;
        if let Err(refusal) = outcome {
            let (status_code, envelope) = refusal.envelope(switches);
            (status, self.buffer) = (status_code, envelope.into_bytes());
            self.stream = None;
        }
        if let Some(reply) = self.reply.take() {
            let body = Body::from(self.buffer);
            // The client may have disconnected.
            let _ = reply.send(Reply { status, body });
            return Ok(());
        }
        self.send()?;
        if let Some((_, whole)) = self.stream {
            let _ = whole.send(());
        }
        Ok(())
    }

    fn send(&mut self) -> io::Result<()> {
        let Some((pipe, _)) = &mut self.stream else { return Ok(()) };
        let since = Instant::now();
        let sent = pipe.write_all(&self.buffer);
        self.buffer.clear();
        let waited = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.waited.fetch_add(waited, Ordering::Relaxed);
        sent
    }
}
