//! The records of one answer: by the fast path where it holds, else by the plain one; counted, and cut at the limit.

use super::column_names::ColumnNames;
use super::envelope::Envelope;
use super::error::DecodeError;
use super::fast_path::{FastPath, Run};
use super::{CellResult, Limits, Sink, reference};

/// What reads records, and what was seen of them.
#[derive(Debug)]
pub(super) struct Records {
    columns: ColumnNames,
    /// None to take the plain path for all.
    fast_path: Option<FastPath>,
    limits: Limits,
    most: u64,
    count: u64,
    /// For the records after `most`, whose keys are not counted.
    dropped: ColumnNames,
}

impl Records {
    /// Records after `most` are read and dropped.
    pub(super) fn new(names: Vec<String>, most: Option<u64>, limits: Limits) -> Self {
        let fast_path = FastPath::new(names.len(), limits);
        let dropped = ColumnNames::new(if most.is_some() { names.clone() } else { Vec::new() });
        Self { columns: ColumnNames::new(names), fast_path, limits, most: most.unwrap_or(u64::MAX), count: 0, dropped }
    }

    #[cfg(test)]
    pub(super) fn use_reference(&mut self) {
        self.fast_path = None;
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn is_full(&self) -> bool {
        self.count >= self.most
    }

    /// Reads records, the first of which begins at `start`, and the commas between them, as long as that is quick.
    /// None when nothing is.
    pub(super) fn read_all<S: Sink>(&mut self, text: &str, start: usize, sink: &mut S) -> Option<Run> {
        let fast_path = self.fast_path.as_mut()?;
        let run = match self.most.saturating_sub(self.count) {
            0 => fast_path.read_all(text, start, u64::MAX, &mut self.dropped, &mut Dropped),
            most => fast_path.read_all(text, start, most, &mut self.columns, sink),
        };
        self.count += run.count;
        Some(run)
    }

    /// Reads one record, whatever it holds.
    pub(super) fn read<S: Sink>(&mut self, record: &[u8], sink: &mut S) -> Result<(), DecodeError> {
        if self.is_full() && record.first() == Some(&b'{') {
            reference::read(record, &self.limits, &mut self.dropped, &mut Dropped)?;
        } else if self.is_full() {
            reference::check(record, 0, self.limits.number)?;
        } else {
            reference::read(record, &self.limits, &mut self.columns, sink)?;
        }
        self.count += 1;
        Ok(())
    }

    /// The counts.
    pub(super) fn into_envelope(self) -> Envelope {
        let (present, records_with_extras) = self.columns.into_counts();
        Envelope { records: self.count, present, records_with_extras, ..Envelope::default() }
    }
}

/// Takes the records after the limit, and keeps nothing of them.
struct Dropped;

impl Sink for Dropped {
    fn null(&mut self, _column: usize) -> CellResult {
        Ok(())
    }

    fn bool(&mut self, _column: usize, _value: bool) -> CellResult {
        Ok(())
    }

    fn integer(&mut self, _column: usize, _digits: &str) -> CellResult {
        Ok(())
    }

    fn number(&mut self, _column: usize, _text: &str) -> CellResult {
        Ok(())
    }

    fn text(&mut self, _column: usize, _text: &str) -> CellResult {
        Ok(())
    }

    fn nested(&mut self, _column: usize, _json: &str) -> CellResult {
        Ok(())
    }

    fn extra(&mut self, _name: &str, _json: &str) {}

    fn end_record(&mut self) {}

    fn undo_record(&mut self) {}
}
