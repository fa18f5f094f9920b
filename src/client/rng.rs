//! Random numbers, from the system each time, so that forked processes draw different back-offs.

#[cfg(any(test, feature = "testing"))]
use std::sync::atomic::{AtomicU64, Ordering};

/// A source of random numbers.
#[derive(Debug)]
pub(super) enum Rng {
    System,
    /// The same numbers each time.
    #[cfg(any(test, feature = "testing"))]
    Seeded(AtomicU64),
}

impl Rng {
    /// Uniform over all values.
    pub(super) fn random(&self) -> u64 {
        match self {
            Self::System => getrandom::u64().unwrap_or_default(),
            #[cfg(any(test, feature = "testing"))]
            Self::Seeded(state) => {
                // splitmix64
                let mut mixed = state.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
                mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                mixed ^ (mixed >> 31)
            }
        }
    }

    /// Uniform in 0 to 1.
    pub(super) fn uniform(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit a float exactly")]
        let fraction = (self.random() >> 11) as f64 / (1_u64 << 53) as f64;
        fraction
    }
}
