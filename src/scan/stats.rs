//! What is told of a scan whose answer ended well.

use serde::Serialize;

use super::doubt::{self, Doubt};
use super::{Scan, Seen};
use crate::client::Answered;
use crate::decode::RecordShape;

/// Figures of one use of a scan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// Rows handed on.
    pub rows: u64,
    /// Bytes of the answer.
    pub bytes: u64,
    /// From the start to the answer's end; of a stream with the time its consumer took.
    pub seconds: f64,
    /// Requests sent.
    pub attempts: u32,
    /// What stood in place of the records, when there were none.
    pub empty_shape: Option<&'static str>,
    /// Keys nobody asked for, and how many records had each.
    pub extra_keys: Vec<(String, u64)>,
    /// Attributes that no record had, where the whole answer was read.
    pub absent: Vec<String>,
    /// What may not be what it seems.
    pub doubts: Vec<Doubt>,
}

impl Stats {
    /// The figures of an answer that ended well.
    #[must_use]
    pub fn new(scan: &Scan, answered: &Answered, rows: u64, seen: Seen) -> Self {
        let envelope = &answered.envelope;
        // As many rows as the limit: there may have been more.
        let is_whole = scan.search.limit.is_none_or(|limit| rows < limit);
        let present = scan.attributes().iter().zip(&envelope.present);
        let absent = present.filter(|(_, count)| is_whole && rows > 0 && **count == 0).map(|(name, _)| name.clone());
        let absent: Vec<String> = absent.collect();
        let doubts = [
            doubt::absent(&absent),
            is_whole.then(|| doubt::incomplete(answered)).flatten(),
            doubt::stray(scan.day, seen.times.as_ref()),
        ];
        Self {
            rows,
            bytes: envelope.bytes,
            seconds: answered.elapsed.as_secs_f64(),
            attempts: answered.attempts,
            empty_shape: match envelope.record_shape() {
                RecordShape::Empty(shape) => Some(shape),
                _ => None,
            },
            extra_keys: seen.extras,
            absent,
            doubts: doubts.into_iter().flatten().collect(),
        }
    }
}
