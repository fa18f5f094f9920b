//! The body of an answer: received in time, decompressed, and whole only if HTTP and the compression both ended.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::inflate::Inflate;
use super::stall::Stall;
use super::{Meter, Transport, failure};
use crate::error::{Error, Kind, Phase, Result};

/// A body that is still to come.
#[derive(Debug)]
pub(super) struct Body {
    source: Source,
    /// Plain bytes that came last.
    plain: Bytes,
    /// An encoding that cannot be taken spoils the body and not the answer, whose status may say enough.
    inflate: Result<Option<Inflate>>,
}

/// The bytes as they come, compressed or not.
#[derive(Debug)]
struct Source {
    response: reqwest::Response,
    received: u64,
    idle: Duration,
    stall: Stall,
    meter: Meter,
}

impl Body {
    pub(super) fn new(response: reqwest::Response, transport: &Transport) -> Self {
        let encoding = transport.accepted.encoding_of(response.headers());
        let inflate = encoding.and_then(|encoding| encoding.map(Inflate::try_new).transpose());
        let source = Source {
            response,
            received: 0,
            idle: transport.timeouts.idle,
            stall: Stall::new(&transport.timeouts),
            meter: transport.meter.clone(),
        };
        Self { source, plain: Bytes::new(), inflate }
    }

    /// The next bytes, until the next call; nothing at the proper end.
    pub(super) async fn chunk(&mut self) -> Result<Option<&[u8]>> {
        let inflate = match &mut self.inflate {
            Err(refused) => return Err(refused.clone()),
            Ok(None) => {
                let Some(bytes) = self.source.receive("answer").await? else {
                    return Ok(None);
                };
                self.plain = bytes;
                return Ok(Some(&self.plain));
            }
            Ok(Some(inflate)) => inflate,
        };
        while !inflate.next()? {
            match self.source.receive("compressed answer").await? {
                Some(bytes) => inflate.feed(bytes),
                None => return inflate.finish().map(|()| None),
            }
        }
        Ok(Some(inflate.piece()))
    }

    pub(super) fn received(&self) -> u64 {
        self.source.received
    }

    /// The first bytes, at most so many; what cannot be read does not matter.
    pub(super) async fn beginning(&mut self, limit: usize) -> Vec<u8> {
        let mut body = Vec::new();
        while body.len() < limit
            && let Ok(Some(chunk)) = self.chunk().await
        {
            body.extend_from_slice(chunk);
        }
        body.truncate(limit);
        body
    }
}

impl Source {
    /// The next bytes of the connection; nothing once HTTP says that the body has ended.
    async fn receive(&mut self, what: &str) -> Result<Option<Bytes>> {
        let began = Instant::now();
        let chunk = tokio::time::timeout(self.idle, self.response.chunk())
            .await
            .map_err(|_| failure::timed_out(Phase::Body, "no byte of the answer", self.idle))?
            .map_err(|error| failure::receiving(error, self.received, what))?;
        let size = chunk.as_ref().map_or(0, Bytes::len);
        self.received += size as u64;
        self.meter.bytes.fetch_add(size as u64, Ordering::Relaxed);
        if chunk.is_some() && self.stall.is_reached(began.elapsed(), size) {
            return Err(stalled(self.received));
        }
        Ok(chunk)
    }
}

fn stalled(received: u64) -> Error {
    let least = Stall::LEAST / 30;
    let message = format!("the answer comes at less than {least} bytes a second, {received} so far");
    Error::new(Kind::RequestTimeout, message).with(|details| details.phase = Some(Phase::Stall)).retryable()
}
