//! A response body in chunks, sent from a blocking thread and read by the connection.
//!
//! If the sender is dropped before `end`, the body fails instead of ending.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use hyper::body::{Body, Frame};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio_util::sync::DropGuard;

use crate::error::{Error, Kind, Result};

/// Most chunks that wait for the connection.
const WAITING: usize = 4;
/// How long to wait for a client that reads nothing.
const READER_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// A chunk, or none at the end.
type Sent = Option<Bytes>;

/// Both ends of a body; `reader` is dropped with the body.
pub(super) fn channel(reader: DropGuard) -> (Sender, Chunks) {
    let (sender, receiver) = mpsc::channel(WAITING);
    (
        Sender { chunks: sender, waited: WaitTime::default() },
        Chunks { sent: receiver, has_ended: false, _reader: reader },
    )
}

/// Sends chunks, from a thread of the runtime that may block.
pub(super) struct Sender {
    chunks: mpsc::Sender<Sent>,
    waited: WaitTime,
}

/// The total time spent waiting for the client, in nanoseconds.
#[derive(Clone, Default)]
pub(super) struct WaitTime(Arc<AtomicU64>);

impl WaitTime {
    /// The total so far.
    pub(super) fn total(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }

    fn add(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Sender {
    /// The time spent waiting, which is updated by later sends.
    pub(super) fn waited(&self) -> WaitTime {
        self.waited.clone()
    }

    /// Sends a chunk, blocking while the channel is full.
    pub(super) fn send(&self, chunk: Vec<u8>) -> Result<()> {
        // The compressor may have buffered everything.
        if chunk.is_empty() { Ok(()) } else { self.put(Some(Bytes::from(chunk))) }
    }

    /// Ends the body.
    pub(super) fn end(&self) -> Result<()> {
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
pub(super) struct Chunks {
    sent: mpsc::Receiver<Sent>,
    has_ended: bool,
    _reader: DropGuard,
}

impl Body for Chunks {
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
