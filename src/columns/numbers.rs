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

    use super::{float, integral};

    #[test]
    fn integers_are_read_in_any_notation() {
        for (number, expected) in [
            ("5.0", Some(5)),
            ("-5.000", Some(-5)),
            ("1e3", Some(1_000)),
            ("1E+3", Some(1_000)),
            ("1.25e2", Some(125)),
            ("1200e-2", Some(12)),
            ("12.50e1", Some(125)),
            ("0.0", Some(0)),
            ("-0.0", Some(0)),
            ("0e999999999999999999999", Some(0)),
            ("0.000e-5", Some(0)),
            ("9223372036854775807.0", Some(i64::MAX)),
            ("-9223372036854775808.0", Some(i64::MIN)),
            ("9223372036854775808.0", None),
            ("-9.223372036854775809e18", None),
            ("9007199254740993.0", Some(9_007_199_254_740_993)),
            ("1e18", Some(1_000_000_000_000_000_000)),
            ("1e19", None),
            ("1e300", None),
            ("1e-1", None),
            ("1.5", None),
            ("1200e-3", None),
            ("0.1e0", None),
            ("9007199254740993.5", None),
            ("1e99999999999999999999", None),
        ] {
            assert_eq!(integral(number), expected, "{number}");
        }
        let padded = format!("1{}e-{}", "0".repeat(900), 900);
        assert_eq!(integral(&padded), Some(1));
    }

    #[test]
    fn a_float_is_the_nearest_but_never_another_integer() {
        for (number, expected) in [
            ("0", Some(0.0)),
            ("-7", Some(-7.0)),
            ("5.0", Some(5.0)),
            ("0.1", Some(0.1)),
            ("0e999", Some(0.0)),
            ("0.000e-999999999999999999999", Some(0.0)),
            ("9007199254740991", Some(9_007_199_254_740_991.0)),
            ("9007199254740992", Some(9_007_199_254_740_992.0)),
            ("9007199254740993", None),
            ("-9007199254740993", None),
            ("9007199254740993.0", None),
            ("9007199254740993e0", None),
            ("0.9007199254740993e16", None),
            ("90071992547409930e-1", None),
            ("9007199254740993.5", Some(9_007_199_254_740_994.0)),
            ("9007199254740994", Some(9_007_199_254_740_994.0)),
            ("9007199254740994.00", Some(9_007_199_254_740_994.0)),
            ("9223372036854775807", None),
            ("9223372036854775808", Some(9_223_372_036_854_775_808.0)),
            ("-9223372036854775809", None),
            ("18446744073709551615", None),
            ("18446744073709551616", Some(18_446_744_073_709_551_616.0)),
            // 10²² is exact as a float. 10²³ is not, and is accepted only with an exponent, also in the digits of `%.17g`.
            ("10000000000000000000000", Some(1e22)),
            ("100000000000000000000000", None),
            ("100000000000000000000000.0", None),
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
        assert!(float("-0").is_some_and(f64::is_sign_negative));
        assert!(float("-0.0").is_some_and(f64::is_sign_negative));
        assert_eq!(float(&"9".repeat(5_000)), None);
    }

    proptest! {
        #[test]
        fn an_integer_is_read_at_any_exponent(value: i64, shift in 0_i32..30) {
            prop_assert_eq!(integral(&format!("{value}.0")), Some(value));
            prop_assert_eq!(integral(&format!("{value}{}e-{shift}", "0".repeat(shift.unsigned_abs() as usize))), Some(value));
        }

        #[test]
        fn an_integer_is_a_float_only_if_exact(value: i64, zeros in 1_usize..4) {
            let expected = i128::from(value);
            #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "compared as integers")]
            let exact = value as f64 as i128 == expected;
            prop_assert_eq!(float(&value.to_string()).is_some(), exact);
            prop_assert_eq!(float(&format!("{value}.{}", "0".repeat(zeros))).is_some(), exact);
            prop_assert_eq!(float(&format!("{value}e0")).is_some(), exact);
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
