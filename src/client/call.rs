//! The one loop that sends: attempts, back-off, deadline, token renewal, and what is told of them.

use std::future;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::classify::{self, ExpectedContent};
use super::delivery::Delivery;
use super::rng::{random, uniform};
use super::{Client, Completed};
use crate::decode::{BatchSink, DecodePlan, Decoder, Envelope};
use crate::error::{Context, Error, Kind, Phase, Result};
use crate::observe::{self, Attempt};
use crate::retry::{Policy, RetryState};
use crate::secret::Secret;
use crate::transport::{Request, Response};

/// For a token callable, where another library takes the rows: it may hold the interpreter, which the callable needs.
const PULLED: Duration = Duration::from_secs(5);
const HELD: &str = "another library reads the rows and may hold the interpreter, which the token callable needs; \
    use to_arrow() instead, or a token that lives longer";
/// Of a call whose time was over before its first request.
const UNSENT: &str = "timed out before sending: waiting for a token, requests_per_second=, or Retry-After";

/// One call of an operation.
#[derive(Debug)]
pub(super) struct Call<'a> {
    /// Public name.
    pub(super) operation: &'static str,
    /// Path below the base URL.
    pub(super) path: &'a str,
    /// JSON.
    pub(super) body: Bytes,
    /// How the answer is decoded.
    pub(super) plan: DecodePlan,
    /// What an answer that closed well must have besides.
    pub(super) shape: ExpectedContent,
    /// Whether sending twice does no harm.
    pub(super) idempotent: bool,
    pub(super) policy: Policy,
    pub(super) timeout: Duration,
    pub(super) scope: TimeoutScope,
}

/// What the time of a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeoutScope {
    /// Everything, sleeps included.
    Whole,
    /// What comes before the first record: from then on whoever takes the records takes their own time.
    ToFirstRecord,
    /// Likewise, for each request anew.
    EachToFirstRecord,
}

/// Where the records of a response go: into a sink made anew for each attempt, and from there in batches.
pub(super) struct To<'a, G: BatchSink> {
    pub(super) make: &'a (dyn Fn() -> G + Send + Sync),
    pub(super) delivery: &'a Delivery<G::Batch>,
}

impl<G: BatchSink> Copy for To<'_, G> {}

impl<G: BatchSink> Clone for To<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

/// What was done so far; it outlives a call that is cut off by its deadline.
#[derive(Debug)]
struct Log {
    started: Instant,
    prefix: String,
    attempts: u32,
    history: Vec<String>,
}

impl Log {
    fn new() -> Self {
        Self { started: Instant::now(), prefix: format!("{:016x}", random()), attempts: 0, history: Vec::new() }
    }

    fn request_id(&self) -> String {
        format!("{}-{}", self.prefix, self.attempts)
    }

    fn into_context(self, operation: &'static str) -> Context {
        Context {
            operation: Some(operation),
            attempts: self.attempts,
            elapsed: self.started.elapsed().as_secs_f64(),
            request_id: (self.attempts > 0).then(|| self.request_id()),
            history: self.history,
        }
    }
}

impl Client {
    /// Sends until there is an answer or a final failure, within the call's time.
    pub(super) async fn run<G: BatchSink>(&self, call: &Call<'_>, to: To<'_, G>) -> Result<Completed> {
        let mut log = Log::new();
        let outcome = tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(Error::new(Kind::ClientClosed, "the client is closed")),
            outcome = self.attempts(call, to, &mut log) => outcome,
            failure = deadline(call, to), if call.scope != TimeoutScope::EachToFirstRecord => Err(failure),
        };
        match outcome {
            Ok(envelope) => Ok(Completed { envelope, attempts: log.attempts, elapsed: log.started.elapsed() }),
            Err(error) => {
                to.delivery.resume();
                let is_late = error.kind() == Kind::RequestTimeout && error.details().phase != Some(Phase::Token);
                let is_unsent = log.attempts == 0 && is_late;
                let error = if is_unsent { out_of_time(call).with_hint(UNSENT) } else { error };
                Err(error.with_context(log.into_context(call.operation)))
            }
        }
    }

    async fn attempts<G: BatchSink>(&self, call: &Call<'_>, to: To<'_, G>, log: &mut Log) -> Result<Envelope> {
        let mut state = RetryState::new(call.policy, call.idempotent);
        let mut renewed = false;
        loop {
            self.shared_limits.turn(&self.rate_limiter).await;
            // Last, so that it is valid when it is sent.
            let token = in_time(call, self.token(call, to, log)).await?;
            log.attempts += 1;
            let request_id = log.request_id();
            let mut attempt = Attempt::begin(call.operation, &request_id, log.attempts);
            let outcome = tokio::select! {
                biased;
                outcome = self.attempt(call, to, &token, &request_id, &mut attempt) => outcome,
                failure = deadline(call, to), if call.scope == TimeoutScope::EachToFirstRecord => Err(failure),
            };
            if to.delivery.is_evicted() {
                // Not a failure: the request is sent again when there is room.
                return outcome;
            }
            attempt.end(&outcome);
            let failure = match outcome {
                Ok(envelope) => {
                    self.shared_limits.succeeded(&state);
                    return Ok(envelope);
                }
                Err(failure) => failure.redact(token.expose()),
            };
            log.history.push(format!("{}: {}", failure.kind().class_name(), failure.message()));
            if !to.delivery.suspend() {
                return Err(failure);
            }
            let is_refused = failure.kind() == Kind::PermissionDenied && !renewed && state.consume_auth_retry();
            if is_refused && self.auth.reject(&token) && in_time(call, self.token(call, to, log)).await? != token {
                renewed = true;
                to.delivery.void();
                self.shared_limits.retried();
                observe::retrying(call.operation, &request_id, log.attempts, &failure, Duration::ZERO);
            } else {
                let left = match call.scope {
                    TimeoutScope::EachToFirstRecord => Duration::MAX,
                    TimeoutScope::Whole | TimeoutScope::ToFirstRecord => {
                        call.timeout.saturating_sub(log.started.elapsed())
                    }
                };
                let reason = failure.clone();
                let delay = self.shared_limits.again(&mut state, failure, left)?;
                to.delivery.void();
                observe::retrying(call.operation, &request_id, log.attempts, &reason, delay);
                tokio::time::sleep(delay).await;
            }
            to.delivery.restart().await;
        }
    }

    /// The token to send. A source that fails is asked again as a service that cannot be reached would be; if it has
    /// given one before, a request of a scan waits for the next as long as there is time.
    async fn token<G: BatchSink>(&self, call: &Call<'_>, to: To<'_, G>, log: &Log) -> Result<Secret> {
        let began = Instant::now();
        let mut failures = 0;
        loop {
            let limit = if to.delivery.is_pulled() { PULLED } else { Duration::MAX };
            let failure = match self.auth.token(limit).await {
                Ok(token) => return Ok(token),
                Err(failure) if limit == PULLED && failure.kind() == Kind::RequestTimeout => {
                    return Err(failure.with_hint(HELD));
                }
                Err(failure) => failure,
            };
            failures += 1;
            let is_patient = call.policy.is_patient && self.auth.has_given();
            // Without retries the first failure is final here too.
            let counted = if is_patient { failures.min(call.policy.retries.max(1)) } else { failures };
            let left = call.timeout.saturating_sub(began.elapsed());
            let delay = call.policy.delay(counted, &failure, true, uniform());
            let Some(delay) = delay.filter(|delay| *delay < left) else { return Err(failure) };
            observe::retrying(call.operation, &log.request_id(), log.attempts + 1, &failure, delay);
            tokio::time::sleep(delay).await;
        }
    }

    /// One request and its answer. The last records are handed on when the answer has proved to be a result.
    async fn attempt<G: BatchSink>(
        &self,
        call: &Call<'_>,
        to: To<'_, G>,
        token: &Secret,
        request_id: &str,
        attempt: &mut Attempt<'_>,
    ) -> Result<Envelope> {
        let request = Request { path: call.path, body: call.body.clone(), token, request_id };
        let _in_flight = self.shared_limits.begin();
        let sent = Instant::now();
        let mut response = self.transport.post(request).await?;
        attempt.responded(response.status);
        to.delivery.mark_headers();
        self.shared_limits.heard(&call.policy, sent, &response);
        if response.status != 200 {
            let body = response.error_body().await;
            attempt.received(response.received());
            return Err(classify::of_status(&response, &body));
        }
        let mut sink = (to.make)();
        let received = receive(&call.plan, &mut response, &mut sink, to.delivery).await;
        attempt.received(response.received());
        let envelope = received.map_err(|error| classify::with_content_type(error, &response))?;
        classify::of_envelope(&envelope, call.shape, self.settings.strict_empty)?;
        while let Some(batch) = sink.take()? {
            to.delivery.send(batch).await?;
        }
        to.delivery.complete();
        Ok(envelope)
    }
}

/// Decodes the body as it arrives and hands on its records, but for the last.
async fn receive<G: BatchSink>(
    plan: &DecodePlan,
    response: &mut Response,
    sink: &mut G,
    delivery: &Delivery<G::Batch>,
) -> Result<Envelope> {
    let mut decoder = Decoder::new(plan.clone());
    while let Some(chunk) = response.chunk().await? {
        let fed = decoder.feed(chunk, sink);
        if decoder.has_records() {
            delivery.mark_first_row();
        }
        // Also those before a fault in the same bytes: what is handed on does not depend on how bytes arrive.
        while let Some(batch) = sink.take_full()? {
            delivery.send(batch).await?;
        }
        fed?;
        if decoder.is_satisfied() {
            return Ok(decoder.finish_early());
        }
    }
    decoder.finish()
}

/// The end of a call's time.
async fn deadline<G: BatchSink>(call: &Call<'_>, to: To<'_, G>) -> Error {
    tokio::time::sleep(call.timeout).await;
    if call.scope != TimeoutScope::Whole && to.delivery.has_rows() {
        future::pending::<()>().await;
    }
    if to.delivery.has_headers() { out_of_time(call) } else { no_headers(call) }
}

/// A token that does not come is no reason to wait for ever, where no time of the whole call ends it.
async fn in_time<T>(call: &Call<'_>, token: impl Future<Output = Result<T>>) -> Result<T> {
    if call.scope != TimeoutScope::EachToFirstRecord {
        return token.await;
    }
    tokio::time::timeout(call.timeout, token).await.unwrap_or_else(|_| Err(out_of_time(call)))
}

fn out_of_time(call: &Call<'_>) -> Error {
    timed_out(call, Phase::Deadline, "complete answer")
}

/// The service was still thinking, or nobody is there.
fn no_headers(call: &Call<'_>) -> Error {
    timed_out(call, Phase::Headers, "response headers")
}

fn timed_out(call: &Call<'_>, phase: Phase, missing: &str) -> Error {
    let seconds = call.timeout.as_secs_f64();
    Error::new(Kind::RequestTimeout, format!("no {missing} within timeout={seconds} s"))
        .with(|details| details.phase = Some(phase))
        .with_hint("raise timeout=, or ask for less")
        .retryable()
}
