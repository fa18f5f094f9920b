//! Builds arrays of values of a fixed width, with what all builders share: the validity bitmap, and memory that comes back.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use bytes::Bytes;

use crate::decode::{BufferPool, PoolHandle};

/// Values, with the default for each null.
#[derive(Debug, Default)]
pub(super) struct PrimitiveBuilder<T> {
    pub(super) cells: Vec<T>,
    nulls: Nulls,
    /// Length of the last array.
    last_size: usize,
    pool: BufferPool<Vec<T>>,
}

impl<T: Copy + Default> PrimitiveBuilder<T> {
    /// Appends a value. Returns false if there is none.
    #[inline]
    pub(super) fn push(&mut self, value: Option<T>) -> bool {
        value.map(|value| self.cells.push(value)).is_some()
    }

    #[inline]
    pub(super) fn push_null(&mut self) -> bool {
        self.nulls.push(self.cells.len());
        self.push(Some(T::default()))
    }

    /// Drops all but the first cells.
    pub(super) fn truncate(&mut self, cells: usize) {
        self.cells.truncate(cells);
        self.nulls.truncate(cells);
    }

    /// Reserves memory for an array as long as the last.
    pub(super) fn reserve(&mut self) {
        if let Some(mut cells) = self.pool.take() {
            cells.clear();
            cells.extend_from_slice(&self.cells);
            self.cells = cells;
        }
        self.cells.reserve_exact(self.last_size.saturating_sub(self.cells.len()));
    }

    /// The same cells with other values.
    pub(super) fn mapped<U: Copy + Default>(&mut self, map: impl Fn(T) -> U) -> PrimitiveBuilder<U> {
        let cells = self.cells.iter().copied().map(map).collect();
        let nulls = std::mem::take(&mut self.nulls);
        PrimitiveBuilder { cells, nulls, last_size: self.last_size, pool: BufferPool::default() }
    }

    fn take(&mut self) -> (Vec<T>, Option<NullBuffer>) {
        self.last_size = self.cells.len();
        (std::mem::take(&mut self.cells), self.nulls.finish(self.last_size))
    }
}

impl<T: ArrowNativeType + Default> PrimitiveBuilder<T> {
    /// Takes all cells and their nulls. The memory of all but the last comes back.
    pub(super) fn finish_values(&mut self, is_last: bool) -> (ScalarBuffer<T>, Option<NullBuffer>) {
        let (cells, nulls) = self.take();
        (if is_last { cells.into() } else { lend(&self.pool, cells).into() }, nulls)
    }

    /// The same as an array.
    pub(super) fn finish<A: Array + 'static>(
        &mut self,
        is_last: bool,
        array: fn(ScalarBuffer<T>, Option<NullBuffer>) -> A,
    ) -> ArrayRef {
        let (values, nulls) = self.finish_values(is_last);
        Arc::new(array(values, nulls))
    }
}

impl PrimitiveBuilder<bool> {
    /// Takes all cells as an array, with a bit for each.
    pub(super) fn finish_bits(&mut self) -> ArrayRef {
        let (cells, nulls) = self.take();
        Arc::new(BooleanArray::new(cells.into(), nulls))
    }
}

/// The nulls among the cells of a column. Unlike Arrow's builder, they take no work for cells with values.
#[derive(Debug, Default)]
pub(super) struct Nulls {
    /// A bit for each cell up to the last null, set for a null.
    words: Vec<u64>,
}

impl Nulls {
    /// Marks the cell at this index.
    #[inline]
    pub(super) fn push(&mut self, index: usize) {
        match self.words.get_mut(index / 64) {
            Some(word) => *word |= 1 << (index % 64),
            None => self.grow(index),
        }
    }

    /// Marks a cell behind those that have bits.
    #[cold]
    fn grow(&mut self, index: usize) {
        self.words.resize(index / 64, 0);
        self.words.push(1 << (index % 64));
    }

    /// Keeps only the first `cells` cells.
    pub(super) fn truncate(&mut self, cells: usize) {
        self.words.truncate(cells.div_ceil(64));
        if let Some(last) = self.words.get_mut(cells / 64) {
            *last &= (1 << (cells % 64)) - 1;
        }
    }

    /// Takes the bitmap of the first `cells` cells. None when all of them have values.
    pub(super) fn finish(&mut self, cells: usize) -> Option<NullBuffer> {
        if self.words.iter().all(|word| *word == 0) {
            self.words.clear();
            return None;
        }
        self.words.resize(cells.div_ceil(64), 0);
        // Arrow's bitmap is little-endian and marks the cells with values.
        let valid: Vec<u64> = self.words.drain(..).map(|word| (!word).to_le()).collect();
        Some(NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(valid), 0, cells)))
    }
}

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
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nulls_are_where_they_were_marked(
            batches in prop::collection::vec((prop::collection::vec(any::<bool>(), 0..300), 0_usize..300, any::<bool>()), 1..4)
        ) {
            let mut nulls = Nulls::default();
            for (mut cells, keep, again) in batches {
                let mark = |nulls: &mut Nulls, from: usize| {
                    let marked = cells.iter().enumerate().skip(from).filter(|(_, is_null)| **is_null);
                    marked.for_each(|(index, _)| nulls.push(index));
                };
                mark(&mut nulls, 0);
                nulls.truncate(keep);
                if again {
                    mark(&mut nulls, keep);
                } else {
                    cells.iter_mut().skip(keep).for_each(|is_null| *is_null = false);
                }
                let found: Option<Vec<bool>> =
                    nulls.finish(cells.len()).map(|nulls| nulls.iter().map(|is_valid| !is_valid).collect());
                prop_assert_eq!(found, Some(cells).filter(|cells| cells.contains(&true)));
            }
        }
    }

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
