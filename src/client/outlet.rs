//! Where the records of an answer go while it arrives, and until when its request may be sent again.
//!
//! It knows batches by nothing but that a sink makes them.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc;

use crate::cells::Cells;
use crate::decode::Gather;
use crate::error::{Error, Kind, Result};

/// What a search tells while it runs.
#[derive(Debug)]
pub enum Event<B> {
    /// The next records.
    Batch(B),
    /// The request is sent again: all records so far are void. A stream never tells it.
    Restart,
}

/// The way of the records from a sink, made anew for each attempt, to whoever asked for them.
pub(super) struct Outlet<'a, G: Gather> {
    make: &'a (dyn Fn() -> G + Sync),
    events: mpsc::Sender<Event<G::Batch>>,
    /// Whoever takes a stream has used a batch as soon as it was handed on: it cannot be void.
    is_stream: bool,
    has_begun: AtomicBool,
    has_rows: AtomicBool,
}

impl<'a, G: Gather> Outlet<'a, G> {
    /// Batches count once the call ended well.
    pub(super) fn collecting(make: &'a (dyn Fn() -> G + Sync), events: mpsc::Sender<Event<G::Batch>>) -> Self {
        Self { make, events, is_stream: false, has_begun: AtomicBool::new(false), has_rows: AtomicBool::new(false) }
    }

    /// Batches count as they come.
    pub(super) fn streaming(make: &'a (dyn Fn() -> G + Sync), events: mpsc::Sender<Event<G::Batch>>) -> Self {
        Self { is_stream: true, ..Self::collecting(make, events) }
    }

    /// A sink for one attempt.
    pub(super) fn sink(&self) -> G {
        (self.make)()
    }

    /// Whether a batch was handed on that cannot be taken back.
    pub(super) fn is_committed(&self) -> bool {
        self.is_stream && self.has_begun.load(Ordering::Relaxed)
    }

    /// The first record of an attempt is there.
    pub(super) fn note_rows(&self) {
        self.has_rows.store(true, Ordering::Relaxed);
    }

    /// Whether the attempt under way is a stream that has come to its first record: its time has no end.
    pub(super) fn is_flowing(&self) -> bool {
        self.is_stream && self.has_rows.load(Ordering::Relaxed)
    }

    /// Hands on a batch, and waits until there is room for it.
    pub(super) async fn hand_on(&self, batch: G::Batch) -> Result<()> {
        self.has_begun.store(true, Ordering::Relaxed);
        self.events.send(Event::Batch(batch)).await.map_err(|_| abandoned())
    }

    /// Takes back whatever was handed on: it belongs to an answer that did not end well.
    pub(super) async fn restart(&self) -> Result<()> {
        self.has_rows.store(false, Ordering::Relaxed);
        if self.is_stream {
            return Ok(());
        }
        self.events.send(Event::Restart).await.map_err(|_| abandoned())
    }
}

impl Outlet<'static, Cells> {
    /// For an answer that is kept whole: it has no records to hand on.
    pub(super) fn none() -> Self {
        Self::streaming(&|| Cells::new(0), mpsc::channel(1).0)
    }
}

/// Nobody is there to take the records: whoever asked has gone.
fn abandoned() -> Error {
    Error::new(Kind::Internal, "the rows of a search were abandoned")
}
