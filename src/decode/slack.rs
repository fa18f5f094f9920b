//! Where sinks put strings: bytes with space behind them, so that a short string is stored as a whole block, whose rest
//! the next string overwrites.

use std::io;

use super::Block;

/// The least space that is added.
const MIN_SPACE: usize = 1 << 10;

/// Bytes, and the space behind them.
#[derive(Debug, Default)]
pub struct SlackBytes {
    /// Initialized beyond the length, so that a block is stored without extending it.
    bytes: Vec<u8>,
    length: usize,
}

impl SlackBytes {
    /// How many bytes were appended.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether nothing was appended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Some of the bytes that were appended.
    #[inline]
    #[must_use]
    pub fn get(&self, start: usize, length: usize) -> Option<&[u8]> {
        self.bytes.get(..self.length)?.get(start..start + length)
    }

    /// Appends the first `length` bytes of a block, fewer than all.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every short string")]
    pub fn push_block(&mut self, block: &Block, length: usize) {
        let Some(space) = self.bytes.get_mut(self.length..) else { return };
        let Some(space) = space.first_chunk_mut() else { return self.grow_for_block(block, length) };
        *space = *block;
        self.length += length % block.len();
    }

    #[cold]
    fn grow_for_block(&mut self, block: &Block, length: usize) {
        self.push(block.get(..length).unwrap_or(block));
    }

    /// Appends any bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.bytes.len() - self.length < bytes.len() {
            self.grow(bytes.len());
        }
        if let Some(space) = self.bytes.get_mut(self.length..self.length + bytes.len()) {
            space.copy_from_slice(bytes);
            self.length += bytes.len();
        }
    }

    /// Adds space for so many bytes and a block more.
    #[cold]
    fn grow(&mut self, bytes: usize) {
        let needed = self.length + bytes + size_of::<Block>();
        self.bytes.resize(needed.max(2 * self.bytes.len()).max(MIN_SPACE), 0);
    }

    /// Reserves space for so many bytes in all.
    pub fn reserve(&mut self, bytes: usize) {
        if bytes > self.bytes.len() {
            self.bytes.reserve_exact(bytes + size_of::<Block>() - self.bytes.len());
            self.bytes.resize(bytes + size_of::<Block>(), 0);
        }
    }

    /// Drops all but the first bytes.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Goes on in the memory of another vector, unless that is too small.
    pub fn move_into(&mut self, mut other: Vec<u8>) {
        let kept = self.bytes.get(..self.length).unwrap_or_default();
        if let Some(space) = other.get_mut(..kept.len()) {
            space.copy_from_slice(kept);
            self.bytes = other;
        }
    }

    /// Takes all bytes, with the space behind them: a vector, and how many of its bytes count.
    pub fn take(&mut self) -> (Vec<u8>, usize) {
        (std::mem::take(&mut self.bytes), std::mem::take(&mut self.length))
    }
}

impl io::Write for SlackBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_are_those_that_were_appended(
            parts in prop::collection::vec((any::<Block>(), 0_usize..80, any::<bool>()), 0..100), reserved in 0_usize..4_000,
            moved in 0_usize..4_000,
        ) {
            let (mut slack, mut expected) = (SlackBytes::default(), Vec::new());
            slack.reserve(reserved);
            for (block, length, is_undone) in parts {
                let before = slack.len();
                if length < block.len() {
                    slack.push_block(&block, length);
                    expected.extend_from_slice(&block[..length]);
                } else {
                    slack.push(&block.repeat(3)[..length]);
                    expected.extend_from_slice(&block.repeat(3)[..length]);
                }
                if is_undone {
                    slack.truncate(before);
                    expected.truncate(before);
                }
                prop_assert_eq!(slack.len(), expected.len());
            }
            slack.move_into(vec![7; moved]);
            let (bytes, length) = slack.take();
            prop_assert_eq!(&bytes[..length], expected);
            prop_assert_eq!(slack.take(), (Vec::new(), 0));
        }
    }
}
