//! Finds the first stop byte of a JSON string: a quote, a backslash or a control character.
//!
//! Compares sixteen bytes at a time with SIMD instructions.

use wide::u8x16;

const WIDTH: usize = 16;

/// The index of the first stop byte.
#[inline]
pub(super) fn first_stop(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    while let Some((block, after)) = rest.split_first_chunk::<WIDTH>() {
        let stops = stops(u8x16::new(*block));
        if stops != 0 {
            return Some(bytes.len() - rest.len() + stops.trailing_zeros() as usize);
        }
        rest = after;
    }
    let place = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..=0x1F))?;
    Some(bytes.len() - rest.len() + place)
}

/// A bitmask of the stop bytes.
#[inline]
fn stops(bytes: u8x16) -> u32 {
    let quotes = bytes.simd_eq(u8x16::splat(b'"'));
    let backslashes = bytes.simd_eq(u8x16::splat(b'\\'));
    let controls = bytes.simd_eq(bytes.min(u8x16::splat(0x1F)));
    (quotes | backslashes | controls).to_bitmask()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_stop(byte: u8) -> bool {
        byte == b'"' || byte == b'\\' || byte < 0x20
    }

    #[test]
    fn every_byte_is_classified_at_every_index() {
        for byte in 0..=u8::MAX {
            for place in 0..40 {
                let mut bytes = [b'x'; 41];
                bytes[place] = byte;
                assert_eq!(first_stop(&bytes), is_stop(byte).then_some(place), "{byte:#x} at {place}");
            }
        }
    }

    #[test]
    fn finds_the_first_of_several_stops() {
        for first in 0..=u8::MAX {
            for second in 0..=u8::MAX {
                let mut bytes = [0x80, first, second, 0xFF].repeat(6);
                bytes.push(b'"');
                assert_eq!(first_stop(&bytes), bytes.iter().position(|byte| is_stop(*byte)), "{first:#x} {second:#x}");
            }
        }
    }
}
