//! The one loop that sends requests: attempts, back-off, deadline and token renewal.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::classify::ExpectedContent;
use super::deadline::Deadline;
use super::delivery::Delivery;
use super::rng::uniform;
use super::shared_limits::Probe;
use super::{Client, Completed};
use crate::decode::{BatchSink, DecodePlan, Envelope};
use crate::error::{Context, Error, Kind, Phase, Result};
use crate::observe::{self, Attempt};
use crate::retry::{Policy, RetryDecision, RetryState};
use crate::secret::Secret;

/// Time-out of a token callable while another library pulls the rows, as it may hold the GIL that the callable needs.
const PULLED: Duration = Duration::from_secs(5);
const GIL_HINT: &str = "another library pulls the rows and may hold the GIL, which the token callable needs; \
    use to_arrow() instead, or a token that lives longer";

#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) operation: &'static str,
    pub(super) path: &'a str,
    pub(super) body: Bytes,
    pub(super) plan: DecodePlan,
    pub(super) content: ExpectedContent,
    pub(super) idempotent: bool,
    pub(super) policy: Policy,
    pub(super) deadline: Deadline,
    /// Whether it is one request of a scan, which does not try a service that is known to be down.
    pub(super) is_scan_request: bool,
}

/// Where the records of a response go: into a new sink for each attempt, and from there in batches to the consumer.
pub(super) struct Destination<'a, G: BatchSink> {
    pub(super) new_sink: &'a (dyn Fn() -> G + Send + Sync),
    pub(super) delivery: &'a Delivery<G::Batch>,
}

/// What a call has done so far. It outlives the attempts, which a deadline cuts off.
#[derive(Debug)]
struct Log {
    started: Instant,
    /// Identifies the call.
    id: u64,
    attempts: u32,
    /// What the first attempt waits for.
    waits_for: &'static str,
    history: Vec<String>,
    last_failure: Option<Error>,
}

impl Log {
    fn new(id: u64) -> Self {
        Self { started: Instant::now(), id, attempts: 0, waits_for: "a token", history: Vec::new(), last_failure: None }
    }

    fn request_id(&self) -> String {
        format!("{:016x}-{}", self.id, self.attempts)
    }

    fn record(&mut self, failure: &Error) {
        self.history.push(format!("{}: {}", failure.kind().class_name(), failure.message()));
        self.last_failure = Some(failure.clone());
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
    /// Sends the request until it succeeds, fails permanently, or the call times out.
    pub(super) async fn run<G: BatchSink>(&self, call: &Call<'_>, to: &Destination<'_, G>) -> Result<Completed> {
        let mut log = Log::new(self.call_ids.next());
        // Boxed here, as each future around it would hold it twice: as an argument, and while it is awaited.
        let attempts = Box::pin(self.attempts(call, to, &mut log));
        let outcome = tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(Error::new(Kind::ClientClosed, "the client is closed").with_hint("create a new client")),
            outcome = attempts => outcome,
            passed = call.deadline.passed(to.delivery), if call.deadline.is_of_call() => Err(match log.last_failure.clone() {
                None => passed,
                Some(last) => call.deadline.after_failures(passed, last, log.attempts as usize > log.history.len()),
            }),
        };
        match outcome {
            Ok(envelope) => Ok(Completed { envelope, attempts: log.attempts, elapsed: log.started.elapsed() }),
            Err(error) => {
                to.delivery.resume();
                let timed_out = error.kind() == Kind::RequestTimeout && error.details().phase != Some(Phase::Token);
                let is_unsent = log.attempts == 0 && timed_out;
                let error = if is_unsent { call.deadline.unsent(log.waits_for) } else { error };
                // A deadline ends an attempt from outside; a token that fails prevents the first.
                if log.history.len() < log.attempts.max(1) as usize {
                    log.record(&error);
                }
                Err(error.with_context(log.into_context(call.operation)))
            }
        }
    }

    async fn attempts<G: BatchSink>(
        &self,
        call: &Call<'_>,
        to: &Destination<'_, G>,
        log: &mut Log,
    ) -> Result<Envelope> {
        let mut state = RetryState::new(call.policy, call.idempotent).within(call.deadline.timeout);
        let mut is_renewed = false;
        loop {
            let is_first = log.attempts == 0 && !call.is_scan_request;
            let _probe = if is_first { None } else { self.turn(call, &mut state, log).await? };
            let ready = Instant::now();
            log.waits_for = self.rate_limiter.cause();
            self.rate_limiter.wait_for_start(&self.shared_limits).await;
            log.waits_for = "a free place of concurrency=";
            let mut slot = self.concurrency.slot().await;
            state.exclude(ready.elapsed());
            log.waits_for = "a token";
            // After the waits, so that the token is valid when it is sent.
            let token = call.deadline.limit(self.token(call, to, log)).await?;
            log.attempts += 1;
            let request_id = log.request_id();
            let mut observed = Attempt::begin(call.operation, &request_id, log.attempts);
            let outcome = tokio::select! {
                biased;
                outcome = self.attempt(call, to, &token, &request_id, &mut slot, &mut observed) => outcome,
                failure = call.deadline.passed(to.delivery), if !call.deadline.is_of_call() => Err(failure),
            };
            drop(slot);
            if to.delivery.is_evicted() {
                // Not a failure: the scan requests it again when there is space in the buffer.
                return outcome;
            }
            state.exclude(observed.receiving());
            observed.end(&outcome);
            let failure = match outcome {
                Ok(envelope) => {
                    self.shared_limits.record_responded();
                    return Ok(envelope);
                }
                Err(failure) => failure.redact(token.expose()),
            };
            log.record(&failure);
            self.shared_limits.record_failure(log.id, &failure, &call.policy);
            if !to.delivery.suspend() {
                return Err(failure);
            }
            let may_renew = failure.kind() == Kind::PermissionDenied && !is_renewed && state.consume_auth_retry();
            if may_renew {
                self.auth.reject(&token);
            }
            let delay = if may_renew && call.deadline.limit(self.token(call, to, log)).await? != token {
                is_renewed = true;
                self.shared_limits.count_retry();
                Duration::ZERO
            } else {
                self.delay_before_retry(call, &mut state, failure.clone(), log)?
            };
            to.delivery.void();
            observe::retrying(call.operation, &request_id, log.attempts, &failure, delay);
            tokio::time::sleep(delay).await;
            to.delivery.restart().await;
        }
    }

    /// Waits while the service is down. Then one request at a time probes it.
    async fn turn(&self, call: &Call<'_>, state: &mut RetryState, log: &Log) -> Result<Option<Probe<'_>>> {
        let ready = Instant::now();
        let left = state.left(ready.into_std()).min(call.deadline.left(log.started));
        let turn = self.shared_limits.wait_while_down(log.id, log.started, ready + left).await;
        // Otherwise it runs from the first failure on: a service may take long for its first response.
        if !matches!(turn, Ok(None)) {
            state.start_clock(ready.into_std());
        }
        turn.map_err(|failure_of_all| {
            let is_timeout = state.left(Instant::now().into_std()) > Duration::ZERO;
            let (name, limit) = match call.policy.retries {
                Some(0) => ("retries", "0".to_owned()),
                _ if is_timeout => ("timeout", format!("{} s", call.deadline.timeout.as_secs_f64())),
                _ => ("retry_for", format!("{} s", self.policy.retry_for.as_secs_f64())),
            };
            let ended = format!("{name}={limit} ended the retries, as the service is down");
            let longer = if name == "retries" { "more often" } else { "for longer" };
            log.last_failure
                .clone()
                .unwrap_or(failure_of_all)
                .with_reason(format!("{ended}: raise {name}= to retry {longer}"))
                .with(|details| details.is_outage = self.shared_limits.is_down_for_all())
        })
    }

    /// Returns the delay before the retry, or the failure when it is final.
    fn delay_before_retry(
        &self,
        call: &Call<'_>,
        state: &mut RetryState,
        failure: Error,
        log: &Log,
    ) -> Result<Duration> {
        match state.after(failure, call.deadline.left(log.started), Instant::now().into_std(), uniform()) {
            Ok(RetryDecision::Immediate) => {
                self.shared_limits.count_free_retry();
                Ok(Duration::ZERO)
            }
            Ok(RetryDecision::After(delay)) => {
                self.shared_limits.count_retry();
                Ok(delay)
            }
            Err(failure) => {
                let is_outage = failure.is_retryable() && self.shared_limits.is_down_for_all();
                Err(failure.with(|details| details.is_outage = is_outage))
            }
        }
    }

    /// The token to send. A failing token source is retried as a failing connection is.
    async fn token<G: BatchSink>(&self, call: &Call<'_>, to: &Destination<'_, G>, log: &Log) -> Result<Secret> {
        let began = Instant::now();
        let mut state = RetryState::new(call.policy, true).within(call.deadline.timeout);
        loop {
            let limit = if to.delivery.is_pulled() { PULLED } else { Duration::MAX };
            let failure = match self.auth.token(limit).await {
                Ok(token) => return Ok(token),
                Err(failure) if limit == PULLED && failure.kind() == Kind::RequestTimeout => {
                    return Err(failure.with_hint(GIL_HINT));
                }
                Err(failure) => failure,
            };
            let left = call.deadline.timeout.saturating_sub(began.elapsed());
            let decided = state.after(failure.clone(), left, Instant::now().into_std(), uniform());
            // Without a token no request of a scan can be sent.
            let decided = decided.map_err(|failure| failure.with(|details| details.is_outage = true));
            let RetryDecision::After(delay) = decided? else { continue };
            observe::retrying(call.operation, &log.request_id(), log.attempts + 1, &failure, delay);
            tokio::time::sleep(delay).await;
        }
    }
}
