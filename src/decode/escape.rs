//! Escape sequences of JSON strings. Returns none for a sequence that is invalid or a lone surrogate.

use super::string_scan::first_stop;

/// Unescapes a string and returns the index of its closing quote. `stop` is the index of the first stop byte.
///
/// Returns none for a string that is invalid or incomplete.
pub(super) fn unescape(bytes: &[u8], stop: usize, into: &mut String) -> Option<usize> {
    into.clear();
    into.push_str(std::str::from_utf8(bytes.get(..stop)?).ok()?);
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
                into.push_str(std::str::from_utf8(bytes.get(at..at + plain)?).ok()?);
                at += plain;
            }
        }
    }
}

/// The character of the escape sequence at the first byte, and the length of the sequence.
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

/// The same for what follows `\u`.
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
    // Checking all four at once is quicker than returning at the first that is no digit.
    let values = digits.map(|digit| char::from(digit).to_digit(16).unwrap_or(16));
    let number = values.iter().fold(0, |number, value| number << 4 | value);
    values.iter().all(|value| *value < 16).then_some(number)
}
