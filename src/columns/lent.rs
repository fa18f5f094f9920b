//! Buffers of Arrow whose memory goes back to a pool when the last reader is gone.

use arrow_buffer::{ArrowNativeType, Buffer};
use bytes::Bytes;

use crate::decode::{BufferPool, PoolHandle};

/// A buffer of these values. Its memory comes back, unless the pool is dropped before.
pub(super) fn lend<T: ArrowNativeType>(pool: &BufferPool<Vec<T>>, values: Vec<T>) -> Buffer {
    let lent = Lent { buffer: Buffer::from_vec(values), pool: pool.handle() };
    Buffer::from(Bytes::from_owner(lent))
}

/// A buffer whose memory goes back to its pool.
struct Lent<T: ArrowNativeType> {
    buffer: Buffer,
    pool: PoolHandle<Vec<T>>,
}

impl<T: ArrowNativeType> AsRef<[u8]> for Lent<T> {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl<T: ArrowNativeType> Drop for Lent<T> {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        self.pool.give_back(|| buffer.into_vec().ok());
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
        let buffer = lend(&pool, values);
        assert_eq!(buffer.typed_data::<i64>(), [1, 2, 3]);
        let slice = buffer.slice_with_length(8, 8);
        drop(buffer);
        assert_eq!(slice.typed_data::<i64>(), [2]);
        assert!(pool.take().is_none(), "still read");
        drop(slice);
        let back = pool.take().expect("a vector");
        assert_eq!((back.as_ptr(), back.as_slice()), (memory, [1, 2, 3].as_slice()));
    }
}
