//! A call: the one loop that sends its request until it succeeds, with tokens, back-offs and deadline, and the attempt that
//! decodes a response into batches while it arrives.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, sleep_until, timeout};

use super::auth::TokenWait;
use super::classify::{self, check_envelope, verdict};
use super::deadline::Deadline;
use super::delivery::{Arrived, Delivery};
use super::shared_limits::Started;
use super::{Client, Completed};
use crate::contract::envelope::STATUS_PERMISSION;
use crate::decode::{Batch, BatchSink, DecodePlan, Decoder, Envelope};
use crate::error::{Context, Error, Kind, Phase, Result, redact};
use crate::observe::{self, Attempt};
use crate::retry::{Caller, Gate, Policy, Remedy, RetryState};
use crate::secret::Secret;
use crate::transport::{Headers, Meter, Request, Response, Transport};

/// What a request waits for at first.
const PLACE: &str = "a free request slot (concurrency)";

/// Batches of one chunk are delivered together up to this size. Only rows that are much shorter than their cells need
/// more.
const CHUNK_BYTES: usize = 16 << 20;

/// What a call sends, and where the records of its response go: into a new sink for each attempt, and from there in
/// batches to the consumer.
pub(super) struct Call<'a, G: BatchSink> {
    pub(super) operation: &'static str,
    pub(super) path: &'a str,
    pub(super) body: Bytes,
    pub(super) plan: DecodePlan,
    /// Checks what `data` of a result must contain.
    pub(super) check: fn(&Envelope) -> Result<()>,
    pub(super) idempotent: bool,
    pub(super) policy: Policy,
    pub(super) deadline: Deadline,
    pub(super) token_wait: Option<Arc<TokenWait>>,
    pub(super) new_sink: &'a (dyn Fn() -> G + Send + Sync),
    pub(super) delivery: &'a Delivery<G::Batch>,
}

/// What a call has done so far. It outlives the attempts, which a deadline cuts off.
#[derive(Debug)]
struct CallState {
    /// Identifies the call.
    id: u64,
    started: Instant,
    attempts: u32,
    /// What the next attempt waits for.
    waits_for: &'static str,
    retry: RetryState,
    /// The attempt in flight, for log records.
    observed: Attempt,
    /// Of the last attempt, if its response began.
    headers: Option<Headers>,
    history: Vec<String>,
    last_failure: Option<Error>,
    /// The time of all attempts in which no rows arrived.
    spent: Duration,
}

impl CallState {
    fn new<G: BatchSink>(id: u64, call: &Call<'_, G>) -> Self {
        let started = Instant::now();
        let began = call.deadline.began(started).into_std();
        Self {
            id,
            started,
            attempts: 0,
            waits_for: PLACE,
            retry: RetryState::new(call.policy, call.idempotent, call.deadline.timeout, began),
            observed: Attempt::default(),
            headers: None,
            history: Vec::new(),
            last_failure: None,
            spent: Duration::ZERO,
        }
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
            response_headers: self.headers.map(|headers| headers.shown()).unwrap_or_default(),
            history: self.history,
        }
    }
}

impl Client {
    /// Sends the request until it succeeds, fails permanently, or the call times out.
    pub(super) async fn run<G: BatchSink>(&self, call: &Call<'_, G>) -> Result<Completed> {
        let mut state = CallState::new(self.next_call.fetch_add(1, Ordering::Relaxed), call);
        let left = call.deadline.left(state.started, Duration::ZERO);
        // Boxed here, as each future around it would hold it twice: as an argument, and while it is awaited.
        let attempts = Box::pin(self.attempts(call, &mut state));
        let outcome = tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(Self::closed_error()),
            outcome = attempts => outcome,
            passed = call.deadline.passed(call.delivery, left), if call.deadline.is_of_call() => Err(match state.last_failure.clone() {
                None => passed,
                Some(last) => call.deadline.after_failures(passed, last, state.attempts as usize > state.history.len()),
            }),
        };
        outcome.map_err(|error| {
            call.delivery.resume();
            let timed_out = error.kind() == Kind::RequestTimeout && error.details().phase != Some(Phase::Token);
            let is_unsent = state.attempts == 0 && timed_out;
            let error = if is_unsent { call.deadline.unsent(state.waits_for) } else { error };
            state.observed.end(Some(&error));
            // A deadline ends an attempt from outside; a token that fails prevents the first.
            if state.history.len() < state.attempts.max(1) as usize {
                state.record(&error);
            }
            error.with_context(state.into_context(call.operation))
        })
    }

    /// Attempt after attempt, until one succeeds or its failure is final.
    async fn attempts<G: BatchSink>(&self, call: &Call<'_, G>, state: &mut CallState) -> Result<Completed> {
        let caller = Caller { call: state.id, began: state.started.into_std() };
        let mut is_renewed = false;
        loop {
            let ready = Instant::now();
            state.waits_for = PLACE;
            let mut place = self.place().await;
            state.retry.exclude(ready.elapsed());
            let mut token = self.token(call, state).await?;
            // Last, so that each request is sent when it starts: starts keep their distance, and none comes in a pause.
            let started = self.wait_at_gate(call, state).await?;
            if started.has_waited {
                // The token may have expired meanwhile.
                token = self.token(call, state).await?;
            }

            state.attempts += 1;
            let request_id = state.request_id();
            state.headers = None;
            let path = || self.secrets(&token).fold(call.path.to_owned(), |path, secret| redact(&path, secret));
            state.observed.begin(call.operation, &request_id, state.attempts, path);
            let (sent, left) = (Instant::now(), call.deadline.left(state.started, state.spent));
            let mut is_over = false;
            let outcome = tokio::select! {
                biased;
                outcome = self.attempt(call, state, &token, &request_id, &mut place) => outcome,
                passed = call.deadline.passed(call.delivery, left), if !call.deadline.is_of_call() => {
                    is_over = true;
                    Err(passed)
                }
            };
            drop(place);
            let failure = match outcome {
                Ok((envelope, requested_at)) => {
                    state.observed.end(None);
                    self.shared_limits.change(Gate::succeeded);
                    let (attempts, elapsed) = (state.attempts, state.started.elapsed());
                    let headers = state.headers.take();
                    return Ok(Completed { envelope, attempts, elapsed, requested_at, headers });
                }
                // No failure: the scan requests it again when there is space in the buffer.
                Err(evicted) if call.delivery.is_evicted() => {
                    state.observed = Attempt::default();
                    self.shared_limits.change(Gate::answered);
                    return Err(evicted);
                }
                Err(failure) => self.secrets(&token).fold(failure, Error::redact),
            };
            state.observed.end(Some(&failure));

            let arriving = self.arriving(&failure, call.delivery);
            state.spent += sent.elapsed().saturating_sub(arriving);
            state.retry.exclude(arriving);
            let before = state.last_failure.take();
            state.record(&failure);
            let verdict = verdict(&failure);
            if failure.kind() == Kind::Throttled {
                Meter::count(&self.stats().throttled);
            }
            let hold =
                self.shared_limits.record_failure(caller, &call.policy, &failure, &verdict, sent, self.rng.uniform());
            drop(started);
            if is_over {
                let over = |before| call.deadline.after_failures(failure.clone(), before, true);
                return Err(self.last(before.map_or_else(|| failure.clone(), over)));
            }
            if !call.delivery.suspend() {
                return Err(failure);
            }
            let may_renew = verdict.remedy == Remedy::NewToken && !is_renewed && call.policy.has_retries();
            if may_renew {
                self.auth.reject(&token);
            }
            let delay = if may_renew && self.token(call, state).await? != token {
                is_renewed = true;
                Duration::ZERO
            } else {
                let left = call.deadline.left_for_pause(state.started, state.spent);
                let (now, jitter) = (Instant::now().into_std(), self.rng.uniform());
                let delay = state.retry.after(failure.clone(), &verdict, hold, left, now, jitter);
                delay.map_err(|error| self.last(error))?
            };
            let is_free = verdict.remedy == Remedy::AtOnce && delay.is_zero();
            Meter::count(if is_free { &self.stats().free_retries } else { &self.stats().retries });
            call.delivery.void();
            if hold.is_none_or(|hold| hold.is_new) {
                observe::retrying(call.operation, &request_id, state.attempts, &failure, delay);
            }
            // Those that wait to probe wait at the gate, which may open early.
            if hold.is_none_or(|hold| hold.down_since.is_none()) {
                tokio::time::sleep(delay).await;
            }
        }
    }

    /// Waits for the start of the request, for as long as it may be retried. Only a service that fails ends the wait.
    async fn wait_at_gate<G: BatchSink>(&self, call: &Call<'_, G>, state: &mut CallState) -> Result<Started<'_>> {
        state.waits_for = self.rate_limiter.cause();
        let (ready, policy, jitter) = (Instant::now(), &call.policy, || self.rng.uniform());
        loop {
            let now = Instant::now();
            let (failing_since, down_since, pause_ends, has_probe, was_reached) = {
                let gate = self.shared_limits.gate();
                (gate.failing_since(), gate.down_since(), gate.pause_ends, gate.has_probe(), gate.was_reached)
            };
            // The last request of a run starts when the time is just over, and all others wait for what comes of it.
            let ends = Instant::from_std(state.retry.ends(down_since, now.into_std())) + policy.base;
            // A call that is sent for a shorter time than probes are apart asks for one of its own.
            let is_short = state.attempts == 0 && policy.retry_for < policy.cap;
            let is_over = failing_since.is_some() && now >= ends && !has_probe;
            if is_over && is_short && now < ends + policy.cap {
                self.shared_limits.change(|gate| gate.gave_up(true, now.into_std()));
            }
            let is_over = is_over && (!is_short || now >= ends + policy.cap);
            let is_too_long = pause_ends.is_some_and(|pause| pause > ends.into_std());
            if policy.has_retries() && (is_over || is_too_long) {
                let last = state.last_failure.clone().or_else(|| self.shared_limits.last_failure());
                let last = last.unwrap_or_else(|| call.deadline.unsent(state.waits_for));
                let is_first_contact = !was_reached && verdict(&last).is_unsent;
                return Err(self.last(state.retry.given_up(last, is_first_contact)));
            }
            let started = self.rate_limiter.wait_for_start(&self.shared_limits, state.id, policy, jitter);
            tokio::select! {
                biased;
                started = started => {
                    let failing_since = self.shared_limits.gate().failing_since().map(Instant::from_std);
                    let counted = failing_since.map_or(Duration::ZERO, |since| since.max(ready).elapsed());
                    state.retry.exclude(ready.elapsed().saturating_sub(counted));
                    return Ok(started);
                }
                () = sleep_until(ends.max(now + policy.base)) => {}
            }
        }
    }

    /// The token to send, waited for no longer than the call may take for its first row.
    async fn token<G: BatchSink>(&self, call: &Call<'_, G>, state: &mut CallState) -> Result<Secret> {
        state.waits_for = "a token";
        let token = self.retried_token(call, state);
        if call.deadline.is_of_call() {
            return token.await;
        }
        timeout(call.deadline.timeout, token).await.unwrap_or_else(|_| {
            let error = Error::timed_out(Phase::Token, "no token", call.deadline.timeout);
            Err(error.with_hint("the token callable takes longer; raise timeout"))
        })
    }

    /// The token to send. A failing token source is retried as a failing connection is.
    async fn retried_token<G: BatchSink>(&self, call: &Call<'_, G>, state: &CallState) -> Result<Secret> {
        let began = Instant::now();
        let mut retry = RetryState::new(call.policy, true, call.deadline.timeout, began.into_std());
        loop {
            let wait = call.token_wait.as_ref().and_then(|wait| wait.0.get().copied());
            let failure = match (self.auth.token(wait.map_or(Duration::MAX, |(limit, _)| limit)).await, wait) {
                (Ok(token), _) => return Ok(token),
                (Err(failure), Some((_, hint))) if failure.kind() == Kind::RequestTimeout => {
                    return Err(failure.with_hint(hint));
                }
                (Err(failure), _) => failure,
            };
            let left = call.deadline.timeout.saturating_sub(began.elapsed());
            let (verdict, now) = (verdict(&failure), Instant::now().into_std());
            let delay = retry.after(failure.clone(), &verdict, None, left, now, self.rng.uniform());
            // Without a token no request of a scan can be sent.
            let delay = delay.map_err(Error::of_all)?;
            observe::retrying(call.operation, &state.request_id(), state.attempts + 1, &failure, delay);
            tokio::time::sleep(delay).await;
        }
    }

    /// Sends one request. Returns the envelope of its result, and when it was sent by the clock of this machine or of the
    /// service, whichever is earlier.
    async fn attempt<'p, G: BatchSink>(
        &'p self,
        call: &Call<'_, G>,
        state: &mut CallState,
        token: &Secret,
        request_id: &str,
        place: &mut Option<SemaphorePermit<'p>>,
    ) -> Result<(Envelope, SystemTime)> {
        let request = Request { path: call.path, body: call.body.clone(), token, request_id };
        let _in_flight = self.stats().count_request();
        let now = SystemTime::now();
        if !call.idempotent {
            Transport::look_at_sockets().await;
        }
        let mut response = self.transport.post(request).await?;
        state.observed.status = Some(response.status);
        state.headers = response.headers.take();
        let requested_at = response.date.map_or(now, |date| date.min(now));
        call.delivery.begin(requested_at);
        self.shared_limits.record_response(state.id, response.status);
        if response.status != 200 {
            let (body, failure) = response.error_body().await;
            state.observed.bytes = response.received();
            let error = classify::error_for_status(&response, &body);
            // The body alone says whether a 403 refuses the token: without its end the request is retried.
            let is_unclear = response.status == STATUS_PERMISSION && error.kind() != Kind::PermissionDenied;
            return Err(failure.filter(|_| is_unclear).unwrap_or_else(|| classify::as_told(error, &response)));
        }
        let mut sink = (call.new_sink)();
        let received = self.receive(call, &mut response, &mut sink, place).await;
        state.observed.bytes = response.received();
        let has_succeeded = self.shared_limits.gate().has_succeeded;
        let envelope = received.map_err(|error| classify::of_body(error, &response, has_succeeded))?;
        if let Err(failure) = check_envelope(&envelope).and_then(|()| (call.check)(&envelope)) {
            let failure = failure.with(|details| details.retry_after = response.retry_after);
            return Err(classify::as_told(failure, &response));
        }
        // Only now, as the response has proved to be a result.
        while let Some(batch) = sink.take()? {
            call.delivery.push(batch)?;
        }
        call.delivery.complete();
        if call.plan.columns.is_some() {
            state.observed.rows = Some(envelope.records);
        }
        Ok((envelope, requested_at))
    }

    /// Decodes the body while it arrives and delivers its batches, but the last.
    async fn receive<'p, G: BatchSink>(
        &'p self,
        call: &Call<'_, G>,
        response: &mut Response,
        sink: &mut G,
        place: &mut Option<SemaphorePermit<'p>>,
    ) -> Result<Envelope> {
        let mut decoder = Decoder::new(call.plan.clone());
        let (mut full, mut bytes) = (Vec::new(), 0);
        while let Some(mut chunk) = response.chunk().await? {
            while !chunk.is_empty() {
                let fed = decoder.feed(chunk, sink);
                if decoder.has_records() {
                    call.delivery.mark_rows();
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
                        call.delivery.push(batch)?;
                        // A response that has arrived waits for nothing: nobody could close its connection any more.
                        if !decoder.has_ended() {
                            self.wait_for_space(call.delivery, place).await?;
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

    /// Waits for space for the next batch, and fails if the response was dropped meanwhile. The place is free until then:
    /// the consumer may need it for a request of its own before it takes the next batch.
    async fn wait_for_space<'p, B: Batch>(
        &'p self,
        delivery: &Delivery<B>,
        place: &mut Option<SemaphorePermit<'p>>,
    ) -> Result<()> {
        if delivery.has_space() {
            return Ok(());
        }
        *place = None;
        if !delivery.wait_for_space().await {
            // Seen only if a defect drops the response of a call: nothing else fills its buffer.
            return Err(Error::new(Kind::Internal, "the only response of a call was dropped: please report this"));
        }
        *place = self.place().await;
        Ok(())
    }

    /// What no text may repeat.
    fn secrets<'s>(&'s self, token: &'s Secret) -> impl Iterator<Item = &'s str> {
        [token.expose()].into_iter().chain(self.transport.secrets())
    }

    /// A place among the requests in flight, once one is free.
    async fn place(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.places.acquire().await.ok()
    }

    /// The time of a failed attempt in which rows arrived, without the time of a stall.
    fn arriving<B: Batch>(&self, failure: &Error, delivery: &Delivery<B>) -> Duration {
        let Arrived::Rows(since) = delivery.arrived() else { return Duration::ZERO };
        let is_stall = failure.kind() == Kind::RequestTimeout;
        let stall = if is_stall { self.settings.connection.timeouts.stall } else { Duration::ZERO };
        since.elapsed().saturating_sub(stall)
    }

    /// The failure that ends a call.
    fn last(&self, failure: Error) -> Error {
        if !failure.is_retryable() {
            return failure;
        }
        let is_outage = self.shared_limits.gate().is_down_for_all();
        self.shared_limits.change(|gate| gate.gave_up(false, Instant::now().into_std()));
        if is_outage { failure.of_all() } else { failure }
    }
}

#[cfg(test)]
mod tests;
