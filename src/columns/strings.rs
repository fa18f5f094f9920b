//! Builds arrays of strings, in either of Arrow's layouts, and of values as compact JSON.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray, StringViewArray};
use arrow_buffer::{Buffer, OffsetBuffer};

use super::primitives::{Nulls, PrimitiveBuilder, lend};
use crate::decode::{BufferPool, Bytes32, Cell, PaddedBytes, is_blank, parts};
use crate::error::{Result, defect};

/// Strings in one buffer.
#[derive(Debug, Default)]
pub(super) struct StringBuilder {
    bytes: PaddedBytes,
    /// A zero, then the end of each string.
    ends: PrimitiveBuilder<i32>,
    nulls: Nulls,
    /// Bytes of the last array.
    last_size: usize,
    pool: BufferPool<Vec<u8>>,
    /// Whether to build views (`Utf8View`).
    views: bool,
}

impl StringBuilder {
    pub(super) fn new(views: bool) -> Self {
        let mut this = Self { views, ..Self::default() };
        this.ends.push(Some(0));
        this
    }

    #[inline]
    pub(super) fn push(&mut self, text: &str) -> bool {
        self.bytes.push(text.as_bytes());
        self.end_cell()
    }

    /// Appends the first `length` bytes of a block, which are ASCII.
    #[inline]
    pub(super) fn push_short(&mut self, text: &Bytes32, length: usize) -> bool {
        self.bytes.push_block(text, length);
        self.end_cell()
    }

    #[inline]
    pub(super) fn push_null(&mut self) -> bool {
        self.nulls.push(self.len());
        self.end_cell()
    }

    /// Always true: a string builder takes every cell.
    #[inline]
    fn end_cell(&mut self) -> bool {
        // `finish` refuses an array beyond the limit.
        self.ends.push(Some(i32::try_from(self.bytes.len()).unwrap_or(i32::MAX)))
    }

    /// Appends a string as JSON.
    pub(super) fn push_quoted(&mut self, text: &str) -> bool {
        // Writing to memory does not fail.
        let _written = serde_json::to_writer(&mut self.bytes, text);
        self.end_cell()
    }

    /// Appends a cell as compact JSON.
    pub(super) fn push_json(&mut self, cell: Cell) -> bool {
        match cell {
            Cell::Null => self.push("null"),
            Cell::Bool(value) => self.push(if value { "true" } else { "false" }),
            Cell::Integer(number) | Cell::Number(number) => self.push(number),
            Cell::String(text) => self.push_quoted(text),
            Cell::Nested(json) => {
                push_compact(&mut self.bytes, json);
                self.end_cell()
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.cells.len() - 1
    }

    pub(super) fn truncate(&mut self, cells: usize) {
        self.ends.truncate(cells + 1);
        self.bytes.truncate(self.ends.cells[self.len()].unsigned_abs() as usize);
        self.nulls.truncate(cells);
    }

    /// Reserves memory for an array as large as the last.
    pub(super) fn reserve(&mut self) {
        self.ends.reserve();
        if let Some(bytes) = self.pool.take() {
            self.bytes.move_into(bytes);
        }
        // The next strings may be a little longer.
        self.bytes.reserve(self.last_size + self.last_size / 8);
    }

    /// Takes all cells as an array. The memory of all but the last comes back.
    pub(super) fn finish(&mut self, is_last: bool) -> Result<ArrayRef> {
        let nulls = self.nulls.finish(self.len());
        let ((mut bytes, length), (ends, _)) = (self.bytes.take(), self.ends.finish_values(is_last));
        self.ends.push(Some(0));
        self.last_size = length;
        if i32::try_from(length).is_err() {
            return Err(defect("the strings of a batch take more than 2 GiB"));
        }
        let values = if is_last {
            bytes.truncate(length);
            Buffer::from_vec(bytes)
        } else {
            lend(&self.pool, bytes).slice_with_length(0, length)
        };
        let strings = StringArray::try_new(OffsetBuffer::new(ends), values, nulls)
            .map_err(|error| defect("cannot build the string array").with_source(error))?;
        Ok(if self.views { Arc::new(StringViewArray::from(&strings)) } else { Arc::new(strings) })
    }
}

/// Appends valid JSON without the white space between its tokens. Everything else stays as written.
fn push_compact(out: &mut PaddedBytes, json: &str) {
    for (is_string, part) in parts(json.as_bytes()) {
        part.split(|byte| !is_string && is_blank(*byte)).for_each(|tokens| out.push(tokens));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn compact(json: &str) -> String {
        let mut out = PaddedBytes::default();
        out.push(b"before");
        push_compact(&mut out, json);
        let (mut bytes, length) = out.take();
        bytes.truncate(length);
        let out = String::from_utf8(bytes).expect("UTF-8");
        out.strip_prefix("before").expect("what was there stays").to_owned()
    }

    fn token() -> impl Strategy<Value = String> {
        prop_oneof!["[\\[\\]{}:,]", "1\\.50|-0|null", r#""([ \t{}:,a]|\\["\\n]|\\u00e9|é){0,40}""#]
    }

    proptest! {
        #[test]
        fn only_white_space_between_tokens_goes(
            tokens in prop::collection::vec((token(), "[ \t\r\n]{0,3}"), 0..20),
        ) {
            let spaced: String = tokens.iter().flat_map(|(token, blanks)| [token.as_str(), blanks]).collect();
            let expected: String = tokens.iter().map(|(token, _)| token.as_str()).collect();
            prop_assert_eq!(compact(&spaced), expected);
        }
    }
}
