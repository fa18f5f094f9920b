//! Injected faults: which are active, which requests they match, and how often.
//!
//! The middleware and `fault_body` apply them.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::error::{Error, Kind, Result};

/// A fault and the requests that it matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// The path it matches; none is every path.
    pub path: Option<String>,
    /// How many matching requests pass unchanged first.
    pub after: u64,
    /// How many requests it affects; none is unlimited.
    pub times: Option<u64>,
}

/// What goes wrong with a response. Bytes are counted in its body; without a number not even its head is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Resets the connection. A response that is no longer than `after_bytes` passes unchanged.
    Reset {
        /// After this number of bytes.
        after_bytes: Option<usize>,
    },
    /// Closes the connection, whatever `Content-Length` says. A shorter response passes unchanged.
    Cut {
        /// After this number of bytes.
        after_bytes: Option<usize>,
    },
    /// Sends nothing more until the fault ends.
    Stall {
        /// After this number of bytes.
        after_bytes: Option<usize>,
    },
    /// Sends this response; the service does not handle the request.
    Status {
        /// HTTP status.
        status: u16,
        /// Seconds for `Retry-After`.
        retry_after: Option<u64>,
        /// The body; none is an envelope, for 403 the permission failure of section 7.
        body: Option<String>,
    },
    /// Delays the response.
    Delay(Duration),
    /// Sends the body in small pieces.
    Drip {
        /// Most bytes of a piece.
        chunk_bytes: usize,
        /// Time between pieces.
        pause: Duration,
    },
    /// Moves the `code` of a success to the end and changes it.
    LateCode(i64),
}

impl FaultKind {
    /// Whether it takes effect before the first byte of a response.
    pub(super) const fn applies_before_response(&self) -> bool {
        matches!(
            self,
            Self::Status { .. }
                | Self::Delay(_)
                | Self::Reset { after_bytes: None }
                | Self::Cut { after_bytes: None }
                | Self::Stall { after_bytes: None }
        )
    }
}

impl Fault {
    /// A fault that matches every request.
    #[must_use]
    pub const fn new(kind: FaultKind) -> Self {
        Self { kind, path: None, after: 0, times: None }
    }

    /// The same fault for one path only.
    #[must_use]
    pub fn on(self, path: &str) -> Self {
        Self { path: Some(path.to_owned()), ..self }
    }

    /// The same fault, after this number of requests.
    #[must_use]
    pub fn after(self, after: u64) -> Self {
        Self { after, ..self }
    }

    /// The same fault, for this number of requests at most.
    #[must_use]
    pub fn times(self, times: u64) -> Self {
        Self { times: Some(times), ..self }
    }

    /// Rejects a fault that can match nothing or cannot be sent.
    fn check(&self) -> Result<()> {
        let refused = |problem: String| Err(Error::new(Kind::Config, format!("fault: {problem}")));
        if let Some(path) = self.path.as_ref().filter(|path| !path.starts_with('/')) {
            return refused(format!("path `{path}` does not begin with /"));
        }
        if let FaultKind::Status { status: status @ (204 | 304), body: Some(_), .. } = self.kind {
            return refused(format!("a response with status {status} has no body"));
        }
        if self.times == Some(0) {
            return refused("times must be 1 or more".to_owned());
        }
        match self.kind {
            FaultKind::Drip { chunk_bytes: 0, .. } => refused("chunk_bytes must be 1 or more".to_owned()),
            FaultKind::Status { status, .. } if !(200..=599).contains(&status) => {
                refused(format!("status {status} is not between 200 and 599"))
            }
            _ => Ok(()),
        }
    }
}

/// Most active faults.
const MOST_FAULTS: usize = 1_000;

/// The active faults, oldest first, and the number of those that began.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<(Vec<Arc<ActiveFault>>, u64)>);

/// An active fault with its counters.
#[derive(Debug)]
pub(super) struct ActiveFault {
    pub(super) id: u64,
    pub(super) fault: Fault,
    seen: AtomicU64,
    hits: AtomicU64,
    ended: CancellationToken,
}

impl ActiveFault {
    pub(super) fn new(id: u64, fault: Fault) -> Self {
        let (seen, hits, ended) = Default::default();
        Self { id, fault, seen, hits, ended }
    }

    /// Whether it affects a request for this path. Counts each request for its path.
    fn matches(&self, path: &str) -> bool {
        if self.fault.path.as_ref().is_some_and(|wanted| wanted != path) {
            return false;
        }
        let Some(number) = self.seen.fetch_add(1, Ordering::Relaxed).checked_sub(self.fault.after) else {
            return false;
        };
        self.fault.times.is_none_or(|times| number < times)
    }

    /// Counts a response that it has changed.
    pub(super) fn record_hit(&self) {
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    /// How many responses it has changed; one that passed unchanged does not count.
    pub(super) fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// Cancelled once the fault has ended.
    pub(super) fn ended(&self) -> &CancellationToken {
        &self.ended
    }
}

impl Faults {
    /// The first fault that affects a request for this path.
    pub(super) fn next_match(&self, path: &str) -> Option<Arc<ActiveFault>> {
        self.lock().0.iter().find(|each| each.matches(path)).map(Arc::clone)
    }

    /// Begins a fault.
    pub(super) fn begin(&self, fault: Fault) -> Result<Arc<ActiveFault>> {
        fault.check()?;
        let (active, last) = &mut *self.lock();
        if active.len() >= MOST_FAULTS {
            let problem = format!("this sandbox has {MOST_FAULTS} faults, which is the limit");
            return Err(Error::new(Kind::Sandbox, problem).with_hint("end those that are not needed"));
        }
        *last += 1;
        let fault = Arc::new(ActiveFault::new(*last, fault));
        active.push(Arc::clone(&fault));
        Ok(fault)
    }

    /// The active faults, oldest first.
    pub(super) fn all(&self) -> Vec<Arc<ActiveFault>> {
        self.lock().0.clone()
    }

    /// Ends a fault; stalled responses continue. None if it is not active.
    pub(super) fn end(&self, id: u64) -> Option<Arc<ActiveFault>> {
        let (active, _) = &mut *self.lock();
        let index = active.iter().position(|fault| fault.id == id)?;
        let fault = active.remove(index);
        fault.ended.cancel();
        Some(fault)
    }

    /// Ends all faults.
    pub(super) fn end_all(&self) -> Vec<Arc<ActiveFault>> {
        let ended = std::mem::take(&mut self.lock().0);
        ended.iter().for_each(|fault| fault.ended.cancel());
        ended
    }

    fn lock(&self) -> MutexGuard<'_, (Vec<Arc<ActiveFault>>, u64)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An injected fault. Dropping it ends the fault, except in a forked child.
pub struct Injected {
    faults: Arc<Faults>,
    in_force: Arc<ActiveFault>,
    owner: u32,
}

impl Injected {
    /// Activates a fault.
    pub(super) fn new(faults: &Arc<Faults>, fault: Fault) -> Result<Self> {
        let in_force = faults.begin(fault)?;
        Ok(Self { faults: Arc::clone(faults), in_force, owner: std::process::id() })
    }

    /// How many responses it has changed; one that passed unchanged does not count.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.in_force.hits()
    }

    /// Ends the fault; stalled responses continue. A second call does nothing.
    pub fn end(&self) {
        if std::process::id() == self.owner {
            self.faults.end(self.in_force.id);
        }
    }
}

impl Drop for Injected {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Injected {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Injected")
            .field("fault", &self.in_force.fault)
            .field("hits", &self.hits())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(faults: &Faults, paths: &[&str]) -> Vec<Option<FaultKind>> {
        let next_match = |path: &&str| faults.next_match(path).inspect(|each| each.record_hit());
        paths.iter().map(|path| next_match(path).map(|each| each.fault.kind.clone())).collect()
    }

    #[test]
    fn a_fault_passes_over_requests_before_after_and_beyond_times() {
        let faults = Arc::new(Faults::default());
        let code = FaultKind::LateCode(301);
        let injected = Injected::new(&faults, Fault::new(code.clone()).on("/a").after(1).times(2)).unwrap();
        let expected = [None, None, Some(code.clone()), Some(code), None];
        assert_eq!(matched(&faults, &["/a", "/b", "/a", "/a", "/a"]), expected);
        assert_eq!(injected.hits(), 2);
    }

    #[test]
    fn the_first_fault_wins_and_the_next_counts_only_the_rest() {
        let faults = Arc::new(Faults::default());
        let (first, second) = (FaultKind::LateCode(1), FaultKind::LateCode(2));
        let outer = Injected::new(&faults, Fault::new(first.clone()).times(1)).unwrap();
        let inner = Injected::new(&faults, Fault::new(second.clone()).after(1)).unwrap();
        assert_eq!(matched(&faults, &["/a", "/a", "/a"]), [Some(first), None, Some(second)]);
        drop(inner);
        assert_eq!(matched(&faults, &["/a"]), [None]);
        assert_eq!(outer.hits(), 1);
    }

    #[test]
    fn impossible_faults_are_refused() {
        let faults = Arc::new(Faults::default());
        let fault = Fault::new(FaultKind::LateCode(1));
        let status = |status| Fault::new(FaultKind::Status { status, retry_after: None, body: None });
        let drip = Fault::new(FaultKind::Drip { chunk_bytes: 0, pause: Duration::ZERO });
        let body = Some("text".to_owned());
        let bodily = Fault::new(FaultKind::Status { status: 204, retry_after: None, body });
        for wrong in [fault.clone().on("search"), fault.times(0), status(99), status(600), drip, bodily] {
            assert_eq!(Injected::new(&faults, wrong).unwrap_err().kind(), Kind::Config);
        }
        assert!(faults.next_match("/a").is_none());
    }
}
