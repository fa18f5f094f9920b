//! The loop over the expected keys: reads the members of a record as long as each has a known key, quickest in the
//! order that is expected and with short values.
//!
//! Stops at the first surprise, having taken only what is certainly good, and `fast_path` goes on from there.

use super::column_names::ColumnNames;
use super::cursor::Cursor;
use super::expected_key::{BEFORE, Expected, MAX_KEY};
use super::fast_path::{FastPath, Run};
use super::seen_columns::SeenColumns;
use super::simd::{Bytes32, Simd, WIDTH, stops_and_non_ascii, with_baseline};
use super::value_reader::ValueReader;
use super::{Cell, Sink};

/// Bytes that are looked at for one member, so that one test of the length is enough: a key, and what may follow it.
const MEMBER: usize = 3 * WIDTH;
/// The first byte of a value and those behind it.
const VALUE: usize = WIDTH + 1;

/// Expected keys.
type Keys<'k> = std::slice::Iter<'k, Expected>;

impl FastPath {
    /// Parses members from a `,` or `{` on, continues into the next records, and adds each finished one to `run`.
    /// Returns where it stopped, which may be the beginning of a record; `None` if the sink refused a cell.
    ///
    /// Few variables live from one member to the next, so that they stay in registers.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the caller has the instructions of the token")]
    pub(super) fn run_hot_loop<'a, V: Simd, S: Sink>(
        &mut self,
        simd: V,
        start: Cursor<'a>,
        run: &mut Run,
        max: u64,
        columns: &mut ColumnNames,
        sink: &mut S,
    ) -> Option<Cursor<'a>> {
        let Self { predictor, seen, values, max_record } = self;
        let all = start.rest()?;
        let (expected, next) = predictor.expected();
        let (mut keys, mut misses, mut found) = (expected[next..].iter(), predictor.misses(), seen.narrow());
        let mut ignored = if start.at() == run.end { BEFORE } else { 0 };
        let (mut rest, count_before) = (all, run.count);
        'members: while let Some(member) = rest.first_chunk::<MEMBER>() {
            let Some(head) = member.first_chunk() else { break };
            let mut candidates = keys.clone();
            let key = loop {
                let key = candidates.next();
                if let Some(key) = key
                    && key.begins(simd, head, ignored)
                {
                    break Some(key);
                }
                if head.first() == Some(&b'}') {
                    break None;
                }
                if key.is_none() {
                    let Some(from) = earlier(expected, keys.clone(), head, ignored) else { break 'members };
                    misses += 1;
                    keys = from.iter();
                    candidates = keys.clone();
                }
            };
            let Some(key) = key else {
                let end = start.at() + all.len() - rest.len();
                if misses > 0 || !rest.starts_with(b"},{") || run.count + 1 >= max {
                    break;
                }
                if !end_record(end + 1, found, run, seen, *max_record, columns, sink)? {
                    break;
                }
                (keys, found, ignored) = (expected.iter(), 0, BEFORE);
                rest = &rest[2..];
                continue;
            };
            let key_length = usize::from(key.length % MAX_KEY);
            let Some(value) = member.get(key_length..).and_then(|value| value.first_chunk::<VALUE>()) else { break };
            if key.bit & found != 0 {
                // A key that comes twice.
                break;
            }
            let column = usize::from(key.column);
            let length = if let Some(length) = take_value(simd, column, value, sink) {
                length
            } else {
                let Some(length) = take_any(&rest[key_length..], column, values, sink) else { break };
                length
            };
            (keys, ignored) = (candidates, 0);
            found |= key.bit;
            let Some(after) = rest.get(key_length + length..) else {
                rest = &[];
                break;
            };
            rest = after;
        }
        seen.set_narrow(found);
        let next = expected.len() - keys.len();
        predictor.advance_to(next, misses, run.count != count_before);
        let mut end = start;
        end.skip(all.len() - rest.len());
        Some(end)
    }
}

/// The expected keys from the key on with which a block begins. Searches only the keys before `later`.
#[cold]
fn earlier<'k>(expected: &'k [Expected], later: Keys, block: &Bytes32, ignored: u32) -> Option<&'k [Expected]> {
    let earlier = &expected[..expected.len() - later.count()];
    let begins = |key: &Expected| with_baseline!(simd => key.begins(simd, block, ignored));
    Some(&expected[earlier.iter().position(begins)?..])
}

/// Adds the record that ends here to the run; another one begins behind a comma. Returns false if it cannot be ended
/// here, and none if the sink refuses.
#[inline(never)]
fn end_record<S: Sink>(
    end: usize,
    found: u64,
    run: &mut Run,
    seen: &mut SeenColumns,
    limit: usize,
    columns: &mut ColumnNames,
    sink: &mut S,
) -> Option<bool> {
    let Some(all) = seen.all_narrow().filter(|_| end - run.end <= limit) else { return Some(false) };
    if found != all {
        seen.set_narrow(found);
        seen.fill_absent(columns, sink)?;
    }
    columns.count_record();
    sink.end_record();
    (run.count, run.end) = (run.count + 1, end + 1);
    Some(true)
}

/// Passes a value of any kind on to its column and returns its length. None if the value is invalid or incomplete, or if
/// the sink refuses.
#[inline(never)]
fn take_any<S: Sink>(bytes: &[u8], column: usize, values: &mut ValueReader, sink: &mut S) -> Option<usize> {
    let mut cursor = Cursor::new(bytes, 0);
    values.read_cell(&mut cursor, column, sink)?;
    Some(cursor.at())
}

/// Passes a short value on to its column and returns its length. None for any other value, and if the sink refuses.
#[inline(always)]
#[expect(clippy::inline_always, reason = "runs for every value: a call would cost as much as the work")]
fn take_value<V: Simd, S: Sink>(simd: V, column: usize, value: &[u8; VALUE], sink: &mut S) -> Option<usize> {
    let ([written @ .., _], [first, text @ ..]) = (value, value);
    match first {
        b'"' => {
            let length = ascii_length(simd, text)?;
            sink.short_string(column, text, length).then_some(length + 2)
        }
        _ if value.starts_with(b"null") => sink.cell(column, Cell::Null).is_ok().then_some(4),
        _ => {
            let (integer, length) = short_integer(value)?;
            sink.short_integer(column, integer, written, length).then_some(length)
        }
    }
}

/// The length of the ASCII string without escapes that begins here, up to its quote.
#[inline(always)]
#[expect(clippy::inline_always, reason = "instructions beyond the baseline are inlined into a caller that has them")]
fn ascii_length<V: Simd>(simd: V, text: &Bytes32) -> Option<usize> {
    let length = stops_and_non_ascii(simd, text).trailing_zeros() as usize;
    (text.get(length) == Some(&b'"')).then_some(length)
}

/// The integer of fewer than eight digits at the first byte, and its length. None for any other number.
///
/// Works on all digits at once: each is a byte of a word, from the last byte upwards pairs of numbers become one.
#[inline(always)]
fn short_integer(value: &[u8; VALUE]) -> Option<(i32, usize)> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let is_negative = value.first() == Some(&b'-');
    let sign = usize::from(is_negative);
    let values = u64::from_le_bytes(*value.get(sign..)?.first_chunk()?) ^ ZEROS;
    // The high bit of a byte is set when it is no digit, or such a byte carried into it.
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080;
    let bits = others.trailing_zeros() & !7;
    if bits == 0 || bits == u64::BITS {
        return None;
    }
    let length = sign + bits as usize / 8;
    let [first_digit, ..] = values.to_le_bytes();
    let is_plain = (first_digit != 0 || length == 1) && !matches!(value.get(length), Some(b'.' | b'e' | b'E'));
    let digits = values << (u64::BITS - bits);
    let pairs = (digits.wrapping_mul(10).wrapping_add(digits >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    let all = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xFF_FFFF;
    let magnitude = i32::try_from(all).ok()?;
    is_plain.then_some((if is_negative { -magnitude } else { magnitude }, length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_short_integer_is_that_of_the_standard_library(number in "-?[0-9]{0,9}", after in "[,}. eE\\n\\]x-]") {
            let mut value = [b'"'; VALUE];
            let text = format!("{number}{after}");
            value[..text.len()].copy_from_slice(text.as_bytes());
            let digits = number.trim_start_matches('-');
            let is_short = !digits.is_empty() && digits.len() < 8;
            let is_json = digits == "0" && number == digits || !digits.starts_with('0');
            let expected = (is_short && is_json && !".eE".contains(&after)).then(|| number.parse().expect("an integer"));
            prop_assert_eq!(short_integer(&value), expected.map(|integer| (integer, number.len())));
        }
    }
}
