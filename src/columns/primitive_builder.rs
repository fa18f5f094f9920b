//! Builds arrays of values of a fixed width.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::{ArrowNativeType, NullBuffer, ScalarBuffer};

use super::lent::lend;
use super::nulls::Nulls;
use crate::decode::BufferPool;

/// Values, with the default for each null.
#[derive(Debug, Default)]
pub(super) struct PrimitiveBuilder<T> {
    cells: Vec<T>,
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

    pub(super) fn as_slice(&self) -> &[T] {
        &self.cells
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
    /// Takes all cells as an array. The memory of all but the last comes back.
    pub(super) fn finish<A: Array + 'static>(
        &mut self,
        is_last: bool,
        array: fn(ScalarBuffer<T>, Option<NullBuffer>) -> A,
    ) -> ArrayRef {
        let (cells, nulls) = self.take();
        let values = if is_last { cells.into() } else { lend(&self.pool, cells).into() };
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
