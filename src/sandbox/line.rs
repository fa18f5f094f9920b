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
pub(super) struct Line {
    /// The address by which the client reached the server.
    pub(super) local: IpAddr,
    limits: Limits,
    course: Mutex<Course>,
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
struct Course {
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
    Answer,
    /// All was said; what still comes is dropped.
    Farewell,
}

impl Line {
    /// A connection that was just made.
    pub(super) fn new(local: IpAddr, limits: Limits) -> Self {
        let now = Instant::now();
        let course = Course { phase: Phase::Head, entered: now, waiting: now, sending: false, stuck: None };
        let (ending, over) = (OnceLock::new(), CancellationToken::new());
        Self { local, limits, course: Mutex::new(course), ending, over }
    }

    /// Bytes have come.
    pub(super) fn hears(&self) {
        self.change(|course| {
            if course.phase == Phase::Silent {
                course.enter(Phase::Head);
            }
        });
    }

    /// A whole head has come.
    pub(super) fn has_head(&self) {
        self.change(|course| course.enter(Phase::Body));
    }

    /// A whole request has come.
    pub(super) fn has_request(&self) {
        self.change(|course| course.enter(Phase::Answer));
    }

    /// The answer was handed over to its last byte.
    pub(super) fn has_answered(&self) {
        self.change(|course| {
            course.enter(Phase::Silent);
            course.waiting = course.entered;
            course.sending = true;
        });
    }

    /// The last answer has left.
    pub(super) fn says_farewell(&self) {
        self.change(|course| course.enter(Phase::Farewell));
    }

    /// Bytes are to be sent; whether they belong to an answer is told. Unasked, HTTP speaks of its own accord.
    pub(super) fn sends(&self) -> bool {
        let mut course = self.lock();
        course.sending |= !matches!(course.phase, Phase::Silent | Phase::Head);
        course.sending
    }

    /// Bytes were sent, or the client took none.
    pub(super) fn moves(&self, has_taken: bool) {
        self.change(|course| {
            course.stuck = if has_taken { None } else { course.stuck.or_else(|| Some(Instant::now())) }
        });
    }

    /// All that was to be sent has left.
    pub(super) fn has_sent(&self) {
        self.change(|course| {
            if course.sending && course.phase == Phase::Silent {
                course.enter(Phase::Silent);
                course.waiting = course.entered;
            }
            course.sending = false;
        });
        if self.ending.get().is_some() {
            self.over.cancel();
        }
    }

    /// Since when the client has owed a whole request; none while it is owed an answer.
    pub(super) fn waiting_since(&self) -> Option<Instant> {
        let course = self.course();
        (course.phase != Phase::Answer && !course.sending).then_some(course.waiting)
    }

    /// Since when the client has taken nothing of an answer, if that is too long.
    pub(super) fn stalled_since(&self) -> Option<Instant> {
        self.course().stuck.filter(|since| since.elapsed() >= self.limits.stall)
    }

    /// When the next bytes must have come. Bodies have a limit of their own, with an answer, and so has a farewell.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let course = self.course();
        match course.phase {
            _ if course.sending => None,
            Phase::Silent => Some(course.entered + self.limits.keep_alive),
            Phase::Head => Some(course.entered + self.limits.head),
            Phase::Body | Phase::Answer | Phase::Farewell => None,
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

    fn course(&self) -> Course {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Course)) {
        change(&mut self.lock());
    }
}

impl Course {
    fn enter(&mut self, phase: Phase) {
        (self.phase, self.entered) = (phase, Instant::now());
    }
}
