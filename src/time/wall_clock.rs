//! What a clock on a wall shows, `YYYY-MM-DD HH:MM:SS`, as a count of microseconds; without any zone.
//!
//! Read by fixed places and by hand: such texts come by the million, and a general reader takes several times
//! as long. The time library is the oracle of the tests.

const MICROSECONDS: i64 = 1_000_000;
const DAY_SECONDS: i64 = 86_400;
/// Days from March 1 of the year -400, where the reckoning begins, to 1970-01-01.
const EPOCH_DAYS: i64 = 865_565;

/// Microseconds from 1970-01-01 00:00:00 to the reading, on the same clock.
///
/// `T` may stand for the space, and a fraction of a second may follow. None for all else: a day that is not in
/// the calendar, a zone, a fraction that microseconds cannot hold.
#[must_use]
pub fn wall_clock_microseconds(text: &str) -> Option<i64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b' ' | b'T', h1, h2, b':', n1, n2, b':', s1, s2, fraction @ ..] =
        text.as_bytes()
    else {
        return None;
    };
    let year = two_digits(*y1, *y2)? * 100 + two_digits(*y3, *y4)?;
    let days = days_since_epoch(year, two_digits(*m1, *m2)?, two_digits(*d1, *d2)?)?;
    let (hour, minute, second) = (two_digits(*h1, *h2)?, two_digits(*n1, *n2)?, two_digits(*s1, *s2)?);
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

/// Days of the calendar that all years are reckoned by, also those before it was decreed.
///
/// Years are counted from March, so that a leap day is the last of its year, and months from March have
/// 31, 30, 31, 30, 31 days over and over: (153 × month + 2) / 5 days lie before one.
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

/// `.` and digits, of which those after the sixth are zeros.
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
    use jiff::civil::{DateTime, date};
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    use super::wall_clock_microseconds;

    /// What the time library makes of it.
    fn oracle(time: DateTime) -> i64 {
        let timestamp = time.to_zoned(TimeZone::UTC).expect("within the range of the library").timestamp();
        timestamp.as_microsecond()
    }

    #[test]
    fn every_day_of_ten_thousand_years_is_the_time_library_s() {
        let mut day = date(0, 1, 1);
        let mut days = 0;
        loop {
            let expected = day.at(0, 0, 0, 0);
            assert_eq!(wall_clock_microseconds(&format!("{day} 00:00:00")), Some(oracle(expected)), "{day}");
            days += 1;
            if day == date(9999, 12, 30) {
                break;
            }
            day = day.tomorrow().expect("a next day");
        }
        assert_eq!(days, 3_652_424);
    }

    proptest! {
        #[test]
        fn what_is_no_day_is_no_day_of_the_time_library(
            year in 0_i16..=9999, month in 0_i8..=14, day in 0_i8..=33, hour in 0_i8..=26, minute in 0_i8..=62,
            second in 0_i8..=59, micro in 0_i32..1_000_000, separator in "[ T]",
        ) {
            let text = format!("{year:04}-{month:02}-{day:02}{separator}{hour:02}:{minute:02}:{second:02}.{micro:06}");
            let expected = DateTime::new(year, month, day, hour, minute, second, micro * 1_000).ok().map(oracle);
            prop_assert_eq!(wall_clock_microseconds(&text), expected);
        }

        #[test]
        fn whatever_is_read_the_time_library_reads_the_same(text in "[0-9]{4}[-0][0-3][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,7})?Z?") {
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
    fn all_else_is_refused() {
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
