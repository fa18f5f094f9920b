//! The body of a response: received within the time-outs, decompressed, and complete only if both HTTP and the
//! compression have ended.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::header::{self, HeaderMap};

use super::compression::Decompression;
use super::{Meter, Transport, failure};
use crate::config::Timeouts;
use crate::error::{Error, Kind, Phase, Result, Retry};

#[derive(Debug)]
pub(super) struct Body {
    pub(super) source: Source,
    /// The last bytes of an uncompressed body.
    plain: Bytes,
    /// An unsupported encoding fails only when the body is read: the status alone may decide.
    decompression: Result<Option<Decompression>>,
}

/// The bytes as received, compressed or not.
#[derive(Debug)]
pub(super) struct Source {
    response: reqwest::Response,
    pub(super) received: u64,
    /// The bytes still to come, if the length of the body ends it and hyper would wait for the end of the connection.
    rest: Option<u64>,
    idle: Duration,
    stall: Stall,
    meter: Arc<Meter>,
}

/// The stall rule: a body must arrive at a minimum rate. Only the time spent waiting for bytes counts, not the time of a
/// slow consumer. Has the bytes and the waiting time of the current window.
#[derive(Debug)]
struct Stall {
    grace: Duration,
    window: Duration,
    waited: Duration,
    bytes: usize,
}

impl Stall {
    /// Fewest bytes of a window: 256 a second in a window of 30 seconds.
    const MIN_BYTES: usize = 256 * 30;

    fn new(timeouts: &Timeouts) -> Self {
        Self { grace: timeouts.grace, window: timeouts.stall, waited: Duration::ZERO, bytes: 0 }
    }

    /// Counts bytes and the time waited for them. Returns whether a window ended with too few bytes.
    fn is_reached(&mut self, waited: Duration, bytes: usize) -> bool {
        self.waited += waited;
        if !self.grace.is_zero() {
            if self.waited >= self.grace {
                (self.grace, self.waited) = (Duration::ZERO, Duration::ZERO);
            }
            return false;
        }
        self.bytes += bytes;
        if self.waited < self.window {
            return false;
        }
        let too_little = self.bytes < Self::MIN_BYTES;
        (self.waited, self.bytes) = (Duration::ZERO, 0);
        too_little
    }
}

impl Body {
    pub(super) fn new(response: reqwest::Response, transport: &Transport) -> Self {
        let encoding = transport.accepted.encoding_of(response.headers());
        let decompression = encoding.map(|encoding| encoding.map(Decompression::new));
        let rest = length_beside_identity(response.headers());
        let source = Source {
            response,
            received: 0,
            rest,
            idle: transport.settings.timeouts.idle,
            stall: Stall::new(&transport.settings.timeouts),
            meter: transport.meter.clone(),
        };
        Self { source, plain: Bytes::new(), decompression }
    }

    /// Returns the next bytes, or nothing at the end of a complete body.
    pub(super) async fn chunk(&mut self) -> Result<Option<&[u8]>> {
        let decompression = match &mut self.decompression {
            Err(refused) => return Err(refused.clone()),
            Ok(None) => {
                // Then the connection can receive the next bytes in the same memory.
                self.plain = Bytes::new();
                let Some(bytes) = self.source.receive("response").await? else {
                    return Ok(None);
                };
                self.plain = bytes;
                return Ok(Some(&self.plain));
            }
            Ok(Some(decompression)) => decompression,
        };
        let (name, source) = (decompression.encoding.name(), &mut self.source);
        loop {
            let read = decompression.read().map_err(|error| failure::decompressing(error, name, source.received))?;
            match read {
                Some(size) => return Ok(decompression.chunk(size)),
                None => decompression.feed(source.receive("compressed response").await?),
            }
        }
    }
}

impl Source {
    /// Returns the next bytes of the connection, or nothing at the end of the body. `what` names the bytes in errors.
    async fn receive(&mut self, what: &str) -> Result<Option<Bytes>> {
        if self.rest == Some(0) {
            return Ok(None);
        }
        let began = Instant::now();
        let chunk = tokio::time::timeout(self.idle, self.response.chunk())
            .await
            .map_err(|_| Error::timed_out(Phase::Body, "no bytes of the response body", self.idle))?
            .map_err(|error| failure::receiving(error, self.received, what))?;
        let size = chunk.as_ref().map_or(0, Bytes::len);
        self.received += size as u64;
        self.meter.bytes_received.fetch_add(size as u64, Ordering::Relaxed);
        if chunk.is_some() && self.stall.is_reached(began.elapsed(), size) {
            let rate = Stall::MIN_BYTES / 30;
            let message = format!("response stalled: under {rate} B/s over 30 s ({} bytes received)", self.received);
            return Err(Error::new(Kind::RequestTimeout, message)
                .with(|details| details.phase = Some(Phase::Stall))
                .retryable());
        }
        if let Some(rest) = self.rest {
            let malformed = |message| Error::new(Kind::MalformedHttp, message).retried(Retry::One);
            let left = rest.checked_sub(size as u64);
            self.rest = Some(left.ok_or_else(|| malformed("the response has more bytes than its Content-Length"))?);
            if chunk.is_none() {
                let message = format!("the connection was lost after {} bytes of the {what}", self.received);
                return Err(Error::new(Kind::TruncatedResponse, message)
                    .with(|details| details.received = Some(self.received))
                    .retryable());
            }
        }
        Ok(chunk)
    }
}

/// The length of a body whose only transfer coding is `identity`, which is none (RFC 2616, 3.6).
fn length_beside_identity(headers: &HeaderMap) -> Option<u64> {
    let coding = headers.get(header::TRANSFER_ENCODING)?;
    let is_chunked = coding.as_bytes().to_ascii_lowercase().ends_with(b"chunked");
    headers.get(header::CONTENT_LENGTH).filter(|_| !is_chunked)?.to_str().ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second of a body that ends a window with too few bytes, where `bytes` is how many each second has.
    fn stalled_at(waited: Duration, bytes: impl Fn(usize) -> usize) -> Option<usize> {
        let mut stall = Stall::new(&Timeouts::default());
        (1..100_000).find(|second| stall.is_reached(waited, bytes(*second)))
    }

    #[test]
    fn a_body_has_a_minimum_rate_in_each_window_of_waiting() {
        let second = Duration::from_secs(1);
        assert_eq!(stalled_at(second, |_| 255), Some(50), "after grace and window");
        assert_eq!(stalled_at(second, |_| 256), None, "the minimum is enough for ever");
        let burst = |at| move |second| if second == at { 1 << 30 } else { 1 };
        assert_eq!(stalled_at(second, burst(1)), Some(50), "a burst in the grace is not counted");
        assert_eq!(stalled_at(second, burst(30)), Some(80), "it does not excuse the windows after its own");
        assert_eq!(stalled_at(Duration::ZERO, |_| 0), None, "time that was not spent waiting does not count");
    }
}
