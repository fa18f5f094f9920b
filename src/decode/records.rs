//! The records of one response: read on the fast path where possible, counted, and dropped beyond a maximum.

use std::sync::Arc;

use super::column_names::ColumnNames;
use super::envelope::Envelope;
use super::error::DecodeError;
use super::fast_path::{FastPath, Run};
use super::{Bytes32, Cell, CellResult, Limits, Sink, reference};

/// Reads records.
#[derive(Debug)]
pub(super) struct Records {
    columns: ColumnNames,
    /// None if all records are left to `reference`.
    fast_path: Option<FastPath>,
    max: u64,
    count: u64,
    /// The columns of dropped records, whose keys are not counted.
    dropped: ColumnNames,
}

impl Records {
    /// Records after `max` are parsed and dropped.
    pub(super) fn new(names: Arc<[String]>, max: Option<u64>, limits: Limits) -> Self {
        let fast_path = FastPath::new(&names, limits);
        let dropped = ColumnNames::new(if max.is_some() { Arc::clone(&names) } else { Arc::default() });
        Self { columns: ColumnNames::new(names), fast_path, max: max.unwrap_or(u64::MAX), count: 0, dropped }
    }

    #[cfg(any(test, feature = "testing"))]
    pub(super) fn use_reference(&mut self) {
        self.fast_path = None;
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn is_full(&self) -> bool {
        self.count >= self.max
    }

    /// Reads records from `start` on, as far as the fast path can.
    pub(super) fn read_all<S: Sink>(&mut self, bytes: &[u8], start: usize, sink: &mut S) -> Option<Run> {
        let fast_path = self.fast_path.as_mut()?;
        let run = match self.max.saturating_sub(self.count) {
            0 => fast_path.read_all(bytes, start, u64::MAX, &mut self.dropped, &mut Dropped),
            max => {
                let max = max.min(sink.records_until_full().max(1));
                fast_path.read_all(bytes, start, max, &mut self.columns, sink)
            }
        };
        self.count += run.count;
        Some(run)
    }

    /// Reads one complete record of any content.
    pub(super) fn read<S: Sink>(&mut self, record: &[u8], sink: &mut S) -> Result<(), DecodeError> {
        if !self.is_full() {
            reference::read(record, &mut self.columns, sink)?;
        } else if record.first() == Some(&b'{') {
            reference::read(record, &mut self.dropped, &mut Dropped)?;
        } else {
            reference::check(record, 0)?;
        }
        self.count += 1;
        Ok(())
    }

    /// An envelope with the counts alone.
    pub(super) fn into_envelope(self) -> Envelope {
        Envelope { records: self.count, present: self.columns.present(), ..Envelope::default() }
    }
}

/// The sink of dropped records.
struct Dropped;

impl Sink for Dropped {
    fn cell(&mut self, _column: usize, _cell: Cell) -> CellResult {
        Ok(())
    }
    fn short_string(&mut self, _column: usize, _text: &Bytes32, _length: usize) -> bool {
        true
    }
    fn short_integer(&mut self, _column: usize, _integer: i32, _written: &Bytes32, _length: usize) -> bool {
        true
    }
    fn end_record(&mut self) {}
    fn undo_record(&mut self) {}
}
