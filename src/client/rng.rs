//! Random numbers, from the system each time, so that forked processes draw different back-offs and request ids.

/// Uniform over all values.
pub(super) fn random() -> u64 {
    getrandom::u64().unwrap_or_default()
}

/// Uniform in 0 to 1.
pub(super) fn uniform() -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a float exactly")]
    let fraction = (random() >> 11) as f64 / (1_u64 << 53) as f64;
    fraction
}
