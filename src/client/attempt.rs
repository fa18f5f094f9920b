//! One attempt of a call: a request, and its response from the connection into the sink.

use std::time::SystemTime;

use tokio::time::Instant;

use super::Client;
use super::call::{Call, Destination};
use super::classify;
use super::concurrency::Slot;
use super::delivery::{Arrived, Delivery};
use crate::decode::{Batch as _, BatchSink, DecodePlan, Decoder, Envelope};
use crate::error::Result;
use crate::observe::Attempt;
use crate::secret::Secret;
use crate::transport::{Request, Response, Transport};

impl Client {
    /// Sends one request. The last batch is delivered once the response has proved to be a result. Returns when it was
    /// sent, too: by the clock of this machine or of the service, whichever is earlier.
    pub(super) async fn attempt<G: BatchSink>(
        &self,
        call: &Call<'_>,
        to: &Destination<'_, G>,
        token: &Secret,
        request_id: &str,
        slot: &mut Slot<'_>,
        observed: &mut Attempt<'_>,
    ) -> Result<(Envelope, SystemTime)> {
        let request = Request { path: call.path, body: call.body.clone(), token, request_id };
        let _in_flight = self.shared_limits.count_request();
        let (sent, now) = (Instant::now(), SystemTime::now());
        if !call.idempotent {
            Transport::look_at_sockets().await;
        }
        let mut response = self.transport.post(request).await?;
        observed.responded(response.status);
        let requested_at = response.date.map_or(now, |date| date.min(now));
        to.delivery.begin(requested_at);
        self.shared_limits.record_response(&call.policy, sent, &response);
        if response.status != 200 {
            let body = response.error_body().await;
            observed.received(response.received());
            return Err(classify::error_for_status(&response, &body));
        }
        let mut sink = (to.new_sink)();
        let received = receive(&call.plan, &mut response, &mut sink, to.delivery, slot).await;
        observed.received(response.received());
        let envelope = received.map_err(|error| classify::with_content_type(error, &response))?;
        classify::check_envelope(&envelope, call.content, self.settings.strict_empty)?;
        while let Some(batch) = sink.take()? {
            to.delivery.push(batch)?;
        }
        to.delivery.complete();
        Ok((envelope, requested_at))
    }
}

/// Batches of one chunk are delivered together up to this size. Few rows need more: only those that are much shorter than
/// their cells.
const CHUNK_BYTES: usize = 16 << 20;

/// Decodes the body while it arrives and delivers its batches, but the last.
async fn receive<G: BatchSink>(
    plan: &DecodePlan,
    response: &mut Response,
    sink: &mut G,
    delivery: &Delivery<G::Batch>,
    slot: &mut Slot<'_>,
) -> Result<Envelope> {
    let mut decoder = Decoder::new(plan.clone());
    let (mut full, mut bytes) = (Vec::new(), 0);
    while let Some(mut chunk) = response.chunk().await? {
        while !chunk.is_empty() {
            let fed = decoder.feed(chunk, sink);
            if decoder.has_records() {
                delivery.mark(Arrived::Rows);
            }
            while let Some(batch) = sink.take_full()? {
                bytes += batch.bytes();
                full.push(batch);
            }
            chunk = fed.as_ref().map_or_else(|_| &[][..], |taken| chunk.get(*taken..).unwrap_or_default());
            // Before an error of the same chunk is returned, so that the batches do not depend on how bytes are split.
            let is_satisfied = decoder.is_satisfied();
            if chunk.is_empty() || is_satisfied || bytes >= CHUNK_BYTES {
                bytes = 0;
                for batch in full.drain(..) {
                    // A response that has arrived waits for nothing: nobody could close its connection any more.
                    if decoder.has_ended() {
                        delivery.push(batch)?;
                    } else {
                        slot.deliver(delivery, batch).await?;
                    }
                }
            }
            fed?;
            if is_satisfied {
                return Ok(decoder.finish_early());
            }
        }
    }
    decoder.finish()
}
