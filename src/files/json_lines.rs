//! Rows as JSON Lines: one object per line, with the wire values, but for strings that the caller writes in another way.

use std::collections::HashMap;
use std::io::Write;

use super::Writer;
use super::atomic::Complete;
use super::output::Output;
use crate::cells::{Block, Cell};
use crate::error::Result;

/// The string in place of another one of the column with an index. None leaves it.
type Instead = dyn Fn(usize, &Cell<'_>) -> Option<String> + Send;

/// The strings that are written in place of some values.
pub struct Rewrite(pub Box<Instead>);

/// Writes rows as objects whose first keys are the attributes, in their order.
pub struct JsonLines {
    file: Output,
    /// Each attribute as a JSON string, followed by its colon.
    keys: Vec<Vec<u8>>,
    /// The lines of a block; a buffer that is used again for each block.
    lines: Vec<u8>,
    rewrite: Option<Rewrite>,
}

impl JsonLines {
    /// Begins a file whose rows have these attributes as their first keys.
    pub fn new(file: Output, attributes: &[String]) -> Result<Self> {
        let mut keys = Vec::with_capacity(attributes.len());
        for attribute in attributes {
            let mut key = Vec::new();
            push_string(&mut key, attribute).map_err(|cause| file.to_error(cause))?;
            key.push(b':');
            keys.push(key);
        }
        Ok(Self { file, keys, lines: Vec::new(), rewrite: None })
    }

    /// The same file with strings in place of some values.
    #[must_use]
    pub fn with_texts(self, rewrite: Rewrite) -> Self {
        Self { rewrite: Some(rewrite), ..self }
    }

    fn push(&mut self, block: &Block) -> serde_json::Result<()> {
        let mut cursor = 0;
        for row in 0..block.rows() {
            let mut separator = b'{';
            for (column, (cell, key)) in block.row(row).zip(&self.keys).enumerate() {
                self.lines.push(std::mem::replace(&mut separator, b','));
                self.lines.extend_from_slice(key);
                let text = self.rewrite.as_ref().and_then(|Rewrite(rewrite)| rewrite(column, &cell));
                push_cell(&mut self.lines, text.as_deref().map_or(cell, Cell::String))?;
            }
            let extras: Vec<_> = block.extras(row, &mut cursor).collect();
            // A key that occurs twice keeps its last value, as in a dict.
            let mut values: HashMap<_, _> = extras.iter().copied().collect();
            for (name, _) in extras {
                if let Some(json) = values.remove(name) {
                    self.lines.push(std::mem::replace(&mut separator, b','));
                    push_string(&mut self.lines, name)?;
                    self.lines.push(b':');
                    push_json(&mut self.lines, json);
                }
            }
            self.lines.extend_from_slice(if separator == b'{' { b"{}\n" } else { b"}\n" });
        }
        Ok(())
    }
}

impl Writer for JsonLines {
    type Batch = Block;

    fn write(&mut self, block: &Block) -> Result<()> {
        self.lines.clear();
        self.push(block).map_err(|cause| self.file.to_error(cause))?;
        self.file.write_all(&self.lines).map_err(|cause| self.file.to_error(cause))
    }

    fn finish(mut self) -> Result<Complete> {
        self.file.finish()
    }
}

fn push_cell(out: &mut Vec<u8>, cell: Cell) -> serde_json::Result<()> {
    match cell {
        Cell::Null => out.extend_from_slice(b"null"),
        Cell::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Cell::Integer(number) | Cell::Number(number) => out.extend_from_slice(number.as_bytes()),
        Cell::String(text) => push_string(out, text)?,
        Cell::Nested(json) => push_json(out, json),
    }
    Ok(())
}

pub(super) fn push_string(out: &mut Vec<u8>, text: &str) -> serde_json::Result<()> {
    serde_json::to_writer(out, text)
}

/// Valid JSON may span several lines, but its strings hold no unescaped line breaks.
pub(super) fn push_json(out: &mut Vec<u8>, json: &str) {
    out.extend(json.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')));
}
