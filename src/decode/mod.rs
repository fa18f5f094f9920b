//! The one decoder: bytes in at any split, cells out into a [`Sink`], the envelope proven to its end.
//!
//! No I/O, no Arrow, no Python. `decoder` walks the envelope and holds only what is unfinished; `fast_path` reads records
//! that look like those before them, and `reference` all others, by `serde_json`, the judge of what is wrong.

mod column_names;
mod cursor;
mod decoder;
mod envelope;
mod envelope_builder;
mod error;
mod escape;
mod fast_path;
mod input_chunk;
mod key_predictor;
mod members;
mod records;
mod reference;
mod string_scan;
mod value_end;

pub use decoder::{DecodePlan, Decoder};
pub use envelope::{Envelope, Member, RecordShape};
pub use members::{Members, Text};

use crate::error::Result;

/// What does not fit a column: the sink says what it expected, the decoder says where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeMismatch {
    /// What the column takes, as `a whole number of 64 bits`.
    pub expected: &'static str,
    /// The type of `schema=` that would take the value, if one would.
    pub suggested_type: Option<&'static str>,
}

/// Result of handing a cell to a sink.
pub type CellResult = std::result::Result<(), TypeMismatch>;

/// Takes the cells of records.
///
/// For each record the decoder calls exactly one value method for each requested column, in any order (a key that
/// the record lacks is a null), [`Sink::extra`] at any point for each key that was not requested, and then
/// [`Sink::end_record`]. A record that is given up, be it to begin it anew, is taken back by
/// [`Sink::undo_record`]; one that holds a misfit is taken back and fails the answer.
pub trait Sink {
    /// A null, or an absent key.
    fn null(&mut self, column: usize) -> CellResult;
    /// `true` or `false`.
    fn bool(&mut self, column: usize, value: bool) -> CellResult;
    /// A number without fraction and exponent, as written: it may exceed 64 bits.
    fn integer(&mut self, column: usize, digits: &str) -> CellResult;
    /// Any other number, as written; it is finite as a 64-bit float.
    fn number(&mut self, column: usize, text: &str) -> CellResult;
    /// A text, unescaped.
    fn text(&mut self, column: usize, text: &str) -> CellResult;
    /// An object or an array, as checked JSON.
    fn nested(&mut self, column: usize, json: &str) -> CellResult;
    /// A key nobody asked for, with its value as checked JSON.
    fn extra(&mut self, name: &str, json: &str);
    /// The record is complete.
    fn end_record(&mut self);
    /// The record since the last `end_record` does not count.
    fn undo_record(&mut self);
}

/// Some records, with the memory they take.
pub trait Batch: Send + 'static {
    /// In bytes, about.
    fn bytes(&self) -> usize;
}

/// A sink that hands on what it took in batches.
pub trait BatchSink: Sink + Send {
    /// Some records.
    type Batch: Batch;

    /// The complete records, once there are enough to be worth handing on.
    ///
    /// # Errors
    /// Whatever hinders the sink from making a batch of them.
    fn take_full(&mut self) -> Result<Option<Self::Batch>>;

    /// The complete records, however few; none when there are none.
    ///
    /// # Errors
    /// As [`BatchSink::take_full`].
    fn take(&mut self) -> Result<Option<Self::Batch>>;
}

/// Limits on what is accepted, each with the default of the reliability rules.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a whole body.
    pub body: u64,
    /// Bytes of one record.
    pub record: usize,
    /// Bytes of one value.
    pub value: usize,
    /// Bytes of one number.
    pub number: usize,
    /// Keys of the envelope and of its `data`, where the records are what was asked for.
    pub members: usize,
    /// Open brackets at any place, the envelope's own counted.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body: 8 << 30, record: 64 << 20, value: 16 << 20, number: 1_024, members: 10_000, depth: 128 }
    }
}

#[cfg(test)]
mod tests;
