//! Which failures are retried, for how long, and after which back-off.

use std::time::{Duration, Instant};

use super::gate::Hold;
use super::verdict::{Remedy, Verdict};
use crate::error::{Error, Kind, Result};
use crate::time::scaled;

/// A host name that does not exist, or a port at which nothing listens, is more often a typing error than an outage.
const FIRST_CONTACT: Duration = Duration::from_secs(4);
/// A proxy that limits the size of responses lets more bytes through.
const LEAST_LIMIT: u64 = 8 << 20;

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
            retry_for: scaled(retry_for),
            first_contact: scaled(retry_for.min(FIRST_CONTACT)),
            base: scaled(Duration::from_millis(400)),
            probe_base: scaled(Duration::from_millis(1_500)),
            throttled_base: scaled(Duration::from_secs(1)),
            cap: scaled(Duration::from_secs(30)),
            restart: scaled(Duration::from_secs(5)),
        }
    }

    /// The same policy, which retries the first contact for as long as any request.
    #[must_use]
    pub fn patient_at_first(self) -> Self {
        Self { first_contact: self.retry_for, ..self }
    }

    /// Whether a request may be sent after the first.
    pub fn has_retries(&self) -> bool {
        !self.retry_for.is_zero()
    }

    /// The back-off after failures for this long, while `rest` is left; `jitter` is uniform in 0 to 1.
    ///
    /// It grows with that time and not with the attempts, so that a service that returns is noticed before its outage
    /// has lasted half as long again. The last retry comes when the time is just over: a service that returned in time is
    /// noticed.
    pub(super) fn backoff(&self, base: Duration, failing_for: Duration, rest: Duration, jitter: f64) -> Duration {
        let longest = (base + failing_for / 2).min(self.cap);
        let pause = longest.saturating_sub(self.spread(longest).mul_f64(jitter));
        if rest.is_zero() { pause } else { pause.min(rest) }
    }

    /// By how much pauses differ that are equally long.
    pub(super) fn spread(&self, pause: Duration) -> Duration {
        (pause / 4).min(self.cap / 10)
    }
}

/// The failures of one call.
#[derive(Debug)]
pub struct RetryState {
    policy: Policy,
    /// How long the request is retried: `retry_for`, or the time of the first contact.
    retry_for: Duration,
    idempotent: bool,
    /// The call's `timeout=`, for its errors.
    timeout: Duration,
    /// When the call or its run began: no outage before counts.
    began: Instant,
    used_free_retry: bool,
    failed_kinds: Vec<Kind>,
    /// How many bytes were received of each response that was cut off.
    truncations: Vec<u64>,
    /// Since when `retry_for` runs.
    failing_since: Option<Instant>,
}

impl RetryState {
    /// The state of a call with this `timeout=`, which began then or whose run did. A request that is not `idempotent` is
    /// retried if it was never sent.
    #[must_use]
    pub const fn new(policy: Policy, idempotent: bool, timeout: Duration, began: Instant) -> Self {
        Self {
            policy,
            retry_for: policy.retry_for,
            idempotent,
            timeout,
            began,
            used_free_retry: false,
            failed_kinds: Vec::new(),
            truncations: Vec::new(),
            failing_since: None,
        }
    }

    /// When the time of the request is over: its own, or that of a service that fails for all since `down_since`.
    pub fn ends(&self, down_since: Option<Instant>, now: Instant) -> Instant {
        let down_since = down_since.map(|since| since.max(self.began));
        self.failing_since.into_iter().chain(down_since).min().unwrap_or(now) + self.retry_for
    }

    /// Excludes time from `retry_for`: in which rows arrived, or the request waited for its place.
    pub fn exclude(&mut self, time: Duration) {
        self.failing_since = self.failing_since.map(|since| since + time);
    }

    /// After how long to retry after a failure; at once and not counted if that is zero. `left` is the rest of the call's
    /// `timeout=`; `jitter` is uniform in 0 to 1; `hold` is what holds all requests.
    ///
    /// # Errors
    /// The failure itself when it is final, with the reason unless the failure implies it.
    pub fn after(
        &mut self,
        failure: Error,
        verdict: &Verdict,
        hold: Option<Hold>,
        left: Duration,
        now: Instant,
        jitter: f64,
    ) -> Result<Duration> {
        // With `retry_for=0` exactly one request is sent.
        let may_retry = self.policy.has_retries() && (self.idempotent || verdict.is_unsent);
        match verdict.remedy {
            Remedy::None | Remedy::NewToken => return Err(failure),
            _ if !may_retry => return Err(failure),
            Remedy::AtOnce if !self.used_free_retry && !left.is_zero() => {
                self.used_free_retry = true;
                return Ok(Duration::ZERO);
            }
            Remedy::Once if self.failed_kinds.contains(&failure.kind()) => return Err(failure),
            _ => self.failed_kinds.push(failure.kind()),
        }
        let is_first_contact = verdict.is_unsent && hold.is_some_and(|hold| !hold.was_reached);
        self.retry_for = if is_first_contact { self.policy.first_contact } else { self.policy.retry_for };
        self.failing_since.get_or_insert(now);
        let down_since = hold.and_then(|hold| hold.down_since);
        let rest = self.ends(down_since, now).saturating_duration_since(now);
        let failing_for = self.retry_for.saturating_sub(rest);
        let asked = if let Remedy::Pause(asked) = verdict.remedy { asked.unwrap_or_default() } else { Duration::ZERO };
        if asked > rest {
            let [asked_for, retry_for] = [asked, self.retry_for].map(|duration| duration.as_secs_f64());
            let reason = format!("not retried: Retry-After asks for {asked_for} s, retry_for is {retry_for} s");
            let error = failure.with_reason(reason);
            return Err(if asked > self.retry_for { error.of_all() } else { error });
        }
        if rest.is_zero() {
            return Err(self.given_up(failure, is_first_contact));
        }
        let pause = hold.map_or(Duration::ZERO, |hold| hold.until.saturating_duration_since(now));
        let own = self.policy.backoff(self.policy.base, failing_for, rest, jitter);
        let delay = if down_since.is_some() { pause } else { own.max(pause).max(asked) };
        if delay >= left {
            return Err(failure.with_reason(ended_by("timeout", self.timeout)));
        }
        if let Some(offset) = verdict.cut_off_at {
            self.truncations.push(offset);
            let times = self.truncations.iter().filter(|known| **known == offset).count();
            // A service that restarts cuts every response at its first buffers.
            if times > 1 && offset > LEAST_LIMIT && failing_for >= self.policy.restart {
                return Err(failure.with_reason(format!(
                    "{times} attempts were cut off at byte {offset}; a proxy probably limits the size of responses. \
                     Request fewer rows per call"
                )));
            }
        }
        Ok(delay)
    }

    /// The error of a request whose time is over: `last` is the last failure of a request, perhaps of another one.
    /// `is_first_contact` if the service has never responded.
    pub fn given_up(&self, last: Error, is_first_contact: bool) -> Error {
        let seconds = self.retry_for.as_secs_f64();
        last.with_reason(if !is_first_contact {
            ended_by("retry_for", self.retry_for)
        } else if self.retry_for < self.policy.retry_for {
            format!("{NEVER_REACHED}: check base_url, or set retry_for to wait for its start")
        } else {
            format!(
                "{NEVER_REACHED} in {seconds} s (retry_for): check base_url, or raise retry_for to wait for its start"
            )
        })
    }
}

const NEVER_REACHED: &str = "the service never responded to this client";

/// Why there is no other retry: a setting ended them.
pub fn ended_by(setting: &str, limit: Duration) -> String {
    let seconds = limit.as_secs_f64();
    format!("{setting} ({seconds} s) ended the retries: raise {setting} to retry for longer")
}

#[cfg(test)]
mod tests;
