//! One connection as all who deal with it see it: what it waits for, since when, and how it is to end.
//!
//! It holds no socket and moves no bytes: the wire and the answers on their way out ask it and tell it.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::limits::Limits;

/// A connection.
#[derive(Debug)]
pub(super) struct ConnectionState {
    /// The address by which the client reached the server.
    pub(super) local: IpAddr,
    limits: Limits,
    progress: Mutex<Progress>,
    ending: OnceLock<Ending>,
    over: CancellationToken,
}

/// How the server ends a connection of its own accord.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// As if all had been said.
    Close,
    /// With RST.
    Reset,
}

/// How far the exchange has come.
#[derive(Clone, Copy, Debug)]
struct Progress {
    phase: Phase,
    /// Since when.
    entered: Instant,
    /// Since when there has been no whole request.
    waiting: Instant,
    /// Whether bytes of an answer have not left yet: the client is slow to take them, which is its right.
    sending: bool,
    /// Since when the client has taken none of them.
    stuck: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing of the next request has come.
    Silent,
    /// A head is arriving, or the connection is new.
    Head,
    /// A body is arriving.
    Body,
    /// A whole request is being answered.
    Response,
    /// All was said; what still comes is dropped.
    LingeringClose,
}

impl ConnectionState {
    /// A connection that was just made.
    pub(super) fn new(local: IpAddr, limits: Limits) -> Self {
        let now = Instant::now();
        let progress = Progress { phase: Phase::Head, entered: now, waiting: now, sending: false, stuck: None };
        let (ending, over) = (OnceLock::new(), CancellationToken::new());
        Self { local, limits, progress: Mutex::new(progress), ending, over }
    }

    /// Bytes have come.
    pub(super) fn hears(&self) {
        self.change(|progress| {
            if progress.phase == Phase::Silent {
                progress.enter(Phase::Head);
            }
        });
    }

    /// A whole head has come.
    pub(super) fn has_head(&self) {
        self.change(|progress| progress.enter(Phase::Body));
    }

    /// A whole request has come.
    pub(super) fn has_request(&self) {
        self.change(|progress| progress.enter(Phase::Response));
    }

    /// The answer was handed over to its last byte.
    pub(super) fn has_answered(&self) {
        self.change(|progress| {
            progress.enter(Phase::Silent);
            progress.waiting = progress.entered;
            progress.sending = true;
        });
    }

    /// The last answer has left.
    pub(super) fn says_farewell(&self) {
        self.change(|progress| progress.enter(Phase::LingeringClose));
    }

    /// Bytes are to be sent; whether they belong to an answer is told. Unasked, HTTP speaks of its own accord.
    pub(super) fn sends(&self) -> bool {
        let mut progress = self.lock();
        progress.sending |= !matches!(progress.phase, Phase::Silent | Phase::Head);
        progress.sending
    }

    /// Bytes were sent, or the client took none.
    pub(super) fn moves(&self, has_taken: bool) {
        self.change(|progress| {
            progress.stuck = if has_taken { None } else { progress.stuck.or_else(|| Some(Instant::now())) }
        });
    }

    /// All that was to be sent has left.
    pub(super) fn has_sent(&self) {
        self.change(|progress| {
            if progress.sending && progress.phase == Phase::Silent {
                progress.enter(Phase::Silent);
                progress.waiting = progress.entered;
            }
            progress.sending = false;
        });
        if self.ending.get().is_some() {
            self.over.cancel();
        }
    }

    /// Since when the client has owed a whole request; none while it is owed an answer.
    pub(super) fn waiting_since(&self) -> Option<Instant> {
        let progress = self.progress();
        (progress.phase != Phase::Response && !progress.sending).then_some(progress.waiting)
    }

    /// Since when the client has taken nothing of an answer, if that is too long.
    pub(super) fn stalled_since(&self) -> Option<Instant> {
        self.progress().stuck.filter(|since| since.elapsed() >= self.limits.stall)
    }

    /// When the next bytes must have come. Bodies have a limit of their own, with an answer, and so has a farewell.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let progress = self.progress();
        match progress.phase {
            _ if progress.sending => None,
            Phase::Silent => Some(progress.entered + self.limits.keep_alive),
            Phase::Head => Some(progress.entered + self.limits.head),
            Phase::Body | Phase::Response | Phase::LingeringClose => None,
        }
    }

    /// Ends the connection at once.
    pub(super) fn end(&self, ending: Ending) {
        self.end_when_sent(ending);
        self.over.cancel();
    }

    /// Ends the connection as soon as all that was to be sent has left.
    pub(super) fn end_when_sent(&self, ending: Ending) {
        // The first ending stands.
        let _ = self.ending.set(ending);
    }

    /// How the connection is to end, if the server ends it.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.ending.get().copied()
    }

    /// Waits until the connection is to end now.
    pub(super) async fn is_over(&self) {
        self.over.cancelled().await;
    }

    fn progress(&self) -> Progress {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Progress)) {
        change(&mut self.lock());
    }
}

impl Progress {
    fn enter(&mut self, phase: Phase) {
        (self.phase, self.entered) = (phase, Instant::now());
    }
}
