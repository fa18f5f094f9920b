//! Reads JSON values from a position in the input, each type with a loop of its own.
//!
//! Every method returns none for JSON that is invalid, incomplete or unusual, without a reason: the caller then falls
//! back to `reference`.
#![expect(clippy::inline_always, reason = "what runs for every value or escape: a call would cost as much as the work")]

use super::scanner::is_blank;
use super::simd::{WIDTH, first_stop, is_stop, stop_in};
use super::{Cell, NUMBER, PaddedBytes, Sink};

/// Deeper values are left to the reference path, because reading here is recursive.
const MAX_DEPTH: usize = 64;
/// A number of at most this length and a two-digit exponent is finite.
const SURELY_FINITE: usize = 200;

/// A position in the input, which is valid UTF-8 only where a string was read.
///
/// Methods that run for every value are inlined. The others take the cursor by value and return it, which keeps the
/// position in a register.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// The input from an earlier position up to this one.
    #[inline]
    pub(super) fn since(self, start: usize) -> Option<&'a [u8]> {
        self.bytes.get(start..self.at)
    }

    /// The same as text.
    #[inline]
    pub(super) fn text_since(self, start: usize) -> Option<&'a str> {
        std::str::from_utf8(self.since(start)?).ok()
    }

    #[inline]
    pub(super) fn rest(self) -> Option<&'a [u8]> {
        self.bytes.get(self.at..)
    }

    #[inline]
    fn byte(self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Skips white space and returns the byte behind it.
    #[inline]
    pub(super) fn token(&mut self) -> Option<u8> {
        match self.byte() {
            Some(byte) if byte > b' ' => Some(byte),
            _ => {
                self.at += self.space();
                self.byte()
            }
        }
    }

    #[cold]
    fn space(self) -> usize {
        self.bytes[self.at..].iter().take_while(|byte| is_blank(**byte)).count()
    }

    /// Consumes these bytes. None if others are there.
    #[inline]
    pub(super) fn expect(&mut self, expected: &[u8]) -> Option<()> {
        self.rest()?.starts_with(expected).then(|| self.at += expected.len())
    }

    /// Consumes the comma after a member (false) or the bracket after the last one (true).
    #[inline]
    pub(super) fn end_member(&mut self, bracket: u8) -> Option<bool> {
        let byte = self.token()?;
        self.skip(1);
        match byte {
            b',' => Some(false),
            _ => (byte == bracket).then_some(true),
        }
    }

    /// Consumes the closing bracket if it follows directly, and returns whether it did.
    #[inline]
    pub(super) fn end_empty(&mut self, bracket: u8) -> Option<bool> {
        let start = self.at;
        if self.token()? == bracket {
            self.skip(1);
            return Some(true);
        }
        self.at = start;
        Some(false)
    }

    /// Reads a string. Borrows it from the input, or from `scratch` if it has escapes.
    #[inline(always)]
    pub(super) fn string<'s>(&mut self, scratch: &'s mut PaddedBytes) -> Option<&'s str>
    where
        'a: 's,
    {
        let start = self.at + 1;
        let rest = self.bytes.get(start..)?;
        let stop = first_stop(rest)?;
        if rest.get(stop) == Some(&b'"') {
            self.at = start + stop + 1;
            return std::str::from_utf8(rest.get(..stop)?).ok();
        }
        self.at = start + unescape(rest, scratch)? + 1;
        std::str::from_utf8(scratch.as_slice()).ok()
    }

    /// Reads a key, up to its value.
    pub(super) fn key<'s>(&mut self, scratch: &'s mut PaddedBytes) -> Option<&'s str>
    where
        'a: 's,
    {
        (self.token()? == b'"').then_some(())?;
        let key = self.string(scratch)?;
        self.token()?;
        self.expect(b":")?;
        self.token()?;
        Some(key)
    }

    /// Reads a number.
    #[inline(always)]
    pub(super) fn number(&mut self) -> Option<Cell<'a>> {
        let start = self.at;
        if self.byte()? == b'-' {
            self.skip(1);
        }
        let leads_with_zero = self.byte()? == b'0';
        let digits = self.digits()?;
        if digits == 0 || leads_with_zero && digits > 1 {
            return None;
        }
        let is_integer = !matches!(self.byte(), Some(b'.' | b'e' | b'E'));
        if !is_integer {
            *self = self.fraction_and_exponent(start)?;
        }
        let number = self.text_since(start).filter(|number| number.len() <= NUMBER)?;
        Some(if is_integer { Cell::Integer(number) } else { Cell::Number(number) })
    }

    /// Skips digits and returns how many there were.
    #[inline]
    fn digits(&mut self) -> Option<usize> {
        let count = self.rest()?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.skip(count);
        Some(count)
    }

    /// Skips the rest of a number that began at `start`, from its `.` or `e` on.
    fn fraction_and_exponent(mut self, start: usize) -> Option<Self> {
        if self.byte() == Some(b'.') {
            self.skip(1);
            self.digits().filter(|digits| *digits > 0)?;
        }
        let mut exponent_digits = 0;
        if let Some(b'e' | b'E') = self.byte() {
            self.skip(1);
            if let Some(b'+' | b'-') = self.byte() {
                self.skip(1);
            }
            exponent_digits = self.digits().filter(|digits| *digits > 0)?;
        }
        let is_finite = exponent_digits <= 2 && self.at - start <= SURELY_FINITE
            || self.text_since(start)?.parse::<f64>().is_ok_and(f64::is_finite);
        is_finite.then_some(self)
    }

    /// Validates and skips any value.
    pub(super) fn skip_value(mut self, depth: usize) -> Option<Self> {
        match self.byte()? {
            b'"' => return self.skip_string(),
            bracket @ (b'{' | b'[') => {
                return self.skip_container(bracket, depth.min(MAX_DEPTH).checked_sub(1)?);
            }
            b'n' => self.expect(b"null")?,
            b't' => self.expect(b"true")?,
            b'f' => self.expect(b"false")?,
            _ => match self.number()? {
                Cell::Integer(digits) if digits.len() > SURELY_FINITE => return None,
                _ => {}
            },
        }
        Some(self)
    }

    fn skip_container(mut self, bracket: u8, depth: usize) -> Option<Self> {
        // In ASCII the closing bracket is two behind the opening one.
        let closing = bracket + 2;
        self.skip(1);
        let mut is_complete = self.end_empty(closing)?;
        while !is_complete {
            if bracket == b'{' {
                (self.token()? == b'"').then_some(())?;
                self = self.skip_string()?;
                self.token()?;
                self.expect(b":")?;
            }
            self.token()?;
            self = self.skip_value(depth)?;
            is_complete = self.end_member(closing)?;
        }
        Some(self)
    }

    fn skip_string(mut self) -> Option<Self> {
        self.skip(1);
        loop {
            self.at += first_stop(self.rest()?)?;
            if self.byte()? == b'"' {
                self.skip(1);
                return Some(self);
            }
            let (_, length) = escaped(self.rest()?)?;
            self.skip(length);
        }
    }
}

#[derive(Debug)]
pub(super) struct ValueReader {
    /// Nested brackets of a value.
    pub(super) depth: usize,
    /// Holds a string with escapes.
    pub(super) scratch: PaddedBytes,
}

impl ValueReader {
    /// Reads a value into its column. None if it is invalid or unusual, or if the sink refuses; the sink then has
    /// nothing of it.
    pub(super) fn read_cell<S: Sink>(&mut self, cursor: &mut Cursor, column: usize, sink: &mut S) -> Option<()> {
        // One call of the sink for each type: the compiler then inlines only what that type needs.
        let result = match cursor.token()? {
            b'"' => sink.cell(column, Cell::String(cursor.string(&mut self.scratch)?)),
            b'n' => {
                cursor.expect(b"null")?;
                sink.cell(column, Cell::Null)
            }
            b't' => {
                cursor.expect(b"true")?;
                sink.cell(column, Cell::Bool(true))
            }
            b'f' => {
                cursor.expect(b"false")?;
                sink.cell(column, Cell::Bool(false))
            }
            b'{' | b'[' => {
                let start = *cursor;
                *cursor = start.skip_value(self.depth)?;
                sink.cell(column, Cell::Nested(cursor.text_since(start.at)?))
            }
            _ => sink.cell(column, cursor.number()?),
        };
        result.ok()
    }
}

/// An integer of 64 bits, written without fraction and exponent.
///
/// Most are short and there are many of them, so they skip the standard library's parser.
#[inline]
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

/// Unescapes a string and returns the index of its closing quote.
///
/// Returns none for a string that is invalid or incomplete. The result is valid UTF-8 only if the string was.
pub(super) fn unescape(bytes: &[u8], into: &mut PaddedBytes) -> Option<usize> {
    into.truncate(0);
    let mut at = 0;
    loop {
        let rest = bytes.get(at..)?;
        if let Some(block) = rest.first_chunk::<WIDTH>() {
            let stop = stop_in(block);
            at += stop;
            if stop == WIDTH {
                into.push(block);
                continue;
            }
            into.push_block(block, stop);
        } else {
            let stop = rest.iter().position(|byte| is_stop(*byte))?;
            into.push(rest.get(..stop)?);
            at += stop;
        }
        // One escape is often followed by another.
        while let Some(b'\\') = bytes.get(at) {
            let (character, length) = escaped(bytes.get(at..)?)?;
            let mut block = [0; WIDTH];
            let encoded = character.encode_utf8(&mut block).len();
            into.push_block(&block, encoded);
            at += length;
        }
        match bytes.get(at)? {
            b'"' => return Some(at),
            ..0x20 => return None,
            _ => {}
        }
    }
}

/// The character of the escape sequence at the first byte, and the length of the sequence.
#[inline(always)]
pub(super) fn escaped(bytes: &[u8]) -> Option<(char, usize)> {
    let [b'\\', letter, rest @ ..] = bytes else { return None };
    let character = match letter {
        b'u' => return unicode(rest),
        b'"' | b'\\' | b'/' => char::from(*letter),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return None,
    };
    Some((character, 2))
}

/// The same for what follows `\u`.
#[inline(always)]
fn unicode(bytes: &[u8]) -> Option<(char, usize)> {
    let first = hexadecimal(bytes)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 6));
    }
    let [_, _, _, _, b'\\', b'u', rest @ ..] = bytes else { return None };
    let (high, low) = (u16::try_from(first).ok()?, u16::try_from(hexadecimal(rest)?).ok()?);
    let character = char::decode_utf16([high, low]).next()?.ok()?;
    Some((character, 12))
}

/// The value of each byte as a hexadecimal digit, or [`NO_DIGIT`].
const DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        let byte = b"0123456789abcdef"[value as usize];
        digits[byte as usize] = value;
        digits[byte.to_ascii_uppercase() as usize] = value;
        value += 1;
    }
    digits
};
const NO_DIGIT: u8 = 0x80;

#[inline]
fn hexadecimal(bytes: &[u8]) -> Option<u32> {
    let digits =
        bytes.first_chunk::<4>()?.map(|byte| u32::from(DIGITS.get(usize::from(byte)).copied().unwrap_or(NO_DIGIT)));
    // Checking all four at once is quicker than returning at the first that is no digit.
    let [first, second, third, fourth] = digits;
    let is_valid = first | second | third | fourth < u32::from(NO_DIGIT);
    is_valid.then_some(first << 12 | second << 8 | third << 4 | fourth)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_hexadecimal_digit_is_one_of_the_standard_library() {
        for byte in 0..=u8::MAX {
            for place in 0..4 {
                let mut digits = *b"0000";
                digits[place] = byte;
                let expected = char::from(byte).to_digit(16).map(|digit| digit << (12 - 4 * place));
                assert_eq!(hexadecimal(&digits), expected, "{byte:#x} at {place}");
            }
        }
    }

    proptest! {
        #[test]
        fn an_integer_is_read_as_by_the_standard_library(digits in "-?(0|[1-9][0-9]{0,20})", value: i64) {
            prop_assert_eq!(integer(&digits), digits.parse().ok());
            prop_assert_eq!(integer(&value.to_string()), Some(value));
        }
    }
}
