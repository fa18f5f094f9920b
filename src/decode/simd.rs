//! Compares blocks of 32 bytes with the SIMD instructions of the processor. The only file that names the SIMD crate.

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
#[expect(clippy::inline_always, reason = "instructions beyond the baseline are inlined into a caller that has them")]
pub(super) fn same<V: Simd>(simd: V, one: &Bytes32, other: &Bytes32) -> u32 {
    mask(u8x32::simd_from(simd, *one).simd_eq(u8x32::simd_from(simd, *other)).to_bitmask())
}

/// The quotes, backslashes and control characters, and all bytes that are not ASCII.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
pub(super) fn stops_and_non_ascii<V: Simd>(simd: V, block: &Bytes32) -> u32 {
    let bytes = u8x32::simd_from(simd, *block);
    // Flipping a bit moves the quote to the end of the control characters. What is not ASCII is negative.
    let flipped: i8x32<V> = (bytes ^ u8x32::splat(simd, 2)).bitcast();
    let low = flipped.simd_lt(i8x32::splat(simd, 0x21));
    mask((low | bytes.simd_eq(u8x32::splat(simd, b'\\'))).to_bitmask())
}

/// The quotes, backslashes and control characters.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
pub(super) fn stops<V: Simd>(simd: V, block: &Bytes32) -> u32 {
    let signed: i8x32<V> = u8x32::simd_from(simd, *block).bitcast();
    stops_and_non_ascii(simd, block) & !mask(signed.simd_lt(i8x32::splat(simd, 0)).to_bitmask())
}

/// A mask of 32 bits.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
#[expect(clippy::cast_possible_truncation, reason = "a block has 32 bytes")]
fn mask(bits: u64) -> u32 {
    bits as u32
}
