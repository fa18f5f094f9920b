//! What a failure means for its request and for others. The client decides it once; policy and gate follow it.

use std::time::Duration;

/// What a failure means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What may help.
    pub remedy: Remedy,
    /// Which requests fail too.
    pub scope: Scope,
    /// Whether the request cannot have reached the service.
    pub is_unsent: bool,
    /// The byte at which the response was cut off.
    pub cut_off_at: Option<u64>,
}

/// What may help after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing: the failure is final.
    None,
    /// A retry with another token.
    NewToken,
    /// A retry at once: the service had closed the idle connection that the request was sent on.
    AtOnce,
    /// One retry after a back-off, as the failure may be an accident: the second of its kind is final.
    Once,
    /// Retries after back-offs.
    BackOff,
    /// A retry after a pause of all requests.
    Pause(Pause),
}

/// The service asks all requests to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// For how long, if the service says.
    pub asked: Option<Duration>,
}

/// Which requests a failure concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// This request alone.
    Request,
    /// This request, such as one for a day that is too large for the service; all if no request ever succeeded.
    Unclear,
    /// All requests, if requests of several calls fail.
    Service,
    /// All requests.
    All,
}

impl Verdict {
    /// The service asks all requests to wait for this long.
    pub(super) fn asked(&self) -> Option<Duration> {
        if let Remedy::Pause(pause) = self.remedy { pause.asked } else { None }
    }
}
