//! The one loop that sends: attempts, back-off, deadline, token renewal, and what is told of them.

use std::future;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::chance::{chance, random};
use super::delivery::Delivery;
use super::verdict::{self, Shape};
use super::{Client, Completed};
use crate::decode::{Decoder, Envelope, Gather, Plan};
use crate::error::{Context, Error, Kind, Result};
use crate::observe::{self, Attempt};
use crate::retry::{Course, Policy};
use crate::secret::Secret;
use crate::transport::{Answer, Request};

/// For a token callable, where another library takes the rows: it may hold the interpreter, which the callable needs.
const PULLED: Duration = Duration::from_secs(5);
const HELD: &str = "another library reads the rows and may hold the interpreter, which the token callable needs; \
    use to_arrow() instead, or a token that lives longer";
/// Of a call whose time was over before its first request.
const UNSENT: &str =
    "nothing was sent: the time passed waiting for the token, for rate=, or for a service that asked to stay away";

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
    pub(super) plan: Plan,
    /// What an answer that closed well must have besides.
    pub(super) shape: Shape,
    /// Whether sending twice does no harm.
    pub(super) idempotent: bool,
    pub(super) policy: Policy,
    pub(super) timeout: Duration,
    pub(super) term: Term,
}

/// What the time of a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term {
    /// Everything, sleeps included.
    Whole,
    /// What comes before the first record: from then on whoever takes the records takes their own time.
    ToFirstRecord,
    /// Likewise, for each request anew.
    EachToFirstRecord,
}

/// Where the records of a response go: into a sink made anew for each attempt, and from there in batches.
pub(super) struct To<'a, G: Gather> {
    pub(super) make: &'a (dyn Fn() -> G + Send + Sync),
    pub(super) delivery: &'a Delivery<G::Batch>,
}

impl<G: Gather> Copy for To<'_, G> {}

impl<G: Gather> Clone for To<'_, G> {
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
    pub(super) async fn run<G: Gather>(&self, call: &Call<'_>, to: To<'_, G>) -> Result<Completed> {
        let mut log = Log::new();
        let outcome = tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(Error::new(Kind::ClientClosed, "the client is closed")),
            outcome = self.attempts(call, to, &mut log) => outcome,
            failure = deadline(call, to), if call.term != Term::EachToFirstRecord => Err(failure),
        };
        match outcome {
            Ok(envelope) => Ok(Completed { envelope, attempts: log.attempts, elapsed: log.started.elapsed() }),
            Err(error) => {
                to.delivery.resume();
                let is_late = error.kind() == Kind::RequestTimeout && error.field("phase") != Some(&"token".into());
                let is_unsent = log.attempts == 0 && is_late;
                let error = if is_unsent { out_of_time(call).with_hint(UNSENT) } else { error };
                Err(error.in_context(log.into_context(call.operation)))
            }
        }
    }

    async fn attempts<G: Gather>(&self, call: &Call<'_>, to: To<'_, G>, log: &mut Log) -> Result<Envelope> {
        let mut course = Course::new(call.policy, call.idempotent);
        let mut renewed = false;
        loop {
            self.traffic.turn(&self.pace).await;
            // Last, so that it is valid when it is sent.
            let token = in_time(call, self.token(call, to, log)).await?;
            log.attempts += 1;
            let request_id = log.request_id();
            let mut watched = Attempt::begin(call.operation, &request_id, log.attempts);
            let outcome = tokio::select! {
                biased;
                outcome = self.attempt(call, to, &token, &request_id, &mut watched) => outcome,
                failure = deadline(call, to), if call.term == Term::EachToFirstRecord => Err(failure),
            };
            if to.delivery.is_evicted() {
                // Not a failure: the request is sent again when there is room.
                return outcome;
            }
            watched.end(&outcome);
            let failure = match outcome {
                Ok(envelope) => {
                    self.traffic.succeeded(&course);
                    return Ok(envelope);
                }
                Err(failure) => failure.without(token.expose()),
            };
            log.history.push(format!("{}: {}", failure.kind().class_name(), failure.message()));
            if !to.delivery.suspend() {
                return Err(failure);
            }
            let is_refused = failure.kind() == Kind::PermissionDenied && !renewed && course.may_renew();
            if is_refused && self.auth.reject(&token) && in_time(call, self.token(call, to, log)).await? != token {
                renewed = true;
                to.delivery.void();
                self.traffic.retried();
                observe::again(call.operation, &request_id, log.attempts, &failure, Duration::ZERO);
            } else {
                let left = match call.term {
                    Term::EachToFirstRecord => Duration::MAX,
                    Term::Whole | Term::ToFirstRecord => call.timeout.saturating_sub(log.started.elapsed()),
                };
                let reason = failure.clone();
                let delay = self.traffic.again(&mut course, failure, left)?;
                to.delivery.void();
                observe::again(call.operation, &request_id, log.attempts, &reason, delay);
                tokio::time::sleep(delay).await;
            }
            to.delivery.restart().await;
        }
    }

    /// The token to send. A source that fails is asked again as a service that cannot be reached would be; if it has
    /// given one before, a request of a scan waits for the next as long as there is time.
    async fn token<G: Gather>(&self, call: &Call<'_>, to: To<'_, G>, log: &Log) -> Result<Secret> {
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
            let delay = call.policy.delay(counted, &failure, true, chance());
            let Some(delay) = delay.filter(|delay| *delay < left) else { return Err(failure) };
            observe::again(call.operation, &log.request_id(), log.attempts + 1, &failure, delay);
            tokio::time::sleep(delay).await;
        }
    }

    /// One request and its answer. The last records are handed on when the answer has proved to be a result.
    async fn attempt<G: Gather>(
        &self,
        call: &Call<'_>,
        to: To<'_, G>,
        token: &Secret,
        request_id: &str,
        watched: &mut Attempt<'_>,
    ) -> Result<Envelope> {
        let request = Request { path: call.path, body: call.body.clone(), token, request_id };
        let _flight = self.traffic.begin();
        let sent = Instant::now();
        let mut answer = self.transport.post(request).await?;
        watched.answered(answer.status);
        to.delivery.mark_headers();
        self.traffic.heard(&call.policy, sent, &answer);
        if answer.status != 200 {
            let body = answer.error_body().await;
            watched.received(answer.received());
            return Err(verdict::of_status(&answer, &body));
        }
        let mut sink = (to.make)();
        let received = receive(&call.plan, &mut answer, &mut sink, to.delivery).await;
        watched.received(answer.received());
        let envelope = received.map_err(|error| verdict::with_content_type(error, &answer))?;
        verdict::of_envelope(&envelope, call.shape, self.settings.strict)?;
        while let Some(batch) = sink.take()? {
            to.delivery.send(batch).await?;
        }
        to.delivery.complete();
        Ok(envelope)
    }
}

/// Decodes the body as it arrives and hands on its records, but for the last.
async fn receive<G: Gather>(
    plan: &Plan,
    answer: &mut Answer,
    sink: &mut G,
    delivery: &Delivery<G::Batch>,
) -> Result<Envelope> {
    let mut decoder = Decoder::new(plan.clone());
    while let Some(chunk) = answer.chunk().await? {
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
            return Ok(decoder.cut_short());
        }
    }
    decoder.finish()
}

/// The end of a call's time.
async fn deadline<G: Gather>(call: &Call<'_>, to: To<'_, G>) -> Error {
    tokio::time::sleep(call.timeout).await;
    if call.term != Term::Whole && to.delivery.has_rows() {
        future::pending::<()>().await;
    }
    if to.delivery.has_headers() { out_of_time(call) } else { no_headers(call) }
}

/// A token that does not come is no reason to wait for ever, where no time of the whole call ends it.
async fn in_time<T>(call: &Call<'_>, token: impl Future<Output = Result<T>>) -> Result<T> {
    if call.term != Term::EachToFirstRecord {
        return token.await;
    }
    tokio::time::timeout(call.timeout, token).await.unwrap_or_else(|_| Err(out_of_time(call)))
}

fn out_of_time(call: &Call<'_>) -> Error {
    timed_out(call, "deadline", "complete answer")
}

/// The service was still thinking, or nobody is there.
fn no_headers(call: &Call<'_>) -> Error {
    timed_out(call, "headers", "response headers")
}

fn timed_out(call: &Call<'_>, phase: &'static str, missing: &str) -> Error {
    let seconds = call.timeout.as_secs_f64();
    Error::new(Kind::RequestTimeout, format!("no {missing} within timeout={seconds} s"))
        .with("phase", phase)
        .with_hint("raise timeout=, or ask for less")
        .retryable()
}
