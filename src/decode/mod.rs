//! The streaming JSON decoder: takes the bytes of a response in pieces of any size and writes cells into a [`Sink`].
//!
//! No I/O, no Arrow, no Python. `decoder` walks the envelope and buffers only the value that is incomplete.
//! `fast_path` reads records that look like the ones before them, most of their members in the loop of `hot_loop`.
//! `reference` reads all others with `serde_json` and alone reports what is wrong with a record.
#![expect(clippy::indexing_slicing, reason = "a wrong index is a defect: the caller turns the panic into an error")]

mod buffer_pool;
mod column_names;
mod cursor;
mod decoder;
mod envelope;
mod envelope_builder;
mod error;
mod escape;
mod expected_key;
mod fast_path;
mod hot_loop;
mod input_chunk;
mod integer;
mod key_predictor;
mod padded_bytes;
mod plan;
mod raw_json;
mod records;
mod reference;
mod seen_columns;
mod simd;
mod string_scan;
mod value_end;
mod value_reader;

pub use buffer_pool::{BufferPool, PoolHandle};
pub use decoder::Decoder;
pub use envelope::{Envelope, Member, NO_DATA, RecordShape};
pub(crate) use error::{column_type, too_large};
pub use integer::integer;
pub use padded_bytes::PaddedBytes;
use plan::NUMBER;
pub use plan::{DecodePlan, Limits};
pub use raw_json::{BorrowedString, JsonSize, Members, has_wide, json_size, text_bytes};
pub use simd::Bytes32;

use crate::error::Result;

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
