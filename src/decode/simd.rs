//! Finds bytes in blocks of 32 with the SIMD instructions of the processor. The only file that names the SIMD crate.
#![expect(clippy::inline_always, reason = "instructions beyond the baseline are inlined into a caller that has them")]

pub(super) use fearless_simd::{Level, Simd, dispatch};

use fearless_simd::prelude::*;
use fearless_simd::{i8x32, u8x32};

/// Length of [`Bytes32`].
pub(super) const WIDTH: usize = 32;
/// Bytes that are compared at once. A mask has a bit for each byte.
pub type Bytes32 = [u8; WIDTH];

/// Runs an expression with the widest instructions that the decoder has a copy of. Functions that it calls use them
/// only where they are inlined.
macro_rules! with_widest {
    ($simd:ident => $work:expr) => {{
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        let work = match $crate::decode::simd::Level::new().as_avx2() {
            Some($simd) => $crate::decode::simd::Simd::vectorize($simd, #[inline(always)] || $work),
            None => $crate::decode::simd::with_baseline!($simd => $work),
        };
        #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
        let work = $crate::decode::simd::with_baseline!($simd => $work);
        work
    }};
}

/// Runs an expression with the instructions that every processor of the target has, which can be inlined anywhere.
macro_rules! with_baseline {
    ($simd:ident => $work:expr) => {
        $crate::decode::simd::dispatch!($crate::decode::simd::Level::baseline(), $simd => $work)
    };
}

pub(super) use {with_baseline, with_widest};

/// The bytes that are the same in both.
#[inline(always)]
pub(super) fn same<V: Simd>(simd: V, one: &Bytes32, other: &Bytes32) -> u32 {
    mask(u8x32::simd_from(simd, *one).simd_eq(u8x32::simd_from(simd, *other)).to_bitmask())
}

/// The quotes, backslashes and control characters, and all bytes that are not ASCII.
#[inline(always)]
pub(super) fn stops_and_non_ascii<V: Simd>(simd: V, block: &Bytes32) -> u32 {
    let bytes = u8x32::simd_from(simd, *block);
    // Flipping a bit moves the quote to the end of the control characters. What is not ASCII is negative.
    let flipped: i8x32<V> = (bytes ^ u8x32::splat(simd, 2)).bitcast();
    let low = flipped.simd_lt(i8x32::splat(simd, 0x21));
    mask((low | bytes.simd_eq(u8x32::splat(simd, b'\\'))).to_bitmask())
}

/// The quotes, backslashes and control characters.
#[inline(always)]
pub(super) fn stops<V: Simd>(simd: V, block: &Bytes32) -> u32 {
    let signed: i8x32<V> = u8x32::simd_from(simd, *block).bitcast();
    stops_and_non_ascii(simd, block) & !mask(signed.simd_lt(i8x32::splat(simd, 0)).to_bitmask())
}

/// A mask of 32 bits.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a block has 32 bytes")]
fn mask(bits: u64) -> u32 {
    bits as u32
}

/// The index of the first stop byte of a JSON string: a quote, a backslash or a control character.
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
