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
