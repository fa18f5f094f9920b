//! The one loop that sends: attempts, back-off, deadline, token renewal, and what is told of them.

use std::future;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::chance::random;
use super::outlet::Outlet;
use super::verdict::{self, Shape};
use super::{Answered, Client};
use crate::decode::{Decoder, Envelope, Gather, Plan};
use crate::error::{Context, Error, Kind, Result};
use crate::observe::{self, Attempt};
use crate::retry::{Course, Policy};
use crate::secret::Secret;
use crate::transport::{Answer, Request};

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
    pub(super) async fn run<G: Gather>(&self, call: &Call<'_>, outlet: &Outlet<'_, G>) -> Result<Answered> {
        let mut log = Log::new();
        let outcome = tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(Error::new(Kind::ClientClosed, "the client is closed")),
            outcome = self.attempts(call, outlet, &mut log) => outcome,
            failure = deadline(call, outlet), if call.term != Term::EachToFirstRecord => Err(failure),
        };
        match outcome {
            Ok(envelope) => Ok(Answered { envelope, attempts: log.attempts, elapsed: log.started.elapsed() }),
            Err(error) => {
                let is_unsent = log.attempts == 0 && error.kind() == Kind::RequestTimeout;
                let error = if is_unsent { error.with_hint(UNSENT) } else { error };
                Err(error.in_context(log.into_context(call.operation)))
            }
        }
    }

    async fn attempts<G: Gather>(&self, call: &Call<'_>, outlet: &Outlet<'_, G>, log: &mut Log) -> Result<Envelope> {
        let mut course = Course::new(call.policy, call.idempotent);
        let mut renewed = false;
        loop {
            let token = in_time(call, self.auth.token()).await?;
            self.pace.turn().await;
            self.traffic.turn().await;
            log.attempts += 1;
            let request_id = log.request_id();
            let mut watched = Attempt::begin(call.operation, &request_id, log.attempts);
            let outcome = tokio::select! {
                biased;
                outcome = self.attempt(call, outlet, &token, &request_id, &mut watched) => outcome,
                failure = deadline(call, outlet), if call.term == Term::EachToFirstRecord => Err(failure),
            };
            watched.end(&outcome);
            let failure = match outcome {
                Ok(envelope) => {
                    self.traffic.succeeded(&course);
                    return Ok(envelope);
                }
                Err(failure) => failure.without(token.expose()),
            };
            log.history.push(format!("{}: {}", failure.kind().class_name(), failure.message()));
            if outlet.is_committed() {
                return Err(failure);
            }
            let refused = failure.kind() == Kind::PermissionDenied && !renewed && course.may_renew();
            if refused && in_time(call, self.auth.renew(&token)).await? {
                renewed = true;
                self.traffic.retried();
                observe::again(call.operation, &request_id, log.attempts, &failure, Duration::ZERO);
            } else {
                let left = match call.term {
                    Term::EachToFirstRecord => Duration::MAX,
                    Term::Whole | Term::ToFirstRecord => call.timeout.saturating_sub(log.started.elapsed()),
                };
                let reason = failure.clone();
                let delay = self.traffic.again(&mut course, failure, left)?;
                observe::again(call.operation, &request_id, log.attempts, &reason, delay);
                tokio::time::sleep(delay).await;
            }
            outlet.restart().await;
        }
    }

    /// One request and its answer. The last records are handed on when the answer has proved to be a result.
    async fn attempt<G: Gather>(
        &self,
        call: &Call<'_>,
        outlet: &Outlet<'_, G>,
        token: &Secret,
        request_id: &str,
        watched: &mut Attempt<'_>,
    ) -> Result<Envelope> {
        let request = Request { path: call.path, body: call.body.clone(), token, request_id };
        let _flight = self.traffic.begin();
        let sent = Instant::now();
        let mut answer = self.transport.post(request).await?;
        watched.answered(answer.status);
        self.traffic.heard(&call.policy, sent, &answer);
        if answer.status != 200 {
            let body = answer.error_body().await;
            watched.received(answer.received());
            return Err(verdict::of_status(&answer, &body));
        }
        let mut sink = outlet.sink();
        let received = receive(&call.plan, &mut answer, &mut sink, outlet).await;
        watched.received(answer.received());
        let envelope = received.map_err(|error| verdict::with_content_type(error, &answer))?;
        verdict::of_envelope(&envelope, call.shape, self.settings.strict)?;
        while let Some(batch) = sink.take()? {
            outlet.hand_on(batch).await;
        }
        outlet.release().await;
        Ok(envelope)
    }
}

/// Decodes the body as it arrives and hands on its records, but for the last.
async fn receive<G: Gather>(
    plan: &Plan,
    answer: &mut Answer,
    sink: &mut G,
    outlet: &Outlet<'_, G>,
) -> Result<Envelope> {
    let mut decoder = Decoder::new(plan.clone());
    while let Some(chunk) = answer.chunk().await? {
        let fed = decoder.feed(chunk, sink);
        if decoder.has_records() {
            outlet.note_rows();
        }
        // Also those before a fault in the same bytes: what is handed on does not depend on how bytes arrive.
        while let Some(batch) = sink.take_full()? {
            outlet.hand_on(batch).await;
        }
        fed?;
        if decoder.is_satisfied() {
            return Ok(decoder.cut_short());
        }
    }
    decoder.finish()
}

/// The end of a call's time.
async fn deadline<G: Gather>(call: &Call<'_>, outlet: &Outlet<'_, G>) -> Error {
    tokio::time::sleep(call.timeout).await;
    if call.term != Term::Whole && outlet.has_rows() {
        future::pending::<()>().await;
    }
    out_of_time(call)
}

/// A token that does not come is no reason to wait for ever, where no time of the whole call ends it.
async fn in_time<T>(call: &Call<'_>, token: impl Future<Output = Result<T>>) -> Result<T> {
    if call.term != Term::EachToFirstRecord {
        return token.await;
    }
    tokio::time::timeout(call.timeout, token).await.unwrap_or_else(|_| Err(out_of_time(call)))
}

fn out_of_time(call: &Call<'_>) -> Error {
    let seconds = call.timeout.as_secs_f64();
    Error::new(Kind::RequestTimeout, format!("no complete answer within timeout={seconds} s"))
        .with("phase", "deadline")
        .with_hint("raise timeout=, or ask for less")
        .retryable()
}
