//! A key as the loop over expected keys compares it.

use super::seen_columns::SeenColumns;
use super::simd::{Bytes32, Simd, WIDTH, same};

/// The mask of the byte before a key as written: a comma, or the brace of the record.
pub(super) const BEFORE: u32 = 1;

/// A known key, as far as the loop over expected keys needs it: small, because the loop reads all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    head: Bytes32,
    /// The bit of its column in [`SeenColumns`].
    pub(super) bit: u64,
    /// A bit for each byte of the head that follows the key.
    free: u32,
    /// Bytes of the key as written, from the comma before it up to its value.
    pub(super) length: u8,
    pub(super) column: u8,
}

/// More than the bytes of any key that the loop reads, and a power of two.
pub(super) const MAX_KEY: u8 = 64;

impl Expected {
    /// `written` begins with the comma, or with the brace of the record. Keys over 32 bytes and columns from 64 on never
    /// match; the general code reads them.
    pub(super) fn new(written: &[u8], column: usize) -> Self {
        Self::matching(written, column).unwrap_or(Self {
            head: [u8::MAX; WIDTH],
            bit: 0,
            free: 0,
            length: 0,
            column: 0,
        })
    }

    fn matching(written: &[u8], column: usize) -> Option<Self> {
        let bit = SeenColumns::bit(column)?;
        let column = u8::try_from(column).ok()?;
        let length = u8::try_from(written.len()).ok()?;
        let mut head = [0; WIDTH];
        head.get_mut(..written.len())?.copy_from_slice(written);
        head[0] = b',';
        // A key as long as the head leaves no byte free.
        let free = u32::MAX.checked_shl(length.into()).unwrap_or(0);
        Some(Self { head, bit, free, length, column })
    }

    /// The key as written, without the byte before it. None if the loop cannot read it.
    pub(super) fn key(&self) -> Option<&[u8]> {
        self.head.get(1..usize::from(self.length))
    }

    /// Whether a block begins with the key. `ignored` has a bit for each byte that is not compared.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every key: a call would cost as much as the work")]
    pub(super) fn begins<V: Simd>(&self, simd: V, block: &Bytes32, ignored: u32) -> bool {
        same(simd, &self.head, block) | self.free | ignored == u32::MAX
    }
}
