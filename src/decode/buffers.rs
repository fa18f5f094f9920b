//! The memory of sinks: strings with space behind them, and buffers that come back when their batch is dropped.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::Bytes32;

/// The least space that is added.
const MIN_SPACE: usize = 1 << 10;

/// Bytes, and the space behind them.
#[derive(Debug, Default)]
pub struct PaddedBytes {
    /// Initialized beyond the length, so that a block is stored without extending it.
    bytes: Vec<u8>,
    length: usize,
}

impl PaddedBytes {
    /// How many bytes were appended.
    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    /// The bytes that were appended.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Appends the first `length` bytes of a block.
    ///
    /// # Panics
    /// If these are all bytes of the block.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every short string")]
    pub fn push_block(&mut self, block: &Bytes32, length: usize) {
        assert!(length < block.len(), "no short string");
        let Some(space) = self.bytes[self.length..].first_chunk_mut() else {
            return self.grow_for_block(block, length);
        };
        *space = *block;
        self.length += length;
    }

    #[cold]
    fn grow_for_block(&mut self, block: &Bytes32, length: usize) {
        self.push(&block[..length]);
    }

    /// Appends any bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.bytes.len() - self.length < bytes.len() {
            self.grow(bytes.len());
        }
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Adds space for `bytes` bytes and a block.
    #[cold]
    fn grow(&mut self, bytes: usize) {
        let needed = self.length + bytes + size_of::<Bytes32>();
        self.bytes.resize(needed.max(2 * self.bytes.len()).max(MIN_SPACE), 0);
    }

    /// Reserves space for `bytes` bytes in all.
    pub fn reserve(&mut self, bytes: usize) {
        if bytes > self.bytes.len() {
            self.bytes.reserve_exact(bytes + size_of::<Bytes32>() - self.bytes.len());
            self.bytes.resize(bytes + size_of::<Bytes32>(), 0);
        }
    }

    /// Drops all but the first bytes.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Goes on in the memory of another vector, unless that is too small.
    pub fn move_into(&mut self, mut other: Vec<u8>) {
        if other.len() >= self.length {
            other[..self.length].copy_from_slice(self.as_slice());
            self.bytes = other;
        }
    }

    /// Takes all bytes, with the space behind them: a vector, and the number of bytes that were appended.
    pub fn take(&mut self) -> (Vec<u8>, usize) {
        (std::mem::take(&mut self.bytes), std::mem::take(&mut self.length))
    }
}

impl io::Write for PaddedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Buffers that are kept. One is filled while the consumer has a second, and a third waits between them.
const MAX_KEPT: usize = 3;

/// Buffers of dropped batches, for the next ones.
#[derive(Debug, Default)]
pub struct BufferPool<T>(Arc<Mutex<Vec<T>>>);

/// The way back to a pool. It does not keep the pool.
#[derive(Debug)]
pub struct PoolHandle<T>(Weak<Mutex<Vec<T>>>);

impl<T> BufferPool<T> {
    /// A buffer of a dropped batch, with what it had.
    pub fn take(&self) -> Option<T> {
        lock(&self.0).pop()
    }

    /// The way back for a buffer.
    pub fn handle(&self) -> PoolHandle<T> {
        PoolHandle(Arc::downgrade(&self.0))
    }
}

impl<T> PoolHandle<T> {
    /// Gives a buffer back, unless the pool is full or was dropped.
    pub fn give_back(&self, buffer: impl FnOnce() -> Option<T>) {
        let Some(pool) = self.0.upgrade() else { return };
        let Some(buffer) = buffer() else { return };
        let mut kept = lock(&pool);
        if kept.len() < MAX_KEPT {
            kept.push(buffer);
        }
    }
}

fn lock<T>(buffers: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    buffers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_are_those_that_were_appended(
            parts in prop::collection::vec((any::<Bytes32>(), 0_usize..80, any::<bool>()), 0..100), reserved in 0_usize..4_000,
            moved in 0_usize..4_000,
        ) {
            let (mut padded, mut expected) = (PaddedBytes::default(), Vec::new());
            padded.reserve(reserved);
            for (block, length, is_undone) in parts {
                let before = padded.len();
                if length < block.len() {
                    padded.push_block(&block, length);
                    expected.extend_from_slice(&block[..length]);
                } else {
                    padded.push(&block.repeat(3)[..length]);
                    expected.extend_from_slice(&block.repeat(3)[..length]);
                }
                if is_undone {
                    padded.truncate(before);
                    expected.truncate(before);
                }
                prop_assert_eq!(padded.len(), expected.len());
            }
            padded.move_into(vec![7; moved]);
            let (bytes, length) = padded.take();
            prop_assert_eq!(&bytes[..length], expected);
            prop_assert_eq!(padded.take(), (Vec::new(), 0));
        }
    }

    #[test]
    fn few_buffers_are_kept_and_none_without_the_pool() {
        let pool = BufferPool::default();
        let handle = pool.handle();
        (0..9).for_each(|number| handle.give_back(|| Some(number)));
        assert_eq!(std::iter::from_fn(|| pool.take()).count(), MAX_KEPT);
        drop(pool);
        let mut is_asked = false;
        handle.give_back(|| {
            is_asked = true;
            None
        });
        assert!(!is_asked);
    }
}
