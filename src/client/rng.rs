//! Random numbers, from the system each time, so that forked processes draw different back-offs; and ids of calls.

use std::sync::atomic::{AtomicU64, Ordering};

/// The ids of the calls of one client: consecutive from a random number on, as a forked process has clients of its own.
#[derive(Debug)]
pub(super) struct CallIds(AtomicU64);

impl CallIds {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(random()))
    }

    /// The id of the next call.
    pub(super) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Uniform over all values.
fn random() -> u64 {
    getrandom::u64().unwrap_or_default()
}

/// Uniform in 0 to 1.
pub(super) fn uniform() -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a float exactly")]
    let fraction = (random() >> 11) as f64 / (1_u64 << 53) as f64;
    fraction
}
