//! Faults on request: which are in force, which requests they meet, and how often they did.
//!
//! Here is only who is met; what a fault does to the answer is done by the reception and the outgoing answer.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::error::{Error, Kind, Result};

/// A fault and the requests that it meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// The path it is for; none is all paths.
    pub path: Option<String>,
    /// How many requests pass before it begins.
    pub after: u64,
    /// How many requests it meets before it lets all pass; none is without end.
    pub times: Option<u64>,
}

/// What goes wrong with an answer. Bytes are those of its body; none means that not even its head is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The connection is reset. An answer that is no longer than this passes whole.
    Reset {
        /// After this much.
        after_bytes: Option<usize>,
    },
    /// The connection is closed properly, whatever length was promised. An answer that is no longer passes whole.
    Cut {
        /// After this much.
        after_bytes: Option<usize>,
    },
    /// Nothing more is sent until the fault ends.
    Stall {
        /// After this much.
        after_bytes: Option<usize>,
    },
    /// Another answer is given, and the service is not asked.
    Status {
        /// HTTP status.
        status: u16,
        /// Seconds for `Retry-After`.
        retry_after: Option<u64>,
        /// The body; none is an envelope, for 403 the permission failure of section 7.
        body: Option<String>,
    },
    /// The answer begins later.
    Delay(Duration),
    /// The answer comes in small pieces.
    Drip {
        /// Most bytes of a piece.
        chunk_bytes: usize,
        /// Time between pieces.
        pause: Duration,
    },
    /// The code of a success stands last and is another one.
    LateCode(i64),
}

impl FaultKind {
    /// Whether it changes every answer, already before its first byte.
    pub(super) const fn is_before_the_answer(&self) -> bool {
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
    /// A fault that meets every request.
    #[must_use]
    pub const fn new(kind: FaultKind) -> Self {
        Self { kind, path: None, after: 0, times: None }
    }

    /// The same fault for one path alone.
    #[must_use]
    pub fn on(self, path: &str) -> Self {
        Self { path: Some(path.to_owned()), ..self }
    }

    /// The same fault, which begins when so many requests have passed.
    #[must_use]
    pub fn after(self, after: u64) -> Self {
        Self { after, ..self }
    }

    /// The same fault, which meets so many requests at most.
    #[must_use]
    pub fn times(self, times: u64) -> Self {
        Self { times: Some(times), ..self }
    }

    /// Refuses what could meet nothing or cannot be sent.
    fn check(&self) -> Result<()> {
        let refused = |problem: String| Err(Error::new(Kind::Config, format!("fault: {problem}")));
        if let Some(path) = self.path.as_ref().filter(|path| !path.starts_with('/')) {
            return refused(format!("path `{path}` does not begin with /"));
        }
        if let FaultKind::Status { status: status @ (204 | 304), body: Some(_), .. } = self.kind {
            return refused(format!("an answer of status {status} has no body"));
        }
        if self.times == Some(0) {
            return refused("times must be 1 or more".to_owned());
        }
        match self.kind {
            FaultKind::Drip { chunk_bytes: 0, .. } => refused("chunk_bytes must be 1 or more".to_owned()),
            FaultKind::Status { status, .. } if !(200..=599).contains(&status) => {
                refused(format!("status {status} is not one of an answer, from 200 to 599"))
            }
            _ => Ok(()),
        }
    }
}

/// The faults in force, oldest first.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<Vec<Arc<InForce>>>);

/// A fault in force.
#[derive(Debug)]
pub(super) struct InForce {
    pub(super) fault: Fault,
    seen: AtomicU64,
    hits: AtomicU64,
    ended: CancellationToken,
}

impl InForce {
    pub(super) fn new(fault: Fault) -> Self {
        let (seen, hits, ended) = Default::default();
        Self { fault, seen, hits, ended }
    }

    /// Whether this request is met. Every request that gets here is counted.
    fn meets(&self, path: &str) -> bool {
        if self.fault.path.as_ref().is_some_and(|wanted| wanted != path) {
            return false;
        }
        let Some(number) = self.seen.fetch_add(1, Ordering::Relaxed).checked_sub(self.fault.after) else {
            return false;
        };
        self.fault.times.is_none_or(|times| number < times)
    }

    /// Counts an answer that it has changed.
    pub(super) fn has_changed_one(&self) {
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether it is in force no more.
    pub(super) fn ended(&self) -> &CancellationToken {
        &self.ended
    }
}

impl Faults {
    /// The first fault that meets a request for this path.
    pub(super) fn meet(&self, path: &str) -> Option<Arc<InForce>> {
        let faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        faults.iter().find(|each| each.meets(path)).map(Arc::clone)
    }
}

/// A fault in force. It ends when this is dropped, but not by a forked child, whose copy it is not.
pub struct Injected {
    faults: Arc<Faults>,
    in_force: Arc<InForce>,
    owner: u32,
}

impl Injected {
    /// Brings a fault into force.
    pub(super) fn new(faults: &Arc<Faults>, fault: Fault) -> Result<Self> {
        fault.check()?;
        let in_force = Arc::new(InForce::new(fault));
        faults.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&in_force));
        Ok(Self { faults: Arc::clone(faults), in_force, owner: std::process::id() })
    }

    /// How many answers it has changed; one that passed whole is none of them.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.in_force.hits.load(Ordering::Relaxed)
    }

    /// Ends the fault; answers that it holds up go on. A second call does nothing.
    pub fn end(&self) {
        if std::process::id() != self.owner {
            return;
        }
        let mut faults = self.faults.0.lock().unwrap_or_else(PoisonError::into_inner);
        faults.retain(|each| !Arc::ptr_eq(each, &self.in_force));
        self.in_force.ended.cancel();
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

    fn met(faults: &Faults, paths: &[&str]) -> Vec<Option<FaultKind>> {
        let meet = |path: &&str| faults.meet(path).inspect(|each| each.has_changed_one());
        paths.iter().map(|path| meet(path).map(|each| each.fault.kind.clone())).collect()
    }

    #[test]
    fn a_fault_waits_for_its_turn_and_has_had_enough() {
        let faults = Arc::new(Faults::default());
        let code = FaultKind::LateCode(301);
        let injected = Injected::new(&faults, Fault::new(code.clone()).on("/a").after(1).times(2)).unwrap();
        let expected = [None, None, Some(code.clone()), Some(code), None];
        assert_eq!(met(&faults, &["/a", "/b", "/a", "/a", "/a"]), expected);
        assert_eq!(injected.hits(), 2);
    }

    #[test]
    fn the_first_fault_wins_and_the_next_counts_only_what_it_sees() {
        let faults = Arc::new(Faults::default());
        let (first, second) = (FaultKind::LateCode(1), FaultKind::LateCode(2));
        let outer = Injected::new(&faults, Fault::new(first.clone()).times(1)).unwrap();
        let inner = Injected::new(&faults, Fault::new(second.clone()).after(1)).unwrap();
        assert_eq!(met(&faults, &["/a", "/a", "/a"]), [Some(first), None, Some(second)]);
        drop(inner);
        assert_eq!(met(&faults, &["/a"]), [None]);
        assert_eq!(outer.hits(), 1);
    }

    #[test]
    fn what_could_not_happen_is_refused() {
        let faults = Arc::new(Faults::default());
        let fault = Fault::new(FaultKind::LateCode(1));
        let status = |status| Fault::new(FaultKind::Status { status, retry_after: None, body: None });
        let drip = Fault::new(FaultKind::Drip { chunk_bytes: 0, pause: Duration::ZERO });
        let body = Some("text".to_owned());
        let bodily = Fault::new(FaultKind::Status { status: 204, retry_after: None, body });
        for wrong in [fault.clone().on("search"), fault.times(0), status(99), status(600), drip, bodily] {
            assert_eq!(Injected::new(&faults, wrong).unwrap_err().kind(), Kind::Config);
        }
        assert!(faults.meet("/a").is_none());
    }
}
