//! Rows as JSON Lines: an object a line, with the values of the wire as they are in rows.

use std::collections::HashMap;
use std::io::Write;

use super::Writer;
use super::atomic::AtomicFile;
use super::written::Written;
use crate::cells::{Block, Cell};
use crate::error::Result;

/// Writes rows whose first keys are these attributes.
#[derive(Debug)]
pub struct JsonLines {
    file: AtomicFile,
    /// Each in quotes, with its colon.
    keys: Vec<Vec<u8>>,
    /// The lines of a block, made before they are written.
    lines: Vec<u8>,
}

impl JsonLines {
    /// A file of rows whose first keys are these attributes, in this order.
    ///
    /// # Errors
    /// None for names that are texts.
    pub fn new(file: AtomicFile, attributes: &[String]) -> Result<Self> {
        let mut keys = Vec::with_capacity(attributes.len());
        for attribute in attributes {
            let mut key = Vec::new();
            push_text(&mut key, attribute).map_err(|cause| file.told(cause))?;
            key.push(b':');
            keys.push(key);
        }
        Ok(Self { file, keys, lines: Vec::new() })
    }

    fn push(&mut self, block: &Block) -> serde_json::Result<()> {
        let mut cursor = 0;
        for row in 0..block.rows() {
            let mut separator = b'{';
            for (cell, key) in block.row(row).zip(&self.keys) {
                self.lines.push(std::mem::replace(&mut separator, b','));
                self.lines.extend_from_slice(key);
                push_cell(&mut self.lines, cell)?;
            }
            let extras: Vec<_> = block.extras(row, &mut cursor).collect();
            // A key that stands twice has its last value, as in a dict.
            let mut values: HashMap<_, _> = extras.iter().copied().collect();
            for (name, _) in extras {
                if let Some(json) = values.remove(name) {
                    self.lines.push(std::mem::replace(&mut separator, b','));
                    push_text(&mut self.lines, name)?;
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
        self.push(block).map_err(|cause| self.file.told(cause))?;
        self.file.write_all(&self.lines).map_err(|cause| self.file.told(cause))
    }

    fn finish(self) -> Result<Written> {
        self.file.finish()
    }
}

fn push_cell(out: &mut Vec<u8>, cell: Cell) -> serde_json::Result<()> {
    match cell {
        Cell::Null => out.extend_from_slice(b"null"),
        Cell::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Cell::Integer(number) | Cell::Number(number) => out.extend_from_slice(number.as_bytes()),
        Cell::String(text) => push_text(out, text)?,
        Cell::Nested(json) => push_json(out, json),
    }
    Ok(())
}

fn push_text(out: &mut Vec<u8>, text: &str) -> serde_json::Result<()> {
    serde_json::to_writer(out, text)
}

/// Checked JSON may stand on several lines. Its texts hold no line breaks that are not escaped.
fn push_json(out: &mut Vec<u8>, json: &str) {
    out.extend(json.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')));
}
