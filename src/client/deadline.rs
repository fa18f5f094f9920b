//! What `timeout=` limits, and the errors when it is over.

use std::future;
use std::time::Duration;

use tokio::time::Instant;

use super::delivery::{Arrived, Delivery};
use crate::decode::Batch;
use crate::error::{Error, Kind, Phase};
use crate::retry::ended_by;

/// What `timeout=` limits. After the first row the consumer's own time counts too, so only the stall rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutScope {
    /// All calls that began at this time together, each with its back-offs.
    WholeSince(Instant),
    /// The call up to the first row.
    ToFirstRow,
    /// Each request of a run that began at this time, up to its first row: all its attempts together.
    EachToFirstRow(Instant),
}

impl TimeoutScope {
    /// The whole call that begins now.
    #[must_use]
    pub fn whole() -> Self {
        Self::WholeSince(Instant::now())
    }
}

/// The `timeout` of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    pub(super) timeout: Duration,
    pub(super) scope: TimeoutScope,
}

impl Deadline {
    /// Whether it limits all that a call does, pauses too.
    pub(super) fn is_of_call(&self) -> bool {
        !matches!(self.scope, TimeoutScope::EachToFirstRow(_))
    }

    /// What is left for a call that started then and whose attempts have `spent` this long without rows.
    pub(super) fn left(&self, started: Instant, spent: Duration) -> Duration {
        match self.scope {
            TimeoutScope::WholeSince(began) => self.timeout.saturating_sub(began.elapsed()),
            TimeoutScope::ToFirstRow => self.timeout.saturating_sub(started.elapsed()),
            TimeoutScope::EachToFirstRow(_) => self.timeout.saturating_sub(spent),
        }
    }

    /// What is left for a pause: where each request has the time for itself, pauses do not count.
    pub(super) fn left_for_pause(&self, started: Instant, spent: Duration) -> Duration {
        let left = self.left(started, spent);
        if self.is_of_call() || left.is_zero() { left } else { Duration::MAX }
    }

    /// When the call or its run began, if the call started then.
    pub(super) fn began(&self, started: Instant) -> Instant {
        match self.scope {
            TimeoutScope::WholeSince(began) | TimeoutScope::EachToFirstRow(began) => began,
            TimeoutScope::ToFirstRow => started,
        }
    }

    /// Waits until what is `left` has passed, and returns the error.
    pub(super) async fn passed<B: Batch>(&self, delivery: &Delivery<B>, left: Duration) -> Error {
        tokio::time::sleep(left).await;
        let missing = match delivery.arrived() {
            Arrived::Rows(_) if !matches!(self.scope, TimeoutScope::WholeSince(_)) => future::pending().await,
            Arrived::Nothing => Error::timed_out(Phase::Headers, "no response headers", self.timeout),
            _ => Error::timed_out(Phase::Deadline, "no complete response", self.timeout),
        };
        missing.with_hint("raise timeout, or request less")
    }

    /// The error when it passed after attempts that had failed: of the attempt in flight, or else of the last attempt.
    pub(super) fn after_failures(&self, passed: Error, last: Error, is_in_flight: bool) -> Error {
        let ended = ended_by("timeout", self.timeout);
        if is_in_flight {
            let before = format!("{}: {}", last.kind().class_name(), last.message());
            passed.with_hint(format!("{ended}; the failure before: {before}"))
        } else {
            last.with_reason(ended)
        }
    }

    /// The error when it passed before the first request.
    pub(super) fn unsent(&self, waits_for: &str) -> Error {
        let seconds = self.timeout.as_secs_f64();
        let message = format!("timed out before sending, within {seconds} s: waiting for {waits_for}");
        let error = Error::new(Kind::RequestTimeout, message).with(|details| details.phase = Some(Phase::Deadline));
        error.with_hint("raise timeout").retryable()
    }
}
