//! The body of an answer: received in time, decompressed, and whole only if HTTP and the compression both ended.

use std::time::Duration;

use bytes::Bytes;

use super::encoding::Accepted;
use super::failure;
use super::inflate::Inflate;
use crate::error::Result;

/// Without a single byte of the body.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// A body that is still to come.
#[derive(Debug)]
pub(super) struct Body {
    response: reqwest::Response,
    /// Bytes as they came, compressed or not.
    received: u64,
    /// Plain bytes that came last.
    plain: Bytes,
    /// An encoding that cannot be taken spoils the body and not the answer, whose status may say enough.
    inflate: Result<Option<Inflate>>,
}

impl Body {
    pub(super) fn new(response: reqwest::Response, accepted: &Accepted) -> Self {
        let encoding = accepted.of_answer(response.headers());
        let inflate = encoding.and_then(|encoding| encoding.map(Inflate::try_new).transpose());
        Self { response, received: 0, plain: Bytes::new(), inflate }
    }

    /// The next bytes, until the next call; nothing at the proper end.
    pub(super) async fn chunk(&mut self) -> Result<Option<&[u8]>> {
        let inflate = match &mut self.inflate {
            Err(refused) => return Err(refused.clone()),
            Ok(None) => {
                let Some(bytes) = receive(&mut self.response, &mut self.received, "answer").await? else {
                    return Ok(None);
                };
                self.plain = bytes;
                return Ok(Some(&self.plain));
            }
            Ok(Some(inflate)) => inflate,
        };
        while !inflate.next()? {
            match receive(&mut self.response, &mut self.received, "compressed answer").await? {
                Some(bytes) => inflate.feed(bytes),
                None => return inflate.finish().map(|()| None),
            }
        }
        Ok(Some(inflate.piece()))
    }

    pub(super) fn received(&self) -> u64 {
        self.received
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

/// The next bytes of the connection; nothing once HTTP says that the body has ended.
async fn receive(response: &mut reqwest::Response, received: &mut u64, what: &str) -> Result<Option<Bytes>> {
    let chunk = tokio::time::timeout(IDLE_TIMEOUT, response.chunk())
        .await
        .map_err(|_| failure::timed_out("body", "no byte of the answer", IDLE_TIMEOUT))?
        .map_err(|error| failure::receiving(error, *received, what))?;
    *received += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
    Ok(chunk)
}
