//! The records of one answer: by the fast path where it holds, else by the plain one; counted, and cut at the limit.

use super::columns::Columns;
use super::envelope::Envelope;
use super::fast::{Fast, Run};
use super::fault::Fault;
use super::{Limits, Sink, plain};

/// What reads records, and what was seen of them.
#[derive(Debug)]
pub(super) struct Records {
    columns: Columns,
    /// None to take the plain path for all.
    fast: Option<Fast>,
    limits: Limits,
    most: u64,
    count: u64,
}

impl Records {
    /// Records after `most` are read and dropped.
    pub(super) fn new(names: Vec<String>, most: Option<u64>, limits: Limits) -> Self {
        let fast = Fast::new(names.len(), limits);
        Self { columns: Columns::new(names), fast, limits, most: most.unwrap_or(u64::MAX), count: 0 }
    }

    #[cfg(test)]
    pub(super) fn stay_plain(&mut self) {
        self.fast = None;
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
        let most = self.most.saturating_sub(self.count);
        let run = self.fast.as_mut()?.read_all(text, start, most, &mut self.columns, sink);
        self.count += run.count;
        Some(run)
    }

    /// Reads one record, whatever it holds.
    pub(super) fn read<S: Sink>(&mut self, record: &[u8], sink: &mut S) -> Result<(), Fault> {
        if self.is_full() {
            plain::check(record, 0, self.limits.number)?;
        } else {
            plain::read(record, &self.limits, &mut self.columns, sink)?;
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
