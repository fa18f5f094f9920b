//! Finds the first stop byte of a JSON string: a quote, a backslash or a control character.

use super::simd::{Bytes32, WIDTH, stops, with_baseline};

/// The index of the first stop byte.
#[inline]
pub(super) fn first_stop(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    while let Some((block, after)) = rest.split_first_chunk::<WIDTH>() {
        let stop = stop_in(block);
        if stop < WIDTH {
            return Some(bytes.len() - rest.len() + stop);
        }
        rest = after;
    }
    let place = rest.iter().position(|byte| is_stop(*byte))?;
    Some(bytes.len() - rest.len() + place)
}

/// The index of the first stop byte of a block, or its length.
#[inline]
pub(super) fn stop_in(block: &Bytes32) -> usize {
    with_baseline!(simd => stops(simd, block)).trailing_zeros() as usize
}

pub(super) fn is_stop(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | ..=0x1F)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::simd::{stops_and_non_ascii, with_widest};

    #[test]
    fn every_byte_is_classified_at_every_index() {
        for byte in 0..=u8::MAX {
            for place in 0..72 {
                let mut bytes = [b'x'; 73];
                bytes[place] = byte;
                assert_eq!(first_stop(&bytes), is_stop(byte).then_some(place), "{byte:#x} at {place}");
            }
            for place in 0..WIDTH {
                let mut block = [b'!'; WIDTH];
                block[place] = byte;
                let expected = if is_stop(byte) || !byte.is_ascii() { 1 << place } else { 0 };
                let found = with_widest!(simd => stops_and_non_ascii(simd, &block));
                assert_eq!(found, expected, "{byte:#x} at {place}");
                assert_eq!(with_baseline!(simd => stops_and_non_ascii(simd, &block)), expected, "{byte:#x} at {place}");
            }
        }
    }

    #[test]
    fn finds_the_first_of_several_stops() {
        for first in 0..=u8::MAX {
            for second in 0..=u8::MAX {
                let mut bytes = [0x80, first, second, 0xFF].repeat(10);
                bytes.push(b'"');
                assert_eq!(first_stop(&bytes), bytes.iter().position(|byte| is_stop(*byte)), "{first:#x} {second:#x}");
            }
        }
    }
}
