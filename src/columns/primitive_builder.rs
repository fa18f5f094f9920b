//! Values of a fixed width on their way into an array.

use arrow_buffer::NullBuffer;

use super::nulls::Nulls;

/// Values, with a zero of their type for each null.
#[derive(Debug, Default)]
pub(super) struct PrimitiveBuilder<T> {
    cells: Vec<T>,
    nulls: Nulls,
    /// So many were in the last array.
    last_len: usize,
}

impl<T: Copy + Default> PrimitiveBuilder<T> {
    #[inline]
    pub(super) fn push(&mut self, value: T) {
        self.cells.push(value);
    }

    #[inline]
    pub(super) fn push_null(&mut self) {
        self.nulls.push(self.cells.len());
        self.cells.push(T::default());
    }

    pub(super) fn as_slice(&self) -> &[T] {
        &self.cells
    }

    /// Forgets all but the first cells.
    pub(super) fn truncate(&mut self, cells: usize) {
        self.cells.truncate(cells);
        self.nulls.truncate(cells);
    }

    /// Makes room for an array as long as the last.
    pub(super) fn reserve(&mut self) {
        self.cells.reserve_exact(self.last_len.saturating_sub(self.cells.len()));
    }

    /// All cells; begins anew.
    pub(super) fn finish(&mut self) -> (Vec<T>, Option<NullBuffer>) {
        self.last_len = self.cells.len();
        (std::mem::take(&mut self.cells), self.nulls.finish(self.last_len))
    }
}
