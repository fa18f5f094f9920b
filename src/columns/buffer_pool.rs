//! Memory that is used again: the buffers of a batch come back when the batch is dropped, so that the next batch needs
//! no new pages.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use arrow_buffer::{ArrowNativeType, Buffer};
use bytes::Bytes;

/// Vectors that are kept. One is filled while the consumer has a second, and a third waits between them.
const MAX_VECTORS: usize = 3;

type Vectors<T> = Mutex<Vec<Vec<T>>>;

/// Vectors of dropped batches, for one column.
#[derive(Debug)]
pub(super) struct BufferPool<T>(Arc<Vectors<T>>);

impl<T> Default for BufferPool<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> BufferPool<T> {
    /// A vector of a dropped batch, with the values that it had.
    pub(super) fn take(&self) -> Option<Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

impl<T: ArrowNativeType> BufferPool<T> {
    /// A buffer of these values. Its memory comes back, unless the pool is dropped before.
    pub(super) fn lend(&self, values: Vec<T>) -> Buffer {
        let lent = Lent { buffer: Buffer::from_vec(values), pool: Arc::downgrade(&self.0) };
        Buffer::from(Bytes::from_owner(lent))
    }
}

/// A buffer whose memory goes back to its pool.
struct Lent<T: ArrowNativeType> {
    buffer: Buffer,
    pool: Weak<Vectors<T>>,
}

impl<T: ArrowNativeType> AsRef<[u8]> for Lent<T> {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl<T: ArrowNativeType> Drop for Lent<T> {
    fn drop(&mut self) {
        let Some(vectors) = self.pool.upgrade() else { return };
        if let Ok(vector) = std::mem::take(&mut self.buffer).into_vec() {
            let mut vectors = vectors.lock().unwrap_or_else(PoisonError::into_inner);
            if vectors.len() < MAX_VECTORS {
                vectors.push(vector);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_when_the_last_reader_is_gone() {
        let pool = BufferPool::default();
        let values = vec![1_i64, 2, 3];
        let memory = values.as_ptr();
        let buffer = pool.lend(values);
        assert_eq!(buffer.typed_data::<i64>(), [1, 2, 3]);
        let slice = buffer.slice_with_length(8, 8);
        drop(buffer);
        assert_eq!(slice.typed_data::<i64>(), [2]);
        assert!(pool.take().is_none(), "still read");
        drop(slice);
        let back = pool.take().expect("a vector");
        assert_eq!((back.as_ptr(), back.as_slice()), (memory, [1, 2, 3].as_slice()));
    }

    #[test]
    fn few_vectors_are_kept_and_none_without_the_pool() {
        let pool = BufferPool::default();
        let lent: Vec<_> = (0..9).map(|value| pool.lend(vec![value; 4])).collect();
        let (kept, late) = lent.split_at(8);
        drop(kept.to_vec());
        assert!(pool.take().is_none(), "both are still read");
        let late = late.to_vec();
        drop(lent);
        assert_eq!(std::iter::from_fn(|| pool.take()).count(), MAX_VECTORS);
        drop(pool);
        assert_eq!(late[0].typed_data::<i32>(), [8; 4]);
    }
}
