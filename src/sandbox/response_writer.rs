//! Writes a response from a blocking thread: buffered while small, sent in chunks once larger.
//!
//! The writer waits for a slow client (back-pressure) and is cancelled when the client disconnects.

use std::io;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use hyper::body::Frame;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::reply::{Refusal, Reply};
use super::switches::Switches;
use crate::error::{Error, Kind, Result};

/// Most chunks that wait for the connection.
const WAITING: usize = 4;
/// How long to wait for a client that reads nothing.
const READER_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// Bytes of a chunk: a smaller response is sent whole.
const CHUNK: usize = 64 * 1024;

/// Where an operation writes its response.
pub(super) struct ResponseWriter {
    buffer: Vec<u8>,
    /// Receiver of the head, and the body in case it is sent in chunks; none once the head was sent.
    head: Option<(oneshot::Sender<Reply>, Chunks)>,
    chunks: Sender,
    /// Cancelled once the client has disconnected.
    disconnected: CancellationToken,
}

/// The receiving end of a response writer.
pub(super) struct PendingReply {
    reply: oneshot::Receiver<Reply>,
    /// Cancels the writer on drop, as when the client disconnects.
    guard: DropGuard,
}

impl PendingReply {
    /// The response as soon as its head is known; none when the writer ended without one.
    pub(super) async fn reply(self) -> Option<Reply> {
        let reply = self.reply.await.ok();
        self.guard.disarm();
        reply
    }
}

impl ResponseWriter {
    /// Both ends of a response.
    pub(super) fn new() -> (Self, PendingReply) {
        let disconnected = CancellationToken::new();
        let (head, reply) = oneshot::channel();
        let (chunks, body) = channel(disconnected.clone().drop_guard());
        let pending = PendingReply { reply, guard: disconnected.clone().drop_guard() };
        (Self { buffer: Vec::new(), head: Some((head, body)), chunks, disconnected }, pending)
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
        let chunk = mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK + CHUNK / 8));
        if let Some((head, chunks)) = self.head.take() {
            // If the client has disconnected, sending the chunk fails.
            let _ = head.send(Reply { status: StatusCode::OK, body: Body::new(chunks) });
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
        if let Some((head, _)) = self.head.take() {
            // The client may have disconnected.
            let _ = head.send(Reply { status, body: Body::from(self.buffer) });
            return Ok(());
        }
        self.chunks.send(self.buffer)?;
        self.chunks.end()
    }
}

/// A chunk, or none at the end.
type Sent = Option<Bytes>;

/// Both ends of a body; `reader` is dropped with the body.
fn channel(reader: DropGuard) -> (Sender, Chunks) {
    let (sender, receiver) = mpsc::channel(WAITING);
    (
        Sender { chunks: sender, waited: WaitTime::default() },
        Chunks { sent: receiver, has_ended: false, _reader: reader },
    )
}

/// Sends chunks, from a thread of the runtime that may block.
struct Sender {
    chunks: mpsc::Sender<Sent>,
    waited: WaitTime,
}

/// The total time spent waiting for the client, in nanoseconds.
#[derive(Clone, Default)]
struct WaitTime(Arc<AtomicU64>);

impl WaitTime {
    /// The total so far.
    fn total(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }

    fn add(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Sender {
    /// The time spent waiting, which is updated by later sends.
    fn waited(&self) -> WaitTime {
        self.waited.clone()
    }

    /// Sends a chunk, blocking while the channel is full.
    fn send(&self, chunk: Vec<u8>) -> Result<()> {
        if chunk.is_empty() { Ok(()) } else { self.put(Some(Bytes::from(chunk))) }
    }

    /// Ends the body.
    fn end(&self) -> Result<()> {
        self.put(None)
    }

    fn put(&self, sent: Sent) -> Result<()> {
        let failure = |problem: &str| Err(Error::new(Kind::Sandbox, problem));
        let sent = match self.chunks.try_send(sent) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Full(sent)) => sent,
            Err(TrySendError::Closed(_)) => return failure("the client closed the connection during a response"),
        };
        let since = Instant::now();
        let done = Handle::current().block_on(tokio::time::timeout(READER_TIMEOUT, self.chunks.send(sent)));
        self.waited.add(since.elapsed());
        match done {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => failure("the client closed the connection during a response"),
            Err(_) => failure("the client read nothing of a response for too long"),
        }
    }
}

/// The body, as the connection reads it.
struct Chunks {
    sent: mpsc::Receiver<Sent>,
    has_ended: bool,
    _reader: DropGuard,
}

impl HttpBody for Chunks {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        let sent = ready!(self.sent.poll_recv(context));
        self.has_ended = !matches!(sent, Some(Some(_)));
        Poll::Ready(match sent {
            Some(chunk) => chunk.map(|chunk| Ok(Frame::data(chunk))),
            None => Some(Err(io::Error::other("the response was cut off"))),
        })
    }
}
