//! The way of an answer out: gathered while it is small, sent in chunks as soon as it is not.
//!
//! It joins the thread that writes an answer with the connection that sends it: the writer waits for a slow
//! reader, and learns when there is none any more. What is written is not its matter.

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

/// Bytes of a chunk: an answer that is smaller is sent whole.
const CHUNK: usize = 64 * 1024;

/// Where an operation writes its answer.
pub(super) struct ResponseWriter {
    written: Vec<u8>,
    packer: Option<GzEncoder<Vec<u8>>>,
    /// Who waits for the head, and the body of it should it come in chunks; none once the head was sent.
    head: Option<(oneshot::Sender<Reply>, Chunks)>,
    chunks: Sender,
    /// Cancelled once nobody waits for the answer any more.
    gone: CancellationToken,
}

/// The other end of a response writer, at the connection.
pub(super) struct Awaited {
    answer: oneshot::Receiver<Reply>,
    /// Tells the writer when this is dropped, as it is when the client breaks off.
    guard: DropGuard,
}

impl Awaited {
    /// The answer as soon as its head is known; none when its writer ended without one.
    pub(super) async fn answer(self) -> Option<Reply> {
        let answer = self.answer.await.ok();
        self.guard.disarm();
        answer
    }
}

impl ResponseWriter {
    /// Both ends of an answer, which is compressed or not.
    pub(super) fn new(compressed: bool) -> (Self, Awaited) {
        let gone = CancellationToken::new();
        let (head, answer) = oneshot::channel();
        let (chunks, body) = channel(gone.clone().drop_guard());
        let awaited = Awaited { answer, guard: gone.clone().drop_guard() };
        let packer = compressed.then(|| GzEncoder::new(Vec::new(), Compression::fast()));
        (Self { written: Vec::new(), packer, head: Some((head, body)), chunks, gone }, awaited)
    }

    /// What was written and not yet sent; more may be added.
    pub(super) fn written(&mut self) -> &mut Vec<u8> {
        &mut self.written
    }

    /// Tells when writing is in vain: nobody reads any more, or the work itself has taken too long.
    pub(super) fn is_enough(&self, longest: Duration) -> impl FnMut() -> bool + Send + 'static {
        let (gone, waited, started) = (self.gone.clone(), self.chunks.waited(), Instant::now());
        move || gone.is_cancelled() || started.elapsed().saturating_sub(waited.total()) > longest
    }

    /// Sends what was written if that is worth a chunk, and waits until the reader has room for it.
    pub(super) fn relieve(&mut self) -> Result<()> {
        if self.written.len() < CHUNK {
            return Ok(());
        }
        let chunk = self.pack().map_err(packing)?;
        let compressed = self.packer.is_some();
        if let Some((head, chunks)) = self.head.take() {
            // Whether anybody takes it, the chunks will tell.
            let _ = head.send(Reply { status: StatusCode::OK, body: Body::new(chunks), compressed });
        }
        self.chunks.send(chunk)
    }

    /// Ends the answer. A refusal takes the place of what was written, and breaks off what was sent.
    pub(super) fn close(mut self, outcome: Result<(), Refusal>, switches: &Switches) -> Result<()> {
        let mut status = StatusCode::OK;
        if let Err(refusal) = outcome {
            if self.head.is_none() {
                return Ok(());
            }
            let (told, envelope) = refusal.envelope(switches);
            (status, self.written) = (told, envelope.into_bytes());
        }
        let mut rest = self.pack().map_err(packing)?;
        let compressed = self.packer.is_some();
        if let Some(packer) = self.packer.take() {
            rest.append(&mut packer.finish().map_err(packing)?);
        }
        if let Some((head, _)) = self.head.take() {
            // A client that has gone takes no answer.
            let _ = head.send(Reply { status, body: Body::from(rest), compressed });
            return Ok(());
        }
        self.chunks.send(rest)?;
        self.chunks.end()
    }

    /// Takes what was written, as it is sent.
    fn pack(&mut self) -> io::Result<Vec<u8>> {
        let Some(packer) = &mut self.packer else {
            return Ok(mem::replace(&mut self.written, Vec::with_capacity(CHUNK + CHUNK / 8)));
        };
        packer.write_all(&self.written)?;
        self.written.clear();
        Ok(mem::take(packer.get_mut()))
    }
}

fn packing(cause: io::Error) -> Error {
    Error::new(Kind::Sandbox, format!("an answer could not be compressed: {cause}")).with_source(cause)
}
