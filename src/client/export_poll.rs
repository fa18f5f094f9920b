//! Waits until an export has ended: each of its entries has an end, or one of them has failed.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;

use super::Client;
use crate::contract::envelope::field;
use crate::contract::export::DownloadBody;
use crate::decode::{Envelope, Member};
use crate::error::{Error, Result};
use crate::time::Zone;

/// First pause between two polls. Each later one is 1.5 times as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// Time left for the last poll, besides the duration of the poll before it.
const LAST_POLL: Duration = Duration::from_millis(100);

/// How a wait ended.
#[derive(Debug)]
pub enum WaitOutcome {
    /// The export has ended; the last response was already sent to `updates`.
    Finished,
    /// The time-out was reached; the last response was already sent to `updates`. Holds the failure of the last poll, if it failed.
    TimedOut(Option<Error>),
}

impl Client {
    /// Polls until the export has ended or the time-out is reached; the last poll starts just before the time-out. Sends
    /// every response to `updates`. A retryable failure does not end the wait, unless the service never responded; with `success`,
    /// the codes of entries that succeeded, an entry with another code does.
    pub async fn wait(
        &self,
        export: DownloadBody,
        success: Option<Vec<String>>,
        timeout: Duration,
        poll: Option<Duration>,
        updates: mpsc::Sender<Envelope>,
    ) -> Result<WaitOutcome> {
        let started = Instant::now();
        let mut pause = poll.unwrap_or(FIRST_PAUSE);
        loop {
            let polled = Instant::now();
            let allowed = timeout.saturating_sub(started.elapsed()).min(self.settings.timeout);
            let policy = self.policy.patient_at_first();
            let failure = match self.download_within(policy, "wait_for_segment", &export, allowed).await {
                Ok(envelope) => {
                    let is_last = has_ended(&envelope, success.as_deref());
                    // The receiver of the updates was dropped.
                    if updates.send(envelope).await.is_err() {
                        return Ok(WaitOutcome::TimedOut(None));
                    }
                    if is_last {
                        return Ok(WaitOutcome::Finished);
                    }
                    None
                }
                Err(error) if error.is_retryable() && !self.is_never_reached(&error) => Some(error),
                Err(error) => return Err(error),
            };
            let left = timeout.saturating_sub(started.elapsed());
            let until_last_poll = left.saturating_sub(polled.elapsed() + LAST_POLL);
            if until_last_poll.is_zero() {
                tokio::time::sleep(left).await;
                return Ok(WaitOutcome::TimedOut(failure));
            }
            tokio::time::sleep(pause.min(until_last_poll)).await;
            if poll.is_none() {
                pause = pause.mul_f64(1.5).min(LONGEST_PAUSE);
            }
        }
    }
}

/// Whether there are entries and each has an end, or, if the codes of success are given, one has failed. The API
/// specification does not define `exportStatus`.
fn has_ended(envelope: &Envelope, success: Option<&[String]>) -> bool {
    #[derive(Deserialize)]
    struct Entry {
        #[serde(rename = "startTime")]
        start_time: Option<Value>,
        #[serde(rename = "endTime")]
        end_time: Option<Value>,
        #[serde(rename = "responseCode")]
        response_code: Option<Value>,
    }
    let is_end = |entry: &Entry| entry.end_time.as_ref().is_some_and(|end| is_end(end, entry.start_time.as_ref()));
    let has_failed = |entry: &Entry, success: &[String]| {
        is_end(entry) && entry.response_code.as_ref().is_some_and(|code| !success.contains(&code_text(code)))
    };
    let Some(Member::Json(entries)) = envelope.data_member(field::ENTRIES) else { return false };
    serde_json::from_str::<Vec<Entry>>(entries).is_ok_and(|entries| {
        let is_over = !entries.is_empty() && entries.iter().all(is_end);
        is_over || success.is_some_and(|success| entries.iter().any(|entry| has_failed(entry, success)))
    })
}

/// Whether an `endTime` that is not null is an end: a blank string is none, nor is a time before the start.
fn is_end(end: &Value, start: Option<&Value>) -> bool {
    if end.as_str().is_some_and(|end| end.trim().is_empty()) {
        return false;
    }
    let time = |value: &Value| Zone::default().parse_moment(value.as_str()?).ok();
    time(end).zip(start.and_then(time)).is_none_or(|(end, start)| end >= start)
}

/// The code of an entry as the Python package writes the codes of success: 200, 200.0 and "200" are one.
fn code_text(code: &Value) -> String {
    let text = code.as_str().map_or_else(|| code.to_string(), ToOwned::to_owned);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}
