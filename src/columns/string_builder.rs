//! Texts on their way into an array, in either of the two forms that Arrow has for them.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray, StringViewArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};

use super::batch::defect;
use super::json::{push_compact, push_quoted};
use super::nulls::Nulls;
use crate::error::Result;

/// Texts, one behind the other.
#[derive(Debug)]
pub(super) struct StringBuilder {
    written: String,
    /// Where each ends, behind a zero.
    ends: Vec<i32>,
    nulls: Nulls,
    /// So many cells and bytes were in the last array.
    last_len: (usize, usize),
    /// Whether they become views.
    views: bool,
}

impl StringBuilder {
    pub(super) fn new(views: bool) -> Self {
        Self { written: String::new(), ends: vec![0], nulls: Nulls::default(), last_len: (0, 0), views }
    }

    #[inline]
    pub(super) fn push(&mut self, text: &str) {
        self.written.push_str(text);
        self.end_cell();
    }

    #[inline]
    pub(super) fn push_null(&mut self) {
        self.nulls.push(self.len());
        self.end_cell();
    }

    #[inline]
    fn end_cell(&mut self) {
        // Beyond that, there is no array at the end.
        self.ends.push(i32::try_from(self.written.len()).unwrap_or(i32::MAX));
    }

    /// A text as JSON has it.
    pub(super) fn push_quoted(&mut self, text: &str) {
        push_quoted(&mut self.written, text);
        self.end_cell();
    }

    /// Checked JSON without white space.
    pub(super) fn push_compact(&mut self, json: &str) {
        push_compact(&mut self.written, json);
        self.end_cell();
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Whether they become views.
    pub(super) fn views(&self) -> bool {
        self.views
    }

    /// Forgets all but the first cells.
    pub(super) fn truncate(&mut self, cells: usize) {
        self.ends.truncate(cells + 1);
        self.written.truncate(self.ends.last().map_or(0, |end| usize::try_from(*end).unwrap_or_default()));
        self.nulls.truncate(cells);
    }

    /// Makes room for an array as large as the last.
    pub(super) fn reserve(&mut self) {
        let (cells, bytes) = self.last_len;
        self.ends.reserve_exact((cells + 1).saturating_sub(self.ends.len()));
        // The next texts may be a little longer.
        self.written.reserve_exact((bytes + bytes / 8).saturating_sub(self.written.len()));
    }

    /// The array of all texts; the builder begins anew.
    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        self.last_len = (self.len(), self.written.len());
        let nulls = self.nulls.finish(self.len());
        let (bytes, ends) =
            (std::mem::take(&mut self.written).into_bytes(), std::mem::replace(&mut self.ends, vec![0]));
        if i32::try_from(bytes.len()).is_err() {
            return Err(defect("a batch has texts of over 2 GiB"));
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        let texts = StringArray::try_new(offsets, Buffer::from_vec(bytes), nulls)
            .map_err(|error| defect("texts make no array").with_source(error))?;
        Ok(if self.views { Arc::new(StringViewArray::from(&texts)) } else { Arc::new(texts) })
    }
}
