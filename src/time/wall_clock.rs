//! Local times `YYYY-MM-DD HH:MM:SS` as microseconds, without any time zone.
//!
//! Parsed by hand at fixed positions: responses hold millions of them, and a general parser takes several times as
//! long. The tests compare with the time library.

const MICROSECONDS: i64 = 1_000_000;
const DAY_SECONDS: i64 = 86_400;
/// Days from March 1 of the year -400 to 1970-01-01.
const EPOCH_DAYS: i64 = 865_565;

/// Microseconds from 1970-01-01 00:00:00 to a local time.
///
/// It may have a `T` instead of the space, and a fraction of a second. None for anything else: a day that is not in the
/// calendar, an offset, a fraction that microseconds cannot hold.
#[must_use]
#[inline]
pub fn wall_clock_microseconds(text: &str) -> Option<i64> {
    let (months, rest) = text.as_bytes().split_first_chunk()?;
    let ([d1, d2, b' ' | b'T'], rest) = rest.split_first_chunk()? else { return None };
    let (clock, fraction) = rest.split_first_chunk()?;
    let months = digits_like(*b"0000-00-", *months)?;
    let clock = digits_like(*b"00:00:00", *clock)?;
    let days = days_since_epoch(pair(months, 0) * 100 + pair(months, 2), pair(months, 5), two_digits(*d1, *d2)?)?;
    let (hour, minute, second) = (pair(clock, 0), pair(clock, 3), pair(clock, 6));
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = days * DAY_SECONDS + i64::from(hour * 3_600 + minute * 60 + second);
    let fraction = if fraction.is_empty() { 0 } else { fraction_microseconds(fraction)? };
    Some(seconds * MICROSECONDS + fraction)
}

#[inline]
fn two_digits(tens: u8, units: u8) -> Option<u32> {
    let (tens, units) = (tens.wrapping_sub(b'0'), units.wrapping_sub(b'0'));
    (tens <= 9 && units <= 9).then(|| u32::from(tens) * 10 + u32::from(units))
}

/// The values of the digits, each in its byte, of a text that matches the pattern: a digit for each zero, and every
/// other byte the same.
#[inline]
fn digits_like(pattern: [u8; 8], text: [u8; 8]) -> Option<u64> {
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let values = u64::from_le_bytes(text) ^ u64::from_le_bytes(pattern);
    let others = u64::from_le_bytes(pattern.map(|byte| if byte == b'0' { 0 } else { 0xFF }));
    // The high bit of a byte is set when its value is over nine, or such a byte carried into it.
    let is_over_nine = (values.wrapping_add(0x7676_7676_7676_7676) | values) & HIGHS != 0;
    (!is_over_nine && values & others == 0).then_some(values)
}

/// The number of the two digits at a position.
#[inline]
fn pair(values: u64, position: u32) -> u32 {
    let [tens, units, ..] = (values >> (8 * position)).to_le_bytes();
    u32::from(tens) * 10 + u32::from(units)
}

/// Days in the proleptic Gregorian calendar.
///
/// Years are counted from March, so that a leap day is the last of its year; months from March repeat 31, 30, 31, 30,
/// 31 days, so that (153 × month + 2) / 5 days precede a month.
#[inline]
fn days_since_epoch(year: u32, month: u32, day: u32) -> Option<i64> {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let length = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(is_leap),
        _ => return None,
    };
    if day == 0 || day > length {
        return None;
    }
    let years = i64::from(year + 400 - u32::from(month < 3));
    let leap_days = years / 4 - years / 100 + years / 400;
    let day_of_year = i64::from((153 * ((month + 9) % 12) + 2) / 5 + day - 1);
    Some(years * 365 + leap_days + day_of_year - EPOCH_DAYS)
}

/// `.` and digits; those after the sixth must be zeros.
fn fraction_microseconds(text: &[u8]) -> Option<i64> {
    let [b'.', digits @ ..] = text else { return None };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) || digits.iter().skip(6).any(|digit| *digit != b'0')
    {
        return None;
    }
    let six_digits = digits.iter().copied().chain(std::iter::repeat(b'0')).take(6);
    Some(six_digits.fold(0, |count, digit| count * 10 + i64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;
    use jiff::civil::{DateTime, date};
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    use super::wall_clock_microseconds;

    /// The result of the time library.
    fn oracle(time: DateTime) -> i64 {
        let timestamp = time.to_zoned(TimeZone::UTC).expect("within the range of the library").timestamp();
        timestamp.as_microsecond()
    }

    #[test]
    fn every_day_is_that_of_the_time_library() {
        // More than the 400 years after which the calendar repeats, and the first years.
        for (first, last) in [(date(1590, 1, 1), date(2010, 1, 1)), (date(0, 1, 1), date(9, 1, 1))] {
            for day in first.series(1.day()).take_while(|day| *day < last) {
                let read = wall_clock_microseconds(&format!("{day} 00:00:00"));
                assert_eq!(read, Some(oracle(day.at(0, 0, 0, 0))), "{day}");
            }
        }
        assert_eq!(wall_clock_microseconds("9999-12-31 23:59:59.999999"), Some(253_402_300_799_999_999));
    }

    proptest! {
        #[test]
        fn a_time_is_valid_when_the_time_library_says_so(
            year in 0_i16..=9999, month in 0_i8..=14, day in 0_i8..=33, hour in 0_i8..=26, minute in 0_i8..=62,
            second in 0_i8..=59, micro in 0_i32..1_000_000, separator in "[ T]",
        ) {
            let text = format!("{year:04}-{month:02}-{day:02}{separator}{hour:02}:{minute:02}:{second:02}.{micro:06}");
            let expected = DateTime::new(year, month, day, hour, minute, second, micro * 1_000).ok().map(oracle);
            prop_assert_eq!(wall_clock_microseconds(&text), expected);
        }

        #[test]
        fn the_time_library_reads_the_same(text in "[0-9]{4}[-0][0-3][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,7})?Z?") {
            if let Some(microseconds) = wall_clock_microseconds(&text) {
                prop_assert_eq!(text.parse::<DateTime>().ok().map(oracle), Some(microseconds));
            }
        }
    }

    #[test]
    fn a_fraction_is_exact_or_refused() {
        let second = wall_clock_microseconds("2024-01-02 03:04:05").expect("a plain time");
        for (fraction, expected) in [
            (".5", Some(500_000)),
            (".000001", Some(1)),
            (".123456", Some(123_456)),
            (".123456000", Some(123_456)),
            (".1234561", None),
            (".0000000001", None),
            (".", None),
            (".x", None),
            (".5Z", None),
            (",5", None),
        ] {
            let read = wall_clock_microseconds(&format!("2024-01-02 03:04:05{fraction}"));
            assert_eq!(read, expected.map(|fraction| second + fraction), "{fraction}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "2024-01-02",
            "2024-01-02 03:04",
            "2024-01-02 03:04:05Z",
            "2024-01-02 03:04:05+00:00",
            "2024-01-02T03:04:05[UTC]",
            " 2024-01-02 03:04:05",
            "2024-01-02 03:04:05 ",
            "2024-01-02  03:04:05",
            "2024-1-2 03:04:05",
            "2024/01/02 03:04:05",
            "2023-02-29 00:00:00",
            "1900-02-29 00:00:00",
            "0000-00-00 00:00:00",
            "2024-04-31 00:00:00",
            "2024-01-02 24:00:00",
            "2024-01-02 23:60:00",
            "2024-01-02 23:59:60",
            "+024-01-02 03:04:05",
            "２０24-01-02 03:04:05",
            "02024-01-02 03:04:05",
        ] {
            assert_eq!(wall_clock_microseconds(text), None, "{text:?}");
        }
    }
}
