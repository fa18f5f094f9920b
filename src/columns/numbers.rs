//! Reads numbers as written in JSON without losing anything.

/// Digits of the longest integer of 64 bits.
const MAX_DIGITS: usize = 19;
/// Below this, every integer is exact as a float.
const DENSE: f64 = 9_007_199_254_740_992.0;

/// An integer of 64 bits in any notation: `5`, `5.0` or `1e3`.
pub(super) fn integral(number: &str) -> Option<i64> {
    let (digits, power) = significant(number)?;
    let sign = if number.starts_with('-') { "-" } else { "" };
    let zeros = usize::try_from(power).ok().filter(|zeros| *zeros <= MAX_DIGITS)?;
    format!("{sign}0{digits}{}", "0".repeat(zeros)).parse().ok()
}

/// The nearest float. None if that would be another integer, infinity, or zero for what is not zero.
#[inline]
pub(super) fn float(number: &str) -> Option<f64> {
    let float: f64 = number.parse().ok()?;
    let is_surely_held = float != 0.0 && float.abs() < DENSE;
    (is_surely_held || is_held(number, float)).then_some(float)
}

/// Whether some of these may not be exact as floats. Looks at all their bits together, which is faster.
pub(super) fn any_wide(integers: &[i64]) -> bool {
    integers.iter().fold(0, |bits, integer| bits | integer.unsigned_abs()) >> f64::MANTISSA_DIGITS != 0
}

/// An integer that is not wide, as a float.
#[expect(clippy::cast_precision_loss, reason = "a float holds each integer that is not wide")]
pub(super) const fn as_float(integer: i64) -> f64 {
    integer as f64
}

#[cold]
fn is_held(number: &str, float: f64) -> bool {
    let Some(written) = significant(number).filter(|_| float.is_finite()) else { return false };
    if float == 0.0 {
        return written.0.is_empty();
    }
    let is = |float: &str| significant(float).is_some_and(|significant| significant == written);
    // With an exponent only the digits before it have to match: `1e23` is accepted, though its float is not 10²³.
    let has_its_digits = |mantissa: &str| {
        let from_first = mantissa.trim_start_matches(['-', '0', '.']);
        let digits = from_first.bytes().filter(u8::is_ascii_digit).count();
        is(&format!("{float:.*e}", digits.saturating_sub(1)))
    };
    let in_short = number.split_once(['e', 'E']).is_some_and(|(mantissa, _)| has_its_digits(mantissa));
    let is_fraction = written.1 < 0;
    is_fraction || in_short || is(&format!("{float:.0}"))
}

/// The digits of a number from its first to its last that is not zero, and the power of ten of that last digit.
///
/// Equal for equal magnitudes. No digits for zero. None for an exponent beyond 64 bits.
fn significant(number: &str) -> Option<(String, i64)> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{before}{after}");
    let trimmed = digits.trim_end_matches('0');
    let significant = trimmed.trim_start_matches(['-', '0']);
    if significant.is_empty() {
        return Some((String::new(), 0));
    }
    let shift = i64::try_from(digits.len() - trimmed.len()).ok()? - i64::try_from(after.len()).ok()?;
    Some((significant.to_owned(), exponent.parse::<i64>().ok()?.saturating_add(shift)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::{float, integral};

    /// A number without exponent, as the quotient of an integer and a power of ten. Many are near a bound.
    fn number() -> impl Strategy<Value = (String, i128, u32)> {
        let bounds = select(vec![0, 1 << 53, 1 << 63, 1 << 64, 10_i128.pow(22), 10_i128.pow(23)]);
        let near = (bounds, -2..=2_i128).prop_map(|(bound, more)| (bound + more).abs());
        let magnitude = prop_oneof![2 => near, 1 => any::<u64>().prop_map(i128::from), 1 => 0..2_000_i128];
        let last = prop_oneof![3 => Just(0), 1 => 1..10_i128];
        let count = || prop_oneof![Just(0), 1_u32..12];
        (magnitude, count(), last, count(), any::<bool>()).prop_map(|(first, zeros, last, places, is_negative)| {
            let sign = if is_negative { "-" } else { "" };
            let magnitude = first * 10_i128.pow(zeros) + if zeros == 0 { 0 } else { last };
            let digits = format!("{magnitude:0>width$}", width = places as usize + 1);
            let (before, after) = digits.split_at(digits.len() - places as usize);
            let point = if after.is_empty() { "" } else { "." };
            (format!("{sign}{before}{point}{after}"), if is_negative { -magnitude } else { magnitude }, places)
        })
    }

    /// The product of an integer and a power of ten, if it is an integer.
    fn product(integer: i128, power: i32) -> Option<i128> {
        let factor = 10_i128.checked_pow(power.unsigned_abs()).filter(|_| integer != 0);
        let Some(factor) = factor else { return (integer == 0).then_some(0) };
        if power < 0 { (integer % factor == 0).then_some(integer / factor) } else { integer.checked_mul(factor) }
    }

    #[test]
    fn integers_have_bounds_and_exponents_have_none() {
        for (number, expected) in [
            ("9223372036854775807.0", Some(i64::MAX)),
            ("-9223372036854775808.0", Some(i64::MIN)),
            ("9223372036854775808.0", None),
            ("-9.223372036854775809e18", None),
            ("1e18", Some(1_000_000_000_000_000_000)),
            ("1e19", None),
            ("0e999999999999999999999", Some(0)),
            ("1e300", None),
            ("1e99999999999999999999", None),
        ] {
            assert_eq!(integral(number), expected, "{number}");
        }
        let padded = format!("1{}e-{}", "0".repeat(900), 900);
        assert_eq!(integral(&padded), Some(1));
        assert_eq!(float(&"9".repeat(5_000)), None);
    }

    #[test]
    fn a_float_with_an_exponent_has_the_digits_before_it() {
        for (number, expected) in [
            ("0e999", Some(0.0)),
            ("0.000e-999999999999999999999", Some(0.0)),
            ("0.9007199254740993e16", None),
            ("90071992547409930e-1", None),
            // 10²² is exact as a float. 10²³ is not, and is accepted only with an exponent, also in the digits of `%.17g`.
            ("1e23", Some(1e23)),
            ("1.0E+23", Some(1e23)),
            ("9.9999999999999992e+22", Some(1e23)),
            ("1.00000000000000000000001e23", None),
            ("1.00000000000000000000000e23", None),
            ("9007199254740993000e0", None),
            ("9007199254740993e3", Some(9_007_199_254_740_993e3)),
            ("1.7976931348623157e308", Some(f64::MAX)),
            ("1e309", None),
            ("5e-324", Some(5e-324)),
            ("1e-400", None),
            ("-0.00001e-400", None),
            ("1e-99999999999999999999", None),
        ] {
            assert_eq!(float(number), expected, "{number}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn an_integer_is_read_in_any_notation(
            (number, integer, places) in number(),
            shift in prop_oneof![3 => Just(0), 2 => -3..4, 1 => -40..41],
            mark in select(vec!["e", "E"]),
        ) {
            let expected = |power| product(integer, power).and_then(|product| i64::try_from(product).ok());
            prop_assert_eq!(integral(&number), expected(-places.cast_signed()));
            let exponent = places.cast_signed() + shift;
            prop_assert_eq!(integral(&format!("{number}{mark}{exponent}")), expected(shift));
            prop_assert_eq!(integral(&format!("{number}{mark}{exponent:+}")), expected(shift));
        }

        #[test]
        fn a_float_is_the_nearest_but_never_another_integer((number, integer, places) in number()) {
            let nearest: f64 = number.parse().expect("a number");
            #[expect(clippy::cast_possible_truncation, reason = "compared as integers")]
            let is_held = product(integer, -places.cast_signed()).is_none_or(|integer| nearest as i128 == integer);
            let expected = is_held.then(|| nearest.to_bits());
            prop_assert_eq!(float(&number).map(f64::to_bits), expected);
            prop_assert_eq!(float(&format!("{number}e0")).map(f64::to_bits), expected);
        }

        #[test]
        fn every_float_is_held_as_it_is_usually_written(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let bits_of = |number: &str| float(number).map(f64::to_bits);
            prop_assert_eq!(bits_of(&format!("{value:e}")), Some(bits));
            prop_assert_eq!(bits_of(&format!("{value:.16e}")), Some(bits));
            prop_assert_eq!(bits_of(&serde_json::to_string(&value).expect("a number")), Some(bits));
        }
    }
}
