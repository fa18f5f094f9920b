//! What all requests over the same connections have in common to count.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A clone counts on with the others.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    /// Opened so far.
    pub(super) connections: Arc<AtomicU64>,
    /// Of bodies, as they came.
    pub(super) bytes: Arc<AtomicU64>,
}

impl Meter {
    /// Connections opened so far.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Bytes of bodies so far, as they came: compressed, if they were.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}
