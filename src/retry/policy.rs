//! Which failures are retried, how often, and after which back-off.

use std::time::Duration;

use super::RetryBudget;
use crate::error::{Error, Kind, Result};

/// Retries of a call, unless `retries=` is given.
const RETRIES: u32 = 3;
/// Retries of each request of a scan.
const SCAN_RETRIES: u32 = 7;

/// How a call deals with failures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Most retries: requests sent after the first.
    pub retries: u32,
    /// Whether `retries=` was given, which then applies to scans too.
    pub is_explicit: bool,
    /// First back-off after a lost connection or a server error.
    pub base: Duration,
    /// First back-off after a 429, and the pause of all calls after a 429 without `Retry-After`.
    pub throttled_base: Duration,
    /// Longest back-off, unless `Retry-After` asks for more.
    pub cap: Duration,
    /// Longest `Retry-After` that is obeyed; a longer one makes the failure final.
    pub max_retry_after: Duration,
    /// Whether a call waits for the longest back-off, instead of failing, when the retry budget is used up.
    pub waits_for_budget: bool,
}

impl Policy {
    /// The defaults, with the number of `retries=` if it is given.
    #[must_use]
    pub fn new(retries: Option<u32>) -> Self {
        Self {
            retries: retries.unwrap_or(RETRIES),
            is_explicit: retries.is_some(),
            base: Duration::from_millis(50),
            throttled_base: Duration::from_secs(1),
            cap: Duration::from_secs(20),
            max_retry_after: Duration::from_secs(120),
            waits_for_budget: false,
        }
    }

    /// Divides all back-offs by `time_scale`, for tests. `Retry-After` is not scaled.
    #[must_use]
    pub fn scaled(self, time_scale: u32) -> Self {
        let [base, throttled_base, cap] = [self.base, self.throttled_base, self.cap].map(|delay| delay / time_scale);
        Self { base, throttled_base, cap, ..self }
    }

    /// The policy of one request of a scan, whose failure would lose the rows of all others: eight attempts, unless
    /// `retries=` is given, and longer waits.
    #[must_use]
    pub const fn for_scan_request(self) -> Self {
        let retries = if self.is_explicit { self.retries } else { SCAN_RETRIES };
        Self { retries, max_retry_after: Duration::from_secs(15 * 60), waits_for_budget: true, ..self }
    }

    /// Whether the service asked to slow down. A 503 without `Retry-After` does not: it looks like an outage.
    #[must_use]
    pub fn is_throttle(failure: &Error) -> bool {
        failure.kind() == Kind::Throttled
            && (failure.details().status == Some(429) || failure.details().retry_after.is_some())
    }

    /// How long all calls pause after a response with this status and `Retry-After`. Returns nothing when the
    /// response does not ask for a pause, or for one longer than `max_retry_after`.
    #[must_use]
    pub fn throttle_pause(&self, status: u16, retry_after: Option<Duration>) -> Option<Duration> {
        match (status, retry_after) {
            (429 | 503, Some(asked)) => (asked <= self.max_retry_after).then_some(asked),
            (429, None) => Some(self.throttled_base),
            _ => None,
        }
    }

    /// How long to wait before the retry, or nothing when the failure is final.
    ///
    /// `attempts` counts the requests sent so far; a request that is not `idempotent` is retried only if it was
    /// never sent; `jitter` is uniform in 0 to 1.
    #[must_use]
    pub fn backoff(&self, attempts: u32, failure: &Error, idempotent: bool, jitter: f64) -> Option<Duration> {
        if attempts > self.retries || !failure.is_retryable() {
            return None;
        }
        // Without a connection nothing was sent.
        if !idempotent && !matches!(failure.kind(), Kind::Connect | Kind::Proxy) {
            return None;
        }
        let base = if Self::is_throttle(failure) { self.throttled_base } else { self.base };
        let ceiling = base.saturating_mul(1 << attempts.saturating_sub(1).min(20)).min(self.cap);
        let own = ceiling.mul_f64(jitter.clamp(0.0, 1.0));
        match failure.details().retry_after {
            Some(asked) => (asked <= self.max_retry_after).then(|| own.max(asked)),
            None => Some(own),
        }
    }
}

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
    idempotent: bool,
    /// Failed requests, without the one that is not counted.
    failures: u32,
    used_free_retry: bool,
    failed_kinds: Vec<Kind>,
    /// How many bytes were received of each response that was cut off.
    truncations: Vec<u64>,
    /// What the last retry took from the budget.
    cost: Option<u32>,
}

impl RetryState {
    /// The state of a new call.
    #[must_use]
    pub const fn new(policy: Policy, idempotent: bool) -> Self {
        Self {
            policy,
            idempotent,
            failures: 0,
            used_free_retry: false,
            failed_kinds: Vec::new(),
            truncations: Vec::new(),
            cost: None,
        }
    }

    /// Whether a request whose token was refused may be retried with another token. Counts it as a retry.
    pub fn consume_auth_retry(&mut self) -> bool {
        let may = self.failures < self.policy.retries;
        self.failures += u32::from(may);
        may
    }

    /// When to retry after a failure. `left` is the rest of the call's time; `jitter` is uniform in 0 to 1.
    ///
    /// # Errors
    /// The failure itself when it is final, with the reason unless the failure implies it.
    pub fn after(
        &mut self,
        failure: Error,
        left: Duration,
        jitter: f64,
        budget: &mut RetryBudget,
    ) -> Result<RetryDecision> {
        // With `retries=0` exactly one request is sent.
        let is_free = failure.is_stale() && self.idempotent && !self.used_free_retry && self.policy.retries > 0;
        if is_free && !left.is_zero() {
            self.used_free_retry = true;
            return Ok(RetryDecision::Immediate);
        }
        self.failures += 1;
        // Some kinds of failure may be an accident and are retried once.
        let is_second = failure.max_retries() == 1 && self.failed_kinds.contains(&failure.kind());
        self.failed_kinds.push(failure.kind());
        let delay = self.policy.backoff(self.failures, &failure, self.idempotent, jitter).filter(|_| !is_second);
        let Some(delay) = delay.filter(|delay| *delay < left) else {
            return Err(failure);
        };
        if let Some(offset) = truncation_offset(&failure) {
            self.truncations.push(offset);
            let times = self.truncations.iter().filter(|known| **known == offset).count();
            // Buffers often end at such an offset, so two may be a coincidence.
            let limit = if offset % 4096 == 0 { 3 } else { 2 };
            if times == limit {
                let reason =
                    format!("{times} attempts were cut off at byte {offset}; a proxy probably limits the size");
                return Err(failure.with_reason(format!("{reason} of responses. Request fewer rows per call")));
            }
        }
        let cost = if Policy::is_throttle(&failure) { RetryBudget::THROTTLED } else { RetryBudget::TRANSIENT };
        if !budget.try_spend(cost) {
            if self.policy.waits_for_budget {
                self.cost = None;
                return Ok(RetryDecision::After(delay.max(self.policy.cap)));
            }
            return Err(failure
                .with(|details| details.retry_budget_exhausted = true)
                .with_reason("not retried: the retry budget is used up by recent failures"));
        }
        self.cost = Some(cost);
        Ok(RetryDecision::After(delay))
    }

    /// What the last retry took from the budget, if there was one.
    #[must_use]
    pub fn cost(&self) -> Option<u32> {
        self.cost
    }
}

/// After how many bytes the response was cut off, if it was.
fn truncation_offset(failure: &Error) -> Option<u64> {
    let is_cut_off = matches!(failure.kind(), Kind::ConnectionLost | Kind::TruncatedResponse);
    failure.details().received.filter(|received| is_cut_off && *received > 0)
}

#[cfg(test)]
mod tests;
