//! Waiting until an export has ended: each of its entries has an `endTime`.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::sync::mpsc;

use super::Client;
use crate::contract::envelope::field;
use crate::contract::export::DownloadBody;
use crate::decode::{Envelope, Member};
use crate::error::{Error, Result};

/// The first pause between two looks; each later one is half as long again,
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// Time for the last look beyond what the look before it took.
const LAST_LOOK: Duration = Duration::from_millis(100);

/// How a wait ended.
#[derive(Debug)]
pub enum Waited {
    /// The export has ended.
    Finished(Envelope),
    /// The time was over; the last answer went to the updates. The failure of the last look, if it failed.
    TimedOut(Option<Error>),
}

impl Client {
    /// Looks again and again until the export has ended or the time is over, the last time just before its end.
    /// Every answer but the last goes to `updates`. A failure that may mend itself only means to look again.
    pub async fn wait(
        &self,
        export: DownloadBody,
        timeout: Duration,
        poll: Option<Duration>,
        updates: mpsc::Sender<Envelope>,
    ) -> Result<Waited> {
        let started = Instant::now();
        let mut pause = poll.unwrap_or(FIRST_PAUSE);
        loop {
            let look = Instant::now();
            let allowed = timeout.saturating_sub(started.elapsed()).min(self.settings.timeout);
            let failure = match self.download_within("wait_for_segment", export.clone(), allowed).await {
                Ok(envelope) if has_ended(&envelope) => return Ok(Waited::Finished(envelope)),
                Ok(envelope) => {
                    // Whoever no longer takes updates no longer waits.
                    if updates.send(envelope).await.is_err() {
                        return Ok(Waited::TimedOut(None));
                    }
                    None
                }
                Err(error) if error.is_retryable() => Some(error),
                Err(error) => return Err(error),
            };
            let left = timeout.saturating_sub(started.elapsed());
            let until_last_look = left.saturating_sub(look.elapsed() + LAST_LOOK);
            if until_last_look.is_zero() {
                tokio::time::sleep(left).await;
                return Ok(Waited::TimedOut(failure));
            }
            tokio::time::sleep(pause.min(until_last_look)).await;
            if poll.is_none() {
                pause = pause.mul_f64(1.5).min(LONGEST_PAUSE);
            }
        }
    }
}

/// There are entries, and each has an `endTime`. The meaning of `exportStatus` is not shown (section 3.2).
fn has_ended(envelope: &Envelope) -> bool {
    #[derive(Deserialize)]
    struct Entry {
        #[serde(rename = "endTime")]
        end_time: Option<IgnoredAny>,
    }
    let Some(Member::Json(entries)) = envelope.data_member(field::ENTRIES) else { return false };
    serde_json::from_str::<Vec<Entry>>(entries.get())
        .is_ok_and(|entries| !entries.is_empty() && entries.iter().all(|entry| entry.end_time.is_some()))
}
