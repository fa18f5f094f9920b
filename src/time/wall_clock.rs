//! Local times `YYYY-MM-DD HH:MM:SS` as microseconds, without any time zone.
//!
//! Parsed by hand at fixed positions: responses hold millions of them, and a general parser takes several times as
//! long. The tests compare with the time library.

const MICROSECONDS: i64 = 1_000_000;
const DAY_SECONDS: i64 = 86_400;
/// Days from 0000-01-01 to 1970-01-01.
const EPOCH_DAYS: u32 = 719_528;
/// For each month the days before it, in a year that is no leap year, and its days. The month 0 has none.
const MONTHS: [(u32, u32); 13] = [
    (0, 0),
    (0, 31),
    (31, 28),
    (59, 31),
    (90, 30),
    (120, 31),
    (151, 30),
    (181, 31),
    (212, 31),
    (243, 30),
    (273, 31),
    (304, 30),
    (334, 31),
];

/// Microseconds from 1970-01-01 00:00:00 to a local time.
///
/// It may have a `T` instead of the space, and a fraction of a second. None for anything else: a day that is not in the
/// calendar, an offset, a fraction that microseconds cannot hold.
#[inline]
pub fn wall_clock_microseconds(text: &str) -> Option<i64> {
    let (seconds, fraction) = text.as_bytes().split_first_chunk()?;
    let fraction = if fraction.is_empty() { 0 } else { fraction_microseconds(fraction)? };
    Some(plain_wall_clock(seconds)? + fraction)
}

/// The same for a time without a fraction.
#[inline(always)]
#[expect(clippy::inline_always, reason = "runs for every time of a response")]
pub fn plain_wall_clock(text: &[u8; 19]) -> Option<i64> {
    // Three words with all digits: `YYYY-MM-`, `Y-MM-DD ` and `HH:MM:SS`.
    let date = Digits::like(*b"0000-00-", *text.first_chunk()?);
    let day = Digits::like(*b"0-00-00\xFF", *text.get(3..)?.first_chunk()?);
    let clock = Digits::like(*b"00:00:00", *text.last_chunk()?);
    if (date.others | day.others | clock.others | clock.over(CLOCK)) & HIGHS != 0 {
        return None;
    }
    let Some(b' ' | b'T') = text.get(10) else { return None };
    let (hour, minute, second) = (clock.pair(0), clock.pair(3), clock.pair(6));
    let (century, year, month, day) = (date.pair(0), date.pair(2), date.pair(5), day.pair(5));
    let (before_month, length) = *MONTHS.get(month as usize)?;
    // A year of a century is a leap year where the century is one.
    let is_leap = (if year == 0 { century } else { year }).is_multiple_of(4);
    if day.wrapping_sub(1) >= length + u32::from(is_leap && month == 2) {
        return None;
    }
    // Leap years up to this one, the year 0 included, without its own leap day if that is still to come.
    let leap_days = century * 24 + century / 4 + year / 4 + 1 - u32::from(is_leap && month < 3);
    let days = (century * 100 + year) * 365 + leap_days + before_month + day - 1;
    let seconds = i64::from(hour * 3_600 + minute * 60 + second);
    Some(((i64::from(days) - i64::from(EPOCH_DAYS)) * DAY_SECONDS + seconds) * MICROSECONDS)
}

/// The high bit of each byte of a word.
const HIGHS: u64 = 0x8080_8080_8080_8080;
/// The first numbers beyond the hours, minutes and seconds of a clock, each at its position in the word.
const CLOCK: [u8; 8] = [24, 0x80, 0x80, 60, 0x80, 0x80, 60, 0x80];

/// Digits, each in its byte of a word.
#[derive(Clone, Copy)]
struct Digits {
    /// For each digit the number of two digits that begins there.
    pairs: u64,
    /// Bit 7 of a byte is set if that byte does not match. A mismatch may carry into higher bytes, so test for any bit,
    /// not for which.
    others: u64,
}

impl Digits {
    /// The digits of a text that matches the pattern: a digit for each zero, any ASCII for 0xFF, and every other byte
    /// the same.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as above")]
    fn like(pattern: [u8; 8], text: [u8; 8]) -> Self {
        let zero = |byte| if byte == 0xFF { 0 } else { byte };
        // What makes the high bit of a byte that is too large.
        let excess = |byte| match byte {
            b'0' => 0x80 - 10,
            0xFF => 0,
            _ => 0x80 - 1,
        };
        let values = u64::from_le_bytes(text) ^ u64::from_le_bytes(pattern.map(zero));
        let others = values.wrapping_add(u64::from_le_bytes(pattern.map(excess))) | values;
        Self { pairs: values.wrapping_mul(10).wrapping_add(values >> 8), others }
    }

    /// The number of the two digits at a position.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as above")]
    fn pair(self, position: u32) -> u32 {
        let [number, ..] = (self.pairs >> (8 * position)).to_le_bytes();
        u32::from(number)
    }

    /// The high bit of a byte is set if its number of two digits reaches this limit.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as above")]
    fn over(self, limits: [u8; 8]) -> u64 {
        self.pairs.wrapping_add(u64::from_le_bytes(limits.map(|limit| 0x80 - limit)))
    }
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
    use proptest::prelude::*;

    use super::{plain_wall_clock, wall_clock_microseconds};

    /// The result of the time library.
    fn oracle(time: DateTime) -> i64 {
        let since_1970 = time.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
        i64::try_from(since_1970.as_micros()).expect("within the calendar")
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
        assert_eq!(["1900", "2023"].map(|year| wall_clock_microseconds(&format!("{year}-02-29 00:00:00"))), [None; 2]);
    }

    /// Whether digits and separators are where a time has them.
    fn is_shaped(time: &[u8]) -> bool {
        time.iter().zip(b"dddd-dd-dd dd:dd:dd").all(|(byte, kind)| match kind {
            b'd' => byte.is_ascii_digit(),
            b' ' => matches!(byte, b' ' | b'T'),
            kind => byte == kind,
        })
    }

    /// What a text means, whose fields the time library checks.
    fn expected(text: &str) -> Option<i64> {
        let (time, fraction) = text.split_at_checked(19).filter(|(time, _)| is_shaped(time.as_bytes()))?;
        let field = |place: usize| time[place..place + 2].parse::<i8>().expect("digits");
        let year = time[..4].parse().expect("digits");
        let time = DateTime::new(year, field(5), field(8), field(11), field(14), field(17), 0).ok()?;
        let digits = if fraction.is_empty() { "0" } else { fraction.strip_prefix('.')? };
        let is_exact = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_exact = is_exact && digits.trim_end_matches('0').len() <= 6;
        is_exact.then(|| oracle(time) + format!("{digits:0<6}")[..6].parse::<i64>().expect("digits"))
    }

    /// A time that may not be in the calendar, with a few characters inserted, left out or replaced, or cut off.
    fn texts() -> impl Strategy<Value = String> {
        let date = (prop_oneof![0..=9999, Just(1900), Just(2000), Just(2024)], 0..=14, prop_oneof![0..=33, 28..=31]);
        let edit = (0..24_usize, 0..3, prop::sample::select("09-:/T .,+xZ２".chars().collect::<Vec<_>>()));
        let edits = prop_oneof![Just(Vec::new()), prop::collection::vec(edit, 1..3)];
        let parts = (date, (0..=26, 0..=62, 0..=62), "[ T]", "(\\.[0-9]{0,6}0{0,4}[01]?)?", edits, 0..60_usize);
        parts.prop_map(|((year, month, day), (hour, minute, second), separator, fraction, edits, length)| {
            let date = format!("{year:04}-{month:02}-{day:02}{separator}");
            let mut text: Vec<char> = format!("{date}{hour:02}:{minute:02}:{second:02}{fraction}").chars().collect();
            for (place, kind, character) in edits {
                let place = place.min(text.len() - 1);
                match kind {
                    0 => text.insert(place, character),
                    1 => drop(text.remove(place)),
                    _ => text[place] = character,
                }
            }
            text.into_iter().take(length).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_text_is_a_time_where_the_time_library_says_so_and_else_refused(text in texts()) {
            prop_assert_eq!(wall_clock_microseconds(&text), expected(&text));
        }
    }

    /// Errors in two bytes do not hide each other.
    #[test]
    fn one_or_two_wrong_bytes_are_refused() {
        const BYTES: &[u8] = b"09x:/-+. \x00\x7f\x80\xb0\xff";
        for valid in [*b"2024-02-28 13:24:35", *b"1999-12-31T23:59:59"] {
            for (first, second) in
                (0..valid.len()).flat_map(|first| (first..valid.len()).map(move |second| (first, second)))
            {
                for (one, other) in BYTES.iter().flat_map(|one| BYTES.iter().map(move |other| (*one, *other))) {
                    let mut text = valid;
                    (text[first], text[second]) = (one, other);
                    let time = str::from_utf8(&text).ok().and_then(expected);
                    assert_eq!(plain_wall_clock(&text), time, "{}", text.escape_ascii());
                }
            }
        }
    }

    #[test]
    fn what_stands_before_or_behind_a_time_is_refused() {
        for text in [
            " 2024-01-02 03:04:05",
            "2024-01-02 03:04:05 ",
            "2024-01-02 03:04:05Z",
            "2024-01-02 03:04:05.5Z",
            "2024-01-02 03:04:05+00:00",
            "2024-01-02T03:04:05[UTC]",
        ] {
            assert_eq!(wall_clock_microseconds(text), None, "{text:?}");
        }
    }
}
