//! Waiting until an export has ended: each of its entries has an `endTime`.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::sync::mpsc;

use super::Client;
use crate::contract::envelope::field;
use crate::contract::export::DownloadBody;
use crate::decode::{Envelope, Member};
use crate::error::{Kind, Result};

/// The first pause between two looks; each later one is half as long again,
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// How a wait ended.
#[derive(Debug)]
pub enum Waited {
    /// The export has ended.
    Finished(Envelope),
    /// The time was over; the last answer, if there was one, went to the updates.
    TimedOut,
}

impl Client {
    /// Looks again and again until the export has ended or the time is over. Every answer but the last goes to
    /// `updates`.
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
            let left = timeout.saturating_sub(started.elapsed());
            let allowed = left.min(self.settings.timeout);
            let envelope = match self.download_within("wait_for_segment", export.clone(), allowed).await {
                Ok(envelope) => envelope,
                // The wait's own end cut the last look short: that is no fault of the service.
                Err(error) if error.kind() == Kind::RequestTimeout && started.elapsed() >= timeout => {
                    return Ok(Waited::TimedOut);
                }
                Err(error) => return Err(error),
            };
            if has_ended(&envelope) {
                return Ok(Waited::Finished(envelope));
            }
            if updates.send(envelope).await.is_err() {
                return Ok(Waited::TimedOut);
            }
            let left = timeout.saturating_sub(started.elapsed());
            if left <= pause {
                tokio::time::sleep(left).await;
                return Ok(Waited::TimedOut);
            }
            tokio::time::sleep(pause).await;
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
