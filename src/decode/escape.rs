//! Escapes of JSON texts: one character each, or a surrogate pair. Gives up on whatever is no character.

use super::stops::first_stop;

/// Unescapes from the first byte of a text to its closing quote, whose place is answered. `stop` is the first stop.
///
/// Answers none for a text that is broken or has no end here.
pub(super) fn unescape(text: &str, start: usize, stop: usize, into: &mut String) -> Option<usize> {
    into.clear();
    let (mut start, mut stop) = (start, stop);
    loop {
        if start < stop {
            into.push_str(text.get(start..stop)?);
        }
        let rest = text.as_bytes().get(stop..)?;
        if let Some(b'"') = rest.first() {
            return Some(stop);
        }
        let (character, length) = escaped(rest)?;
        into.push(character);
        start = stop + length;
        stop = start + first_stop(text.as_bytes().get(start..)?)?;
    }
}

/// The character that is escaped at the first byte, and the bytes it takes.
#[inline]
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

/// What follows a `\u`.
#[inline]
fn unicode(bytes: &[u8]) -> Option<(char, usize)> {
    let first = hexadecimal(bytes)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 6));
    }
    let [_, _, _, _, b'\\', b'u', rest @ ..] = bytes else { return None };
    let units = [first, hexadecimal(rest)?].map(|unit| u16::try_from(unit).unwrap_or_default());
    let character = char::decode_utf16(units).next()?.ok()?;
    Some((character, 12))
}

#[inline]
fn hexadecimal(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.first_chunk::<4>()?;
    digits.iter().try_fold(0, |number, digit| Some(number << 4 | char::from(*digit).to_digit(16)?))
}
