//! What to decode, and how much of it at most.

use std::sync::Arc;

/// What to decode.
#[derive(Clone, Debug, Default)]
pub struct DecodePlan {
    /// The columns of the records in `data.data`. None for a response without records, whose members are all kept.
    pub columns: Option<Arc<[String]>>,
    /// Records after this many are parsed and dropped.
    pub max_records: Option<u64>,
    /// What the response may hold at most.
    pub limits: Limits,
}

/// Bytes of one number.
pub(super) const NUMBER: usize = 1_024;

/// What a response may hold at most. `docs/reliability.md` explains the defaults.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the body.
    pub body: u64,
    /// The setting that limits the body, if one does.
    pub body_setting: Option<&'static str>,
    /// Bytes of one record. In a response with records also of a value of the envelope, and of all of them in memory.
    pub record: usize,
    /// Nested brackets, including the brackets of the envelope.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body: 8 << 30, body_setting: None, record: 64 << 20, depth: 128 }
    }
}
