//! Decisions that look random and are the same in every run: each follows from a seed and a number.

use std::time::Duration;

/// A number from 0 to below 1 for a seed and a number.
pub(super) fn share(seed: u64, number: u64) -> f64 {
    // SplitMix64 (Steele, Lea and Flood 2014), entered at this seed; then the 53 bits that a float holds.
    let mut mixed = mix(seed).wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = mix(mixed) >> 11;
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    let share = mixed as f64 / (1_u64 << 53) as f64;
    share
}

/// A duration from `least` to `most`.
pub(super) fn duration(seed: u64, number: u64, least: Duration, most: Duration) -> Duration {
    let range = most.saturating_sub(least).as_secs_f64() * share(seed, number);
    least.saturating_add(Duration::try_from_secs_f64(range).unwrap_or(Duration::MAX)).min(most)
}

const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
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

    #[test]
    fn durations_stay_in_their_range() {
        let (least, most) = (Duration::from_secs(1), Duration::from_secs(3));
        let drawn: Vec<Duration> = (0..100).map(|number| duration(7, number, least, most)).collect();
        assert!(drawn.iter().all(|each| (least..=most).contains(each)));
        assert!(drawn.iter().any(|each| *each < Duration::from_millis(1_300)));
        assert!(drawn.iter().any(|each| *each > Duration::from_millis(2_700)));
        assert_eq!(duration(7, 3, least, least), least);
        assert_eq!(
            duration(7, 3, Duration::ZERO, Duration::MAX).min(Duration::MAX),
            duration(7, 3, Duration::ZERO, Duration::MAX)
        );
    }
}
