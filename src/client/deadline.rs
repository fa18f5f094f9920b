//! What `timeout=` limits, and the errors when it is over.

use std::future;
use std::time::Duration;

use tokio::time::Instant;

use super::delivery::{Arrived, Delivery};
use crate::decode::Batch;
use crate::error::{Error, Kind, Phase, Result, argument, constant_argument};

const TIMEOUT: &str = constant_argument!("timeout");

/// The `timeout=` of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    pub(super) timeout: Duration,
    pub(super) scope: TimeoutScope,
    /// When it began, if that was before the call: it then bounds several calls together.
    pub(super) began: Option<Instant>,
}

/// What `timeout=` limits. After the first row the consumer's own time counts too, so only the stall rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutScope {
    /// The whole call, with back-offs.
    Whole,
    /// The call up to the first row.
    ToFirstRow,
    /// Each request up to its first row, anew with each attempt.
    EachToFirstRow,
}

impl Deadline {
    /// Whether it limits all requests of a call together.
    pub(super) fn is_of_call(&self) -> bool {
        self.scope != TimeoutScope::EachToFirstRow
    }

    /// What is left for a call that has started then.
    pub(super) fn left(&self, started: Instant) -> Duration {
        if self.is_of_call() { self.rest(started) } else { Duration::MAX }
    }

    fn rest(&self, started: Instant) -> Duration {
        self.timeout.saturating_sub(self.began.unwrap_or(started).elapsed())
    }

    /// Waits until it has passed, and returns the error.
    pub(super) async fn passed<B: Batch>(&self, delivery: &Delivery<B>) -> Error {
        tokio::time::sleep(self.rest(Instant::now())).await;
        if self.scope != TimeoutScope::Whole && delivery.arrived() == Arrived::Rows {
            future::pending::<()>().await;
        }
        if delivery.arrived() >= Arrived::Headers {
            self.without(Phase::Deadline, "complete response")
        } else {
            self.without(Phase::Headers, "response headers")
        }
    }

    /// The error when it passed after attempts that had failed: that of the attempt in flight, or else the last one.
    pub(super) fn after_failures(&self, passed: Error, last: Error, is_in_flight: bool) -> Error {
        let seconds = self.timeout.as_secs_f64();
        let ended =
            format!("{} s ended the retries: raise {TIMEOUT} to retry for longer", argument("timeout").of(seconds));
        if is_in_flight {
            let before = format!("{}: {}", last.kind().class_name(), last.marked_message());
            passed.with_hint(format!("{ended}; the failure before: {before}"))
        } else {
            last.with_reason(ended)
        }
    }

    /// Limits the wait for a token where the call has no limit.
    pub(super) async fn limit<T>(&self, token: impl Future<Output = Result<T>>) -> Result<T> {
        if self.is_of_call() {
            return token.await;
        }
        tokio::time::timeout(self.timeout, token).await.unwrap_or_else(|_| Err(self.without(Phase::Token, "token")))
    }

    /// The error when it passed before the first request.
    pub(super) fn unsent(&self, waits_for: &str) -> Error {
        let seconds = self.timeout.as_secs_f64();
        let limit = argument("timeout").of(seconds);
        let message = format!("timed out before sending, within {limit} s: waiting for {waits_for}");
        Error::new(Kind::RequestTimeout, message)
            .with(|details| details.phase = Some(Phase::Deadline))
            .with_hint(format!("raise {TIMEOUT}"))
            .retryable()
    }

    fn without(&self, phase: Phase, missing: &str) -> Error {
        let seconds = self.timeout.as_secs_f64();
        let hint = if phase == Phase::Token {
            format!("the {} callable takes longer; raise {TIMEOUT}", argument("token"))
        } else {
            format!("raise {TIMEOUT}, or request less")
        };
        Error::new(Kind::RequestTimeout, format!("no {missing} within {} s", argument("timeout").of(seconds)))
            .with(|details| details.phase = Some(phase))
            .with_hint(hint)
            .retryable()
    }
}
