//! A place in a text, and how each kind of JSON value is read from there, one inner loop for each.
//!
//! Answers none for anything but plain, whole, valid JSON, without saying why: whoever asks then takes the plain
//! path. Knows neither records nor sinks.

use super::escape::{escaped, unescape};
use super::string_scan::first_stop;

/// Nested deeper is for the plain path: the reading here is recursive.
const MOST_DEPTH: usize = 64;
/// A number of no more digits, with an exponent of two at most, is finite.
const SURELY_FINITE: usize = 200;

/// A number, as written.
pub(super) enum Number<'a> {
    /// Without fraction and exponent.
    Whole(&'a str),
    /// With either; finite.
    Float(&'a str),
}

/// A place in a text.
///
/// What runs for each value of an answer is inlined, and what does not takes the place and gives it back: so the
/// place stays in a register.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    pub(super) fn at(self) -> usize {
        self.at
    }

    /// What was passed since an earlier place.
    #[inline]
    pub(super) fn since(self, start: usize) -> Option<&'a str> {
        self.text.get(start..)?.get(..self.at.checked_sub(start)?)
    }

    #[inline]
    pub(super) fn rest(self) -> Option<&'a [u8]> {
        self.text.as_bytes().get(self.at..)
    }

    #[inline]
    fn byte(self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// The byte after white space, which is passed.
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
        let rest = self.rest().unwrap_or_default();
        rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count()
    }

    /// Passes these bytes, which must be there.
    #[inline]
    pub(super) fn pass(&mut self, expected: &[u8]) -> Option<()> {
        self.rest()?.starts_with(expected).then(|| self.at += expected.len())
    }

    /// Passes the comma after a member, or the bracket after the last.
    #[inline]
    pub(super) fn ends(&mut self, bracket: u8) -> Option<bool> {
        let byte = self.token()?;
        self.skip(1);
        match byte {
            b',' => Some(false),
            _ => (byte == bracket).then_some(true),
        }
    }

    /// Passes the bracket that follows at once on the one that opened.
    #[inline]
    pub(super) fn is_empty(&mut self, bracket: u8) -> Option<bool> {
        let start = self.at;
        if self.token()? == bracket {
            self.skip(1);
            return Some(true);
        }
        self.at = start;
        Some(false)
    }

    /// A text, unescaped. It stands in the input, or in `scratch` if it has escapes.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once for each value of an answer: a call would cost as much as the work")]
    pub(super) fn text<'s>(&mut self, scratch: &'s mut String) -> Option<&'s str>
    where
        'a: 's,
    {
        let start = self.at + 1;
        let rest = self.text.get(start..)?;
        let stop = first_stop(rest.as_bytes())?;
        if rest.as_bytes().get(stop) == Some(&b'"') {
            self.at = start + stop + 1;
            return rest.get(..stop);
        }
        self.at = start + unescape(rest, stop, scratch)? + 1;
        Some(scratch)
    }

    /// A number of at most so many bytes.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once for each value of an answer: a call would cost as much as the work")]
    pub(super) fn number(&mut self, limit: usize) -> Option<Number<'a>> {
        let start = self.at;
        if self.byte()? == b'-' {
            self.skip(1);
        }
        let leads_with_zero = self.byte()? == b'0';
        let digits = self.digits()?;
        if digits == 0 || leads_with_zero && digits > 1 {
            return None;
        }
        let is_whole = !matches!(self.byte(), Some(b'.' | b'e' | b'E'));
        if !is_whole {
            *self = self.fraction_and_exponent(start)?;
        }
        let number = self.since(start).filter(|number| number.len() <= limit)?;
        Some(if is_whole { Number::Whole(number) } else { Number::Float(number) })
    }

    /// Passes digits and counts them.
    #[inline]
    fn digits(&mut self) -> Option<usize> {
        let start = self.at;
        let mut rest = self.rest()?;
        while let Some((eight, after)) = rest.split_first_chunk() {
            let count = digits_at_start(*eight);
            self.at += count;
            if count < 8 {
                return Some(self.at - start);
            }
            rest = after;
        }
        self.at += rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        Some(self.at - start)
    }

    /// Behind a number that began at `start` and whose whole part was passed.
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
            || self.since(start)?.parse::<f64>().is_ok_and(f64::is_finite);
        is_finite.then_some(self)
    }

    /// Behind any value, which is proven; its numbers have at most so many bytes.
    pub(super) fn past_value(mut self, depth: usize, number: usize) -> Option<Self> {
        match self.byte()? {
            b'"' => return self.past_text(),
            b'{' => return self.past_object(depth.min(MOST_DEPTH).checked_sub(1)?, number),
            b'[' => return self.past_array(depth.min(MOST_DEPTH).checked_sub(1)?, number),
            b'n' => self.pass(b"null")?,
            b't' => self.pass(b"true")?,
            b'f' => self.pass(b"false")?,
            _ => match self.number(number)? {
                Number::Whole(digits) if digits.len() > SURELY_FINITE => return None,
                _ => {}
            },
        }
        Some(self)
    }

    fn past_object(mut self, depth: usize, number: usize) -> Option<Self> {
        self.skip(1);
        let mut is_complete = self.is_empty(b'}')?;
        while !is_complete {
            (self.token()? == b'"').then_some(())?;
            self = self.past_text()?;
            self.token()?;
            self.pass(b":")?;
            self.token()?;
            self = self.past_value(depth, number)?;
            is_complete = self.ends(b'}')?;
        }
        Some(self)
    }

    fn past_array(mut self, depth: usize, number: usize) -> Option<Self> {
        self.skip(1);
        let mut is_complete = self.is_empty(b']')?;
        while !is_complete {
            self.token()?;
            self = self.past_value(depth, number)?;
            is_complete = self.ends(b']')?;
        }
        Some(self)
    }

    /// Behind a text that is valid, whatever it says.
    fn past_text(mut self) -> Option<Self> {
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

/// How many of eight bytes are digits before the first that is none.
#[inline]
fn digits_at_start(bytes: [u8; 8]) -> usize {
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let values = u64::from_le_bytes(bytes) ^ 0x3030_3030_3030_3030;
    // The high bit of a byte is set when its value is over nine. A carry reaches only bytes behind such a one.
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & HIGHS;
    others.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_end_at_any_other_byte() {
        for byte in 0..=u8::MAX {
            for place in 0..8 {
                let mut bytes = *b"09182736";
                bytes[place] = byte;
                let expected = if byte.is_ascii_digit() { 8 } else { place };
                assert_eq!(digits_at_start(bytes), expected, "{byte:#x} at {place}");
                // What follows must not change that.
                bytes[place + 1..].fill(0xFF);
                let behind = if place == 7 { 8 } else { place + 1 };
                assert_eq!(digits_at_start(bytes), if byte.is_ascii_digit() { behind } else { place });
            }
        }
    }
}
