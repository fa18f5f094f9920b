//! The one loop that sends requests: attempts, back-off, deadline and token renewal.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep_until};

use super::attempt::{AttemptEnd, Deadline, Slot};
use super::auth::TokenWait;
use super::classify::{ExpectedContent, verdict};
use super::delivery::Delivery;
use super::shared_limits::Started;
use super::{Client, Completed};
use crate::decode::{BatchSink, DecodePlan};
use crate::error::{Context, Error, Kind, Phase, Result};
use crate::observe::{self, Attempt};
use crate::retry::{Caller, Hold, Policy, Remedy, RetryState, Verdict};
use crate::secret::Secret;

/// What a request waits for at first.
const PLACE: &str = "a free request slot (concurrency)";

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
    pub(super) token_wait: Option<Arc<TokenWait>>,
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
    /// The time of all attempts in which no rows arrived.
    spent: Duration,
}

impl Log {
    fn new(id: u64) -> Self {
        let (started, spent) = (Instant::now(), Duration::ZERO);
        Self { started, id, attempts: 0, waits_for: PLACE, history: Vec::new(), last_failure: None, spent }
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
    /// Sends the request until it succeeds, fails permanently, or the call times out. Returns nothing if the response was
    /// dropped because the buffer is full.
    pub(super) async fn run<G: BatchSink>(
        &self,
        call: &Call<'_>,
        to: &Destination<'_, G>,
    ) -> Result<Option<Completed>> {
        let mut log = Log::new(self.call_ids.next());
        let left = call.deadline.left(log.started, Duration::ZERO);
        // Boxed here, as each future around it would hold it twice: as an argument, and while it is awaited.
        let attempts = Box::pin(self.attempts(call, to, &mut log));
        let outcome = tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(Error::new(Kind::ClientClosed, "the client is closed").with_hint("create a new client")),
            outcome = attempts => outcome,
            passed = call.deadline.passed(to.delivery, left), if call.deadline.is_of_call() => Err(match log.last_failure.clone() {
                None => passed,
                Some(last) => call.deadline.after_failures(passed, last, log.attempts as usize > log.history.len()),
            }),
        };
        outcome.map_err(|error| {
            to.delivery.resume();
            let timed_out = error.kind() == Kind::RequestTimeout && error.details().phase != Some(Phase::Token);
            let is_unsent = log.attempts == 0 && timed_out;
            let error = if is_unsent { call.deadline.unsent(log.waits_for) } else { error };
            // A deadline ends an attempt from outside; a token that fails prevents the first.
            if log.history.len() < log.attempts.max(1) as usize {
                log.record(&error);
            }
            error.with_context(log.into_context(call.operation))
        })
    }

    async fn attempts<G: BatchSink>(
        &self,
        call: &Call<'_>,
        to: &Destination<'_, G>,
        log: &mut Log,
    ) -> Result<Option<Completed>> {
        let began = call.deadline.began(log.started).into_std();
        let mut state = RetryState::new(call.policy, call.idempotent, call.deadline.timeout, began);
        let caller = Caller { call: log.id, began: log.started.into_std() };
        let mut is_renewed = false;
        loop {
            let (mut slot, token, started) = self.wait_for_start(call, &mut state, log).await?;
            log.attempts += 1;
            let request_id = log.request_id();
            let mut observed = Attempt::begin(call.operation, &request_id, log.attempts);
            let (sent, left) = (Instant::now(), call.deadline.left(log.started, log.spent));
            let mut is_over = false;
            let end = tokio::select! {
                biased;
                end = self.attempt(call, to, &token, &request_id, &mut slot, &mut observed) => end.unwrap_or_else(AttemptEnd::Failed),
                passed = call.deadline.passed(to.delivery, left), if !call.deadline.is_of_call() => {
                    is_over = true;
                    AttemptEnd::Failed(passed)
                }
            };
            drop(slot);
            let failure = match end {
                AttemptEnd::Complete(envelope, requested_at) => {
                    observed.end(None);
                    self.shared_limits.record_success();
                    let (attempts, elapsed) = (log.attempts, log.started.elapsed());
                    return Ok(Some(Completed { envelope, attempts, elapsed, requested_at }));
                }
                // The scan requests it again when there is space in the buffer.
                AttemptEnd::Evicted => {
                    self.shared_limits.record_answer();
                    return Ok(None);
                }
                AttemptEnd::Failed(failure) => {
                    self.secrets.iter().fold(failure.redact(token.expose()), |failure, secret| failure.redact(secret))
                }
            };
            observed.end(Some(&failure));
            let arriving = self.arriving(&failure, to);
            log.spent += sent.elapsed().saturating_sub(arriving);
            state.exclude(arriving);
            let before = log.last_failure.take();
            log.record(&failure);
            let verdict = verdict(&failure);
            let hold =
                self.shared_limits.record_failure(caller, &call.policy, &failure, &verdict, sent, self.rng.uniform());
            drop(started);
            if is_over {
                let over = |before| call.deadline.after_failures(failure.clone(), before, true);
                return Err(self.last(before.map_or_else(|| failure.clone(), over)));
            }
            if !to.delivery.suspend() {
                return Err(failure);
            }
            let may_renew = verdict.remedy == Remedy::NewToken && !is_renewed && call.policy.has_retries();
            if may_renew {
                self.auth.reject(&token);
            }
            let delay = if may_renew && self.token_within(call, log).await? != token {
                is_renewed = true;
                self.shared_limits.count_retry();
                Duration::ZERO
            } else {
                self.decide_retry(call, &mut state, &failure, &verdict, hold, log)?
            };
            to.delivery.void();
            if hold.is_none_or(|hold| hold.is_new) {
                observe::retrying(call.operation, &request_id, log.attempts, &failure, delay);
            }
            // Those that wait to probe wait at the gate, which may open early.
            if hold.is_none_or(|hold| hold.down_since.is_none()) {
                tokio::time::sleep(delay).await;
            }
        }
    }

    /// The time of a failed attempt in which rows arrived: not that of a stall.
    fn arriving<G: BatchSink>(&self, failure: &Error, to: &Destination<'_, G>) -> Duration {
        let is_stall = failure.kind() == Kind::RequestTimeout;
        let stall = if is_stall { self.settings.timeouts.stall } else { Duration::ZERO };
        to.delivery.receiving().saturating_sub(stall)
    }

    /// Waits for a place, a token, and the start of the request.
    async fn wait_for_start(
        &self,
        call: &Call<'_>,
        state: &mut RetryState,
        log: &mut Log,
    ) -> Result<(Slot<'_>, Secret, Started<'_>)> {
        let ready = Instant::now();
        log.waits_for = PLACE;
        let slot = self.concurrency.slot(log.id).await;
        state.exclude(ready.elapsed());
        let mut token = self.token_within(call, log).await?;
        // Last, so that each request is sent when it starts: starts keep their distance, and none comes in a pause.
        let started = self.wait_at_gate(call, state, log).await?;
        if started.has_waited {
            // The token may have expired meanwhile.
            token = self.token_within(call, log).await?;
        }
        Ok((slot, token, started))
    }

    /// Waits for the start of the request, for as long as it may be retried. Only a service that fails ends the wait.
    async fn wait_at_gate(&self, call: &Call<'_>, state: &mut RetryState, log: &mut Log) -> Result<Started<'_>> {
        log.waits_for = self.rate_limiter.cause();
        let ready = Instant::now();
        let (call_id, policy, jitter) = (log.id, &call.policy, self.rng.uniform());
        loop {
            let now = Instant::now();
            let (failing_since, down_since, pause_ends, has_probe) = {
                let gate = self.shared_limits.gate();
                (gate.failing_since(), gate.down_since(), gate.pause_ends, gate.has_probe())
            };
            // The last request of a run starts when the time is just over, and all others wait for what comes of it.
            let ends = Instant::from_std(state.ends(down_since, now.into_std())) + policy.base;
            // A call that is sent for a shorter time than probes are apart asks for one of its own.
            let is_short = log.attempts == 0 && policy.retry_for < policy.cap;
            let is_over = failing_since.is_some() && now >= ends && !has_probe;
            if is_over && is_short && now < ends + policy.cap {
                self.shared_limits.give_up(true);
            }
            let is_over = is_over && (!is_short || now >= ends + policy.cap);
            let is_too_long = pause_ends.is_some_and(|pause| pause > ends.into_std());
            if policy.has_retries() && (is_over || is_too_long) {
                let last = log.last_failure.clone().or_else(|| self.shared_limits.last_failure());
                let last = last.unwrap_or_else(|| call.deadline.unsent(log.waits_for));
                return Err(self.last(state.given_up(last)));
            }
            let started = self.rate_limiter.wait_for_start(&self.shared_limits, call_id, policy, jitter);
            tokio::select! {
                biased;
                started = started => {
                    let failing_since = self.shared_limits.gate().failing_since().map(Instant::from_std);
                    let counted = failing_since.map_or(Duration::ZERO, |since| since.max(ready).elapsed());
                    state.exclude(ready.elapsed().saturating_sub(counted));
                    return Ok(started);
                }
                () = sleep_until(ends.max(now + policy.base)) => {}
            }
        }
    }

    /// Returns after how long to retry, or the failure when it is final.
    fn decide_retry(
        &self,
        call: &Call<'_>,
        state: &mut RetryState,
        failure: &Error,
        verdict: &Verdict,
        hold: Option<Hold>,
        log: &Log,
    ) -> Result<Duration> {
        let left = match call.deadline.left(log.started, log.spent) {
            left if call.deadline.is_of_call() || left.is_zero() => left,
            // Pauses do not count.
            _ => Duration::MAX,
        };
        let (now, jitter) = (Instant::now().into_std(), self.rng.uniform());
        let delay = state.after(failure.clone(), verdict, hold, left, now, jitter).map_err(|error| self.last(error))?;
        if verdict.remedy == Remedy::AtOnce && delay.is_zero() {
            self.shared_limits.count_free_retry();
        } else {
            self.shared_limits.count_retry();
        }
        Ok(delay)
    }

    /// Whether a failure ended the first contact.
    pub(super) fn is_never_reached(&self, failure: &Error) -> bool {
        verdict(failure).is_unsent && !self.shared_limits.gate().was_reached
    }

    /// The failure that ends a call.
    fn last(&self, failure: Error) -> Error {
        let is_outage = failure.is_retryable() && self.shared_limits.gate().is_down_for_all();
        if failure.is_retryable() {
            self.shared_limits.give_up(false);
        }
        if is_outage { failure.of_all() } else { failure }
    }

    /// The token to send, waited for no longer than the call may take for its first row.
    async fn token_within(&self, call: &Call<'_>, log: &mut Log) -> Result<Secret> {
        log.waits_for = "a token";
        call.deadline.limit(self.token(call, log)).await
    }

    /// The token to send. A failing token source is retried as a failing connection is.
    async fn token(&self, call: &Call<'_>, log: &Log) -> Result<Secret> {
        let began = Instant::now();
        let mut state = RetryState::new(call.policy, true, call.deadline.timeout, began.into_std());
        loop {
            let wait = call.token_wait.as_ref().and_then(|wait| wait.limit());
            let failure = match (self.auth.token(wait.map_or(Duration::MAX, |(limit, _)| limit)).await, wait) {
                (Ok(token), _) => return Ok(token),
                (Err(failure), Some((_, hint))) if failure.kind() == Kind::RequestTimeout => {
                    return Err(failure.with_hint(hint));
                }
                (Err(failure), _) => failure,
            };
            let left = call.deadline.timeout.saturating_sub(began.elapsed());
            let (verdict, now) = (verdict(&failure), Instant::now().into_std());
            let delay = state.after(failure.clone(), &verdict, None, left, now, self.rng.uniform());
            // Without a token no request of a scan can be sent.
            let delay = delay.map_err(Error::of_all)?;
            observe::retrying(call.operation, &log.request_id(), log.attempts + 1, &failure, delay);
            tokio::time::sleep(delay).await;
        }
    }
}

#[cfg(test)]
mod outages;
#[cfg(test)]
mod tests;
