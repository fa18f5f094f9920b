//! Escape sequences of JSON strings. Returns none for a sequence that is invalid or a lone surrogate.

use super::PaddedBytes;
use super::simd::WIDTH;
use super::string_scan::{is_stop, stop_in};

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
#[expect(clippy::inline_always, reason = "runs for every escape: a call would cost as much as the work")]
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
#[expect(clippy::inline_always, reason = "as above")]
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
}
