//! Escapes of JSON texts: one character each, or a surrogate pair. Gives up on whatever is no character.

use super::string_scan::first_stop;

/// Unescapes a text up to its closing quote, whose place is answered. `stop` is the first stop.
///
/// Answers none for a text that is broken or has no end here.
pub(super) fn unescape(text: &str, stop: usize, into: &mut String) -> Option<usize> {
    let bytes = text.as_bytes();
    into.clear();
    into.push_str(text.get(..stop)?);
    let mut at = stop;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => {
                let (character, length) = escaped(bytes.get(at..)?)?;
                into.push(character);
                at += length;
            }
            _ => {
                let plain = first_stop(bytes.get(at..)?).filter(|plain| *plain > 0)?;
                into.push_str(text.get(at..at + plain)?);
                at += plain;
            }
        }
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
    // Sixteen or more is no digit. Looking once at all of them is quicker than at each.
    let values = digits.map(|digit| char::from(digit).to_digit(16).unwrap_or(16));
    let number = values.iter().fold(0, |number, value| number << 4 | value);
    values.iter().all(|value| *value < 16).then_some(number)
}
