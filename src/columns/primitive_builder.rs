//! Builds arrays of values of a fixed width.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;

use super::nulls::Nulls;

/// Values, with the default for each null.
#[derive(Debug, Default)]
pub(super) struct PrimitiveBuilder<T> {
    cells: Vec<T>,
    nulls: Nulls,
    /// Length of the last array.
    last_size: usize,
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
        self.cells.reserve_exact(self.last_size.saturating_sub(self.cells.len()));
    }

    /// Takes all cells as an array.
    pub(super) fn finish<A: Array + 'static>(&mut self, array: fn(Vec<T>, Option<NullBuffer>) -> A) -> ArrayRef {
        self.last_size = self.cells.len();
        Arc::new(array(std::mem::take(&mut self.cells), self.nulls.finish(self.last_size)))
    }
}
