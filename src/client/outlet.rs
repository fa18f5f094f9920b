//! Where the records of an answer go while it arrives, and until when its request may be sent again.
//!
//! It knows batches by nothing but that a sink makes them.

use std::future;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{Mutex, mpsc};

use crate::cells::Cells;
use crate::decode::Gather;

/// What a search tells while it runs.
#[derive(Debug)]
pub enum Event<B> {
    /// The next records.
    Batch(B),
    /// The request is sent again: all records so far are void. What is handed on for good never tells it.
    Restart,
}

/// When the records of an answer count, which decides until when its request may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handing {
    /// Once it has ended well. They are told as they come, and may be void.
    InDoubt,
    /// As soon as they are told, which is for good. The first `held` batches are held back until there are more or
    /// the answer has ended well, so that one no longer than that may be asked for again.
    ForGood {
        /// How many; with `usize::MAX` an answer is told when it has ended well, or not at all.
        held: usize,
    },
}

/// The way of the records from a sink, made anew for each attempt, to whoever asked for them.
pub(super) struct Outlet<'a, G: Gather> {
    make: &'a (dyn Fn() -> G + Sync),
    events: mpsc::Sender<Event<G::Batch>>,
    handing: Handing,
    held: Mutex<Vec<G::Batch>>,
    has_begun: AtomicBool,
    has_rows: AtomicBool,
}

impl<'a, G: Gather> Outlet<'a, G> {
    pub(super) fn new(
        make: &'a (dyn Fn() -> G + Sync),
        events: mpsc::Sender<Event<G::Batch>>,
        handing: Handing,
    ) -> Self {
        let (has_begun, has_rows) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { make, events, handing, held: Mutex::default(), has_begun, has_rows }
    }

    /// A sink for one attempt.
    pub(super) fn sink(&self) -> G {
        (self.make)()
    }

    /// Whether a batch was handed on that cannot be taken back.
    pub(super) fn is_committed(&self) -> bool {
        self.handing != Handing::InDoubt && self.has_begun.load(Ordering::Relaxed)
    }

    /// The first record of an attempt is there.
    pub(super) fn note_rows(&self) {
        self.has_rows.store(true, Ordering::Relaxed);
    }

    /// Whether the attempt under way has come to its first record.
    pub(super) fn has_rows(&self) -> bool {
        self.has_rows.load(Ordering::Relaxed)
    }

    /// Hands on a batch, and waits until there is room for it.
    pub(super) async fn hand_on(&self, batch: G::Batch) {
        if let Handing::ForGood { held: most } = self.handing
            && !self.has_begun.load(Ordering::Relaxed)
        {
            let mut held = self.held.lock().await;
            if held.len() < most {
                held.push(batch);
                return;
            }
        }
        self.release().await;
        self.tell(Event::Batch(batch)).await;
    }

    /// The answer has ended well: nothing is held back any more.
    pub(super) async fn release(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
        for batch in std::mem::take(&mut *self.held.lock().await) {
            self.tell(Event::Batch(batch)).await;
        }
    }

    /// Takes back whatever was handed on: it belongs to an answer that did not end well.
    pub(super) async fn restart(&self) {
        self.has_rows.store(false, Ordering::Relaxed);
        self.held.lock().await.clear();
        if self.handing == Handing::InDoubt {
            self.tell(Event::Restart).await;
        }
    }

    async fn tell(&self, event: Event<G::Batch>) {
        if self.events.send(event).await.is_err() {
            // The consumer is gone and this request is about to be cancelled: it must not fail before that.
            future::pending::<()>().await;
        }
    }
}

impl Outlet<'static, Cells> {
    /// For an answer that is kept whole: it has no records to hand on.
    pub(super) fn none() -> Self {
        Self::new(&|| Cells::new(0), mpsc::channel(1).0, Handing::ForGood { held: 0 })
    }
}
