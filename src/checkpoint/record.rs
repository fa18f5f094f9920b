//! The lines of a journal: a checksum, a space, JSON.

use flate2::Crc;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fault::defect;
use super::fingerprint::Fingerprint;
use crate::error::Result;
use crate::files::Written;

/// What the journal keeps of a finished task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskRecord {
    /// Rows.
    pub rows: u64,
    /// Bytes of the response.
    pub bytes: u64,
    /// Requests sent.
    pub attempts: u32,
    /// Duration in seconds.
    pub seconds: f64,
    /// Other data of the run.
    pub extra: Value,
}

/// A finished task.
#[derive(Clone, Debug, PartialEq)]
pub struct CompletedTask {
    /// Its index among the tasks.
    pub task: usize,
    /// Its journal entry.
    pub entry: TaskRecord,
    /// Size and hash of its part; None for a task without rows.
    pub file: Option<Written>,
}

/// A line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum JournalRecord {
    /// The first one.
    Begin {
        /// Version of the format.
        version: u32,
        fingerprint: Fingerprint,
    },
    /// Names and types of the columns, once they are known.
    Settled(Vec<(String, String)>),
    /// A task is finished.
    Done { task: String, entry: TaskRecord, file: Option<Written> },
}

impl JournalRecord {
    /// The line with its line break.
    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        let json = serde_json::to_string(self)
            .map_err(|cause| defect("a journal line cannot be encoded as JSON").with_source(cause))?;
        let line = format!("{} {json}", checksum(json.as_bytes()));
        // A line that could not be read again is not written.
        if Self::decode(line.as_bytes()).as_ref() != Some(self) {
            return Err(defect("a line of the journal could not be read again"));
        }
        Ok((line + "\n").into_bytes())
    }

    /// Reads a line without its line break; None if it is damaged.
    pub(super) fn decode(line: &[u8]) -> Option<Self> {
        let (sum, json) = line.split_at_checked(CHECKSUM)?;
        let json = json.strip_prefix(b" ")?;
        if sum != checksum(json).as_bytes() {
            return None;
        }
        serde_json::from_slice(json).ok()
    }
}

/// Digits of a checksum.
const CHECKSUM: usize = 8;

/// CRC-32 in hexadecimal.
fn checksum(bytes: &[u8]) -> String {
    let mut crc = Crc::new();
    crc.update(bytes);
    format!("{:0CHECKSUM$x}", crc.sum())
}
