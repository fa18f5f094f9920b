//! Numbers that look random and are the same in every run: each follows from a seed and a number.

/// `SplitMix64` (Steele, Lea and Flood 2014) of a seed, at this number.
pub(super) fn drawn(seed: u64, number: u64) -> u64 {
    let value = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A number from 0 to below 1.
pub(super) fn share(seed: u64, number: u64) -> f64 {
    // The 53 bits that a float holds.
    let bits = drawn(drawn(seed, 0), number.wrapping_add(1)) >> 11;
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    let share = bits as f64 / (1_u64 << 53) as f64;
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_even_and_differ_by_seed() {
        let below = |seed, limit| (0..1_000).filter(|number| share(seed, *number) < limit).count();
        for seed in [0, 1, 2, u64::MAX] {
            assert!((250..350).contains(&below(seed, 0.3)), "{}", below(seed, 0.3));
            assert_eq!(below(seed, 1.0), 1_000);
        }
        let both = (0..1_000).filter(|number| share(1, *number) < 0.3 && share(2, *number) < 0.3).count();
        assert!((50..130).contains(&both), "{both}");
    }
}
