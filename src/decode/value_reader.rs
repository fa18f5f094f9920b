//! Reads one value of any type for its column.

use super::cursor::Cursor;
use super::{Cell, PaddedBytes, Sink};

/// Reads values.
#[derive(Debug)]
pub(super) struct ValueReader {
    /// Nested brackets of a value.
    pub(super) depth: usize,
    /// Holds a string with escapes.
    pub(super) scratch: PaddedBytes,
}

impl ValueReader {
    /// Reads a value into its column. None if it is invalid or unusual, or if the sink refuses; the sink then has
    /// nothing of it.
    pub(super) fn read_cell<S: Sink>(&mut self, cursor: &mut Cursor, column: usize, sink: &mut S) -> Option<()> {
        // One call of the sink for each type: the compiler then inlines only what that type needs.
        let result = match cursor.token()? {
            b'"' => sink.cell(column, Cell::String(cursor.string(&mut self.scratch)?)),
            b'n' => {
                cursor.expect(b"null")?;
                sink.cell(column, Cell::Null)
            }
            b't' => {
                cursor.expect(b"true")?;
                sink.cell(column, Cell::Bool(true))
            }
            b'f' => {
                cursor.expect(b"false")?;
                sink.cell(column, Cell::Bool(false))
            }
            b'{' | b'[' => {
                let start = *cursor;
                *cursor = start.skip_value(self.depth)?;
                sink.cell(column, Cell::Nested(cursor.text_since(start.at())?))
            }
            _ => sink.cell(column, cursor.number()?),
        };
        result.ok()
    }
}
