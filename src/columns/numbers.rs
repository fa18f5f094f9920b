//! Numbers as they are written on the wire, read without rounding.

/// A whole number of 64 bits that is written with a fraction or an exponent, as `5.0` or `1e3`.
pub(super) fn whole(number: &str) -> Option<i64> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (sign, magnitude) = mantissa.strip_prefix('-').map_or((1, mantissa), |magnitude| (-1, magnitude));
    let (before, after) = magnitude.split_once('.').unwrap_or((magnitude, ""));
    let after = after.trim_end_matches('0');
    let (before, dropped) = if after.is_empty() {
        let significant = before.trim_end_matches('0');
        (significant, before.len() - significant.len())
    } else {
        (before, 0)
    };
    let digits = before.bytes().chain(after.bytes()).skip_while(|digit| *digit == b'0');
    let value = digits.map(|digit| i128::from(digit.wrapping_sub(b'0'))).try_fold(0_i128, append_digit)?;
    if value == 0 {
        return Some(0);
    }
    // The last digit that is not zero stands at this power of ten: below one, the number is not whole.
    let places = i64::try_from(dropped).ok()?.checked_sub(i64::try_from(after.len()).ok()?)?;
    let zeros = exponent.parse::<i64>().ok()?.checked_add(places)?;
    let scale = 10_i128.checked_pow(u32::try_from(zeros).ok()?)?;
    i64::try_from(value.checked_mul(scale)? * sign).ok()
}

fn append_digit(value: i128, digit: i128) -> Option<i128> {
    value.checked_mul(10)?.checked_add(digit)
}

/// The float that is exactly an integer; none when a float of 64 bits would round it.
pub(super) fn exact_float(digits: &str) -> Option<f64> {
    /// Up to here every integer is a float.
    const DENSE: f64 = 9_007_199_254_740_992.0;
    let float: f64 = digits.parse().ok()?;
    // Without a fraction a float is written with all of its digits.
    (float.abs() < DENSE || format!("{float:.0}") == digits).then_some(float)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{exact_float, whole};

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
    fn only_integers_that_a_float_holds_become_one() {
        for (digits, expected) in [
            ("0", Some(0.0)),
            ("-7", Some(-7.0)),
            ("9007199254740991", Some(9_007_199_254_740_991.0)),
            ("9007199254740992", Some(9_007_199_254_740_992.0)),
            ("9007199254740993", None),
            ("-9007199254740993", None),
            ("9007199254740994", Some(9_007_199_254_740_994.0)),
            ("9223372036854775807", None),
            ("9223372036854775808", Some(9_223_372_036_854_775_808.0)),
            ("-9223372036854775809", None),
            ("18446744073709551615", None),
            ("18446744073709551616", Some(18_446_744_073_709_551_616.0)),
            ("100000000000000000000000", None),
        ] {
            assert_eq!(exact_float(digits), expected, "{digits}");
        }
        assert!(exact_float("-0").is_some_and(f64::is_sign_negative));
        assert_eq!(exact_float(&"9".repeat(5_000)), None);
    }

    proptest! {
        #[test]
        fn an_integer_is_found_at_any_exponent(value: i64, shift in 0_i32..30) {
            prop_assert_eq!(whole(&format!("{value}.0")), Some(value));
            prop_assert_eq!(whole(&format!("{value}{}e-{shift}", "0".repeat(shift.unsigned_abs() as usize))), Some(value));
        }

        #[test]
        fn an_exact_float_is_its_integer(value: i64) {
            let expected = i128::from(value);
            #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "compared as integers")]
            let exact = value as f64 as i128 == expected;
            prop_assert_eq!(exact_float(&value.to_string()).is_some(), exact);
        }
    }
}
