//! Values of a fixed width on their way into an array.

use arrow::buffer::NullBuffer;

use super::nulls::Nulls;

/// Values, with a zero of their type for each null.
#[derive(Debug, Default)]
pub(super) struct Values<T> {
    values: Vec<T>,
    nulls: Nulls,
    /// So many were in the last array.
    usual: usize,
}

impl<T: Copy + Default> Values<T> {
    #[inline]
    pub(super) fn push(&mut self, value: T) {
        self.values.push(value);
    }

    #[inline]
    pub(super) fn push_null(&mut self) {
        self.nulls.push(self.values.len());
        self.values.push(T::default());
    }

    pub(super) fn as_slice(&self) -> &[T] {
        &self.values
    }

    /// Forgets all but the first cells.
    pub(super) fn truncate(&mut self, cells: usize) {
        self.values.truncate(cells);
        self.nulls.truncate(cells);
    }

    /// Makes room for an array as long as the last.
    pub(super) fn reserve(&mut self) {
        self.values.reserve_exact(self.usual.saturating_sub(self.values.len()));
    }

    /// All cells; begins anew.
    pub(super) fn finish(&mut self) -> (Vec<T>, Option<NullBuffer>) {
        self.usual = self.values.len();
        (std::mem::take(&mut self.values), self.nulls.finish(self.usual))
    }
}
