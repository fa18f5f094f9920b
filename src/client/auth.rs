//! The bearer token of each request, fetched from a source once for all calls that wait.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use tokio::sync::SetOnce;
use tokio::time::{Instant, timeout};

use super::lock;
use crate::error::{Error, Phase, Result};
use crate::secret::Secret;

/// How long before it expires a token is renewed; one with a short life is renewed after half of it.
const RENEWAL_MARGIN: Duration = Duration::from_secs(300);

/// Time-out of a fetch. Later calls start a new one.
const FETCH_TIMEOUT: Duration = Duration::from_secs(60);

/// A fetch is slow if a call stopped waiting for it after this time. The next call starts another one beside it.
const SLOW_FETCH: Duration = Duration::from_secs(1);

/// Most fetches in flight: a source that hangs keeps a thread for each.
const MAX_FETCHES: usize = 4;

/// Delay after a failed renewal, while the current token is still valid.
const RENEWAL_RETRY: Duration = Duration::from_secs(10);

/// What a source returns.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The token.
    pub token: Secret,
    /// When the token expires. One without is used until the service refuses it.
    pub expires_at: Option<SystemTime>,
}

/// How long the calls of a scan wait for a token. It can be limited while they are in flight.
#[derive(Debug, Default)]
pub struct TokenWait(pub(super) OnceLock<(Duration, &'static str)>);

impl TokenWait {
    /// Limits the wait for each token from now on. `hint` is what the user can do if it is over.
    pub fn set(&self, limit: Duration, hint: &'static str) {
        // The first limit holds.
        _ = self.0.set((limit, hint));
    }
}

/// Takes what a source has fetched.
pub type TakeGrant = Box<dyn FnOnce(Result<Grant>) + Send>;

/// A source of tokens.
pub trait TokenSource: Send + Sync + fmt::Debug {
    /// Fetches a token and passes it on: at once, or from a thread of its own if that takes time.
    ///
    /// # Errors
    /// If the fetch cannot begin.
    fn fetch(&self, take: TakeGrant) -> Result<()>;
}

/// A token that never changes.
impl TokenSource for Secret {
    fn fetch(&self, take: TakeGrant) -> Result<()> {
        take(Ok(Grant { token: self.clone(), expires_at: None }));
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct Auth {
    source: Arc<dyn TokenSource>,
    state: Arc<Mutex<State>>,
}

/// The current token and the fetches in flight, the newest last. More than one only while the source is slow.
///
/// A fetch belongs to no caller: when one is cancelled, the others go on waiting, and the next joins them.
#[derive(Debug, Default)]
struct State {
    current: Option<Grant>,
    /// When the next one is fetched.
    renew_at: Option<SystemTime>,
    fetches: Vec<Arc<Fetch>>,
}

#[derive(Debug)]
struct Fetch {
    started: Instant,
    is_slow: AtomicBool,
    /// For the calls that wait: its own result, or the token of an earlier fetch that ended before it.
    result: SetOnce<Result<Grant>>,
}

/// A call that waits for a fetch. Dropped before the fetch has ended, it has given up.
struct Waiting(Arc<Fetch>);

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.0.started.elapsed() >= SLOW_FETCH {
            self.0.is_slow.store(true, Ordering::Relaxed);
        }
    }
}

impl Auth {
    pub(super) fn new(source: Arc<dyn TokenSource>) -> Self {
        Self { source, state: Arc::default() }
    }

    /// The token to send. Waits for the source for at most `limit`, and fails if the source does. While a token is valid,
    /// no call waits for a fetch: shortly before it expires, the next one is fetched in the background.
    pub(super) async fn token(&self, limit: Duration) -> Result<Secret> {
        let (current, (fetch, is_new)) = {
            let mut state = lock(&self.state);
            let current = state.current();
            if let Some((token, false)) = current {
                return Ok(token);
            }
            (current, state.fetch())
        };
        if is_new {
            self.begin(&fetch);
        }
        if let Some((token, _)) = current {
            return Ok(token);
        }
        let (waiting, limit) = (Waiting(fetch), limit.min(FETCH_TIMEOUT));
        let result = timeout(limit, waiting.0.result.wait())
            .await
            .map_err(|_| Error::timed_out(Phase::Token, "the token callable returned no token", limit))?;
        result.as_ref().map(|grant| grant.token.clone()).map_err(Clone::clone)
    }

    /// Drops a token that the service refused: [`Auth::token`] fetches again.
    pub(super) fn reject(&self, refused: &Secret) {
        lock(&self.state).current.take_if(|current| current.token == *refused);
    }

    fn begin(&self, fetch: &Arc<Fetch>) {
        let (state, ended) = (Arc::clone(&self.state), Arc::clone(fetch));
        let take = Box::new(move |result| lock(&state).end(&ended, result));
        if let Err(failure) = self.source.fetch(take) {
            lock(&self.state).end(fetch, Err(failure));
        }
    }
}

impl State {
    /// The current token, unless it has expired, and whether it is time to fetch the next one.
    fn current(&self) -> Option<(Secret, bool)> {
        let now = SystemTime::now();
        let is_past = |time: Option<SystemTime>| time.is_some_and(|time| time <= now);
        let current = self.current.as_ref().filter(|current| !is_past(current.expires_at))?;
        Some((current.token.clone(), is_past(self.renew_at)))
    }

    /// The newest fetch in flight, or a new one; and whether it is new.
    fn fetch(&mut self) -> (Arc<Fetch>, bool) {
        self.fetches.retain(|fetch| fetch.started.elapsed() < FETCH_TIMEOUT);
        let is_full = self.fetches.len() >= MAX_FETCHES;
        if let Some(fetch) = self.fetches.last().filter(|fetch| is_full || !fetch.is_slow.load(Ordering::Relaxed)) {
            return (Arc::clone(fetch), false);
        }
        let (started, is_slow, result) = (Instant::now(), AtomicBool::new(false), SetOnce::new());
        let fetch = Arc::new(Fetch { started, is_slow, result });
        self.fetches.push(Arc::clone(&fetch));
        (fetch, true)
    }

    /// Ends a fetch. Its token serves the calls too that wait for a later fetch; a failed renewal keeps the current token.
    fn end(&mut self, fetch: &Arc<Fetch>, result: Result<Grant>) {
        let in_flight = self.fetches.len();
        self.fetches.retain(|known| !Arc::ptr_eq(known, fetch));
        // Otherwise another came before it, or it took too long: only the calls that wait for it still want it.
        if self.fetches.len() < in_flight {
            let now = SystemTime::now();
            if let Ok(grant) = &result {
                self.current = Some(grant.clone());
                self.renew_at = grant.expires_at.map(|end| {
                    let life = end.duration_since(now).unwrap_or_default();
                    end.checked_sub(RENEWAL_MARGIN.min(life / 2)).unwrap_or(end)
                });
                for other in self.fetches.drain(..) {
                    _ = other.result.set(result.clone());
                }
            } else {
                self.renew_at = Some(now + RENEWAL_RETRY);
            }
        }
        _ = fetch.result.set(result);
    }
}

#[cfg(test)]
mod tests;
