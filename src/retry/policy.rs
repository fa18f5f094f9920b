//! Which failures are retried, for how long, and after which back-off.

use std::time::{Duration, Instant};

use super::gate::Hold;
use super::verdict::{Remedy, Verdict};
use crate::error::{Error, Kind, Result};

/// A host name that does not exist, or a port at which nothing listens, is more often a typing error than an outage.
const FIRST_CONTACT: Duration = Duration::from_secs(4);

/// How a call deals with failures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// How long a failing request is retried. 0 sends one.
    pub retry_for: Duration,
    /// In place of `retry_for` while the service cannot be reached and never responded.
    pub first_contact: Duration,
    /// First back-off of a request.
    pub base: Duration,
    /// First distance between two requests that probe.
    pub probe_base: Duration,
    /// The pause of all calls after a 429 without `Retry-After`.
    pub throttled_base: Duration,
    /// Longest back-off, unless `Retry-After` asks for more.
    pub cap: Duration,
    /// For how long a service that restarts may cut off its responses, at the same byte too. One whose response still
    /// arrives then works.
    pub restart: Duration,
}

impl Policy {
    /// The policy of `retry_for`.
    #[must_use]
    pub fn new(retry_for: Duration) -> Self {
        Self {
            retry_for,
            first_contact: retry_for.min(FIRST_CONTACT),
            base: Duration::from_millis(400),
            probe_base: Duration::from_millis(1_500),
            throttled_base: Duration::from_secs(1),
            cap: Duration::from_secs(30),
            restart: Duration::from_secs(5),
        }
    }

    /// The same policy, which retries the first contact for as long as any request.
    #[must_use]
    pub fn patient_at_first(self) -> Self {
        Self { first_contact: self.retry_for, ..self }
    }

    /// Divides all durations by `time_scale`, for tests. `Retry-After` is not scaled.
    #[must_use]
    pub fn scaled(self, time_scale: u32) -> Self {
        let Self { retry_for, first_contact, base, probe_base, throttled_base, cap, restart } = self;
        let [retry_for, first_contact, base, probe_base, throttled_base, cap, restart] =
            [retry_for, first_contact, base, probe_base, throttled_base, cap, restart]
                .map(|duration| duration / time_scale);
        Self { retry_for, first_contact, base, probe_base, throttled_base, cap, restart }
    }

    /// Whether a request may be sent after the first.
    #[must_use]
    pub fn has_retries(&self) -> bool {
        !self.retry_for.is_zero()
    }

    /// Whether a failed request may be retried at all. A request that is not `idempotent` may be if it was never sent.
    #[must_use]
    pub fn may_retry(&self, verdict: &Verdict, idempotent: bool) -> bool {
        let is_final = matches!(verdict.remedy, Remedy::None | Remedy::NewToken);
        let is_safe = idempotent || verdict.is_unsent;
        is_safe && !is_final && self.has_retries()
    }

    /// The back-off after failures for this long; `jitter` is uniform in 0 to 1.
    ///
    /// It grows with that time and not with the attempts, so that a service that returns is noticed before its outage
    /// has lasted half as long again.
    #[must_use]
    pub fn backoff(&self, failing_for: Duration, base: Duration, jitter: f64) -> Duration {
        let longest = (base + failing_for / 2).min(self.cap);
        longest.saturating_sub(self.spread(longest).mul_f64(jitter.clamp(0.0, 1.0)))
    }

    /// By how much pauses differ that are equally long.
    pub(super) fn spread(&self, pause: Duration) -> Duration {
        (pause / 4).min(self.cap / 10)
    }

    /// The last retry comes when the time is just over: a service that returned in time is noticed.
    pub(super) fn up_to_end(&self, pause: Duration, failing_for: Duration) -> Duration {
        let rest = self.retry_for.saturating_sub(failing_for);
        if rest.is_zero() { pause } else { pause.min(rest) }
    }
}

/// A proxy that limits the size of responses lets more bytes through.
const LEAST_LIMIT: u64 = 8 << 20;

/// When a failed request is retried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RetryDecision {
    /// At once, and not counted: the service had closed the idle connection that the request was sent on.
    Immediate,
    /// After a delay.
    After(Duration),
}

/// The failures of one call.
#[derive(Debug)]
pub struct RetryState {
    policy: Policy,
    /// How long the request is retried: see [`super::Gate::retry_for`].
    retry_for: Duration,
    idempotent: bool,
    /// The call's `timeout=`, for its errors.
    timeout: Duration,
    used_free_retry: bool,
    failed_kinds: Vec<Kind>,
    /// How many bytes were received of each response that was cut off.
    truncations: Vec<u64>,
    /// Since when `retry_for` runs.
    failing_since: Option<Instant>,
    /// Since when the service fails for all, if it does.
    down_since: Option<Instant>,
}

impl RetryState {
    /// The state of a new call.
    #[must_use]
    pub const fn new(policy: Policy, idempotent: bool) -> Self {
        Self {
            policy,
            retry_for: policy.retry_for,
            idempotent,
            timeout: Duration::MAX,
            used_free_retry: false,
            failed_kinds: Vec::new(),
            truncations: Vec::new(),
            failing_since: None,
            down_since: None,
        }
    }

    /// The same state, of a call with this `timeout=`.
    #[must_use]
    pub const fn within(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Retries the request for this long from its first failure on.
    pub fn retry_for(&mut self, retry_for: Duration) {
        self.retry_for = retry_for;
    }

    /// Since when the service fails for all. The time of the request began then, if it had not failed before.
    pub fn set_down_since(&mut self, since: Option<Instant>) {
        self.down_since = since;
    }

    /// When the time of the request is over.
    #[must_use]
    pub fn ends(&self, now: Instant) -> Instant {
        self.since().unwrap_or(now) + self.retry_for
    }

    fn since(&self) -> Option<Instant> {
        self.failing_since.into_iter().chain(self.down_since).min()
    }

    fn failing_for(&self, now: Instant) -> Duration {
        self.since().map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// How much is left of `retry_for`.
    fn rest(&self, now: Instant) -> Duration {
        self.retry_for.saturating_sub(self.failing_for(now))
    }

    /// Excludes time from `retry_for`: in which rows arrived, or the request waited for its place.
    pub fn exclude(&mut self, time: Duration) {
        self.failing_since = self.failing_since.map(|since| since + time);
    }

    /// When to retry after a failure. `left` is the rest of the call's `timeout=`; `jitter` is uniform in 0 to 1; `hold` is
    /// what holds all requests.
    ///
    /// # Errors
    /// The failure itself when it is final, with the reason unless the failure implies it.
    pub fn after(
        &mut self,
        failure: Error,
        verdict: &Verdict,
        left: Duration,
        now: Instant,
        jitter: f64,
        hold: Option<Hold>,
    ) -> Result<RetryDecision> {
        // With `retry_for=0` exactly one request is sent.
        let may_be_free = self.idempotent && !self.used_free_retry && self.policy.has_retries();
        if verdict.remedy == Remedy::AtOnce && may_be_free && !left.is_zero() {
            self.used_free_retry = true;
            return Ok(RetryDecision::Immediate);
        }
        let is_second = verdict.remedy == Remedy::Once && self.failed_kinds.contains(&failure.kind());
        self.failed_kinds.push(failure.kind());
        if is_second || !self.policy.may_retry(verdict, self.idempotent) {
            return Err(failure);
        }
        self.failing_since.get_or_insert(now);
        let delay = self.delay(&failure, verdict, left, now, jitter, hold)?;
        if let Some(offset) = verdict.cut_off_at {
            self.truncations.push(offset);
            let times = self.truncations.iter().filter(|known| **known == offset).count();
            // A service that restarts cuts every response at its first buffers.
            let is_limit = offset > LEAST_LIMIT && self.failing_for(now) >= self.policy.restart;
            if times > 1 && is_limit {
                let reason =
                    format!("{times} attempts were cut off at byte {offset}; a proxy probably limits the size");
                return Err(failure.with_reason(format!("{reason} of responses. Request fewer rows per call")));
            }
        }
        Ok(RetryDecision::After(delay))
    }

    fn delay(
        &self,
        failure: &Error,
        verdict: &Verdict,
        left: Duration,
        now: Instant,
        jitter: f64,
        hold: Option<Hold>,
    ) -> Result<Duration> {
        let (rest, retry_for) = (self.rest(now), self.retry_for);
        let asked = verdict.asked().unwrap_or_default();
        let ended = |reason| Err(failure.clone().with_reason(reason));
        if asked > rest {
            let too_long = asked > retry_for;
            let [asked, retry_for] = [asked, retry_for].map(|duration| duration.as_secs_f64());
            let error = ended(format!("not retried: Retry-After asks for {asked} s, retry_for is {retry_for} s"));
            return if too_long { error.map_err(Error::of_all) } else { error };
        }
        if rest.is_zero() {
            let is_first_contact = retry_for < self.policy.retry_for;
            return ended(if is_first_contact { NEVER_REACHED.to_owned() } else { ended_by("retry_for", retry_for) });
        }
        let pause = hold.map_or(Duration::ZERO, |hold| hold.until.saturating_duration_since(now));
        let is_probing = hold.is_some_and(|hold| hold.is_probing);
        // The last retry comes when the time is just over: a service that returned in time is noticed.
        let own = self.policy.backoff(self.failing_for(now), self.policy.base, jitter).min(rest);
        let delay = if is_probing { pause } else { own.max(pause).max(asked) };
        if delay >= left {
            return ended(ended_by("timeout", self.timeout));
        }
        Ok(delay)
    }

    /// The error of a request that waited in vain: `last` is the last failure of a request, perhaps of another one.
    #[must_use]
    pub fn given_up(&self, last: Error) -> Error {
        last.with_reason(ended_by("retry_for", self.retry_for))
    }
}

/// Why the first contact is not retried for longer.
const NEVER_REACHED: &str =
    "the service never responded to this client: check base_url, or set retry_for to wait for its start";

fn ended_by(setting: &str, limit: Duration) -> String {
    let seconds = limit.as_secs_f64();
    format!("{setting} ({seconds} s) ended the retries: raise {setting} to retry for longer")
}

#[cfg(test)]
mod tests;
