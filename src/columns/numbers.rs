//! Numbers as they are written on the wire, read without loss.

/// Below this one every whole number is a float of 64 bits.
const DENSE: f64 = 9_007_199_254_740_992.0;

/// A whole number of 64 bits, written as JSON does without fraction and exponent.
///
/// Most are short, and so many come that the general reader costs more than the rest of the work on them.
#[inline]
pub(super) fn integer(digits: &str) -> Option<i64> {
    /// No number of so many digits exceeds 64 bits.
    const SHORT: usize = 18;
    let (is_negative, magnitude) = digits.strip_prefix('-').map_or((false, digits), |magnitude| (true, magnitude));
    if magnitude.len() > SHORT {
        return digits.parse().ok();
    }
    let append = |value: i64, digit: u8| value.wrapping_mul(10).wrapping_add(i64::from(digit.wrapping_sub(b'0')));
    let value = magnitude.bytes().fold(0, append);
    Some(if is_negative { -value } else { value })
}

/// A whole number of 64 bits, however it is written: `5`, `5.0` or `1e3`.
pub(super) fn whole(number: &str) -> Option<i64> {
    let decimal = Decimal::of(number)?;
    let scale = 10_i128.checked_pow(u32::try_from(decimal.power).ok()?)?;
    let append = |value: i128, digit: u8| value.checked_mul(10)?.checked_add(i128::from(digit.wrapping_sub(b'0')));
    let magnitude = decimal.digits().try_fold(0, append)?.checked_mul(scale)?;
    i64::try_from(if number.starts_with('-') { -magnitude } else { magnitude }).ok()
}

/// The float nearest to a number. None where that would be another whole number, or zero for what is none.
#[inline]
pub(super) fn float(number: &str) -> Option<f64> {
    let float: f64 = number.parse().ok()?;
    let is_surely_held = float != 0.0 && float.abs() < DENSE;
    (is_surely_held || is_held(number, float)).then_some(float)
}

/// Whether a float may not hold some of these: told by their bits together, not by each.
pub(super) fn are_wide(integers: &[i64]) -> bool {
    integers.iter().fold(0, |bits, integer| bits | integer.unsigned_abs()) >> f64::MANTISSA_DIGITS != 0
}

#[cold]
fn is_held(number: &str, float: f64) -> bool {
    let Some(written) = Decimal::of(number).filter(|_| float.is_finite()) else { return false };
    let is = |float: &str| Decimal::of(float).is_some_and(|decimal| decimal.is(&written));
    if float == 0.0 {
        return is("0");
    }
    // Who writes an exponent vouches for the digits before it and no more: `1e23` is a float, though not 10²³.
    let has_its_digits = |mantissa: &str| {
        let significant = mantissa.trim_start_matches(['-', '0', '.']);
        let digits = significant.bytes().filter(u8::is_ascii_digit).count();
        is(&format!("{float:.*e}", digits.saturating_sub(1)))
    };
    let in_short = number.split_once(['e', 'E']).is_some_and(|(mantissa, _)| has_its_digits(mantissa));
    written.power < 0 || in_short || is(&format!("{float:.0}"))
}

/// A number without its sign, and without the zeros before its first other digit and behind its last.
struct Decimal<'a> {
    before_point: &'a str,
    after_point: &'a str,
    /// The power of ten at which the last digit stands: below zero the number is not whole.
    power: i64,
}

impl<'a> Decimal<'a> {
    /// None where the exponent is beyond all reason.
    fn of(number: &'a str) -> Option<Self> {
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let (before, after) = (before.trim_start_matches(['-', '0']), after.trim_end_matches('0'));
        let before_point = if after.is_empty() { before.trim_end_matches('0') } else { before };
        let after_point = if before.is_empty() { after.trim_start_matches('0') } else { after };
        if before_point.is_empty() && after_point.is_empty() {
            return Some(Self { before_point, after_point, power: 0 });
        }
        let zeros = i64::try_from(before.len() - before_point.len()).ok()?;
        let places = i64::try_from(after.len()).ok()?;
        let power = exponent.parse::<i64>().ok()?.checked_add(zeros)?.checked_sub(places)?;
        Some(Self { before_point, after_point, power })
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.before_point.bytes().chain(self.after_point.bytes())
    }

    fn is(&self, other: &Self) -> bool {
        self.power == other.power && self.digits().eq(other.digits())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{float, integer, whole};

    #[test]
    fn whole_numbers_are_whole_however_they_are_written() {
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
            assert_eq!(whole(number), expected, "{number}");
        }
        let padded = format!("1{}e-{}", "0".repeat(900), 900);
        assert_eq!(whole(&padded), Some(1));
    }

    #[test]
    fn a_float_is_the_nearest_but_never_another_whole_number() {
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
            // 10²² is a float, and 10²³ only with an exponent, of which `%.17g` makes this one.
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
        fn an_integer_is_as_the_general_reader_has_it(digits in "-?(0|[1-9][0-9]{0,20})", value: i64) {
            prop_assert_eq!(integer(&digits), digits.parse().ok());
            prop_assert_eq!(integer(&value.to_string()), Some(value));
        }

        #[test]
        fn an_integer_is_found_at_any_exponent(value: i64, shift in 0_i32..30) {
            prop_assert_eq!(whole(&format!("{value}.0")), Some(value));
            prop_assert_eq!(whole(&format!("{value}{}e-{shift}", "0".repeat(shift.unsigned_abs() as usize))), Some(value));
        }

        #[test]
        fn a_whole_number_is_a_float_when_that_is_the_same(value: i64, zeros in 1_usize..4) {
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
