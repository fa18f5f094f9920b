//! The streaming JSON decoder: takes the bytes of a response in pieces of any size and writes cells into a [`Sink`].
//!
//! No I/O, no Arrow, no Python. `decoder` walks the envelope and buffers only the value that is incomplete. `records`
//! reads records that look like the ones before them, most of their members in one loop. `reference` reads all others
//! with `serde_json` and alone reports what is wrong with a record.
#![expect(clippy::indexing_slicing, reason = "a wrong index is a defect: the caller turns the panic into an error")]

mod buffers;
mod decoder;
mod envelope;
mod keys;
mod records;
mod reference;
mod scanner;
mod simd;
mod value;

use std::sync::Arc;

pub(crate) use buffers::{BufferPool, PaddedBytes, PoolHandle};
pub use decoder::Decoder;
pub(crate) use decoder::too_large;
pub use envelope::{Envelope, Member, NO_DATA, RecordShape};
pub use reference::{BorrowedString, Members};
pub(crate) use reference::{column_type, json_type};
pub use scanner::{JsonSize, has_wide, is_blank, json_size, parts, text_bytes};
pub use simd::Bytes32;
pub use value::integer;

use crate::error::Result;

/// What to decode.
#[derive(Clone, Debug, Default)]
pub struct DecodePlan {
    /// The columns of the records in `data.data`. None for a response without records, whose members are all kept.
    pub columns: Option<Arc<[String]>>,
    /// Records after this many are parsed and dropped.
    pub max_records: Option<u64>,
    /// What the response may hold at most.
    pub limits: Limits,
}

/// Bytes of one number.
const NUMBER: usize = 1_024;

/// What a response may hold at most. `docs/reliability.md` explains the defaults.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the body.
    pub body: u64,
    /// The setting that limits the body, if one does.
    pub body_setting: Option<&'static str>,
    /// Bytes of one record. In a response with records also of a value of the envelope, and of all of them in memory.
    pub record: usize,
    /// Nested brackets, including the brackets of the envelope.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body: 8 << 30, body_setting: None, record: 64 << 20, depth: 128 }
    }
}

/// Why a sink refuses a cell. The decoder adds where the cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeMismatch {
    /// What the column accepts, such as `a 64-bit integer`.
    pub expected: &'static str,
    /// The type for `schema=` that accepts the value, if there is one.
    pub suggested_type: Option<&'static str>,
}

/// The value of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// A null, or an absent key.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without fraction and exponent, as written. It may exceed 64 bits.
    Integer(&'a str),
    /// Any other number, as written. It is finite as a 64-bit float.
    Number(&'a str),
    /// A string, unescaped.
    String(&'a str),
    /// An object or an array, as valid JSON.
    Nested(&'a str),
}

/// Result of writing a cell to a sink.
pub type CellResult = std::result::Result<(), TypeMismatch>;

/// Receives the cells of records.
///
/// For each record the decoder calls [`Sink::cell`] once for each requested column, in any order, [`Sink::extra`] for
/// each key that was not requested, and then [`Sink::end_record`]. It may call [`Sink::undo_record`] instead and then
/// write the same record again. A record with a [`TypeMismatch`] is undone and fails the response.
///
/// [`Sink::short_string`] and [`Sink::short_integer`] are quicker ways to write what is most frequent. A sink may
/// refuse each of them: it then takes nothing, and gets the value as a cell.
pub trait Sink {
    /// Writes a cell.
    fn cell(&mut self, column: usize, cell: Cell) -> CellResult;
    /// Writes a string: the first `length` bytes of `text`, which are ASCII. Those behind them may be anything, so that
    /// a sink can copy the whole block. Returns false if the sink refuses.
    fn short_string(&mut self, _column: usize, _text: &Bytes32, _length: usize) -> bool {
        false
    }
    /// Writes an integer, which is also the first `length` bytes of `written`. Returns false if the sink refuses.
    fn short_integer(&mut self, _column: usize, _integer: i32, _written: &Bytes32, _length: usize) -> bool {
        false
    }
    /// Receives a key that was not requested, with its value as valid JSON. Ignores it by default.
    fn extra(&mut self, _name: &str, _json: &str) {}
    /// Most records that the sink takes before a batch is full. 0: the decoder stops until the batch is taken.
    fn records_until_full(&self) -> u64 {
        u64::MAX
    }
    /// Completes the record.
    fn end_record(&mut self);
    /// Discards everything since the last `end_record`.
    fn undo_record(&mut self);
}

/// Records that are delivered together.
pub trait Batch: Send + 'static {
    /// The memory that the batch takes, approximately.
    fn bytes(&self) -> usize;

    /// The memory that its records take in a collected result, at least.
    fn result_bytes(&self) -> usize {
        self.bytes()
    }
}

/// A sink that builds batches of the records it receives.
pub trait BatchSink: Sink + Send {
    /// What it builds.
    type Batch: Batch;

    /// Takes a full batch, if there is one.
    ///
    /// # Errors
    /// `Internal`, if no batch can be built.
    fn take_full(&mut self) -> Result<Option<Self::Batch>>;

    /// Takes all complete records, however few. None when there are none.
    ///
    /// # Errors
    /// As [`BatchSink::take_full`].
    fn take(&mut self) -> Result<Option<Self::Batch>>;

    /// The columns of strings that had other values so far, if that is worth a warning.
    fn mixed(&self) -> Vec<String> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
