//! Which failures are retried, for how long, and after which back-off.

use std::time::{Duration, Instant};

use super::verdict::{Pause, Remedy, Verdict};
use crate::error::{Error, Kind, Result, argument};

/// A host name that does not exist, or a port at which nothing listens, is more often a typing error than an outage.
const FIRST_CONTACT: Duration = Duration::from_secs(4);

/// How a call deals with failures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// How long a failing request is retried. 0 sends one.
    pub retry_for: Duration,
    /// In place of `retry_for` while the service cannot be reached and never responded.
    pub first_contact: Duration,
    /// Most retries: requests sent after the first. None: as many as fit.
    pub retries: Option<u32>,
    /// First back-off after a lost connection or a server error.
    pub base: Duration,
    /// First back-off after a 429, and the pause of all calls after a 429 without `Retry-After`.
    pub throttled_base: Duration,
    /// Longest back-off, unless `Retry-After` asks for more.
    pub cap: Duration,
    /// For how long a service that restarts may cut off its responses, at the same byte too.
    pub restart: Duration,
}

impl Policy {
    /// The policy of `retry_for=` and `retries=`.
    #[must_use]
    pub fn new(retry_for: Duration, retries: Option<u32>) -> Self {
        Self {
            retry_for,
            first_contact: retry_for.min(FIRST_CONTACT),
            retries,
            base: Duration::from_millis(200),
            throttled_base: Duration::from_secs(1),
            cap: Duration::from_secs(10),
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
        let Self { retry_for, first_contact, retries, base, throttled_base, cap, restart } = self;
        let [retry_for, first_contact, base, throttled_base, cap, restart] =
            [retry_for, first_contact, base, throttled_base, cap, restart].map(|duration| duration / time_scale);
        Self { retry_for, first_contact, retries, base, throttled_base, cap, restart }
    }

    /// How long failed requests are retried; zero if none is.
    #[must_use]
    pub fn retry_for(&self) -> Duration {
        if self.has_retries() { self.retry_for } else { Duration::ZERO }
    }

    /// Whether a request may be sent after the first.
    #[must_use]
    pub fn has_retries(&self) -> bool {
        self.retries != Some(0) && !self.retry_for.is_zero()
    }

    /// How long all calls pause when the service asks for it; nothing if that is longer than `retry_for`.
    #[must_use]
    pub fn pause(&self, pause: Pause) -> Option<Duration> {
        Some(pause.asked.unwrap_or(self.throttled_base)).filter(|asked| *asked <= self.retry_for)
    }

    /// Whether a failed request may be retried at all, after `retries` retries. A request that is not `idempotent` may
    /// be if it was never sent.
    #[must_use]
    pub fn may_retry(&self, retries: u32, verdict: &Verdict, idempotent: bool) -> bool {
        let is_final = matches!(verdict.remedy, Remedy::None | Remedy::NewToken);
        let is_safe = idempotent || verdict.is_unsent;
        is_safe && !is_final && self.has_retries() && self.retries.is_none_or(|most| retries < most)
    }

    /// The back-off of a request that has failed for this long; `jitter` is uniform in 0 to 1.
    ///
    /// It grows with that time and not with the attempts, so that a service that returns is noticed before its outage
    /// has lasted half as long again.
    #[must_use]
    pub fn backoff(&self, failing_for: Duration, is_pause: bool, jitter: f64) -> Duration {
        let base = if is_pause { self.throttled_base } else { self.base };
        (base + failing_for / 2).min(self.cap).mul_f64(jitter.clamp(0.0, 1.0))
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
    /// How long the request is retried: see [`super::Health::retry_for`].
    retry_for: Duration,
    idempotent: bool,
    /// The call's `timeout=`, for its errors.
    timeout: Duration,
    retries: u32,
    used_free_retry: bool,
    failed_kinds: Vec<Kind>,
    /// How many bytes were received of each response that was cut off.
    truncations: Vec<u64>,
    /// Since when `retry_for` runs.
    failing_since: Option<Instant>,
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
            retries: 0,
            used_free_retry: false,
            failed_kinds: Vec::new(),
            truncations: Vec::new(),
            failing_since: None,
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

    /// Whether a request whose token was refused may be retried with another token. Counts it as a retry.
    pub fn consume_auth_retry(&mut self) -> bool {
        let may = self.policy.has_retries() && self.policy.retries.is_none_or(|most| self.retries < most);
        self.retries += u32::from(may);
        may
    }

    fn failing_for(&self, now: Instant) -> Duration {
        self.failing_since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// How much is left of `retry_for`.
    fn rest(&self, now: Instant) -> Duration {
        self.retry_for.saturating_sub(self.failing_for(now))
    }

    /// Excludes time from `retry_for`: in which a response arrived, or the request waited for its turn.
    pub fn exclude(&mut self, time: Duration) {
        self.failing_since = self.failing_since.map(|since| since + time);
    }

    /// When to retry after a failure. `left` is the rest of the call's `timeout=`; `jitter` is uniform in 0 to 1.
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
    ) -> Result<RetryDecision> {
        // With `retries=0` or `retry_for=0` exactly one request is sent.
        let may_be_free = self.idempotent && !self.used_free_retry && self.policy.has_retries();
        if verdict.remedy == Remedy::AtOnce && may_be_free && !left.is_zero() {
            self.used_free_retry = true;
            return Ok(RetryDecision::Immediate);
        }
        let is_second = verdict.remedy == Remedy::Once && self.failed_kinds.contains(&failure.kind());
        self.failed_kinds.push(failure.kind());
        if is_second || !self.policy.may_retry(self.retries, verdict, self.idempotent) {
            // Had `retries=` been greater, the request would be retried.
            let is_used_up = !is_second && self.policy.may_retry(0, verdict, self.idempotent);
            let reason = format!(
                "{} ended the retries: raise {} to retry more often",
                argument("retries").of(self.retries),
                argument("retries")
            );
            return Err(if is_used_up { failure.with_reason(reason) } else { failure });
        }
        self.failing_since.get_or_insert(now);
        let delay = self.delay(&failure, verdict, left, now, jitter)?;
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
        self.retries += 1;
        Ok(RetryDecision::After(delay))
    }

    /// How long to wait after a failure. Once more where the retry may not be sent yet ([`super::Health::may_retry`]).
    ///
    /// # Errors
    /// The failure itself when the time is over, with the reason.
    pub fn delay(
        &self,
        failure: &Error,
        verdict: &Verdict,
        left: Duration,
        now: Instant,
        jitter: f64,
    ) -> Result<Duration> {
        let (rest, retry_for) = (self.rest(now), self.retry_for);
        let asked = verdict.asked().unwrap_or_default();
        let ended = |reason| Err(failure.clone().with_reason(reason));
        if asked > rest {
            let [asked, retry_for] = [asked, retry_for].map(|duration| duration.as_secs_f64());
            let limit = argument("retry_for");
            return ended(format!("not retried: Retry-After asks for {asked} s, {limit} is {retry_for} s"));
        }
        // The last retry comes when the time is just over: a service that returned in time is noticed.
        let is_pause = matches!(verdict.remedy, Remedy::Pause(_));
        let own = self.policy.backoff(retry_for.saturating_sub(rest), is_pause, jitter).min(rest);
        let delay = own.max(asked);
        if rest.is_zero() {
            let is_first_contact = retry_for < self.policy.retry_for;
            return ended(if is_first_contact { never_reached() } else { ended_by("retry_for", retry_for) });
        }
        if delay >= left {
            return ended(ended_by("timeout", self.timeout));
        }
        Ok(delay)
    }
}

/// Why the first contact is not retried for longer.
fn never_reached() -> String {
    let [base_url, retry_for] = [argument("base_url"), argument("retry_for")];
    format!("the service never responded to this client: check {base_url}, or give {retry_for} to wait for its start")
}

fn ended_by(name: &str, limit: Duration) -> String {
    let (setting, limit) = (argument(name), argument(name).of(limit.as_secs_f64()));
    format!("{limit} s ended the retries: raise {setting} to retry for longer")
}

#[cfg(test)]
mod tests;
