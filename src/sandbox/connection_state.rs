//! The state of one connection: its phase, its deadlines, and how it is to be closed.
//!
//! Shared by the socket wrapper (`socket`), the middleware and the response body, which report their events here.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::options::Limits;

/// The state of a connection.
#[derive(Debug)]
pub(super) struct ConnectionState {
    /// The local address, which the client connected to.
    pub(super) local: IpAddr,
    limits: Limits,
    progress: Mutex<Progress>,
    ending: OnceLock<Ending>,
    over: CancellationToken,
}

/// How the server closes a connection before the client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Properly, with FIN.
    Close,
    /// With RST.
    Reset,
}

/// How far the current request and its response are.
#[derive(Clone, Copy, Debug)]
struct Progress {
    phase: Phase,
    /// When the phase began.
    entered: Instant,
    /// Since when no complete request has arrived.
    waiting: Instant,
    /// Whether bytes of a response are still to be written.
    sending: bool,
    /// Since when the client has read none of them.
    blocked: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No byte of the next request has arrived.
    Idle,
    /// A head is arriving, or the connection is new.
    Head,
    /// A body is arriving.
    Body,
    /// A complete request is being handled.
    Response,
    /// The last response was sent; what still arrives is discarded.
    LingeringClose,
}

impl ConnectionState {
    /// The state of a new connection.
    pub(super) fn new(local: IpAddr, limits: Limits) -> Self {
        let now = Instant::now();
        let progress = Progress { phase: Phase::Head, entered: now, waiting: now, sending: false, blocked: None };
        let (ending, over) = (OnceLock::new(), CancellationToken::new());
        Self { local, limits, progress: Mutex::new(progress), ending, over }
    }

    /// Bytes have arrived.
    pub(super) fn on_bytes_received(&self) {
        self.change(|progress| {
            if progress.phase == Phase::Idle {
                progress.enter(Phase::Head);
            }
        });
    }

    /// A complete head has arrived.
    pub(super) fn on_head(&self) {
        self.change(|progress| progress.enter(Phase::Body));
    }

    /// A complete request has arrived.
    pub(super) fn on_request(&self) {
        self.change(|progress| progress.enter(Phase::Response));
    }

    /// The HTTP library has taken the last byte of the response body.
    pub(super) fn on_response_written(&self) {
        self.change(|progress| {
            progress.enter(Phase::Idle);
            progress.waiting = progress.entered;
            progress.sending = true;
        });
    }

    /// The last response was sent.
    pub(super) fn start_lingering(&self) {
        self.change(|progress| progress.enter(Phase::LingeringClose));
    }

    /// Returns whether bytes about to be written belong to a response, and not to the HTTP library's own error.
    pub(super) fn begin_write(&self) -> bool {
        let mut progress = self.lock();
        progress.sending |= !matches!(progress.phase, Phase::Idle | Phase::Head);
        progress.sending
    }

    /// Bytes were written, or the socket would block.
    pub(super) fn on_write(&self, has_progressed: bool) {
        self.change(|progress| {
            progress.blocked = if has_progressed { None } else { progress.blocked.or_else(|| Some(Instant::now())) }
        });
    }

    /// Everything written has left for the socket.
    pub(super) fn on_flushed(&self) {
        self.change(|progress| {
            if progress.sending && progress.phase == Phase::Idle {
                progress.enter(Phase::Idle);
                progress.waiting = progress.entered;
            }
            progress.sending = false;
        });
        if self.ending.get().is_some() {
            self.over.cancel();
        }
    }

    /// Since when a complete request is awaited; none while a request is being handled.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let progress = self.progress();
        (progress.phase != Phase::Response && !progress.sending).then_some(progress.waiting)
    }

    /// Since when the client has read nothing of its response, if longer than `Limits::stall`.
    pub(super) fn stalled_since(&self) -> Option<Instant> {
        self.progress().blocked.filter(|since| since.elapsed() >= self.limits.stall)
    }

    /// When the next bytes must have arrived. Bodies and lingering have limits of their own.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let progress = self.progress();
        match progress.phase {
            _ if progress.sending => None,
            Phase::Idle => Some(progress.entered + self.limits.keep_alive),
            Phase::Head => Some(progress.entered + self.limits.head),
            Phase::Body | Phase::Response | Phase::LingeringClose => None,
        }
    }

    /// Closes the connection now.
    pub(super) fn close_now(&self, ending: Ending) {
        self.close_after_flush(ending);
        self.over.cancel();
    }

    /// Closes the connection once everything written has left.
    pub(super) fn close_after_flush(&self, ending: Ending) {
        // The first ending wins.
        let _ = self.ending.set(ending);
    }

    /// How the server closes the connection, if it does.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.ending.get().copied()
    }

    /// Waits until the connection is to be closed.
    pub(super) async fn closed(&self) {
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
