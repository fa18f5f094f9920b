//! One attempt of a call: its place among the requests in flight, its response from the connection into the sink, and
//! the time it may take.

use std::future;
use std::time::{Duration, SystemTime};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::Client;
use super::call::{Call, Destination};
use super::classify;
use super::delivery::{Arrived, Delivery};
use crate::contract::envelope::STATUS_PERMISSION;
use crate::decode::{Batch, BatchSink, DecodePlan, Decoder, Envelope};
use crate::error::{Error, Kind, Phase, Result};
use crate::observe::Attempt;
use crate::secret::Secret;
use crate::transport::{Request, Response, Transport};

/// Batches of one chunk are delivered together up to this size. Only rows that are much shorter than their cells need
/// more.
const CHUNK_BYTES: usize = 16 << 20;

/// How an attempt ended.
#[derive(Debug)]
pub(super) enum AttemptEnd {
    /// With a result: its envelope, and when the request was sent, by the clock of this machine or of the service,
    /// whichever is earlier.
    Complete(Envelope, SystemTime),
    /// The response was dropped because the buffer is full.
    Evicted,
    /// Without a result.
    Failed(Error),
}

impl Client {
    /// Sends one request. The last batch is delivered once the response has proved to be a result.
    pub(super) async fn attempt<G: BatchSink>(
        &self,
        call: &Call<'_>,
        to: &Destination<'_, G>,
        token: &Secret,
        request_id: &str,
        slot: &mut Slot<'_>,
        observed: &mut Attempt<'_>,
    ) -> Result<AttemptEnd> {
        let request = Request { path: call.path, body: call.body.clone(), token, request_id };
        let _in_flight = self.shared_limits.count_request();
        let now = SystemTime::now();
        if !call.idempotent {
            Transport::look_at_sockets().await;
        }
        let mut response = self.transport.post(request).await?;
        observed.responded(response.status);
        let requested_at = response.date.map_or(now, |date| date.min(now));
        to.delivery.begin(requested_at);
        self.shared_limits.record_response(slot.call, response.status);
        if response.status != 200 {
            let (body, failure) = response.error_body().await;
            observed.received(response.received());
            let error = classify::error_for_status(&response, &body);
            // The body alone says whether a 403 refuses the token: without its end the request is retried.
            let is_unclear = response.status == STATUS_PERMISSION && error.kind() != Kind::PermissionDenied;
            return Err(failure.filter(|_| is_unclear).unwrap_or(error));
        }
        let mut sink = (to.new_sink)();
        let received = receive(&call.plan, &mut response, &mut sink, to.delivery, slot).await;
        observed.received(response.received());
        let has_succeeded = self.shared_limits.gate().has_succeeded;
        let failed = |error| classify::of_body(error, &response, has_succeeded);
        let Some(envelope) = received.map_err(failed)? else {
            return Ok(AttemptEnd::Evicted);
        };
        if let Err(failure) = classify::check_envelope(&envelope, call.content) {
            return Err(failure.with(|details| details.retry_after = response.retry_after));
        }
        while let Some(batch) = sink.take()? {
            to.delivery.push(batch)?;
        }
        to.delivery.complete();
        Ok(AttemptEnd::Complete(envelope, requested_at))
    }
}

/// Decodes the body while it arrives and delivers its batches, but the last. Returns nothing if the response was dropped.
async fn receive<G: BatchSink>(
    plan: &DecodePlan,
    response: &mut Response,
    sink: &mut G,
    delivery: &Delivery<G::Batch>,
    slot: &mut Slot<'_>,
) -> Result<Option<Envelope>> {
    let mut decoder = Decoder::new(plan.clone());
    let (mut full, mut bytes) = (Vec::new(), 0);
    while let Some(mut chunk) = response.chunk().await? {
        while !chunk.is_empty() {
            let fed = decoder.feed(chunk, sink);
            if decoder.has_records() {
                delivery.mark_rows();
            }
            while let Some(batch) = sink.take_full()? {
                bytes += batch.bytes();
                full.push(batch);
            }
            chunk = fed.as_ref().map_or_else(|_| &[][..], |taken| chunk.split_at(*taken).1);
            // Before an error of the same chunk is returned, so that the batches do not depend on how bytes are split.
            let is_satisfied = decoder.is_satisfied();
            if chunk.is_empty() || is_satisfied || bytes >= CHUNK_BYTES {
                bytes = 0;
                for batch in full.drain(..) {
                    delivery.push(batch)?;
                    // A response that has arrived waits for nothing: nobody could close its connection any more.
                    if !decoder.has_ended() && !slot.wait_for_space(delivery).await {
                        return Ok(None);
                    }
                }
            }
            fed?;
            if is_satisfied {
                return Ok(Some(decoder.finish_early()));
            }
        }
    }
    decoder.finish().map(Some)
}

/// The places for requests in flight: `concurrency=`.
#[derive(Debug)]
pub(super) struct Concurrency(Option<Semaphore>);

/// The place of a request in flight; free again once it is dropped.
pub(super) struct Slot<'a> {
    /// The id of the call.
    call: u64,
    places: &'a Concurrency,
    permit: Option<SemaphorePermit<'a>>,
}

impl Concurrency {
    /// At most `limit` places, or any number.
    pub(super) fn new(limit: Option<u32>) -> Self {
        Self(limit.map(|limit| Semaphore::new(limit.max(1) as usize)))
    }

    /// Waits for a free place.
    pub(super) async fn slot(&self, call: u64) -> Slot<'_> {
        Slot { call, places: self, permit: self.permit().await }
    }

    async fn permit(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.0.as_ref()?.acquire().await.ok()
    }
}

impl Slot<'_> {
    /// Waits for space for the next batch, and returns false if the response was dropped meanwhile. The place is free
    /// until then: the consumer may need it for a request of its own before it takes the next batch.
    async fn wait_for_space<B: Batch>(&mut self, delivery: &Delivery<B>) -> bool {
        if delivery.has_space() {
            return true;
        }
        self.permit = None;
        let has_space = delivery.wait_for_space().await;
        if has_space {
            self.permit = self.places.permit().await;
        }
        has_space
    }
}

/// What `timeout=` limits. After the first row the consumer's own time counts too, so only the stall rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutScope {
    /// All calls that began at this time together, each with its back-offs.
    WholeSince(Instant),
    /// The call up to the first row.
    ToFirstRow,
    /// Each request of a run that began at this time, up to its first row: all its attempts together.
    EachToFirstRow(Instant),
}

impl TimeoutScope {
    /// The whole call that begins now.
    #[must_use]
    pub fn whole() -> Self {
        Self::WholeSince(Instant::now())
    }
}

/// The `timeout` of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    pub(super) timeout: Duration,
    pub(super) scope: TimeoutScope,
}

impl Deadline {
    /// Whether it limits all that a call does, pauses too.
    pub(super) fn is_of_call(&self) -> bool {
        !matches!(self.scope, TimeoutScope::EachToFirstRow(_))
    }

    /// What is left for a call that started then and whose attempts have `spent` this long without rows.
    pub(super) fn left(&self, started: Instant, spent: Duration) -> Duration {
        match self.scope {
            TimeoutScope::WholeSince(began) => self.timeout.saturating_sub(began.elapsed()),
            TimeoutScope::ToFirstRow => self.timeout.saturating_sub(started.elapsed()),
            TimeoutScope::EachToFirstRow(_) => self.timeout.saturating_sub(spent),
        }
    }

    /// When the call or its run began, if the call started then.
    pub(super) fn began(&self, started: Instant) -> Instant {
        match self.scope {
            TimeoutScope::WholeSince(began) | TimeoutScope::EachToFirstRow(began) => began,
            TimeoutScope::ToFirstRow => started,
        }
    }

    /// Waits until what is `left` has passed, and returns the error.
    pub(super) async fn passed<B: Batch>(&self, delivery: &Delivery<B>, left: Duration) -> Error {
        tokio::time::sleep(left).await;
        if !matches!(self.scope, TimeoutScope::WholeSince(_)) && delivery.arrived() == Arrived::Rows {
            future::pending::<()>().await;
        }
        if delivery.arrived() >= Arrived::Headers {
            self.without(Phase::Deadline, "complete response")
        } else {
            self.without(Phase::Headers, "response headers")
        }
    }

    /// The error when it passed after attempts that had failed: of the attempt in flight, or else of the last attempt.
    pub(super) fn after_failures(&self, passed: Error, last: Error, is_in_flight: bool) -> Error {
        let seconds = self.timeout.as_secs_f64();
        let ended = format!("timeout ({seconds} s) ended the retries: raise timeout to retry for longer");
        if is_in_flight {
            let before = format!("{}: {}", last.kind().class_name(), last.message());
            passed.with_hint(format!("{ended}; the failure before: {before}"))
        } else {
            last.with_reason(ended)
        }
    }

    /// Limits the wait for a token where the call has no limit.
    pub(super) async fn limit<T>(&self, token: impl Future<Output = Result<T>>) -> Result<T> {
        if self.is_of_call() {
            return token.await;
        }
        tokio::time::timeout(self.timeout, token).await.unwrap_or_else(|_| Err(self.without(Phase::Token, "token")))
    }

    /// The error when it passed before the first request.
    pub(super) fn unsent(&self, waits_for: &str) -> Error {
        let seconds = self.timeout.as_secs_f64();
        let message = format!("timed out before sending, within {seconds} s: waiting for {waits_for}");
        Error::new(Kind::RequestTimeout, message)
            .with(|details| details.phase = Some(Phase::Deadline))
            .with_hint("raise timeout")
            .retryable()
    }

    fn without(&self, phase: Phase, missing: &str) -> Error {
        let seconds = self.timeout.as_secs_f64();
        let hint = if phase == Phase::Token {
            "the token callable takes longer; raise timeout"
        } else {
            "raise timeout, or request less"
        };
        Error::new(Kind::RequestTimeout, format!("no {missing} within {seconds} s"))
            .with(|details| details.phase = Some(phase))
            .with_hint(hint)
            .retryable()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    use crate::client::Client;
    use crate::config::{Arguments, Settings};
    use crate::secret::Secret;

    const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 35\r\n\r\n{\"code\":200,\"message\":\"\",\"data\":{}}";

    #[tokio::test]
    async fn a_request_that_must_not_be_repeated_uses_no_connection_that_closed_while_the_runtime_was_busy() {
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", server.local_addr().expect("its address"));
        thread::spawn(move || {
            for connection in server.incoming() {
                let mut connection = connection.expect("a connection");
                assert!(connection.read(&mut [0; 4096]).expect("a request") > 0);
                connection.write_all(RESPONSE).expect("a client that reads");
                thread::sleep(Duration::from_millis(20));
            }
        });
        let arguments = Arguments { base_url: Some(address), ..crate::config::tests::arguments() };
        let settings = Settings::resolve(arguments, |_| None).expect("settings");
        let token = Arc::new(Secret::try_new("tok".to_owned()).expect("a token"));
        let client = Client::try_new(settings, token, None).expect("a client");
        for _ in 0..5 {
            client.post("/any", "{}".into(), false, None).await.expect("a response");
            // Blocks the runtime while the service closes the connection.
            thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(client.stats().connections_opened, 5);
    }
}
