//! Integers as written.

/// An integer of 64 bits, written without fraction and exponent.
///
/// Most are short and there are many of them, so they skip the standard library's parser.
#[inline]
#[must_use]
pub fn integer(digits: &str) -> Option<i64> {
    /// No number of this many digits exceeds 64 bits.
    const SHORT: usize = 18;
    let (is_negative, magnitude) = digits.strip_prefix('-').map_or((false, digits), |magnitude| (true, magnitude));
    if magnitude.len() > SHORT {
        return digits.parse().ok();
    }
    let append = |value: i64, digit: u8| value.wrapping_mul(10).wrapping_add(i64::from(digit.wrapping_sub(b'0')));
    let value = magnitude.bytes().fold(0, append);
    Some(if is_negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::integer;

    proptest! {
        #[test]
        fn an_integer_is_read_as_by_the_standard_library(digits in "-?(0|[1-9][0-9]{0,20})", value: i64) {
            prop_assert_eq!(integer(&digits), digits.parse().ok());
            prop_assert_eq!(integer(&value.to_string()), Some(value));
        }
    }
}
