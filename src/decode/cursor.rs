//! Reads JSON values from a position in the input, each type with a loop of its own.
//!
//! Every method returns none for JSON that is invalid, incomplete or unusual, without a reason: the caller then
//! falls back to `reference`.

use super::escape::{escaped, unescape};
use super::string_scan::first_stop;
use super::{Cell, NUMBER, PaddedBytes};

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
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    pub(super) fn at(self) -> usize {
        self.at
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
        self.bytes[self.at..].iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count()
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
    #[expect(clippy::inline_always, reason = "runs for every value: a call would cost as much as the work")]
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
    #[expect(clippy::inline_always, reason = "runs for every value: a call would cost as much as the work")]
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
