//! A key as the loop over expected keys compares it.

use super::seen::Seen;
use super::vector::{Block, Simd, WIDTH, same};

/// The mask of the byte before a key as written: a comma, or the brace of the record.
pub(super) const BEFORE: u32 = 1;

/// A known key, as far as the loop over expected keys needs it: small, because the loop reads all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    head: Block,
    /// The bit of its column in [`Seen`]. None for a key that was not requested.
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
    /// `written` begins with the comma, or with the brace of the record. What the loop cannot read matches nothing: a
    /// key that is longer than the head, or one whose column has no bit.
    pub(super) fn new(written: &[u8], column: Option<usize>) -> Self {
        let bit = column.map_or(Some(0), Seen::bit);
        let straight = bit.zip(u8::try_from(written.len()).ok().filter(|length| usize::from(*length) <= WIDTH));
        let column = column.and_then(|column| u8::try_from(column).ok()).unwrap_or_default();
        let Some((bit, length)) = straight else {
            return Self { head: [u8::MAX; WIDTH], bit: 0, free: 0, length: 0, column };
        };
        let mut head = [0; WIDTH];
        if let Some(head) = head.get_mut(..written.len()) {
            head.copy_from_slice(written);
        }
        if let Some(first) = head.first_mut() {
            *first = b',';
        }
        let free = u32::MAX.checked_shl(length.into()).unwrap_or_default();
        Self { head, bit, free, length, column }
    }

    /// The key as written, without the byte before it. None if the loop cannot read it.
    pub(super) fn key(&self) -> Option<&[u8]> {
        self.head.get(1..usize::from(self.length))
    }

    /// Whether a block begins with the key. `ignored` has a bit for each byte that is not compared.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every key: a call would cost as much as the work")]
    pub(super) fn begins<V: Simd>(&self, simd: V, block: &Block, ignored: u32) -> bool {
        same(simd, &self.head, block) | self.free | ignored == u32::MAX
    }
}
