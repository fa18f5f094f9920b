//! The loop over the expected keys: reads the members of a record as long as each has a known key, quickest in the
//! order that is expected and with short values.
//!
//! Stops at the first surprise, having taken only what is certainly good, and `fast_path` goes on from there.

use super::cursor::Cursor;
use super::key_predictor::{BEFORE, KeyPredictor};
use super::seen::Seen;
use super::value_reader::ValueReader;
use super::vector::{Block, Simd, WIDTH, stops_and_non_ascii};
use super::{Cell, Sink};

/// Bytes that are looked at for one member, so that one test of the length is enough: a key, and what may follow it.
const MEMBER: usize = 3 * WIDTH;
/// The first byte of a value and those behind it.
const VALUE: usize = WIDTH + 1;
/// A number of fewer digits is read at once.
pub(super) const INTEGER_DIGITS: usize = 8;

/// Reads members from the comma or the brace of the record on. Returns the position behind them.
///
/// Few variables live from one member to the next, so that they stay in registers.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the caller has the instructions of the token")]
pub(super) fn read_members<'a, V: Simd, S: Sink>(
    simd: V,
    start: Cursor<'a>,
    is_first: bool,
    predictor: &mut KeyPredictor,
    seen: &mut Seen,
    values: &mut ValueReader,
    sink: &mut S,
) -> Cursor<'a> {
    let all = start.rest().unwrap_or_default();
    let (expected, mut next) = predictor.expected();
    let (mut rest, mut columns, mut misses) = (all, seen.narrow(), 0);
    let mut ignored = if is_first { BEFORE } else { 0 };
    'members: while let Some(member) = rest.first_chunk::<MEMBER>() {
        let Some(head) = member.first_chunk() else { break };
        let mut index = next;
        let key = loop {
            let Some(key) = expected.get(index) else {
                if head.first() == Some(&b'}') {
                    break 'members;
                }
                // In another order than expected.
                let earlier = expected.get(..next).unwrap_or_default();
                let Some(found) = earlier.iter().position(|key| key.begins(simd, head, ignored)) else {
                    break 'members;
                };
                misses += 1;
                (index, next) = (found, found);
                continue;
            };
            index += 1;
            if key.begins(simd, head, ignored) {
                break key;
            }
            if head.first() == Some(&b'}') {
                break 'members;
            }
        };
        let key_length = usize::from(key.length);
        let Some(value) = member.get(key_length..).and_then(|value| value.first_chunk::<VALUE>()) else { break };
        // A key that comes twice.
        if key.bit & columns != 0 {
            break;
        }
        let is_extra = key.bit == 0;
        let read = if is_extra {
            take_extra(simd, predictor.name(index - 1), value, sink)
        } else {
            take_value(simd, usize::from(key.column), value, sink)
        };
        let length = if let Some(length) = read {
            length
        } else {
            let name = is_extra.then(|| predictor.name(index - 1));
            let value = rest.get(key_length..).unwrap_or_default();
            let Some(length) = take_any(value, key.column, name, values, sink) else { break };
            length
        };
        rest = rest.get(key_length + length..).unwrap_or_default();
        (next, ignored) = (index, 0);
        columns |= key.bit;
    }
    seen.set_narrow(columns);
    predictor.advance_to(next, misses);
    let mut end = start;
    end.skip(all.len() - rest.len());
    end
}

/// Passes on a value of any kind and returns its length. `name` is that of a key that was not requested. None if the
/// value is invalid or incomplete, or if the sink refuses.
#[inline(never)]
fn take_any<S: Sink>(
    bytes: &[u8],
    column: u8,
    name: Option<&str>,
    values: &mut ValueReader,
    sink: &mut S,
) -> Option<usize> {
    let mut cursor = Cursor::new(bytes, 0);
    match name {
        Some(name) => values.read_extra(&mut cursor, name, sink)?,
        None => values.read_cell(&mut cursor, usize::from(column), sink)?,
    }
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
        b'n' => (text.starts_with(b"ull") && sink.cell(column, Cell::Null).is_ok()).then_some(4),
        _ => {
            let (integer, length) = short_integer(value)?;
            sink.short_integer(column, integer, written, length).then_some(length)
        }
    }
}

/// Passes on a short value of a key that was not requested, and returns its length.
#[inline(always)]
#[expect(clippy::inline_always, reason = "runs for every value: a call would cost as much as the work")]
fn take_extra<V: Simd, S: Sink>(simd: V, name: &str, value: &[u8; VALUE], sink: &mut S) -> Option<usize> {
    let ([written @ .., _], [first, text @ ..]) = (value, value);
    let length = match first {
        b'"' => ascii_length(simd, text)? + 2,
        b'n' => text.starts_with(b"ull").then_some(4)?,
        _ => short_integer(value)?.1,
    };
    (length < WIDTH && sink.short_extra(name, written, length)).then_some(length)
}

/// The length of the ASCII string without escapes that begins here, up to its quote.
#[inline(always)]
#[expect(clippy::inline_always, reason = "instructions beyond the baseline are inlined into a caller that has them")]
fn ascii_length<V: Simd>(simd: V, text: &Block) -> Option<usize> {
    let length = stops_and_non_ascii(simd, text).trailing_zeros() as usize;
    (text.get(length) == Some(&b'"')).then_some(length)
}

/// The integer of fewer than [`INTEGER_DIGITS`] digits at the first byte, and its length. None for any other number.
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
    let all = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xFFFF_FFFF;
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
            let is_short = !digits.is_empty() && digits.len() < INTEGER_DIGITS;
            let is_json = digits == "0" && number == digits || !digits.starts_with('0');
            let expected = (is_short && is_json && !".eE".contains(&after)).then(|| number.parse().expect("an integer"));
            prop_assert_eq!(short_integer(&value), expected.map(|integer| (integer, number.len())));
        }
    }
}
